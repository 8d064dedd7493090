"""What a transcript keeps for another library, come what may."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex
from engramdown.integrations.external_session import ExternalSession, History, Item, Line
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import Episode


def plain(episode: Episode) -> str | None:
    return f"plain {episode.text}" if episode.role == "user" else None


@pytest.fixture
def session(cortex: Cortex) -> ExternalSession:
    """Return a conversation."""
    return ExternalSession(cortex, History(cortex.episodes, "s1", "mine", plain))


@pytest.fixture
def path(project: Path) -> Path:
    """Return the file of its transcript."""
    return project / ".engramdown/episodes/s1.jsonl"


def say(session: ExternalSession, *texts: str) -> None:
    """Keep texts, each as the value ``{"said": text}``."""
    for text in texts:
        session.add(Line("user", text, {"said": None}, ("said",)))


def values(session: ExternalSession) -> list[Any]:
    return [entry.value for entry in session.history.items() if not entry.is_gone]


def test_a_line_that_somebody_changed_is_what_it_says(session: ExternalSession, path: Path) -> None:
    say(session, "one", "two")
    session.end("finished")
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[1] = lines[1].replace('["said"]', '["gone", 3]')
    lines[2] = lines[2].replace('{"said":null}', "[]")
    path.write_text("\n".join(lines), encoding="utf-8")
    assert values(session) == ["plain one", "plain two"]


def test_a_last_line_that_is_being_written_is_left_for_later(
    session: ExternalSession, path: Path
) -> None:
    say(session, "one")
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"seq":2,"ts":"2026')
    assert values(session) == [{"said": "one"}]
    os.truncate(path, len(whole))
    say(session, "two")
    assert values(session) == [{"said": "one"}, {"said": "two"}]


def test_lines_that_are_none_are_passed_over(session: ExternalSession, path: Path) -> None:
    say(session, "one")
    with path.open("ab") as file:
        file.write(b"\xff not a line\n")
    say(session, "two")
    assert values(session) == [{"said": "one"}, {"said": "two"}]


def test_another_file_of_the_same_name_is_read_anew(session: ExternalSession, path: Path) -> None:
    say(session, "one", "two")
    assert len(values(session)) == 2
    first, second = (line for line in path.read_bytes().split(b"\n")[:2])
    other = first.replace(b'"id":"0', b'"id":"1') + b"\n" + second.replace(b"one", b"six") + b"\n"
    path.write_bytes(other + b"x" * (path.stat().st_size - len(other) - 1) + b"\n")
    assert values(session) == [{"said": "six"}]


def test_what_was_taken_back_comes_back_with_the_whole_session(
    cortex: Cortex, session: ExternalSession
) -> None:
    say(session, "one", "two")
    assert session.history.pop(list) is not None
    assert values(session) == [{"said": "one"}]
    assert cortex.episodes is not None
    cortex.episodes.forgetting().include("s1")
    assert values(session) == [{"said": "one"}, {"said": "two"}]


def test_a_person_who_takes_a_line_out_wins_over_a_program(
    cortex: Cortex, session: ExternalSession
) -> None:
    say(session, "one", "two", "three")
    assert cortex.episodes is not None

    def whole(entries: list[Item]) -> list[Item]:
        """Return what is left; a person is faster just once."""
        left = [entry for entry in entries if not entry.is_gone]
        if len(left) == 3:
            assert cortex.episodes is not None
            cortex.episodes.forgetting().exclude("s1", [3])
        return left

    popped = session.history.pop(whole)
    assert popped is not None
    assert popped.value == {"said": "two"}


def test_a_turn_that_cannot_be_ended_rightly_is_over_all_the_same(
    session: ExternalSession, cortex: Cortex, project: Path
) -> None:
    session.begin_turn(Line("user", "Hi", {"said": None}, ("said",)))
    (project / ".engramdown/memory/pending.md").mkdir(parents=True)
    session.end_turn()
    assert not session.in_turn
    assert not session.confirmations()
    assert ["pending.md" in lost for lost in cortex.scopes.unread()] == [True]


def test_answers_of_runs_that_ended_early_do_not_pile_up(session: ExternalSession) -> None:
    for number in range(150):
        session.use_tool("review", {}, f"c{number}")
    assert len(session._answers) == 100


@pytest.mark.parametrize("way", ["mode", "automatic"])
def test_where_nobody_wants_summaries_none_are_made(
    cortex: Cortex, session: ExternalSession, project: Path, way: str
) -> None:
    say(session, *[f"{number}: {'word ' * 100}" for number in range(60)])
    if way == "mode":
        cortex.mode = "off"
    else:
        chosen = cortex.scopes.settings.conversation._replace(automatic=False)
        cortex.scopes.settings = cortex.scopes.settings._replace(conversation=chosen)
    session = ExternalSession(cortex, session.history, budget=100)
    session.summarize()
    assert session._compaction is None
    assert not (project / ".engramdown/gists").exists()


def test_a_line_says_nothing_twice(session: ExternalSession, path: Path) -> None:
    say(session, "a text that stands there once")
    assert path.read_text(encoding="utf-8").count("stands there once") == 1
    line = json.loads(path.read_text(encoding="utf-8").split("\n")[1])
    assert line["meta"] == {"mine": {"item": {"said": None}, "text": ["said"]}}
    assert Disk().find(path) is not None

"""Which session runs, and what a glance at one counts."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time

from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import Disk
from engramdown.transcripts.sessions import Sessions, count_session, find_running, left_open

LONG_AGO = timedelta(hours=2)


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "episodes", Disk())


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    return EpisodicMemory(tmp_path)


def running(sessions: Sessions) -> str:
    found = find_running(sessions, Disk())
    return found.id if found else ""


def age(sessions: Sessions, session: str) -> None:
    """Let the file of a session look as if it had been written two hours ago."""
    then = time.time() - LONG_AGO.total_seconds()
    os.utime(sessions.path(session), (then, then))


def test_where_nothing_is_recorded_nothing_runs(sessions: Sessions) -> None:
    assert running(sessions) == ""
    assert not sessions.folder.exists()


def test_the_open_session_that_began_last_runs(memory: EpisodicMemory, sessions: Sessions) -> None:
    begin = datetime.now(UTC) - timedelta(minutes=5)
    memory.start_session("b", at=begin)
    memory.start_session("a", at=begin + timedelta(minutes=1))
    memory.log("b", "user", "the last word")
    assert running(sessions) == "a"
    memory.end("a")
    assert running(sessions) == "b"


def test_a_session_begun_from_another_is_not_the_conversation(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    memory.start_session("a")
    memory.start_session("child", parent="a")
    memory.log("child", "user", "x")
    assert running(sessions) == "a"


def test_what_was_left_open_long_ago_does_not_run(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    then = datetime.now(UTC) - LONG_AGO
    memory.start_session("a", at=then)
    memory.log("a", "user", "x", at=then)
    assert running(sessions) == "a", "we have it open"
    memory.close()
    assert running(sessions) == "", "it was written to a moment ago, but not about now"
    age(sessions, "a")
    assert running(sessions) == ""


def test_a_silent_session_that_a_program_has_open_runs(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    memory.log("a", "user", "x", at=datetime.now(UTC) - LONG_AGO)
    age(sessions, "a")
    assert running(sessions) == "a"


def test_a_session_that_cannot_be_read_hides_no_other(
    memory: EpisodicMemory, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.log("a", "user", "x")
    memory.log("theirs", "user", "x")
    really = Disk.open

    def refuse(disk: Disk, path: Path | str, **given: bool) -> int:
        if Path(path).name == "theirs.jsonl":
            raise PermissionError(13, "Permission denied")
        return really(disk, path, **given)

    monkeypatch.setattr(Disk, "open", refuse)
    assert running(sessions) == "a"


def test_what_nobody_ended_was_left_open(
    memory: EpisodicMemory, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = datetime.now(UTC) - LONG_AGO
    for session in ("ended", "left", "kept"):
        memory.log(session, "user", "x", at=then)
    memory.log("now", "user", "x")
    memory.end("ended", at=then)
    for session in ("left", "now"):
        memory.recorder.release(session)
    assert [info.id for info in left_open(sessions, Disk())] == ["left"]

    def gone(*_: object) -> bool:
        raise FileNotFoundError

    monkeypatch.setattr(Disk, "is_kept", gone)
    assert left_open(sessions, Disk()) == []


def test_a_glance_counts_what_is_there(memory: EpisodicMemory, sessions: Sessions) -> None:
    memory.start_session("a", title="T")
    memory.log("a", "system", "Be kind")
    memory.log("a", "user", 'He said ","role":"assistant","')
    memory.log("a", "tool_call", {"x": 1})
    memory.log("a", "user", "again")
    memory.end("a")
    with sessions.path("a").open("ab") as file:
        file.write(b"no line\n")
        # As another program may write it.
        file.write(
            b'{"role":"assistant","text":"x","id":"i","ts":"2026-02-27T10:15:00.000000Z","seq":9}\n'
        )
        file.write(b'{"seq":10,"ts":"torn","id":"i","role":"user","te')
    tally = count_session(sessions, Disk(), "a")
    assert tally.roles == {"system": 1, "user": 2, "tool_call": 1, "assistant": 1}
    assert (tally.turns, tally.episodes) == (2, 5)
    assert tally.first == 'He said ","role":"assistant","'


def test_of_a_session_without_a_user_the_first_words_are_somebodys(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    memory.log("a", "assistant", "Good morning")
    memory.log("a", "system", "x")
    assert count_session(sessions, Disk(), "a").first == "Good morning"
    assert count_session(sessions, Disk(), "gone").episodes == 0


def test_what_was_said_while_the_clock_was_ahead_keeps_nothing_running(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    with freeze_time(datetime.now(UTC) + timedelta(days=400)):
        memory.log("a", "user", "of the future")
        assert running(sessions) == "a"
    assert running(sessions) == "a"  # a program has it open
    memory.close()
    assert running(sessions) == ""
    assert [info.id for info in left_open(sessions, Disk())] == ["a"]
    assert EpisodicMemory(memory.folder.parent).close_orphans().ids == ("a",)
    assert left_open(sessions, Disk()) == []

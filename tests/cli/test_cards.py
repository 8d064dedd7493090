"""engramdown log card shows what a session was about, and lets a person correct it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramdown import Cortex
from engramdown.episodes.memory import EpisodicMemory
from tests.cli.conftest import Runner
from tests.cli.test_compact import configured
from tests.cli.test_edit import editor
from tests.consolidation.provider import answering, serving


@pytest.fixture
def page(memory: Path) -> Path:
    """Record a session, and return where its page would be."""
    episodes = EpisodicMemory(memory.parent)
    episodes.log("one", "user", "Why is CI red?")
    episodes.log("one", "tool_call", '{"path": "a.py"}', name="read")
    episodes.log("one", "assistant", "The clock\x1b[2J.", model="m1")
    episodes.close()
    return memory.parent / "gists" / "one.card.md"


def test_a_card_is_shown_and_nothing_written(run: Runner, page: Path) -> None:
    shown = run.ok("log", "card").out
    assert [row.rstrip() for row in shown.split("\n")] == [
        "session      one",
        "title        Why is CI red?",
        "in one line  Why is CI red?",
        "kind         work",
        "tags         clock, red",
        "who spoke    user, assistant",
        "tools        read 1",
        "files        a.py",
        "models       m1",
        "",
        "Why is CI red? … The clock␛[2J.",
        "",
    ]
    assert not page.parent.exists()


def test_json_has_all_of_it(run: Runner, page: Path) -> None:
    assert run.ok("log", "card", "on", "--json").json == {
        "session": "one",
        "title": "Why is CI red?",
        "one_liner": "Why is CI red?",
        "paragraph": "Why is CI red? … The clock\x1b[2J.",
        "kind": "work",
        "tags": ["clock", "red"],
        "detailed": "- Why is CI red?\n\nThe clock\x1b[2J.",
        "decisions": [],
        "participants": ["user", "assistant"],
        "tools": {"read": 1},
        "files": ["a.py"],
        "models": ["m1"],
        "filled_by": "",
        "edited": False,
        "stale": False,
        "path": str(page),
    }


def test_a_person_corrects_it(
    run: Runner, page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    change = "path.read_bytes().replace(b'title: Why is', b'title: Mending')"
    editor(monkeypatch, tmp_path, f"path.write_bytes({change})")
    shown = run.ok("log", "card", "one", "--edit").out
    assert "Mending CI red?" in shown
    assert f"From {page}" in shown
    editor(monkeypatch, tmp_path, f"assert str(path) == {str(page)!r}\npath.write_text('Mine')")
    assert run.ok("log", "card", "one", "--edit", "--json").json["paragraph"] == "Mine"
    assert page.read_text(encoding="utf-8") == "Mine"


def test_what_is_not_changed_is_not_written(
    run: Runner, page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor(monkeypatch, tmp_path, "pass")
    assert run.ok("log", "card", "one", "--edit").err != ""
    assert not page.exists()


def test_a_page_that_somebody_wrote_meanwhile_stays(
    run: Runner, page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = f"p = pathlib.Path({str(page)!r})\np.parent.mkdir()\np.write_text('theirs')\n"
    editor(monkeypatch, tmp_path, f"{other}path.write_text('mine')")
    done = run("log", "card", "one", "--edit")
    assert done.code == 1
    assert "was written meanwhile" in " ".join(done.err.split())
    assert page.read_text(encoding="utf-8") == "theirs"


def test_without_an_editor_it_says_what_to_do(run: Runner, page: Path) -> None:
    for _ in range(2):
        done = run("log", "card", "one", "--edit")
        assert done.code == 2
        assert "EDITOR" in done.err
        page.parent.mkdir(exist_ok=True)
        page.write_text("Mine", encoding="utf-8")


def test_a_page_older_than_a_redaction_is_said_to_be_left_out(run: Runner, page: Path) -> None:
    page.parent.mkdir()
    page.write_text("Secret", encoding="utf-8")
    os.utime(page, (1, 1))
    run.ok("log", "redact", "one#1")
    shown = run.ok("log", "card", "one").out
    assert "Your page is not used" in shown
    assert "Secret" not in shown


@pytest.mark.usefixtures("page")
def test_no_session_is_no_card(run: Runner) -> None:
    assert run("log", "card", "two").code == 1


@pytest.mark.slow
def test_what_a_model_filled_in_is_shown(
    run: Runner, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    answer = {"title": "Mending CI\x1b[2J", "decisions": ["Freeze the clock."]}
    with serving(answering(answer)) as url:
        configured(page.parent.parent / "memory", url)
        assert Cortex.open(page.parents[2]).worker.fill_card("one")
    shown = run.ok("log", "card", "one").out
    assert "title        Mending CI␛[2J\n" in shown
    assert "decisions    Freeze the clock.\n" in shown
    assert shown.endswith("Filled in by openai/scripted\n")
    assert run.ok("log", "card", "--json").json["filled_by"] == "openai/scripted"
    assert "card" in run.ok("stats").out

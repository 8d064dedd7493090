"""What a person gets who looks at the notes on a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.journal.working_notes import WorkingNotes
from tests.cli.conftest import Runner


@pytest.fixture
def notes(memory: Path) -> WorkingNotes:
    """Stand in a project with a session, and return the notes on it: there are none yet."""
    episodes = EpisodicMemory(memory.parent)
    episodes.start_session("talk")
    episodes.log("talk", "user", "hello")
    episodes.close()
    return WorkingNotes(memory.parent, "talk")


def test_notes_are_shown_and_found(run: Runner, notes: WorkingNotes) -> None:
    notes.write("The user is tired.\nBe brief.")
    shown = run.ok("log", "notes", "ta").out
    assert shown.startswith("talk  updated 20")
    assert shown.endswith(f" UTC\n{notes.path}\n\nThe user is tired.\nBe brief.\n")
    told = run.ok("log", "notes", "--json").json
    assert told == {
        "session": "talk",
        "path": str(notes.path),
        "text": "The user is tired.\nBe brief.",
        "updated": notes.read().updated,
        "digest": notes.read().digest,
    }
    assert "In the notes on sessions:\nworking/talk.md" in run.ok("recall", "tired").out
    assert run.ok("recall", "tired", "--json").json["notes"][0]["session"] == "talk"


def test_what_is_replaced_can_be_brought_back(run: Runner, notes: WorkingNotes) -> None:
    for text in ("one", "two"):
        notes.write(text)
    history = run.ok("log", "notes", "--history")
    assert history.out.startswith("1  replaced 20")
    assert history.out.endswith(" by assistant\n    one\n")
    (version,) = run.ok("log", "notes", "--history", "--json").json
    assert (version["number"], version["text"], version["by"]) == (1, "one", "agent")
    assert run.ok("log", "notes", "--restore", "1").out == f"Wrote {notes.path}\n"
    assert notes.read().text == "one"
    notes.path.unlink()
    restored = run.ok("log", "notes", "--restore", "1", "--json").json
    assert (restored["changed"], restored["text"], restored["hidden"]) == (True, "two", [])
    assert notes.read().text == "two"


def test_a_dry_run_shows_the_diff_and_writes_nothing(run: Runner, notes: WorkingNotes) -> None:
    notes.write("one")
    notes.write("two")
    before = notes.path.read_bytes()
    shown = run.ok("log", "notes", "talk", "--restore", "1", "--dry-run").out
    assert shown.startswith("Dry run: nothing is written.\n--- ./.engramdown/working/talk.md")
    told = run.ok("log", "notes", "talk", "--restore", "1", "--dry-run", "--json").json
    assert told["dry_run"] is True
    assert told["changes"][0]["path"] == str(notes.path)
    assert notes.path.read_bytes() == before


def test_what_is_not_there_is_told(run: Runner, notes: WorkingNotes) -> None:
    for words, code, said in (
        (["talk"], 1, "no notes are kept on this session"),
        (["talk", "--json"], 1, "no notes are kept on this session"),
        (["talk", "--history"], 1, "no notes on talk were replaced"),
        (["talk", "--restore", "1"], 1, "no earlier text 1; there is none"),
        (["talk", "--restore", "1", "--dry-run"], 1, "no earlier text 1; there is none"),
        (["other"], 1, "no session"),
        (["talk", "--restore", "1", "--history"], 2, "give one of --history, --restore"),
    ):
        done = run("log", "notes", *words)
        assert (done.code, said in done.err) == (code, True), done
    assert not notes.path.exists()


def test_notes_on_a_session_whose_transcript_is_gone_are_shown(run: Runner, memory: Path) -> None:
    WorkingNotes(memory.parent, "gone").write("one")
    assert run.ok("log", "notes", "gone").out.endswith("one\n")


def test_notes_that_were_removed_come_back_without_a_transcript(run: Runner, memory: Path) -> None:
    notes = WorkingNotes(memory.parent, "todo")
    notes.write("step 1")
    notes.delete()
    run.ok("log", "notes", "todo", "--restore", "1")
    assert notes.read().text == "step 1"

"""What a person gets who looks at the notes on a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.journal.working_notes import Note, WorkingNotes
from tests.cli.conftest import Runner

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def notes(memory: Path) -> WorkingNotes:
    """Stand in a project with a session, and return the notes on it: there are none yet."""
    episodes = EpisodicMemory(memory.parent)
    episodes.start_session("talk")
    episodes.log("talk", "user", "hello")
    episodes.close()
    return WorkingNotes(memory.parent, "talk")


def test_notes_are_written_shown_and_continued(run: Runner, notes: WorkingNotes) -> None:
    assert run.ok("log", "notes", "talk", "--write", "The user is tired.").out == (
        f"Wrote {notes.path}\n"
    )
    run.ok("log", "notes", "--append", "-", stdin=b"Be brief.\n")
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
        run.ok("log", "notes", "talk", "--write", text)
    history = run.ok("log", "notes", "--history")
    assert history.out.startswith("1  replaced 20")
    assert history.out.endswith(" by you\n    one\n")
    (version,) = run.ok("log", "notes", "--history", "--json").json
    assert (version["number"], version["text"], version["by"]) == (1, "one", "person")
    run.ok("log", "notes", "--restore", "1")
    assert notes.read().text == "one"
    removed = run.ok("log", "notes", "--delete").out
    assert "`engramdown log notes talk --restore 1` brings it back" in " ".join(removed.split())
    assert not notes.path.exists()
    assert run.ok("log", "notes", "--restore", "1", "--json").json["changed"] is True
    assert notes.read().text == "one"


@pytest.mark.parametrize("option, after", [("--append", "one\ntheirs\nmine"), ("--write", "mine")])
def test_what_somebody_writes_meanwhile_is_in_nobodys_way(
    run: Runner, notes: WorkingNotes, monkeypatch: pytest.MonkeyPatch, option: str, after: str
) -> None:
    notes.write("one")
    read = WorkingNotes.read

    def read_before_others(self: WorkingNotes) -> Note:
        note = read(self)
        monkeypatch.setattr(WorkingNotes, "read", read)
        notes.append("theirs")
        return note

    monkeypatch.setattr(WorkingNotes, "read", read_before_others)
    run.ok("log", "notes", "talk", option, "mine")
    assert notes.read().text == after


def test_a_dry_run_shows_the_diff_and_writes_nothing(run: Runner, notes: WorkingNotes) -> None:
    notes.write("one")
    before = notes.path.read_bytes()
    for deed in (["--write", "two"], ["--append", "two"], ["--delete"]):
        shown = run.ok("log", "notes", "talk", *deed, "--dry-run").out
        assert shown.startswith("Dry run: nothing is written.\n--- ./.engramdown/working/talk.md")
        told = run.ok("log", "notes", "talk", *deed, "--dry-run", "--json").json
        assert told["dry_run"] is True
        assert told["changes"][0]["path"] == str(notes.path)
    same = run.ok("log", "notes", "--write", "one", "--dry-run", "--json").json
    assert same["changes"] == []
    assert notes.path.read_bytes() == before
    assert notes.history() == []


def test_a_person_edits_them(
    run: Runner, notes: WorkingNotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("one")
    monkeypatch.setenv("EDITOR", "sed -i s/one/two/")
    run.ok("log", "notes", "--edit")
    assert notes.read().text == "two"
    assert run.ok("log", "notes", "--edit").err.startswith("note: ")
    monkeypatch.setenv("EDITOR", f"sh -c 'echo meanwhile > {notes.path}; echo mine > $0'")
    done = run("log", "notes", "--edit")
    assert done.code == 1
    assert "was changed since it was read" in done.err
    kept = Path(done.err.rpartition(" ")[2].strip())
    assert kept.read_text(encoding="utf-8") == "mine"
    kept.unlink()
    assert notes.read().text == "meanwhile"


def test_what_says_so_already_is_not_written(run: Runner, notes: WorkingNotes) -> None:
    notes.write("one")
    before = notes.path.read_bytes()
    done = run.ok("log", "notes", "--write", "one")
    assert done.out == ""
    assert done.err.startswith("note: ")
    assert run.ok("log", "notes", "--write", "one", "--json").json["changed"] is False
    assert notes.path.read_bytes() == before


def test_a_secret_is_hidden_and_told(run: Runner, notes: WorkingNotes) -> None:
    done = run.ok("log", "notes", "--write", f"It is {TOKEN}")
    assert "A secret was hidden, and is kept nowhere: GitHub token." in done.out
    assert TOKEN not in notes.path.read_text(encoding="utf-8")
    assert run.ok("log", "notes", "--append", TOKEN, "--json").json["hidden"] == ["GitHub token"]


def test_what_is_not_there_is_told(run: Runner, notes: WorkingNotes) -> None:
    for words, code, said in (
        (["talk"], 1, "no notes are kept on this session"),
        (["talk", "--json"], 1, "no notes are kept on this session"),
        (["talk", "--delete"], 1, "no notes are kept on this session"),
        (["talk", "--history"], 1, "no notes on talk were replaced"),
        (["talk", "--restore", "1"], 1, "no earlier text 1; there is none"),
        (["talk", "--restore", "1", "--dry-run"], 1, "no earlier text 1; there is none"),
        (["other"], 1, "no session"),
        (["talk", "--write", " "], 2, "the text is empty"),
        (["talk", "--write", "x", "--delete"], 2, "give one of --write"),
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

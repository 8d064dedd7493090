"""What is taken back of a session takes its notes with it, or names them."""

from __future__ import annotations

from pathlib import Path

from engramdown.episodes.memory import EpisodicMemory
from engramdown.journal.working_notes import WorkingNotes


def noted(root: Path) -> tuple[EpisodicMemory, WorkingNotes]:
    """Return a scope with a session, notes on it, and notes that were replaced."""
    memory = EpisodicMemory(root)
    memory.start_session("s")
    memory.log("s", "user", "hunter2")
    memory.close()
    notes = WorkingNotes(root, "s")
    notes.write("the word is hunter2")
    notes.write("nothing")
    WorkingNotes(root, "s-2").write("other")
    return memory, notes


def test_a_purge_takes_the_notes(tmp_path: Path) -> None:
    memory, notes = noted(tmp_path)
    left = notes.path.with_name(f".s.md.{'0' * 16}.{'0' * 16}.00000000.tmp")
    left.write_text("hunter2", encoding="utf-8")
    told = memory.forgetting().purge("s", dry_run=True)
    assert {notes.path, left, tmp_path / "gists/s.jsonl"} <= set(told.files)
    assert notes.path.exists()
    assert memory.forgetting().purge("s").notes is None
    assert [path.name for path in notes.path.parent.glob("*s*.md*")] == ["s-2.md"]
    assert notes.history() == []


def test_a_redaction_names_the_notes_and_takes_what_they_said_before(tmp_path: Path) -> None:
    memory, notes = noted(tmp_path)
    assert [version.text for version in notes.history()] == ["the word is hunter2"]
    assert memory.forgetting().redact("s", [1]).notes == notes.path
    assert notes.read().text == "nothing"
    assert notes.history() == []


def test_without_notes_none_are_named(tmp_path: Path) -> None:
    memory, notes = noted(tmp_path)
    notes.path.unlink()
    assert memory.forgetting().redact("s", [1]).notes is None
    assert memory.forgetting().exclude("s").notes is None

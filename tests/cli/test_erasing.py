"""``forget --forever`` shows what goes, asks, and prints no word of it to a program."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engramdown.cli import output
from tests.cli.conftest import Runner
from tests.erasing.planted import left_in

TEXT: Final = "The lighthouse keeper answers to 5512-NOVEMBER"


def test_plain_forgetting_says_that_it_keeps_the_words(run: Runner) -> None:
    done = run.ok("forget", "--help")
    assert "The words stay in archive.md and in history.jsonl" in " ".join(done.out.split())


def test_a_program_has_to_say_yes(run: Runner, memory: Path) -> None:
    name = run.remember(TEXT)
    done = run("forget", "--forever", name)
    assert done.code == 1
    assert "--dry-run" in done.err
    assert "--yes" in done.err
    assert TEXT in (memory / "lessons.md").read_text(encoding="utf-8")


def test_what_goes_is_told_before_and_after(run: Runner, memory: Path, tmp_path: Path) -> None:
    name = run.remember(TEXT)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    told = run.ok("forget", "--forever", name, "--dry-run")
    assert f"Would erase {name} (project lessons.md)" in told.out
    assert "history.jsonl: 1 step without the words, no longer undoable" in told.out
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    done = run.ok("forget", "--forever", name, "--yes")
    assert f"Erased {name}" in done.out
    assert "5512" not in told.out + done.out, "what a program prints is recorded again"
    assert left_in([tmp_path], TEXT) == []
    assert memory.is_dir()


def test_a_person_is_shown_the_words_and_asked(
    run: Runner, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = run.remember(TEXT)
    monkeypatch.setattr(output, "is_person", lambda: True)
    done = run("forget", "--forever", name, stdin=b"n\n")
    assert done.code == 1
    assert TEXT in done.out
    assert TEXT in (memory / "lessons.md").read_text(encoding="utf-8")
    assert run("forget", "--forever", name, stdin=b"y\n").code == 0
    assert left_in([tmp_path], TEXT) == []


def test_history_why_and_undo_tell_of_it(run: Runner, memory: Path) -> None:
    name = run.remember(TEXT)
    run.ok("forget", "--forever", name, "--yes")
    assert memory.is_dir()
    history = run.ok("history")
    assert "You erased for good" in history.out
    assert f"{name}: erased for good" in history.out
    undone = run("undo")
    assert undone.code == 1
    assert "nothing brings them back" in " ".join(undone.err.split())
    again = run("forget", "--forever", name, "--yes")
    assert again.code == 1
    assert "erased for good" in again.err


def test_the_words_may_be_typed(run: Runner, memory: Path, tmp_path: Path) -> None:
    run.remember(TEXT)
    done = run.ok("forget", "--forever", "-", "--yes", "--json", stdin=f"{TEXT}\n".encode())
    assert done.json["erased"] is True
    assert left_in([tmp_path], TEXT) == []
    assert memory.is_dir()


def test_what_git_keeps_is_named_with_the_command(
    run: Runner, memory: Path, tmp_path: Path
) -> None:
    import subprocess

    name = run.remember(TEXT)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    done = run.ok("forget", "--forever", name, "--yes", "--json")
    assert any("git filter-repo --replace-text" in each for each in done.json["unreached"])
    assert memory.is_dir()


def test_lines_that_share_a_few_words_are_named_and_stay(run: Runner, memory: Path) -> None:
    name = run.remember(TEXT)
    notes = memory.parent / "working" / "s.md"
    notes.parent.mkdir()
    notes.write_text(f"- The lighthouse is red\n- {TEXT}\n", encoding="utf-8")
    for words in (["--dry-run"], ["--yes"]):
        done = run.ok("forget", "--forever", name, *words)
        said = " ".join(done.out.split())
        assert "kept, with a few of the words: 1 line; --pieces erases those" in said
        assert f"{notes}: #1" in done.out
    assert notes.read_text(encoding="utf-8") == "- The lighthouse is red\n- [erased]\n"
    done = run.ok("forget", "--forever", "-", "--dry-run", "--json", stdin=TEXT.encode())
    (shared,) = done.json["shared"]
    assert shared == {"scope": "project", "session": "", "path": str(notes), "lines": [1]}
    done = run.ok("forget", "--forever", "-", "--yes", "--pieces", "--json", stdin=TEXT.encode())
    assert done.json["shared"] == []
    assert left_in([memory.parent], TEXT, size=12) == []


def test_a_person_is_shown_the_lines_that_stay(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = run.remember(TEXT)
    run.ok("log", "user", "--session", "talk", "The lighthouse keeper is on leave")
    notes = memory.parent / "working" / "s.md"
    notes.parent.mkdir()
    notes.write_text("# Notes\n\n- The lighthouse is red\n", encoding="utf-8")
    monkeypatch.setattr(output, "is_person", lambda: True)
    said = run("forget", "--forever", name, stdin=b"n\n").out
    assert "stays: #1 The lighthouse keeper is on leave" in said
    assert "stays: #3 - The lighthouse is red" in said
    assert "--pieces" in said


def test_options_that_do_nothing_alone_are_refused(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    for option in ("--yes", "--pieces"):
        assert run("forget", option, run.remember(TEXT)).code == 2
    assert run("forget", "--forever", "--whole", run.remember(TEXT)).code == 2

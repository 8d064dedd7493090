"""The driver merges files in their place, and loses nothing whatever goes wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engramdown.git import driver
from engramdown.git.driver import Driven, drive
from engramdown.git.lines import Markers

A = "- a <!-- id:aaaaaaaa -->\n"
B, C = "- b <!-- id:bbbbbbbb -->\n", "- c <!-- id:cccccccc -->\n"
PATH = ".engramdown/memory/lessons.md"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a new repository."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    return tmp_path


def driven(base: str, ours: str, theirs: str, path: str = PATH) -> tuple[Driven, str]:
    """Write three files, let the driver merge them, and return what it says and leaves."""
    files = [Path(name) for name in ("base", "ours", "theirs")]
    for file, text in zip(files, (base, ours, theirs), strict=True):
        file.write_bytes(text.encode())
    done = drive(files[0], files[1], files[2], path, Markers())
    return done, files[1].read_bytes().decode()


@pytest.mark.usefixtures("here")
def test_both_additions_are_kept() -> None:
    assert driven(A, A + B, A + C) == (Driven(conflict=False), A + B + C)


@pytest.mark.usefixtures("here")
def test_what_is_merged_as_text_is_told() -> None:
    done, text = driven("a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n", "memory/soul.md")
    assert text == "x\nb\ny\n"
    assert done.word == "memory/soul.md: merged line by line: it is not a file of entries"


@pytest.mark.parametrize("style", ["diff3", "zdiff3", "no such style"])
@pytest.mark.usefixtures("here")
def test_both_sides_are_shown_whatever_style_the_clone_has(
    monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    for name, value in (("COUNT", "1"), ("KEY_0", "merge.conflictStyle"), ("VALUE_0", style)):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    done, text = driven(A, A.replace("- a", "- x"), A.replace("- a", "- y"))
    assert done == Driven(conflict=True)
    prose = driven("p\n", "x\n", "y\n", "memory/soul.md")[1]
    assert "|||||||" not in text + prose
    assert prose == "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n"


def test_a_bug_leaves_the_merge_that_git_would_have_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(driver, "merge_files", broken)
    done, text = driven(A, A + B, A + C)
    assert text == f"{A}<<<<<<< ours\n{B}=======\n{C}>>>>>>> theirs\n"
    assert done.conflict
    assert "too deep" in done.word
    monkeypatch.setenv("PATH", "")
    assert driven(A, A + B, A + C)[1] == A + B


def test_a_file_that_is_missing_is_a_conflict(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    files[1].write_text(A, encoding="utf-8")
    assert drive(files[0], files[1], files[2], PATH, Markers()).conflict
    assert files[1].read_text(encoding="utf-8") == A

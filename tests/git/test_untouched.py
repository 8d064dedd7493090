"""git moves and leaves a file alone: what a person saves into it later is theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from engramdown.hippocampus.store import Hippocampus
from tests.git.desk import Desk

LATER: Final = 10


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Keep two lessons of one topic in git, and merge a branch that has none of it."""
    desk = Desk(tmp_path / "work")
    store = Hippocampus(desk.top / ".engramdown")
    store.start()
    store.encode_lesson("CI is slow", topic="ci")
    store.encode_lesson("CI is red on Mondays", topic="ci")
    desk.commit("Begin")
    desk.git("switch", "--quiet", "--create", "side")
    desk.write("README", "More.\n")
    desk.commit("More")
    desk.git("switch", "--quiet", "main")
    desk.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    return desk


def delete(desk: Desk, words: str, *, seconds: int) -> Hippocampus:
    """Delete a line by hand, so many seconds after git was there, and look."""
    path = desk.top / ".engramdown" / "memory" / "lessons.md"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(line for line in lines if words not in line), encoding="utf-8")
    then = (desk.top / ".git" / "index").stat().st_mtime + seconds
    os.utime(path, (then, then))
    store = Hippocampus(desk.top / ".engramdown")
    assert store.notice()
    return store


def test_a_line_that_is_deleted_after_a_merge_stays_deleted(desk: Desk) -> None:
    store = delete(desk, "Mondays", seconds=LATER)
    assert [entry.text for entry in store.entries()] == ["CI is slow"]
    (gone,) = store.archived()
    assert (gone.entry.text, gone.by) == ("CI is red on Mondays", "person")


def test_what_was_written_together_with_a_move_is_git_s(desk: Desk) -> None:
    store = delete(desk, "Mondays", seconds=0)
    assert not store.archived()
    assert store.history()[-1].op == "checkout"


def test_what_git_brought_is_git_s_whoever_saved_it_since(desk: Desk) -> None:
    """Then nobody can tell which lines it was that a person took away."""
    desk.git("switch", "--quiet", "side")
    other = Hippocampus(desk.top / ".engramdown")
    other.notice()
    desk.write(".engramdown/memory/lessons.md", "# Lessons\n\n- CI is slow\n- Mondays\n")
    desk.commit("By hand")
    desk.git("switch", "--quiet", "main")
    Hippocampus(desk.top / ".engramdown").notice()
    desk.git("switch", "--quiet", "side")
    store = delete(desk, "Mondays", seconds=LATER)
    assert store.history()[-1].op == "checkout"
    assert not store.archived()

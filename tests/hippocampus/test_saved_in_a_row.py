"""Somebody saves, thinks better of it and saves again while a store writes: the last counts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import count, cycle
from pathlib import Path
from typing import Final

import pytest

from engramdown.hippocampus import files
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES, Style
from tests.hippocampus.test_hand_edits_noticed import (
    NEW,
    OURS,
    Change,
    add,
    build,
    delete,
    judge,
    opened,
    read,
    reword,
)


def reword_again(text: str) -> str:
    return text.replace("- Pin every image", "- Pin the base images")


def think_better(text: str) -> str:
    return text.replace("- By hand\n", "- By hand, then\n")


def take_back(text: str) -> str:
    return text.replace("- By hand\n", "")


def put_back(text: str) -> str:
    line = next(line for line in _OPENED[-1].split("\n") if "Pin the image" in line)
    return f"{text}{line}\n"


def add_more(text: str) -> str:
    return f"{text}- By hand, then\n"


_OPENED: Final[list[str]] = [""]
_STORIES: Final[dict[str, tuple[Sequence[Change], set[str]]]] = {
    "added-and-taken-back": ((add, take_back), {*OURS}),
    "added-and-another": ((add, think_better), {*OURS, "By hand, then"}),
    "reworded-twice": ((reword, reword_again), {*OURS, "Pin the base images"} - {"Pin the image"}),
    "deleted-and-put-back": ((delete, put_back), {*OURS}),
    "added-twice": ((add, add_more), {*OURS, "By hand", "By hand, then"}),
    "thrice": (
        (add, reword, think_better),
        {*OURS, "Pin every image", "By hand, then"} - {"Pin the image"},
    ),
}


class Hasty:
    """Saves one change after the other out of one buffer, from a point of a store on.

    Attributes:
        saved: How often they saved.
        seen: Whether the store looked at the file between the first save and the next.
    """

    def __init__(
        self, path: Path, number: int, gap: int, changes: Sequence[Change], style: Style
    ) -> None:
        """Save at the point ``number``, and at each ``gap`` points after it."""
        self.saved = 0
        self._path, self._number, self._gap = path, number, gap
        self._changes, self._style = changes, style
        self.seen = False
        self._buffer = read(path)
        self._count = 0
        self._steps: Iterator[None] = iter(())
        _OPENED[-1] = self._buffer

    def __call__(self, point: Point) -> None:
        self._count += 1
        looks = point.call == "exchange" and point.path == self._path
        # As one can tell by looking: the first save stands in its place, whole.
        if looks and self.saved == 1 and self._path.exists():
            self.seen = self.seen or read(self._path) == self._buffer
        due = self.saved < len(self._changes)
        if due and self._count >= self._number + self.saved * self._gap:
            self.save()
        next(self._steps, None)

    def save(self) -> None:
        """Begin the next save."""
        self.finish()
        self._buffer = self._changes[self.saved](self._buffer)
        self.saved += 1
        self._steps = self._style(self._path, self._buffer)

    def finish(self) -> None:
        """Let the editor take its last steps."""
        for _ in self._steps:
            pass


@pytest.mark.slow
@pytest.mark.parametrize("style", ["by-rename", "in-place", "with-backup"])
@pytest.mark.parametrize("story", _STORIES)
@pytest.mark.parametrize("patience", [0.0, 2.0], ids=["insisting", "giving-way"])
def test_the_last_of_several_saves_is_what_counts(
    tmp_path: Path, story: str, style: str, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", patience)
    changes, wanted = _STORIES[story]
    build(tmp_path / "built")
    for number, gap in zip(count(10), cycle((1, 7, 2, 4, 7)), strict=False):
        root = tmp_path / f"{number}"
        shutil.copytree(tmp_path / "built", root)
        lessons = root / "memory" / "lessons.md"
        person = Hasty(lessons, number, gap, changes, STYLES[style])
        opened(root, WatchedDisk(person)).encode_lesson(NEW, topic="ci")
        if not person.saved:
            break
        while person.saved < len(changes):
            person.save()
        person.finish()
        # What nobody saw was never saved; then the file reads as if our line had been taken out.
        if person.seen or story != "added-and-taken-back":
            assert judge(root, wanted | {NEW}) == "", f"at point {number}, then each {gap}"
    assert number > 20

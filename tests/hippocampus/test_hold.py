"""A person who saves all the time keeps nobody out, and none of their saves is lost."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from engramdown.hippocampus import files
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES, save
from tests.hippocampus.test_hand_edits_noticed import (
    CHANGES,
    NEW,
    OURS,
    WANTED,
    Person,
    add,
    build,
    judge,
    opened,
    read,
)


class Restless:
    """Adds a line to a file each time that a store looks at it, until there are many."""

    def __init__(self, path: Path, style: str, most: int = 400) -> None:
        """Save ``path`` in a style of :data:`STYLES`."""
        self._path, self._style, self._most = path, style, most
        self.lines: list[str] = []

    def __call__(self, point: Point) -> None:
        if point.call == "read" and point.path == self._path and len(self.lines) < self._most:
            self.lines.append(f"By hand, line {len(self.lines)}")
            save(self._style, self._path, f"{read(self._path)}- {self.lines[-1]}\n")


@pytest.mark.parametrize("style", ["in-place", "by-rename"])
def test_whoever_never_stops_saving_is_merged_behind_us(
    tmp_path: Path, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.05)
    build(tmp_path)
    person = Restless(tmp_path / "memory" / "lessons.md", style)
    opened(tmp_path, WatchedDisk(person)).encode_lesson(NEW, topic="ci")
    assert len(person.lines) < 400, "we gave way, but not for ever"
    assert judge(tmp_path, {*OURS, NEW, *person.lines}) == ""


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_save_that_is_displaced_at_any_point_is_kept(
    tmp_path: Path, change: str, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.0)
    for number in count(1, 4):
        root = tmp_path / f"{number}"
        build(root)
        person = Person(root / "memory" / "lessons.md", number, CHANGES[change], STYLES[style])
        opened(root, WatchedDisk(person)).encode_lesson(NEW, topic="ci")
        person.finish()
        if not person.begun:
            break
        assert judge(root, WANTED[change] | {NEW}) == "", f"at point {number}"
    assert number > 20


class Rereading:
    """Saves while a step is on its way, and reads the file again when the step has displaced it."""

    def __init__(self, path: Path) -> None:
        """Save ``path``."""
        self._path = path
        self.buffer = ""
        self._saved = False

    def __call__(self, point: Point) -> None:
        if point.call != "exchange" or point.path != self._path:
            return
        if point.moment == "before" and not self._saved:
            self._saved = True
            save("by-rename", self._path, f"{read(self._path)}- By hand, first\n")
        elif point.moment == "after" and not self.buffer:
            self.buffer = read(self._path)


def test_an_editor_that_saw_what_displaced_its_save_takes_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.0)
    build(tmp_path)
    lessons = tmp_path / "memory" / "lessons.md"
    person = Rereading(lessons)
    opened(tmp_path, WatchedDisk(person)).encode_lesson(NEW, topic="ci")
    assert "first" not in person.buffer
    save("by-rename", lessons, f"{person.buffer}- By hand, then\n")
    assert judge(tmp_path, {*OURS, NEW, "By hand, first", "By hand, then"}) == ""


def test_a_step_goes_on_from_the_journal_when_nobody_knows_the_text_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.0)
    build(tmp_path)
    lessons = tmp_path / "memory" / "lessons.md"
    save("in-place", lessons, add(read(lessons)))
    opened(tmp_path).encode_lesson(NEW, topic="ci")
    assert judge(tmp_path, {*OURS, NEW, "By hand"}) == ""

"""A person may save at any moment with any editor, and nothing is lost."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES, Style, save

Change = Callable[[str], str]

OURS: Final = ("Log in UTC", "Pin the image", "Retry twice")
NEW: Final = "Written by us"


def opened(root: Path, disk: Disk | None = None) -> Hippocampus:
    return Hippocampus(root, disk=disk or Disk(durable=False))


def build(root: Path) -> Hippocampus:
    """Return a store of three lessons of one topic, so that each stands in two files."""
    store = opened(root)
    for text in OURS:
        store.encode_lesson(text, topic="ci")
    return store


def texts_of(store: Hippocampus) -> list[str]:
    return [entry.text for entry in store.entries()]


def read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def add(text: str) -> str:
    return f"{text}- By hand\n"


def reword(text: str) -> str:
    return text.replace("- Pin the image", "- Pin every image")


def delete(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if "Pin the image" not in line)


CHANGES: Final[dict[str, Change]] = {"add": add, "reword": reword, "delete": delete}
WANTED: Final = {
    "add": {*OURS, "By hand"},
    "reword": {*OURS, "Pin every image"} - {"Pin the image"},
    "delete": {*OURS} - {"Pin the image"},
}


class Person:
    """Saves one change of one file from a point of a store on, a step of the editor at each."""

    def __init__(self, path: Path, number: int, change: Change, style: Style) -> None:
        """Begin at the point with this ``number``, counted from 1."""
        self.begun = False
        self._path = path
        self._left = number
        self._change = change
        self._style = style
        self._steps: Iterator[None] = iter(())
        self._buffer = ""

    def read(self) -> None:
        """Open the file in the editor, before the store begins."""
        self._buffer = read(self._path)

    def __call__(self, _: Point) -> None:
        self._left -= 1
        if self._left == 0:
            self.begun = True
            self._steps = self._style(self._path, self._change(self._buffer or read(self._path)))
        next(self._steps, None)

    def finish(self) -> None:
        """Let the editor take its last steps."""
        for _ in self._steps:
            pass


def judge(root: Path, wanted: set[str]) -> str:
    """Return what is wrong with a scope that a person and a store have changed at once."""
    store = opened(root)
    store.notice()
    texts = texts_of(store)
    names = {path.name for path in [*store.memory.iterdir(), *(store.memory / "topics").iterdir()]}
    strays = [
        name for name in names if not name.endswith(".md") and name not in (".lock", "topics")
    ]
    checks = {
        f"twice: {texts}": len(set(texts)) != len(texts),
        f"missing: {wanted - set(texts)}": wanted - set(texts),
        f"too much: {set(texts) - wanted}": set(texts) - wanted,
        f"stray files: {strays}": strays,
        "a second look finds something": opened(root).notice(),
    }
    return "; ".join(name for name, failed in checks.items() if failed)


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("stale", [pytest.param(True, id="stale"), pytest.param(False, id="fresh")])
def test_a_save_at_any_point_of_an_operation_is_kept(
    tmp_path: Path, change: str, style: str, *, stale: bool
) -> None:
    for number in count(1, 3 if stale else 2):
        root = tmp_path / f"{number}"
        build(root)
        lessons = root / "memory" / "lessons.md"
        person = Person(lessons, number, CHANGES[change], STYLES[style])
        if stale:
            person.read()
        entry = opened(root, WatchedDisk(person)).encode_lesson(NEW, topic="ci")
        person.finish()
        if not person.begun:
            break
        assert entry.text == NEW
        assert judge(root, WANTED[change] | {NEW}) == "", f"at point {number}"
    assert number > 30


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_a_save_at_any_point_of_taking_in_another_save_is_kept(tmp_path: Path, style: str) -> None:
    for number in count(1, 2):
        root = tmp_path / f"{number}"
        build(root)
        lessons = root / "memory" / "lessons.md"
        person = Person(lessons, number, add, STYLES[style])
        save("in-place", lessons, delete(reword(read(lessons)).replace("Retry twice", "Retry")))
        opened(root, WatchedDisk(person)).notice()
        person.finish()
        if not person.begun:
            break
        assert judge(root, {"Log in UTC", "Pin every image", "Retry", "By hand"}) == "", number
    assert number > 20


@pytest.mark.slow
@pytest.mark.parametrize("change", ["reword", "delete"])
def test_of_two_changes_of_one_entry_the_later_one_or_the_persons_stays(
    tmp_path: Path, change: str
) -> None:
    for number in count(1):
        root = tmp_path / f"{number}"
        entry = next(entry for entry in build(root).entries() if entry.text == "Pin the image")
        person = Person(
            root / "memory" / "lessons.md", number, CHANGES[change], STYLES["by-rename"]
        )
        person.read()
        taken_in_first = False
        try:
            opened(root, WatchedDisk(person)).update(entry.id, "Pin no image")
        except LookupError:
            taken_in_first = True
        person.finish()
        if not person.begun:
            break
        store = opened(root)
        store.notice()
        now = set(texts_of(store)) - {"Log in UTC", "Retry twice"}
        assert now in ([set()] if change == "delete" else [{"Pin no image"}, {"Pin every image"}])
        said = {item.after for step in store.why(entry.id) for item in step.changes}
        assert taken_in_first or any("Pin no image" in (text or "") for text in said)
        assert change == "delete" or any("Pin every image" in (text or "") for text in said)
    assert number > 30


@pytest.mark.soak
def test_saves_at_random_points_are_kept(tmp_path: Path, soak_seconds: float) -> None:
    end, dice = time.monotonic() + soak_seconds, random.Random()
    for number in count():
        root = tmp_path / f"{number}"
        build(root)
        path = root / "memory" / dice.choice(["lessons.md", "topics/ci.md"])
        change, style = dice.choice(list(CHANGES)), dice.choice(list(STYLES))
        at = dice.randint(1, 60)
        person = Person(path, at, CHANGES[change], STYLES[style])
        if dice.random() < 0.5:
            person.read()
        store = opened(root, WatchedDisk(person))
        store.encode_lesson(NEW, topic="ci")
        store.encode_lesson("And another", topic="ci")
        person.finish()
        wanted = WANTED[change] if person.begun else {*OURS}
        assert judge(root, wanted | {NEW, "And another"}) == "", (
            f"{path.name} {change} {style} {at}"
        )
        if time.monotonic() > end:
            break

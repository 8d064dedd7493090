"""A person saves twice while a store does one thing: it is done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from engramdown.hippocampus.store import Hippocampus
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES
from tests.hippocampus.test_hand_edits_noticed import OURS, build, judge, opened, read


class Twice:
    """Saves a line from a point of a store on, and one more from the next point on."""

    def __init__(self, path: Path, point: int) -> None:
        """Count points from 1."""
        self.lines: list[str] = []
        self._path, self._point = path, point
        self._count = 0
        self._buffer = ""
        self._steps: Iterator[None] = iter(())

    def __call__(self, _: Point) -> None:
        self._count += 1
        if self._count in (self._point, self._point + 1):
            self.finish()
            self.lines.append(f"By hand {len(self.lines)}")
            self._buffer = f"{self._buffer or read(self._path)}- {self.lines[-1]}\n"
            self._steps = STYLES["by-rename"](self._path, self._buffer)
        next(self._steps, None)

    def finish(self) -> None:
        """Let the editor take its last steps."""
        for _ in self._steps:
            pass


def forget(store: Hippocampus) -> None:
    store.forget(next(entry.id for entry in store.entries() if entry.text == "Retry twice"))


def undo(store: Hippocampus) -> None:
    store.undo()


@pytest.mark.slow
@pytest.mark.parametrize("act", [forget, undo])
def test_a_step_that_could_not_be_put_back_is_not_taken_again(
    tmp_path: Path, act: Callable[[Hippocampus], None]
) -> None:
    for number in count(1):
        root = tmp_path / f"{number}"
        build(root)
        person = Twice(root / "memory" / "lessons.md", number)
        act(opened(root, WatchedDisk(person)))
        person.finish()
        if not person.lines:
            break
        wanted = {*OURS, *person.lines} - {"Retry twice"}
        assert judge(root, wanted) == "", f"at point {number}"
    assert number > 30

"""The journal knows how it left every file, and need not be read whole to find that out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from engramdown.hippocampus.changeset import Act, new_step
from engramdown.hippocampus.history import History
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk

NAMES: Final = ("rules.md", "lessons.md", *(f"topics/t{number}.md" for number in range(20)))


class CountingDisk(Disk):
    """A disk that counts what is read of a part of a file.

    Attributes:
        taken: How many bytes that were.
    """

    def __init__(self) -> None:
        """Begin with nothing read."""
        super().__init__(durable=False)
        self.taken = 0

    def read_range(self, path: Path, start: int, end: int) -> bytes:
        self.taken += end - start
        return super().read_range(path, start, end)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


def opened(path: Path, disk: Disk | None = None) -> History:
    history = History(path, disk or Disk(durable=False))
    history.refresh()
    return history


def fill(history: History, count: int, seed: int = 1) -> dict[str, str]:
    """Let each step change, or remove, some file, and return the digest of each at the end."""
    dice, texts = random.Random(seed), dict.fromkeys(NAMES, "")
    left: dict[str, str] = {}
    for number in range(count):
        name = dice.choice(NAMES[:-1])
        after = None if number % 7 == 0 else f"{number}\n" * 50
        part = history.part(name, texts[name] or None, after)
        history.append([new_step(Act("encode", "llm"), (part,), ())])
        texts[name], left[name] = after or "", part.target
    return left


def test_the_journal_knows_how_every_file_was_left(path: Path) -> None:
    history = opened(path)
    assert history.heads() == {}
    left = fill(history, 600)
    assert b'"known": {' in path.read_bytes()
    assert history.heads() == left
    cold = opened(path)
    assert cold.heads() == left
    assert cold.head(NAMES[-1]) is None


def test_what_another_process_appends_is_known_too(path: Path) -> None:
    one, other = opened(path), opened(path)
    assert one.heads() == other.heads() == {}
    left = fill(other, 400)
    one.refresh()
    assert one.heads() == left
    (name,) = NAMES[-1:]
    one.append([new_step(Act("encode", "llm"), (one.part(name, None, "new\n"),), ())])
    other.refresh()
    assert other.heads() == opened(path).heads() == left | {name: one.head(name)}


def test_only_the_end_of_the_journal_is_read_for_it(path: Path) -> None:
    fill(opened(path), 3_000)
    assert path.stat().st_size > 2_000_000
    disk = CountingDisk()
    opened(path, disk).heads()
    assert disk.taken < 400_000


def test_a_journal_that_was_cut_or_put_together_is_read_whole(path: Path) -> None:
    left = fill(opened(path), 600)
    lines = path.read_bytes().split(b"\n")
    start = 100
    path.write_bytes(b"\n".join(lines[start:]))
    assert opened(path).heads() == left
    # A step of nobody who knew the others, and what it changed, in front of the last lines.
    mine = opened(path.with_name("other"))
    part = mine.part(NAMES[-1], None, "mine\n")
    mine.append([new_step(Act("encode", "llm"), (part,), ())])
    middle = next(at for at, line in enumerate(lines) if b'"known": {' in line)
    lines.insert(middle, mine.path.read_bytes()[:-1])
    path.write_bytes(b"\n".join(lines))
    assert opened(path).heads() == left | {NAMES[-1]: part.target}


@pytest.mark.slow
def test_a_cold_look_for_hand_edits_reads_the_end_of_the_journal(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path, disk=Disk(durable=False))
    for number in range(400):
        store.encode_lesson(f"Lesson {number} of this long story", topic=f"t{number % 3}")
    disk = CountingDisk()
    assert Hippocampus(tmp_path, disk=disk).notice() is False
    assert disk.taken < store.files.history.path.stat().st_size / 2

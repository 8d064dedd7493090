"""A batch of memories costs each of them what it costs one alone, or less."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.engram import Engram
from engramdown.hippocampus.entry import find_line, find_lines
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import parse
from engramdown.storage.disk import Disk


class CountingDisk(Disk):
    """A disk that counts how often a file is read.

    Attributes:
        reads: How often that was.
    """

    reads = 0

    def read(self, path: Path) -> bytes | None:
        self.reads += 1
        return super().read(path)


def encode(root: Path, count: int) -> int:
    """Encode a batch into two files, and return how often a file was read."""
    disk = CountingDisk(durable=False)
    store = Hippocampus(root, disk=disk)
    lessons = [Engram(f"Lesson {number}", "lesson", "project") for number in range(count)]
    rules = [Engram(f"Rule {number}", "never", "project") for number in range(count)]
    written = store.encode([*lessons, *rules, lessons[0]])
    assert [each.entry.text for each in written] == [
        *(engram.text for engram in [*lessons, *rules, lessons[0]])
    ]
    assert [each.action for each in written] == [*["encoded"] * 2 * count, "merged"]
    assert len({(each.entry.file, each.entry.line) for each in written}) == 2 * count
    return disk.reads


def test_a_batch_is_read_back_in_one_go(tmp_path: Path) -> None:
    assert encode(tmp_path / "few", 2) == encode(tmp_path / "many", 200)


PAGE = (
    "- a <!-- id:aaaaaaaa -->\n- by hand\n- b <!-- id:bbbbbbbb -->\n- c <!-- id:aaaaaaaa -->\n"
    "- see id:aaaaaaaa <!-- id:dddddddd -->\n"
)


@pytest.mark.parametrize("wanted", [{"aaaaaaaa"}, {"cccccccc"}, {"aaaaaaaa", "cccccccc"}, set()])
def test_many_lines_are_found_as_each_alone(wanted: set[str]) -> None:
    page = parse(PAGE)
    alone = {each: placed for each in wanted if (placed := find_line(page, each)) is not None}
    assert find_lines(page, wanted) == alone

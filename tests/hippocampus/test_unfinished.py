"""A hand edit of which only half was journalled is found by looking, not only by writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import save
from tests.hippocampus.test_hand_edits_noticed import build, delete, judge, opened, read


class DiedError(BaseException):
    """The process is gone."""


def test_what_follows_from_a_hand_edit_is_made_up_for_by_looking(tmp_path: Path) -> None:
    build(tmp_path)
    lessons = tmp_path / "memory" / "lessons.md"
    save("by-rename", lessons, delete(read(lessons)))

    dead = False

    def die(point: Point) -> None:
        nonlocal dead
        dead = dead or point.call == "create"
        if dead:
            raise DiedError  # Who is dead cleans nothing up.

    journal = tmp_path / "history.jsonl"
    with pytest.raises(DiedError):
        opened(tmp_path, WatchedDisk(die)).notice()
    *lines, _ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines))  # The power was cut between the two.
    assert b'"op": "edit"' in lines[-1]
    again = opened(tmp_path)
    assert again.notice()
    assert not again.notice()
    assert [found.entry.text for found in again.archived()] == ["Pin the image"]
    assert judge(tmp_path, {"Log in UTC", "Retry twice"}) == ""

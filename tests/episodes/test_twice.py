"""Law: what is tried again because of an error stands in the transcript once."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import number
from tests.episodes.disks import Fault, FaultyDisk
from tests.transcripts.test_session_log import line, opened, say, start, texts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a session that did not begin."""
    return tmp_path / "s.jsonl"


@pytest.mark.parametrize("others", [0, 2])
def test_what_could_not_be_taken_back_is_not_written_again(path: Path, others: int) -> None:
    disk = FaultyDisk()
    log, other = opened(path, disk, durable=True), opened(path)
    say(log, "a")
    again = line("b")
    disk.faults = [Fault("sync", name="s.jsonl", times=1), Fault("truncate", times=1)]
    with pytest.raises(OSError, match="Input/output error"):
        log.append([again], start)
    for _ in range(others):
        say(other, "c")
    assert log.append([again], start) == 2
    assert texts(path) == ["a", "b", *["c"] * others]
    assert log.append([again, line("d")], start) == 3 + others
    assert texts(path)[-2:] == ["b", "d"]


def test_nor_if_it_lacks_only_its_end(path: Path) -> None:
    disk = FaultyDisk()
    log = opened(path, disk)
    say(log, "a")
    again = line("b")
    all_but_one = len(number(2, again)) - 1
    disk.faults = [Fault("write", after=all_but_one, times=1), Fault("truncate", times=1)]
    with pytest.raises(OSError, match="Input/output error"):
        log.append([again], start)
    assert log.append([again, line("c")], start) == 2
    assert texts(path) == ["a", "b", "c"]


class UnlockingDisk(Disk):
    """A disk that cannot let go of a lock."""

    failed = 0

    def unlock(self, descriptor: int) -> None:
        self.failed += descriptor > 0
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def test_what_was_written_before_the_lock_failed_is_acknowledged(path: Path) -> None:
    disk = UnlockingDisk()
    log = opened(path, disk)
    say(log, "a")
    say(opened(path), "b")
    say(log, "c")
    assert disk.failed == 2
    assert texts(path) == ["a", "b", "c"]

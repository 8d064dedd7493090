"""With full durability a power cut takes no line and leaves no text; without a sync it does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.mounted import mounted
from tests.crash.mutants import UnsyncedFolders, UnsyncedLines
from tests.crash.transcript_cuts import cut, record
from tests.crash.volume import Volume


class WithoutNotes(Disk):
    """A disk on which nothing says that a text has no line yet."""

    def begin(self, path: Path) -> Path:
        """Return a note that is not there."""
        return path


def cuts(folder: Path, disk: Disk | None) -> Iterator[Trial]:
    with mounted(folder / "volume") as mount:
        mount.volume = Volume.of({"p": None})
        recording = record(mount, "full", random.Random(3), disk)
        yield from cut(mount, recording, random.Random(1), [])


def test_a_power_cut_takes_no_line_that_was_acknowledged(tmp_path: Path) -> None:
    found = list(cuts(tmp_path, None))
    assert [trial for trial in found if trial.wrong] == []
    assert sum(trial.count for trial in found) >= 20


@pytest.mark.parametrize("mutant", [UnsyncedLines, UnsyncedFolders, WithoutNotes])
def test_without_one_of_these_something_is_wrong(mutant: type[Disk], tmp_path: Path) -> None:
    assert any(trial.wrong for trial in cuts(tmp_path, mutant()))

"""A power cut takes no summary that was acknowledged, and puts none over other words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.gist_cuts import compact, cut
from tests.crash.mounted import mounted
from tests.crash.mutants import UnsyncedFolders, UnsyncedLines
from tests.crash.recordings import SCOPE
from tests.crash.volume import Volume


class UnsyncedTranscripts(Disk):
    """A disk that does not sync what is summarised."""

    def sync_file(self, path: Path) -> None:
        """Do nothing."""


def cuts(folder: Path, disk: Disk | None) -> Iterator[Trial]:
    with mounted(folder / "volume") as mount:
        mount.volume = Volume.of({"p": None, SCOPE: None})
        known = compact(mount, random.Random(3), disk)
        yield from cut(mount, known, random.Random(1))


def test_a_power_cut_leaves_every_word_covered_once(tmp_path: Path) -> None:
    found = list(cuts(tmp_path, None))
    assert [trial for trial in found if trial.wrong] == []
    assert sum(trial.count for trial in found) >= 20


@pytest.mark.parametrize("mutant", [UnsyncedLines, UnsyncedFolders, UnsyncedTranscripts])
def test_without_one_of_these_something_is_wrong(mutant: type[Disk], tmp_path: Path) -> None:
    assert any(trial.wrong for trial in cuts(tmp_path, mutant()))

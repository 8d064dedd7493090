"""A power cut takes no skill that was acknowledged; without a part of the protocol it does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from engramdown.storage.disk import Disk
from engramdown.storage.exchange import Swap
from tests.crash.campaign import Trial
from tests.crash.mounted import mounted
from tests.crash.mutants import UnsyncedFiles, UnsyncedFolders
from tests.crash.skill_cuts import cut, record
from tests.crash.volume import Volume


def cuts(folder: Path, disk: type[Disk], seed: int) -> Iterator[Trial]:
    with mounted(folder / "volume") as mount:
        mount.volume = Volume.of({"p": None})
        stages = record(mount, random.Random(seed), disk)
        yield from cut(mount, stages, random.Random(1), [])


@pytest.mark.parametrize("seed", range(4))
def test_a_power_cut_takes_no_skill_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    found = list(cuts(tmp_path, Disk, seed))
    assert [trial for trial in found if trial.wrong] == []
    assert sum(trial.count for trial in found) >= 20


@pytest.mark.parametrize("mutant", [UnsyncedFiles, UnsyncedFolders])
def test_without_a_sync_something_is_wrong(mutant: type[Disk], tmp_path: Path) -> None:
    assert any(trial.wrong for trial in cuts(tmp_path, mutant, 1))


def test_a_store_that_forgets_what_it_displaced_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Swap, "_put_right", lambda self, left, *_: self._drop(left))
    with pytest.raises(AssertionError, match="what was saved in between is gone"):
        [*chain.from_iterable(cuts(tmp_path / f"{seed}", Disk, seed) for seed in range(20))]

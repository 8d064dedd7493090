"""A power cut takes nothing of the journal and the notes; without a sync it does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engramdown.errors import EngramdownError
from engramdown.journal.journal import Journal
from engramdown.journal.working_notes import WorkingNotes
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.crash.journal_cuts import cut, record
from tests.crash.mounted import mounted
from tests.crash.mutants import UnsyncedFiles, UnsyncedFolders
from tests.crash.volume import Volume
from tests.hippocampus.disks import Point, Watch, WatchedDisk

NOON = datetime(2026, 2, 27, 12, 5, tzinfo=UTC)


def cuts(folder: Path, disk: type[Disk], seed: int) -> Iterator[Trial]:
    with mounted(folder / "volume") as mount:
        mount.volume = Volume.of({"p": None})
        stages = record(mount, random.Random(seed), disk)
        yield from cut(mount, stages, random.Random(1))


@pytest.mark.parametrize("seed", range(4))
def test_a_power_cut_takes_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    found = list(cuts(tmp_path, Disk, seed))
    assert [trial for trial in found if trial.wrong] == []
    assert sum(trial.count for trial in found) >= 20


@pytest.mark.parametrize("mutant", [UnsyncedFiles, UnsyncedFolders])
def test_without_a_sync_something_is_wrong(mutant: type[Disk], tmp_path: Path) -> None:
    assert any(
        trial.wrong for seed in range(3) for trial in cuts(tmp_path / f"{seed}", mutant, seed)
    )


def points(folder: Path, kind: str) -> list[tuple[str, str, int]]:
    """Return each point that a write passes, with how many times it was passed before."""
    passed: list[tuple[str, str, int]] = []

    def watch(point: Point) -> None:
        count = sum(each[:2] == (point.call, point.moment) for each in passed)
        passed.append((point.call, point.moment, count))

    write(prepared(folder), kind, WatchedDisk(watch))
    return passed


def prepared(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for kind in ("journal", "notes"):
        write(folder, kind, Disk(durable=False), "first")
    return folder


def write(root: Path, kind: str, disk: Disk, text: str = "second") -> None:
    if kind == "journal":
        Journal(root, disk=disk).write(text, at=NOON)
    else:
        WorkingNotes(root, "talk", disk=disk).write(text)


def said(root: Path, kind: str) -> list[str]:
    if kind == "journal":
        day = Journal(root).days()[0]
        return [section.text for section in day.sections]
    notes = WorkingNotes(root, "talk")
    return [*(version.text for version in reversed(notes.history())), notes.read().text]


def failing(call: str, moment: str, count: int) -> Watch:
    """Return what lets a call fail after it was passed so many times."""
    left = count

    def watch(point: Point) -> None:
        nonlocal left
        if (point.call, point.moment) == (call, moment):
            left -= 1
            if left == -1:
                raise OSError(28, "No space left on device", str(point.path))

    return watch


@pytest.mark.parametrize("kind", ["journal", "notes"])
def test_an_error_anywhere_leaves_all_as_it_was_or_as_it_should_be(
    tmp_path: Path, kind: str
) -> None:
    for number, (call, moment, count) in enumerate(points(tmp_path / "points", kind)):
        root = prepared(tmp_path / f"{number}")
        where = f"{moment} {call} {count}"
        watch = failing(call, moment, count)
        try:
            write(root, kind, WatchedDisk(watch))
        except (EngramdownError, OSError):
            assert said(root, kind) in (["first"], ["first", "second"]), where
        else:
            assert said(root, kind) == ["first", "second"], where
        write(root, kind, Disk(durable=False), "third")
        texts = said(root, kind)
        assert (texts[0], texts[-1]) == ("first", "third"), where
        assert not list(root.rglob("*.tmp")), where
        assert not list(root.rglob("*.part")), where

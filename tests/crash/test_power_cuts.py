"""A power cut takes nothing that was acknowledged; without a part of the protocol it does.

The many states are for the campaign; here are a few of each operation, and every mutant.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Thread

import pytest

from engramdown.errors import EngramdownError
from engramdown.storage.disk import Disk
from engramdown.storage.locks import ScopeLock
from tests.crash.campaign import Trial
from tests.crash.mounted import Mount, mounted
from tests.crash.mutants import DISKS, LOCKS, PATCHES, Overwrites, Swaps, with_lock, without_look
from tests.crash.power import cut, prepared
from tests.crash.power_cut import crash_states
from tests.crash.recordings import SCOPE, Make, Recorder
from tests.crash.scopes import OPERATIONS, opened
from tests.crash.volume import Volume

FEW = 6
WRITERS, EACH = 4, 5


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    with mounted(tmp_path / "volume") as made:
        yield made


def cuts(mount: Mount, folder: Path, name: str) -> Iterator[Trial]:
    recorder = Recorder(mount, prepared(folder / name, name))
    assert recorder.act(name, OPERATIONS[name].act)
    yield from cut(mount, recorder, random.Random(1), FEW)


def is_seen(mount: Mount, folder: Path, make: Make | None = None) -> bool:
    """Whether a power cut in one of three operations shows that something is wrong."""
    for name in ("encode-batch", "encode-first", "encode-and-take-in"):
        recorder = Recorder(mount, prepared(folder / name, name), make)
        recorder.act(name, OPERATIONS[name].act)
        if any(trial.wrong for trial in cut(mount, recorder, random.Random(1), 40)):
            return True
    return False


@pytest.mark.parametrize("name", ["encode-first", "encode-and-take-in", "update"])
def test_a_power_cut_takes_nothing_that_was_acknowledged(
    name: str, mount: Mount, tmp_path: Path
) -> None:
    found = list(cuts(mount, tmp_path, name))
    assert [trial for trial in found if trial.wrong] == []
    assert sum(trial.count for trial in found) >= 40


@pytest.mark.parametrize("mutant", DISKS)
def test_a_disk_without_a_part_of_the_protocol_is_seen(
    mutant: str, mount: Mount, tmp_path: Path
) -> None:
    assert is_seen(mount, tmp_path, lambda root: opened(root, DISKS[mutant]()))


@pytest.mark.parametrize("mutant", PATCHES)
def test_a_store_without_a_part_of_the_protocol_is_seen(
    mutant: str, mount: Mount, tmp_path: Path
) -> None:
    with PATCHES[mutant]():
        assert is_seen(mount, tmp_path)


def save_in_the_window(root: Path, disk: Callable[[Callable[[], None]], Disk]) -> set[str]:
    """Let a person save while a rule is written, and return what is remembered of both."""
    store = opened(root)
    store.encode_rule("Before", "always")
    path = store.memory / "rules.md"
    text = path.read_text(encoding="utf-8") + "- By hand\n"

    def window() -> None:
        path.write_text(text, encoding="utf-8")

    opened(root, disk(window)).encode_rule("By an assistant", "always")
    opened(root).notice()
    return {entry.text for entry in opened(root).entries()}


def test_a_save_right_before_the_exchange_is_kept_and_a_rename_loses_it(tmp_path: Path) -> None:
    both = {"Before", "By hand", "By an assistant"}
    assert save_in_the_window(tmp_path / "exchange", Swaps) == both
    assert save_in_the_window(tmp_path / "rename", Overwrites) == both - {"By hand"}
    with without_look():
        assert save_in_the_window(tmp_path / "blind", Swaps) == both - {"By hand"}


class SlowDisk(Disk):
    """A disk on which the others come in between."""

    def exchange(self, new: Path, path: Path) -> None:
        time.sleep(0.001)
        super().exchange(new, path)


def race(root: Path, lock: AbstractContextManager[object]) -> list[str]:
    """Let four threads write at once, and return what is wrong afterwards."""
    wrong: list[str] = []

    def write(writer: int) -> None:
        store = opened(root, SlowDisk(durable=False))
        for number in range(EACH):
            try:
                store.encode_lesson(f"Number {number} of writer {writer}")
            except (EngramdownError, OSError) as error:
                wrong.append(f"{writer}: {error}")

    with lock:
        threads = [Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    store = opened(root)
    store.notice()
    wanted = [
        f"Number {number} of writer {writer}" for writer in range(WRITERS) for number in range(EACH)
    ]
    texts = sorted(entry.text for entry in store.entries())
    wrong += [] if texts == sorted(wanted) else [f"{len({*texts})} of {len(wanted)}: {texts}"]
    return wrong + [str(step) for step in store.history() if step.by == "person"]


def test_a_lock_beside_the_file_keeps_four_writers_apart(tmp_path: Path) -> None:
    assert race(tmp_path, nullcontext()) == []


@pytest.mark.parametrize("mutant", LOCKS)
def test_another_lock_does_not(mutant: str, tmp_path: Path) -> None:
    kind: type[ScopeLock] = LOCKS[mutant]
    rounds = (race(tmp_path / f"{number}", with_lock(kind)) for number in range(5))
    assert any(rounds)


def test_what_is_not_synced_may_be_there_in_part() -> None:
    volume = Volume.of({"a": b"old"})
    volume.write(volume.find("a"), b"old and new")
    volume.create("b")
    images = list(crash_states(volume, 2, "weak", random.Random(1), 100))
    assert {image["a"] for image in images} >= {
        b"old",
        b"old and new",
        b"old and",
        b"old" + bytes(8),
    }
    assert {"b" in image for image in images} == {True, False}


def test_names_reach_an_ordered_disk_in_their_order_and_a_weak_one_in_any() -> None:
    volume = Volume.of({})
    for name in ("first", "second"):
        volume.create(name)
    both = [{}, {"first": b""}, {"first": b"", "second": b""}]
    ordered = list(crash_states(volume, 2, "ordered", random.Random(1), 100))
    assert ordered == both
    weak = list(crash_states(volume, 2, "weak", random.Random(1), 100))
    assert [image for image in weak if image not in both] == [{"second": b""}]


def test_what_was_synced_is_there() -> None:
    volume = Volume.of({"f": None})
    number = volume.create("f/a")
    volume.write(number, b"text")
    volume.sync(number)
    ordered = list(crash_states(volume, 3, "ordered", random.Random(1), 100))
    assert ordered == [{"f": None, "f/a": b"text"}]
    weak = list(crash_states(volume, 3, "weak", random.Random(1), 100))
    assert weak == [{"f": None}, {"f": None, "f/a": b"text"}]
    volume.sync(volume.find("f"))
    assert list(crash_states(volume, 4, "weak", random.Random(1), 100)) == ordered


def test_a_file_that_changed_on_the_volume_is_what_the_system_would_show(mount: Mount) -> None:
    root = mount.place / SCOPE
    mount.volume = Volume.of({"p": None})
    opened(root).encode_lesson("On a volume")
    assert not root.exists() or root.is_dir()
    image = mount.volume.image()
    assert b"- On a volume <!--" in (image[f"{SCOPE}/memory/lessons.md"] or b"")

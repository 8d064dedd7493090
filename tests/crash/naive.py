"""The same little store, written as one writes it first, and what the experiments do to it.

``python -m tests.crash.naive --seconds N`` tries four naive ways and ours, and prints the table of
docs/reliability.md. Promises: each way is an honest attempt and does nothing else than it says;
all meet the same experiments. A memory is lost if it was acknowledged and is gone; a person's line
if they saved it and it is gone.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.measure import table
from engramdown.errors import EngramdownError
from engramdown.hippocampus.changeset import Act
from engramdown.hippocampus.store import Hippocampus
from tests.crash.mounted import Mount, mounted
from tests.crash.power_cut import RULES, crash_states
from tests.crash.volume import Killed, Volume

_BEFORE: Final = tuple(f"Known before, number {number}" for number in range(5))
_NEW: Final = "Learned now"
_MOST: Final = 20
_EACH: Final = 10
_TEXT: Final = re.compile(r"^- (.*?)(?: <!-- .* -->)?$", re.MULTILINE)


class ReadAppendWrite:
    """Reads the file, adds a line, writes the file back."""

    def __init__(self, root: Path) -> None:
        """Open the store of a folder; nothing is created yet."""
        self.path = root / "lessons.md"

    def add(self, text: str) -> None:
        """Add a lesson; it is safe when this returns."""
        self.write(_read(self.path) + f"- {text}\n".encode())

    def write(self, data: bytes) -> None:
        """Let the file hold ``data``."""
        _write(self.path, data)

    def mend(self) -> None:
        """Do what a new process does first."""


class _TempAndRename(ReadAppendWrite):
    """Writes another file and renames it over the old one, without a sync."""

    synced = False

    def write(self, data: bytes) -> None:
        temporary = self.path.with_name(f".lessons.{os.getpid()}-{os.urandom(4).hex()}.tmp")
        _write(temporary, data, synced=self.synced)
        temporary.replace(self.path)


class _LockAndReplace(_TempAndRename):
    """The same, synced, under a lock on the file."""

    synced = True

    def add(self, text: str) -> None:
        with _locked(self.path):
            super().add(text)


class _LockAndCheck(_LockAndReplace):
    """The same; it begins anew if the file is not as it was read when it is about to rename."""

    def add(self, text: str) -> None:
        with _locked(self.path):
            while True:
                before = _read(self.path)
                after = before + f"- {text}\n".encode()
                if _digest(_read(self.path)) == _digest(before):
                    self.write(after)
                    return


class _Ours(ReadAppendWrite):
    """This library."""

    def __init__(self, root: Path) -> None:
        super().__init__(root / "memory")
        self._store = Hippocampus(root)

    def add(self, text: str) -> None:
        self._store.encode_lesson(text)

    def mend(self) -> None:
        self._store.files.change(Act("nothing", "user"), lambda _: None)
        self._store.notice()


WAYS: Final[dict[str, type[ReadAppendWrite]]] = {
    "read, append, write": ReadAppendWrite,
    "temp and rename": _TempAndRename,
    "lock and replace": _LockAndReplace,
    "lock and digest check": _LockAndCheck,
    "engramdown": _Ours,
}


def _kills(way: type[ReadAppendWrite], folder: Path, dice: random.Random) -> tuple[int, int]:
    """Kill it at every change of one addition; count how often something is torn or lost."""
    del dice
    bad = 0
    with mounted(folder / "volume") as mount:
        begun, root = _begun(mount, way)
        for left in count():
            mount.volume = Volume.of(begun)
            mount.volume.left = left
            try:
                way(root).add(_NEW)
            except Killed:
                mount.volume.left = None
                mount.forget()
            else:
                return bad, left
            bad += _is_bad(way, root, acknowledged=False)
    raise RuntimeError("an addition never ended")


def _power_cuts(way: type[ReadAppendWrite], folder: Path, dice: random.Random) -> tuple[int, int]:
    """Cut the power behind every change of one addition; count the states that are bad."""
    bad, known = 0, set[int]()
    with mounted(folder / "volume") as mount:
        begun, root = _begun(mount, way)
        recorded = mount.volume = Volume.of(begun)
        way(root).add(_NEW)
        last = len(recorded.log)
        for done in range(last + 1):
            for rules in RULES:
                for image in crash_states(recorded, done, rules, dice, _MOST):
                    key = hash((frozenset(image.items()), done == last))
                    if key not in known:
                        known.add(key)
                        mount.volume = Volume.of(image)
                        bad += _is_bad(way, root, acknowledged=done == last)
    return bad, len(known)


def _full_disk(way: type[ReadAppendWrite], folder: Path, dice: random.Random) -> tuple[int, int]:
    """Let the disk be full after some bytes of one addition; count what is torn or lost."""
    del dice
    bad = 0
    with mounted(folder / "volume") as mount:
        begun, root = _begun(mount, way)
        rooms = range(0, 3_000, 50)
        for room in rooms:
            mount.volume, mount.room = Volume.of(begun), room
            try:
                way(root).add(_NEW)
                done = True
            except (OSError, EngramdownError):
                done = False
            mount.room = None
            mount.forget()
            bad += _is_bad(way, root, acknowledged=done)
    return bad, len(rooms)


def _writers(
    number: int, way: type[ReadAppendWrite], folder: Path, dice: random.Random
) -> tuple[int, int]:
    """Let some processes write at once; count what is lost of what was acknowledged."""
    del dice
    children = []
    for writer in range(number):
        child = os.fork()
        if not child:
            _be_writer(way, folder, writer)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    said = [line for path in folder.glob("said-*") for line in _lines(path)]
    there = {*_texts(_read(way(folder / "scope").path).decode("utf-8", "replace"))}
    return sum(line not in there for line in said), len(said)


def _be_writer(way: type[ReadAppendWrite], folder: Path, writer: int) -> None:
    """Write in a child process, and note what was acknowledged."""
    (folder / "scope").mkdir(exist_ok=True)
    store, said = way(folder / "scope"), []
    for number in range(_EACH):
        text = f"Lesson {number} of writer {writer}"
        try:
            store.add(text)
            said.append(text)
        except (OSError, EngramdownError):
            continue
    (folder / f"said-{writer}").write_text("\n".join(said), encoding="utf-8")
    os._exit(0)


def _editors(way: type[ReadAppendWrite], folder: Path, dice: random.Random) -> tuple[int, int]:
    """Let a person save old buffers while four agents add; count what either loses."""
    root = folder / "scope"
    root.mkdir()
    agents, said = [way(root) for _ in range(4)], list[str]()
    agents[0].add("The first lesson")
    for turn in range(_EACH):
        path = agents[0].path
        buffer = path.read_text(encoding="utf-8")
        for agent in dice.sample(agents, dice.randrange(1, 4)):
            said.append(f"Lesson {len(said)} of an agent")
            agent.add(said[-1])
        said.append(f"Line {turn} of a person")
        path.write_text(f"{buffer}- {said[-1]}\n", encoding="utf-8")
    agents[0].mend()
    agents[0].add("The last lesson")
    there = {*_texts(path.read_text(encoding="utf-8"))}
    return sum(text not in there for text in said), len(said)


_Experiment = Callable[[type[ReadAppendWrite], Path, random.Random], tuple[int, int]]
EXPERIMENTS: Final[dict[str, _Experiment]] = {
    "kills": _kills,
    "power cuts": _power_cuts,
    "full disk": _full_disk,
    **{f"{number} writers": partial(_writers, number) for number in (2, 4, 8)},
    "old buffers": _editors,
}
"""Each returns how much went wrong, and of how much."""


def main(arguments: list[str] | None = None) -> int:
    """Try every way in every experiment, again and again, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.naive")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all of it (60)")
    parser.add_argument("--seed", type=int, default=1, help="what the dice begin with (1)")
    said = parser.parse_args(arguments)
    end, dice = time.monotonic() + said.seconds, random.Random(said.seed)
    bad, tried = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for number in count():
        for name, experiment in EXPERIMENTS.items():
            for title, way in WAYS.items():
                # Once all of it, and then as long as there is time.
                if number and time.monotonic() > end:
                    sys.stdout.write(f"{_told(bad, tried)}\n")
                    return 0
                with tempfile.TemporaryDirectory() as folder:
                    found = experiment(way, Path(folder), dice)
                bad[title, name] += found[0]
                tried[title, name] += found[1]
    return 0


def _told(bad: Counter[tuple[str, str]], tried: Counter[tuple[str, str]]) -> str:
    rows = [("wrong, of so many", *EXPERIMENTS)]
    for title in WAYS:
        cells = (f"{bad[title, name]:,} of {tried[title, name]:,}" for name in EXPERIMENTS)
        rows.append((title, *cells))
    return table(rows)


def _begun(mount: Mount, way: type[ReadAppendWrite]) -> tuple[dict[str, bytes | None], Path]:
    """Return a volume with five lessons on it, and where they are."""
    mount.volume = Volume.of({"scope": None})
    root = mount.place / "scope"
    store = way(root)
    for text in _BEFORE:
        store.add(text)
    return mount.volume.image(), root


def _is_bad(way: type[ReadAppendWrite], root: Path, *, acknowledged: bool) -> bool:
    """Open what is left, and say whether anything is lost or torn."""
    store = way(root)
    store.mend()
    texts = _texts(_read(store.path).decode("utf-8", "replace"))
    wanted = [[*_BEFORE, _NEW]] if acknowledged else [[*_BEFORE], [*_BEFORE, _NEW]]
    return texts not in wanted


def _texts(text: str) -> list[str]:
    return _TEXT.findall(text)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def _write(path: Path, data: bytes, *, synced: bool = False) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        if synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())

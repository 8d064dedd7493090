"""How often things were used: counts in the folder of a scope, not for git.

Any number of processes count at once, and none is lost but to a crash in the middle of one, or
where a counter does not wait for the others. A file is bounded: what is long is folded to a line
for each name and one of today. A line that cannot be read is skipped. Counting is never an error:
where it is not possible, nothing is counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import moment
from engramdown.errors import StoreError
from engramdown.storage.disk import Disk, json_lines
from engramdown.storage.locks import ScopeLock

# The bytes of a file, for each name that it may hold, before it is folded.
_ROOM: Final = 128


class Used(NamedTuple):
    """How often something was used.

    Attributes:
        times: How often.
        last: When it was used last, in UTC, or ``""``.
    """

    times: int = 0
    last: str = ""


class Counter(NamedTuple):
    """A file of counts.

    Attributes:
        name: Its name, without the suffix.
        most: How many names it keeps when it is folded: those used last.
        patience: How long to wait for other processes, in seconds.
    """

    name: str
    most: int
    patience: float


# Reads of skills, by scope and label: ``project/charts``.
SKILLS: Final = Counter("skill-usage", 500, 1.0)
# How often a memory was shown or recalled: ``shown/k3v9q2ht``. No prompt waits for it.
MEMORIES: Final = Counter("memory-usage", 5_000, 0.05)


class Usage:
    """The counts of one file in the folder of a scope."""

    def __init__(self, root: Path, counter: Counter = SKILLS, disk: Disk | None = None) -> None:
        """Count in ``root``, which is not created."""
        self._root = root
        self._counter = counter
        self._path = root / f"{counter.name}.jsonl"
        self._disk = disk or Disk(durable=False)

    def counts(self, before: str = "") -> dict[str, Used]:
        """Return how often each was used, by name.

        Args:
            before: Count only what was used before this moment, in UTC as :func:`moment` says it.
        """
        try:
            return _counted(each for each in self._lines() if not before or each[1].last < before)
        except (OSError, StoreError):
            return {}

    def add(self, names: Iterable[str]) -> bool:
        """Count a use of each name; return ``False`` if that failed."""
        line = _line([*names], Used(1, moment()))

        def append() -> None:
            size, _ = self._disk.identity(self._path)
            if size > self._counter.most * _ROOM:
                self._fold(())
            self._disk.append(self._path, line)

        return self._alone(append)

    def drop(self, names: Collection[str]) -> bool:
        """Forget how often these were used; return ``False`` if that failed."""
        if not self._path.exists():
            return True
        return self._alone(lambda: self._fold(names))

    def _alone(self, write: Callable[[], None]) -> bool:
        if not self._root.is_dir():
            return False
        lock = ScopeLock(self._root / f"{self._counter.name}.lock", self._counter.patience)
        try:
            self._disk.check_writable(self._root)
            with lock.hold():
                write()
        except (OSError, StoreError):
            return False
        return True

    def _fold(self, without: Collection[str]) -> None:
        """Rewrite the file with a line per name and one for today, of those used last."""
        uses = [each for each in self._lines() if each[0] not in without]
        today = midnight()
        early = _counted(each for each in uses if each[1].last < today)
        late = _counted(each for each in uses if each[1].last >= today)
        counts = sorted([*early.items(), *late.items()], key=lambda each: each[1].last)
        newest = counts[-self._counter.most :]
        self._disk.create(self._path, b"".join(_line([name], it) for name, it in sorted(newest)))

    def _lines(self) -> Iterator[tuple[str, Used]]:
        for record in json_lines(self._disk.read(self._path) or b""):
            # Older files name one skill in each line.
            names = record.get("names", [record.get("skill")])
            count, last = record.get("count"), record.get("last")
            if isinstance(last, str) and type(count) is int and count > 0:
                for name in names if isinstance(names, list) else ():
                    if isinstance(name, str):
                        yield name, Used(count, last)


def midnight() -> str:
    """Return when the day began, in UTC as :func:`moment` says it."""
    return moment()[: len("2026-01-01")]


def _line(names: list[str], used: Used) -> bytes:
    record = {"names": names, "count": used.times, "last": used.last}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _counted(uses: Iterable[tuple[str, Used]]) -> dict[str, Used]:
    found: dict[str, Used] = {}
    for name, used in uses:
        before = found.get(name, Used())
        found[name] = Used(before.times + used.times, max(before.last, used.last))
    return found

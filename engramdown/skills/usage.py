"""How often skills were read: counts that stand beside what git tracks, in the folder of a scope.

Any number of processes count at once, and none is lost but to a crash in the middle of
one; the file is bounded: what is long is folded to a line for each skill and one of today; a line
that cannot be read is skipped. Counting is never an error: where it is not possible, nothing is
counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.clock import moment
from engramdown.errors import StoreError
from engramdown.storage.disk import Disk
from engramdown.storage.locks import ScopeLock

NAME: Final = "skill-usage.jsonl"
"""The file, in the folder of a scope; no page of ours, nor for git."""

_LARGEST: Final = 64 * 1024
_MOST: Final = 500
_PATIENCE: Final = 1.0


class Used(NamedTuple):
    """How often a skill was read.

    Attributes:
        times: How often.
        last: When it was read last, in UTC, or ``""``.
    """

    times: int = 0
    last: str = ""


class Usage:
    """The counts in the folder of a scope."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        """Count in ``root``, which is not created."""
        self._root = root
        self._path = root / NAME
        self._disk = disk or Disk(durable=False)

    def counts(self, before: str = "") -> dict[str, Used]:
        """Return how often each skill was read, by scope and label: ``project/charts``.

        Args:
            before: Count only what was read before this moment, in UTC as :func:`moment` says it.
        """
        try:
            data = self._disk.read(self._path) or b""
        except (OSError, StoreError):
            return {}
        return _counted(told for told in _lines(data) if not before or told[1].last < before)

    def add(self, scope: str, label: str) -> bool:
        """Count that a skill was read; whether it could be."""
        if not self._root.is_dir():
            return False
        line = _line(f"{scope}/{label}", Used(1, moment()))
        try:
            self._disk.check_writable(self._root)
            with ScopeLock(self._root / "skill-usage.lock", _PATIENCE).hold():
                size, _ = self._disk.identity(self._path)
                if size > _LARGEST:
                    self._fold()
                self._disk.append(self._path, line)
        except (OSError, StoreError):
            return False
        return True

    def _fold(self) -> None:
        """Say the same in a line for each skill, and one of today, of those that were read last."""
        told, today = [*_lines(self._disk.read(self._path) or b"")], midnight()
        early = _counted(each for each in told if each[1].last < today)
        late = _counted(each for each in told if each[1].last >= today)
        counts = [*early.items(), *late.items()]
        newest = sorted(counts, key=lambda each: each[1].last, reverse=True)[:_MOST]
        self._disk.create(self._path, b"".join(_line(*each) for each in sorted(newest)))


def midnight() -> str:
    """Return when the day began, in UTC as :func:`moment` says it."""
    return moment()[: len("2026-01-01")]


def _line(skill: str, used: Used) -> bytes:
    record = {"skill": skill, "count": used.times, "last": used.last}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _counted(told: Iterable[tuple[str, Used]]) -> dict[str, Used]:
    found: dict[str, Used] = {}
    for skill, used in told:
        before = found.get(skill, Used())
        found[skill] = Used(before.times + used.times, max(before.last, used.last))
    return found


def _lines(data: bytes) -> Iterator[tuple[str, Used]]:
    for line in filter(None, data.split(b"\n")):
        try:
            record: Any = json.loads(line)
            skill, count, last = record["skill"], record["count"], record["last"]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        is_sound = isinstance(skill, str) and isinstance(last, str) and type(count) is int
        if is_sound and count > 0:
            yield skill, Used(count, last)

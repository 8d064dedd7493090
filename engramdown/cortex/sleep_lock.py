"""The lock of a sleeper: one process or thread sleeps on a scope at a time.

Promises: nobody waits for it; whoever cannot have it is told who has, and since when; the system
lets go of it when its holder dies. It keeps no writer out: that is another lock, held for moments.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import moment
from engramdown.errors import StoreError
from engramdown.forks import in_child
from engramdown.storage import locks
from engramdown.storage.safe_open import open_regular

__all__ = ["NAME", "Holder", "SleepLock"]

NAME: Final = "sleep.lock"
"""The name of the file, in the folder of a scope."""

_NOTE_SIZE: Final = 128
_held: Final = set[int]()


class Holder(NamedTuple):
    """Who sleeps on a scope.

    Attributes:
        pid: The number of its process, or 0 if it is not known.
        since: Since when, UTC, or ``""``.
    """

    pid: int
    since: str

    def __str__(self) -> str:
        """Return it in words."""
        return f"process {self.pid} since {self.since}" if self.pid else "another process"


class SleepLock:
    """A file in the folder of a scope that one sleeper holds at a time."""

    def __init__(self, root: Path, name: str = NAME) -> None:
        """Name the file in ``root``, which must exist when the lock is taken."""
        self.path = root / name

    @contextlib.contextmanager
    def hold(self) -> Iterator[Holder | None]:
        """Try to hold the lock for the length of a ``with`` block; yield who holds it instead.

        Raises:
            StoreError: If the file cannot be opened.
        """
        try:
            descriptor = open_regular(self.path, os.O_RDWR | os.O_CREAT, wanted="the lock")
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be opened: {error.strerror}") from error
        _held.add(descriptor)
        try:
            if not self._taken(descriptor) or not self._is_here(descriptor):
                yield self._holder()
                return
            _write(descriptor, {"pid": os.getpid(), "since": moment()})
            try:
                yield None
            finally:
                _let_go(descriptor)
        finally:
            _close(descriptor)

    def _taken(self, descriptor: int) -> bool:
        """Lock the open file without waiting; closing it, or a death, lets go."""
        try:
            return locks.take(descriptor)
        except OSError as error:
            raise StoreError(f"{self.path}: could not be locked: {error.strerror}") from error

    def _is_here(self, descriptor: int) -> bool:
        """Whether the lock has its name still; one on a removed file keeps nobody out."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        return False

    def _holder(self) -> Holder:
        try:
            note = json.loads(self.path.read_bytes())
            return Holder(max(int(note["pid"]), 0), str(note["since"]))
        except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError):
            # It has just begun or ended, or the system keeps readers out of a locked file.
            return Holder(0, "")


def _let_go(descriptor: int) -> None:
    """Let go of a lock, unless this is a child that was forked meanwhile: it is not the child's."""
    if descriptor in _held:
        # Who is gone is not named as the holder between a kill and the next one.
        _write(descriptor, {})
        # A child that was forked meanwhile has the same file open: closing it here is not enough.
        locks.unlock(descriptor)


def _close(descriptor: int) -> None:
    if descriptor in _held:
        _held.remove(descriptor)
        os.close(descriptor)


def _close_all(held: set[int]) -> None:
    """Close in a child what its parent holds, which else would stay locked while the child runs."""
    while held:
        os.close(held.pop())


in_child(_held, _close_all)


def _write(descriptor: int, note: dict[str, object]) -> None:
    # The note is for a person: on a full disk sleep goes on without it.
    with contextlib.suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(note).ljust(_NOTE_SIZE - 1).encode() + b"\n")

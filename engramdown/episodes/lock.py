"""The lock of a folder of transcripts: one writer at a time, among processes and among threads.

Promises: nobody waits longer than the time-out; a process that dies lets go of it; the lock file
is a sidecar that is never renamed or removed, because a lock on a file that is replaced stays
behind on the old one; a child process shares no lock with its parent.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.errors import LockTimeoutError
from engramdown.forks import Lock, in_child
from engramdown.storage import locks

if TYPE_CHECKING:
    from engramdown.episodes.disk import EpisodeDisk

__all__ = ["FolderLock"]

# An append takes some microseconds. Among many writers who looks seldom finds it taken every time.
_FIRST_PAUSE: Final = 0.00005
_LONGEST_PAUSE: Final = 0.0005


class FolderLock:
    """A sidecar file that one writer holds at a time; its descriptor stays open."""

    def __init__(self, path: Path, disk: EpisodeDisk, timeout: float) -> None:
        """Name the file; ``timeout`` is how long to wait for it, in seconds."""
        self._descriptor: int | None = None
        self.path = path
        self.timeout = timeout
        self._disk = disk
        self._threads = Lock()
        # What is open belongs to the parent of a child process: it is its lock.
        in_child(self, FolderLock.close)

    @contextlib.contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the lock for the length of a ``with`` block.

        Raises:
            LockTimeoutError: If somebody else held it for ``timeout`` seconds.
        """
        self.take(timeout)
        try:
            yield
        finally:
            self.release()

    def take(self, timeout: float | None = None) -> None:
        """Take the lock; let go of it with :meth:`release`.

        Raises:
            LockTimeoutError: If somebody else held it for ``timeout`` seconds, of which other
                waiting in the same call is a part.
            OSError: If the lock file cannot be opened.
        """
        limit = self.timeout if timeout is None else timeout
        if not self._threads.acquire(blocking=False):
            with locks.waiting():
                taken = self._threads.acquire(timeout=locks.left(limit))
            if not taken:
                raise LockTimeoutError(str(self.path), limit)
        try:
            if self._descriptor is None:
                self._descriptor = self._disk.open(self.path, write=True)
            if not self._try(self._descriptor):
                self._wait(self._descriptor, limit)
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        """Let go of the lock."""
        try:
            if self._descriptor is not None:
                self._disk.unlock(self._descriptor)
        except OSError:
            # What was written is written: a system that cannot unlock lets go of a closed file.
            self.close()
        finally:
            self._threads.release()

    def renew(self) -> None:
        """While holding it: take the lock that has the name now, if somebody removed ours.

        Whoever finds a file not as they left it calls this, since two may hold a lock of that
        name then: everybody else's is the new one.

        Raises:
            LockTimeoutError: If somebody else held it for the usual time-out.
        """
        while self._descriptor is not None and not self._disk.is_named(self._descriptor):
            self.close()
            self._descriptor = self._disk.open(self.path, write=True)
            self._wait(self._descriptor, self.timeout)

    def close(self) -> None:
        """Close the lock file; it is opened again when it is needed."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._disk.close(descriptor)

    def __del__(self) -> None:
        """Close the lock file."""
        self.close()

    def _try(self, descriptor: int) -> bool:
        """Lock the file, unless somebody else has; an error names it."""
        try:
            return self._disk.lock(descriptor)
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise

    def _wait(self, descriptor: int, limit: float) -> None:
        end, pause = time.monotonic() + locks.left(limit), _FIRST_PAUSE
        with locks.waiting():
            while not self._try(descriptor):
                if time.monotonic() >= end:
                    raise LockTimeoutError(str(self.path), limit)
                time.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)

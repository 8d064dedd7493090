"""The lock of one scope: one writer at a time, among processes and among threads.

Promises: whoever waits is told who holds the lock, and for how long; a process that dies lets go
of it; the lock file is a sidecar that is never renamed or removed, because a lock on a file that
is replaced stays behind on the old one.

The file also says which step of the journal was finished last, so that the next holder knows
whether somebody died in the middle of one.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from engramdown.clock import local
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.forks import Event, Lock, in_child
from engramdown.storage import locks
from engramdown.storage.safe_open import FILE_MODE, open_regular

__all__ = ["Held", "ScopeLock"]

_NOTE_SIZE: Final = 256
# In the place of a descriptor: no file, which the system refuses to write to.
_GONE: Final = -1


class Held:
    """A lock in our hands.

    Attributes:
        finished: The journal step that was finished last, or ``None`` if the file does not say.
    """

    def __init__(self, waiter: _Waiter) -> None:
        """Read the note of the last holder and leave our own."""
        self._waiter = waiter
        note = _read_note(waiter.descriptor)
        finished = note.get("finished")
        self.finished = finished if isinstance(finished, str) else None
        self._write(os.getpid())

    def finish(self, step: str) -> None:
        """Say that the journal is carried out up to and including ``step``."""
        self.finished = step
        # A note that is lost makes the next holder look again, so a full disk does no harm here.
        with contextlib.suppress(OSError):
            self._write(os.getpid())

    def sync(self) -> None:
        """Make the note last through a power cut, this once.

        One that is written over it is there or not, as the disk writes a sector whole.
        """
        os.fsync(self._waiter.descriptor)

    def leave(self) -> None:
        """Take our name out, so that nobody takes us for a later holder who leaves none."""
        with contextlib.suppress(OSError):
            self._write(None)

    def _write(self, pid: int | None) -> None:
        since = local(datetime.now(UTC)).isoformat(timespec="seconds")
        note = {"finished": self.finished, "pid": pid, "since": since}
        descriptor = self._waiter.descriptor
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(note).ljust(_NOTE_SIZE - 1).encode() + b"\n")


class ScopeLock:
    """A sidecar file that one writer holds at a time."""

    def __init__(self, path: Path, timeout: float) -> None:
        """Name the file; ``timeout`` is how long to wait for it, in seconds."""
        self.path = path
        self.timeout = timeout

    @contextlib.contextmanager
    def hold(self, *, wait: bool = True) -> Iterator[Held]:
        """Hold the lock for the length of a ``with`` block.

        Args:
            wait: Whether to wait for it, as long as the time-out and all other waiting of the same
                call allow; see :func:`engramdown.storage.locks.one_call`.

        Raises:
            LockTimeoutError: If somebody else held it all the time.
            StoreError: If it cannot be taken at all.
        """
        waiter = self._take(locks.left(self.timeout) if wait else 0.0)
        try:
            held = Held(waiter)
            try:
                yield held
            finally:
                held.leave()
        finally:
            waiter.release()

    def is_behind(self, step: str) -> bool:
        """Whether the file says that ``step`` is not finished; somebody may be at it."""
        return self._note().get("finished", step) not in (None, step)

    def holder(self) -> str | None:
        """Return what is known of who holds the lock at this moment; ``None`` if nobody does.

        Nothing is made or written. ``""`` stands for a holder of whom nothing is known.
        """
        try:
            descriptor = open_regular(self.path, os.O_RDWR)
        except (OSError, StoreError):
            return None  # Nobody holds what is not there.
        try:
            if not locks.take(descriptor):
                return self._holder()
            locks.unlock(descriptor)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        return None

    def _take(self, timeout: float) -> _Waiter:
        """Wait for the lock; one on a file that was removed meanwhile would keep nobody out."""
        until = time.monotonic() + timeout
        while True:
            waiter = _Waiter(self._open(), self.path)
            try:
                taken = waiter.take(max(until - time.monotonic(), 0.0))
                here = taken and self._is_here(waiter.descriptor)
            except BaseException:
                waiter.release()
                raise
            if here:
                return waiter
            waiter.release()
            if not taken:
                raise LockTimeoutError(str(self.path), self.timeout, self._holder(), "lock_timeout")

    def _open(self) -> int:
        return open_regular(self.path, os.O_RDWR | os.O_CREAT, FILE_MODE, "the lock")

    def _is_here(self, descriptor: int) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        return False

    def _holder(self) -> str:
        note = self._note()
        return f"process {note['pid']} since {note.get('since')}" if note.get("pid") else ""

    def _note(self) -> dict[str, object]:
        """Return the note, whoever holds the lock; nothing if it cannot be read."""
        with contextlib.suppress(OSError, StoreError):
            descriptor = open_regular(self.path, os.O_RDONLY)
            try:
                return _read_note(descriptor)
            finally:
                os.close(descriptor)
        return {}


class _Waiter:
    """Takes a lock at once or in a thread, so that a time-out can stand beside a blocking call.

    Polling instead would be ten times slower when several writers wait.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        self.descriptor = descriptor
        self._path = path
        self._guard = Lock()
        self._answered = Event()
        self._abandoned = False
        self._waiting = False
        self._failure: OSError | None = None
        in_child(self, _Waiter._leave_to_parent)

    def take(self, timeout: float) -> bool:
        taken = False
        try:
            taken = locks.take(self.descriptor)
            if not taken and timeout > 0:
                self._waiting = True
                threading.Thread(target=self._wait, daemon=True).start()
                with locks.waiting():
                    taken = self._answered.wait(timeout)
        except OSError as error:
            self._failure = error
        if self._failure is not None:
            raise StoreError(
                f"{self._path}: could not be locked: {self._failure.strerror}. "
                f"Nothing was written; is the folder on a file system without locks?"
            )
        return taken

    def release(self) -> None:
        """Let go; a thread that still waits closes the file when its turn comes."""
        with self._guard:
            self._abandoned = self._waiting and not self._answered.is_set()
            if not self._abandoned:
                self._let_go()

    def _wait(self) -> None:
        try:
            locks.wait(self.descriptor)
        except OSError as error:
            self._failure = error
        with self._guard:
            if self._abandoned:
                self._let_go()
            else:
                self._answered.set()

    def _let_go(self) -> None:
        if self.descriptor == _GONE:
            return
        # Closing is not enough where a child process has inherited the descriptor.
        with contextlib.suppress(OSError):
            locks.unlock(self.descriptor)
        descriptor, self.descriptor = self.descriptor, _GONE
        os.close(descriptor)

    def _leave_to_parent(self) -> None:
        """Close in a child process what its parent locks: the child holds nothing by it."""
        self._waiting = False
        descriptor, self.descriptor = self.descriptor, _GONE
        if descriptor != _GONE:
            os.close(descriptor)


def _read_note(descriptor: int) -> dict[str, object]:
    """Return what the last holder wrote; an empty or foreign file says nothing."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        note = json.loads(os.read(descriptor, _NOTE_SIZE))
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}

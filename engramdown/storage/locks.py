"""Locks among processes and threads: of a scope, of a sleeper, of a folder of transcripts.

A lock belongs to an open file and dies with its process; a child process of ``fork`` shares none
with its parent. The lock file is a sidecar that is never renamed or removed, because a lock on a
file that is replaced stays behind on the old one. An error names the holder of the lock.

How long a lock is waited for is bounded in one place: every wait is a :func:`wait_for`, and within
:func:`one_call` all waits together take no longer than one of them may.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from engramdown.clock import local, moment
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.forks import Lock, in_child
from engramdown.storage.safe_open import FILE_MODE, closing, open_regular

# ---- locking an open file ----


def take(descriptor: int) -> bool:
    """Lock an open file without waiting; ``False`` if somebody else holds it.

    Raises:
        OSError: If it cannot be locked at all.
    """
    try:
        _system()(descriptor, "exclusive")
    except BlockingIOError:
        return False
    return True


def share(descriptor: int) -> None:
    """Lock an open file together with everybody else who shares it.

    Raises:
        OSError: If it cannot be locked at all.
    """
    _system()(descriptor, "shared")


def unlock(descriptor: int) -> None:
    """Let go of a lock.

    Raises:
        OSError: If that fails.
    """
    _system()(descriptor, "free")


def prepare() -> None:
    """Load what the first lock would load."""
    _system()


@cache
def _system() -> Callable[[int, str], object]:
    """Return what locks an open file on this system.

    Most systems have ``flock``, which is what portalocker calls there; to import portalocker for
    it takes as long as half a command.
    """
    try:
        import fcntl
    except ImportError:
        return _portalocker()
    exclusive = fcntl.LOCK_EX | fcntl.LOCK_NB
    flags = {"exclusive": exclusive, "shared": fcntl.LOCK_SH, "free": fcntl.LOCK_UN}
    return lambda descriptor, how: fcntl.flock(descriptor, flags[how])


def _portalocker() -> Callable[[int, str], object]:
    import errno

    import portalocker
    from portalocker import LockFlags

    flags = {"exclusive": LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING, "shared": LockFlags.SHARED}

    def lock(descriptor: int, how: str) -> None:
        try:
            if how == "free":
                portalocker.unlock(descriptor)
            else:
                portalocker.lock(descriptor, flags[how])
        except portalocker.AlreadyLocked as error:
            raise BlockingIOError(errno.EAGAIN, "somebody else holds the lock") from error
        except portalocker.LockException as error:
            raise OSError(errno.ENOLCK, str(error)) from error

    return lock


# ---- waiting ----

# A step takes some milliseconds, an append microseconds. Among many writers, one that looks seldom
# finds the lock taken every time.
_FIRST_PAUSE: Final = 0.00005
_LONGEST_PAUSE: Final = 0.0005
_waited: ContextVar[list[float] | None] = ContextVar("waited", default=None)


@contextlib.contextmanager
def one_call() -> Iterator[None]:
    """Count all waiting for locks in a ``with`` block, or a function, as that of one call.

    One within another is part of it. Another thread is another call.
    """
    if _waited.get() is not None:
        yield
        return
    token = _waited.set([])
    try:
        yield
    finally:
        _waited.reset(token)


def left(limit: float) -> float:
    """Return for how many seconds a lock may still be waited for, of which each may for ``limit``.

    >>> with one_call():
    ...     left(10.0)
    10.0
    """
    return max(limit - sum(_waited.get() or ()), 0.0)


def wait_for(attempt: Callable[[], bool], limit: float, pause: float = _FIRST_PAUSE) -> bool:
    """Try until it works, for ``limit`` seconds and as long as the call may still wait.

    >>> wait_for(lambda: False, 0)
    False
    """
    if attempt():
        return True
    began = time.monotonic()
    end = began + left(limit)
    try:
        while time.monotonic() < end:
            time.sleep(pause)
            if attempt():
                return True
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        return False
    finally:
        counts = _waited.get()
        if counts is not None:
            counts.append(time.monotonic() - began)


# ---- the lock of a scope ----

_NOTE_SIZE: Final = 256
# In the place of a descriptor: no file, which the system refuses to write to.
_GONE: Final = -1
# So often a lock file that is removed while we lock it is made anew.
_REMOVED: Final = 10


class _LockFile:
    """An open lock file; in a child process it is closed, as the lock is that of its parent."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        in_child(self, _LockFile.close)

    def is_at(self, path: Path) -> bool:
        """Whether it still has its name: a lock on a file that was removed keeps nobody out."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self.descriptor), path.lstat())
        return False

    def release(self) -> None:
        # Closing is not enough where a child process has inherited the descriptor.
        if self.descriptor != _GONE:
            with contextlib.suppress(OSError):
                unlock(self.descriptor)
            self.close()

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, _GONE
        if descriptor != _GONE:
            os.close(descriptor)


@contextlib.contextmanager
def _in_line(folder: Path, limit: float) -> Iterator[None]:
    """Wait in line for a lock in ``folder``; whoever has just released it joins at the end.

    The first in line holds a lock on the folder itself, so a writer that comes straight back
    overtakes nobody. Otherwise it does so on a busy machine, where those who wait rarely get to
    look. Whoever has spent half the time in line goes on without, since the first may be suspended.
    A caller that does not wait skips the line.
    """
    with contextlib.ExitStack() as stack:
        # Not every system opens or locks folders.
        with contextlib.suppress(OSError):
            if limit > 0:
                first = _LockFile(os.open(folder, os.O_RDONLY))
                stack.callback(first.release)
                # A newcomer looks later than those who are there already.
                wait_for(partial(take, first.descriptor), limit / 2, 4 * _LONGEST_PAUSE)
        yield


class Holder(NamedTuple):
    """Who holds a lock.

    Attributes:
        pid: The number of its process, or 0 if it is not known.
        since: Since when, or ``""``.
    """

    pid: int
    since: str

    def __str__(self) -> str:
        """Return it in words."""
        return f"process {self.pid} since {self.since}" if self.pid else "another process"


class Held:
    """A lock in our hands. Its file says which step of the journal was finished last.

    So the next holder knows whether somebody died in the middle of one.

    Attributes:
        finished: That step, or ``None`` if the file does not say.
    """

    def __init__(self, file: _LockFile, stamp: Callable[[], str]) -> None:
        """Read the note of the last holder and leave our own, with the time that ``stamp`` says."""
        self._file, self._stamp = file, stamp
        note = _read_note(file.descriptor)
        finished = note.get("finished")
        self.finished = finished if isinstance(finished, str) else None
        self._write(os.getpid())

    def finish(self, step: str) -> None:
        """Say that the journal is carried out up to and including ``step``."""
        self.finished = step
        self._write(os.getpid())

    def sync(self) -> None:
        """Make the note last through a power cut, this once.

        One that is written over it is there or not, as the disk writes a sector whole.
        """
        os.fsync(self._file.descriptor)

    def leave(self) -> None:
        """Take our name out, so that nobody takes us for a later holder who leaves none."""
        self._write(None)

    def _write(self, pid: int | None) -> None:
        note = json.dumps({"finished": self.finished, "pid": pid, "since": self._stamp()})
        # A note that is lost makes the next holder look again, so a full disk does no harm here.
        with contextlib.suppress(OSError):
            os.lseek(self._file.descriptor, 0, os.SEEK_SET)
            os.write(self._file.descriptor, note.ljust(_NOTE_SIZE - 1).encode() + b"\n")


def _now() -> str:
    return local(datetime.now(UTC)).isoformat(timespec="seconds")


class ScopeLock:
    """A sidecar file that one writer holds at a time."""

    def __init__(self, path: Path, timeout: float, stamp: Callable[[], str] = _now) -> None:
        """Name the file; ``timeout`` is how long to wait for it, in seconds.

        ``stamp`` says since when it is held.
        """
        self.path = path
        self.timeout = timeout
        self._stamp = stamp

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
        file = self._take(self.timeout if wait else 0.0)
        with contextlib.ExitStack() as stack:
            stack.callback(file.release)
            held = Held(file, self._stamp)
            stack.callback(held.leave)
            yield held

    def is_behind(self, step: str) -> bool:
        """Whether the file says that ``step`` is not finished; somebody may be at it."""
        return self._note().get("finished", step) not in (None, step)

    def holder(self) -> str | None:
        """Return who holds the lock at this moment; ``None`` if nobody does.

        Nothing is made or written. ``""`` means a holder of whom nothing is known.
        """
        with contextlib.suppress(OSError, StoreError):
            descriptor = open_regular(self.path, os.O_RDWR)
            with closing(descriptor, self.path):
                if not take(descriptor):
                    named = self.named()
                    return str(named) if named.pid else ""
                unlock(descriptor)
        return None  # Nobody holds a lock that does not exist.

    def named(self) -> Holder:
        """Return whom the file names as its holder, whether or not they still hold it."""
        note = self._note()
        pid, since = note.get("pid"), note.get("since")
        # It has just begun or ended, or the system keeps readers out of a locked file.
        return Holder(pid, str(since)) if isinstance(pid, int) and pid > 0 else Holder(0, "")

    @one_call()
    def _take(self, limit: float) -> _LockFile:
        # One on a file that was removed meanwhile would keep nobody out.
        for _ in range(_REMOVED):
            with contextlib.ExitStack() as stack:
                flags = os.O_RDWR | os.O_CREAT
                file = _LockFile(open_regular(self.path, flags, FILE_MODE, "the lock"))
                stack.callback(file.release)
                try:
                    with _in_line(self.path.parent, limit):
                        taken = wait_for(partial(take, file.descriptor), limit)
                    if taken and file.is_at(self.path):
                        stack.pop_all()
                        return file
                except OSError as error:
                    raise StoreError(
                        f"{self.path}: could not be locked: {error.strerror}. "
                        f"Nothing was written; is the folder on a file system without locks?"
                    ) from error
            if not taken:
                break
        named = self.named()
        who = str(named) if named.pid else ""
        raise LockTimeoutError(str(self.path), self.timeout, who, "lock_timeout")

    def _note(self) -> dict[str, object]:
        """Return the note in the file; ``{}`` if it cannot be read."""
        with contextlib.suppress(OSError, StoreError):
            descriptor = open_regular(self.path, os.O_RDONLY)
            with closing(descriptor, self.path):
                return _read_note(descriptor)
        return {}


def _read_note(descriptor: int) -> dict[str, object]:
    """Return what the last holder wrote; an empty or foreign file says nothing."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        note = json.loads(os.read(descriptor, _NOTE_SIZE))
    except (ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


# ---- the lock of a sleeper ----

# The name of the file, in the folder of a scope.
NAME: Final = "sleep.lock"


class SleepLock:
    """A file in the folder of a scope that one sleeper holds at a time, and nobody waits for.

    It keeps no writer out: that is the lock of the scope, held for moments.
    """

    def __init__(self, root: Path, name: str = NAME) -> None:
        """Name the file in ``root``, which must exist when the lock is taken."""
        self._lock = ScopeLock(root / name, 0.0, moment)

    @contextlib.contextmanager
    def hold(self) -> Iterator[Holder | None]:
        """Try to hold the lock for the length of a ``with`` block; yield who holds it instead.

        Raises:
            StoreError: If the file cannot be opened or locked.
        """
        holder: Holder | None = None
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._lock.hold(wait=False))
            except LockTimeoutError:
                holder = self._lock.named()
            except OSError as error:
                what = f"{self._lock.path}: cannot be opened: {error.strerror}"
                raise StoreError(what) from error
            yield holder


# ---- the lock of a folder of transcripts ----


class LockDisk(Protocol):
    """The system calls for a lock file that stays open."""

    def open(self, path: Path | str, *, write: bool = False) -> int:
        """Open a file and return its descriptor."""

    def close(self, descriptor: int) -> None:
        """Close it."""

    def lock(self, descriptor: int) -> bool:
        """Lock it without waiting."""

    def unlock(self, descriptor: int) -> None:
        """Let go of it."""

    def is_named(self, descriptor: int) -> bool:
        """Whether it still has a name."""


class FolderLock:
    """A sidecar file that one writer holds at a time; its descriptor stays open."""

    def __init__(self, path: Path, disk: LockDisk, timeout: float) -> None:
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
        if not wait_for(partial(self._threads.acquire, blocking=False), limit):
            raise LockTimeoutError(str(self.path), limit)
        try:
            if self._descriptor is None:
                self._descriptor = self._disk.open(self.path, write=True)
            self._lock(self._descriptor, limit)
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

        Call this when a file is not as it was left: two processes may hold a lock of that name
        then, and everybody else's is the new one.

        Raises:
            LockTimeoutError: If somebody else held it for the usual time-out.
        """
        while self._descriptor is not None and not self._disk.is_named(self._descriptor):
            self.close()
            self._descriptor = self._disk.open(self.path, write=True)
            self._lock(self._descriptor, self.timeout)

    def close(self) -> None:
        """Close the lock file; it is opened again when it is needed."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._disk.close(descriptor)

    def __del__(self) -> None:
        """Close the lock file."""
        self.close()

    def _lock(self, descriptor: int, limit: float) -> None:
        """Wait for the file; an error names it."""
        try:
            if not wait_for(partial(self._disk.lock, descriptor), limit):
                raise LockTimeoutError(str(self.path), limit)
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise

"""Locks on open files: the one place that asks the system for one, through portalocker.

Promises: a lock belongs to the open file and dies with its process; whoever is kept out is told so
by ``False``, whatever else is wrong is an ``OSError``, on every system; a call that takes several
locks, or one again and again, waits no longer for all of them than it may for one.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.clock import local, moment
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.forks import Event, Lock, in_child
from engramdown.storage.safe_open import FILE_MODE, open_regular

if TYPE_CHECKING:
    from engramdown.storage.disk import EpisodeDisk

_PARTS: Final = "engramdown._portalocker"


class _System(NamedTuple):
    """How this system locks: the calls, each given an open file, and the flags."""

    lock: Callable[[int, int], object]
    unlock: Callable[[int], object]
    exclusive: int
    at_once: int
    shared: int


def take(descriptor: int) -> bool:
    """Lock an open file without waiting; ``False`` if somebody else holds it.

    Raises:
        OSError: If it cannot be locked at all.
    """
    system = _system()
    try:
        system.lock(descriptor, system.at_once)
    except BlockingIOError:
        return False
    return True


def wait(descriptor: int) -> None:
    """Lock an open file, however long that takes.

    Raises:
        OSError: If it cannot be locked at all.
    """
    system = _system()
    taken = False
    while not taken:
        # Windows gives up by itself after ten looks, a second apart.
        with contextlib.suppress(BlockingIOError):
            system.lock(descriptor, system.exclusive)
            taken = True


def share(descriptor: int) -> None:
    """Lock an open file together with everybody else who shares it.

    Raises:
        OSError: If it cannot be locked at all.
    """
    _system().lock(descriptor, _system().shared)


def unlock(descriptor: int) -> None:
    """Let go of a lock.

    Raises:
        OSError: If that fails.
    """
    _system().unlock(descriptor)


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


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Count the time of a ``with`` block as spent in waiting for a lock."""
    counts, began = _waited.get(), time.monotonic()
    try:
        yield
    finally:
        if counts is not None:
            counts.append(time.monotonic() - began)


def prepare() -> None:
    """Load what the first lock would load."""
    _system()


@cache
def _system() -> _System:
    low = _low_level()
    named = low.LockFlags
    flags = named.EXCLUSIVE, named.EXCLUSIVE | named.NON_BLOCKING, named.SHARED
    direct = low.LOCKER
    if isinstance(direct, BuiltinFunctionType):
        # The system's own call, as portalocker names it. Its wrapper takes ten times as long, and
        # every line of a transcript is locked and unlocked.
        free = int(named.UNBLOCK)
        return _System(direct, lambda descriptor: direct(descriptor, free), *map(int, flags))

    def lock(descriptor: int, how: int) -> None:
        try:
            low.lock(descriptor, named(how))
        except low.exceptions.AlreadyLocked as error:
            raise BlockingIOError(errno.EAGAIN, "somebody else holds the lock") from error
        except low.exceptions.LockException as error:
            raise OSError(errno.ENOLCK, str(error)) from error

    def let_go(descriptor: int) -> None:
        try:
            low.unlock(descriptor)
        except low.exceptions.LockException as error:
            raise OSError(errno.ENOLCK, str(error)) from error

    return _System(lock, let_go, *map(int, flags))


def _low_level() -> Any:  # noqa: ANN401 - a module
    """Return the module of portalocker that asks the system, without the rest of portalocker.

    The package loads what its other locks need (inspect, uuid, what is installed), which takes
    longer than all of a recall may. So its folder gets a second name, under which nothing is
    loaded but that module and the three that it needs.
    """
    found = find_spec("portalocker")
    parts = ModuleType(_PARTS)
    parts.__path__ = list(found.submodule_search_locations or []) if found else []
    sys.modules.setdefault(_PARTS, parts)
    try:
        return import_module(f"{_PARTS}.portalocker")
    except ImportError:  # it was built otherwise once, or is not there
        return import_module("portalocker.portalocker")


# The lock of one scope: one writer at a time, among processes and among threads.
#
# Promises: whoever waits is told who holds the lock, and for how long; a process that dies lets go
# of it; the lock file is a sidecar that is never renamed or removed, because a lock on a file that
# is replaced stays behind on the old one.
#
# The file also says which step of the journal was finished last, so that the next holder knows
# whether somebody died in the middle of one.

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
        waiter = self._take(left(self.timeout) if wait else 0.0)
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
            if not take(descriptor):
                return self._holder()
            unlock(descriptor)
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
            taken = take(self.descriptor)
            if not taken and timeout > 0:
                self._waiting = True
                threading.Thread(target=self._wait, daemon=True).start()
                with waiting():
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
            wait(self.descriptor)
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
            unlock(self.descriptor)
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


# The lock of a sleeper: one process or thread sleeps on a scope at a time.
#
# Promises: nobody waits for it; whoever cannot have it is told who has, and since when; the system
# lets go of it when its holder dies. It keeps no writer out: that is another lock, held for
# moments.

NAME: Final = "sleep.lock"
"""The name of the file, in the folder of a scope."""

_NOTE_SIZE_SLEEP_LOCK: Final = 128
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
            return take(descriptor)
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
        unlock(descriptor)


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
        os.write(descriptor, json.dumps(note).ljust(_NOTE_SIZE_SLEEP_LOCK - 1).encode() + b"\n")


# The lock of a folder of transcripts: one writer at a time, among processes and among threads.
#
# Promises: nobody waits longer than the time-out; a process that dies lets go of it; the lock file
# is a sidecar that is never renamed or removed, because a lock on a file that is replaced stays
# behind on the old one; a child process shares no lock with its parent.

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
            with waiting():
                taken = self._threads.acquire(timeout=left(limit))
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
        end, pause = time.monotonic() + left(limit), _FIRST_PAUSE
        with waiting():
            while not self._try(descriptor):
                if time.monotonic() >= end:
                    raise LockTimeoutError(str(self.path), limit)
                time.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)

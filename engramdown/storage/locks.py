"""Locks on open files: the one place that asks the system for one, through portalocker.

Promises: a lock belongs to the open file and dies with its process; whoever is kept out is told so
by ``False``, whatever else is wrong is an ``OSError``, on every system; a call that takes several
locks, or one again and again, waits no longer for all of them than it may for one.
"""

from __future__ import annotations

import contextlib
import errno
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import BuiltinFunctionType, ModuleType
from typing import Any, Final, NamedTuple

__all__ = ["left", "one_call", "prepare", "share", "take", "unlock", "wait", "waiting"]

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

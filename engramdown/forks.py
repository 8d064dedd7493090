"""Lets a child of ``fork`` begin with free locks and nothing half done.

A child never waits for a thread that only its parent has. All locks and events of this package are
made here; in a child each is made anew, unless the thread that forked holds it. The owner of
anything else that belongs to the parent, such as a locked file, is called in the child to release
it.

A fork waits, for some seconds at most, for what cannot be made anew: a module that another thread
is loading, and another thread of ours in SQLite, which has locks for the whole process.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
S = TypeVar("S")

# How long a fork waits for modules that other threads are loading, and for other threads of ours
# in SQLite, in seconds.
_LOADING: Final = 2.0
_INSIDE: Final = 10.0
_POLL: Final = 0.001

_numbers: Final = itertools.count()
_renewed: Final[dict[int, tuple[weakref.ref[Any], Callable[[Any], object]]]] = {}


def in_child(owner: T, renew: Callable[[T], object]) -> None:
    """Call ``renew(owner)`` in every child process, as long as ``owner`` lives.

    Callbacks run in the order of registration: a lock before those who use it.

    >>> class Counter:
    ...     def __init__(self):
    ...         self.count = 0
    ...         in_child(self, Counter.__init__)
    >>> Counter().count
    0
    """
    number = next(_numbers)
    _renewed[number] = weakref.ref(owner, lambda _: _renewed.pop(number, None)), renew


def in_thread(work: Callable[[], T], name: str | None = None) -> Future[T]:
    """Do ``work`` in a thread of its own, for which no program waits to end.

    >>> in_thread(lambda: 2 + 2).result(10)
    4
    """
    from concurrent.futures import Future

    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised again by whoever waits
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


class _Guard:
    """A lock that a child process finds free, unless the thread that forked holds it."""

    __slots__ = ("__weakref__", "_depth", "_lock", "_owner")
    _make: Callable[[], Any]

    def __init__(self) -> None:
        """Make a lock that nobody holds."""
        self._owner = self._depth = 0
        self._lock = self._make()
        in_child(self, _Guard._renew)

    def acquire(self, *, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, within ``timeout`` seconds unless negative; return whether that worked."""
        taken: bool = self._lock.acquire(blocking, timeout)
        if taken:
            self._owner = get_ident()
            self._depth += 1
        return taken

    def release(self) -> None:
        """Let go of the lock.

        Raises:
            RuntimeError: If this thread does not hold it.
        """
        if self._owner != get_ident():
            raise RuntimeError("a lock can only be released by the thread that holds it")
        self._depth -= 1
        self._owner = get_ident() if self._depth else 0
        self._lock.release()

    def __enter__(self) -> bool:
        """Take the lock."""
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        """Let go of the lock."""
        self.release()

    def _renew(self) -> None:
        if self._owner != get_ident():
            self._owner = self._depth = 0
            self._lock = self._make()


class Lock(_Guard):
    """:class:`threading.Lock`, free in a child process.

    >>> with Lock() as taken:
    ...     taken
    True
    """

    __slots__ = ()
    _make = staticmethod(threading.Lock)


class RLock(_Guard):
    """:class:`threading.RLock`, free in a child process.

    >>> lock = RLock()
    >>> with lock, lock as taken:
    ...     taken
    True
    """

    __slots__ = ()
    _make = staticmethod(threading.RLock)


class Event(threading.Event):
    """:class:`threading.Event`, which nobody waits for in a child process; it is set if it was.

    >>> Event().is_set()
    False
    """

    def __init__(self) -> None:
        """Make an event that is not set."""
        super().__init__()
        in_child(self, Event._renew)

    def _renew(self) -> None:
        was_set = self.is_set()
        super().__init__()
        if was_set:
            self.set()


class cached_property(Generic[S, T]):  # noqa: N801 - it is used as functools.cached_property is
    """:func:`functools.cached_property`, without the lock that it holds before Python 3.12.

    All objects share that lock, and a child process may find it held for ever. Two threads may
    both make a value; both get the first one.

    >>> class Circle:
    ...     @cached_property
    ...     def area(self):
    ...         return [3]
    >>> circle = Circle()
    >>> circle.area is circle.area
    True
    """

    def __init__(self, make: Callable[[S], T]) -> None:
        """Wrap the method that makes the value."""
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type[S], name: str) -> None:
        """Remember the name under which the value is kept."""
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type[S]) -> cached_property[S, T]: ...

    @overload
    def __get__(self, owner: S, kind: type[S]) -> T: ...

    def __get__(self, owner: S | None, kind: type[S]) -> cached_property[S, T] | T:
        """Return the value, made once."""
        if owner is None:
            return self
        kept: dict[str, T] = owner.__dict__
        return kept.setdefault(self._name, self._make(owner))


class _Gate:
    """The threads that no fork may interrupt, and the one that forks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        self._inside: dict[int, int] = {}
        self._forks = 0

    def enter(self) -> None:
        with self._changed:
            while self._forks not in (0, get_ident()):
                self._changed.wait()
            self._inside[get_ident()] = self._inside.get(get_ident(), 0) + 1

    def leave(self) -> None:
        with self._changed:
            depth = self._inside.pop(get_ident(), 1) - 1
            if depth:
                self._inside[get_ident()] = depth
            self._changed.notify_all()

    def begin_fork(self) -> None:
        until = time.monotonic() + _INSIDE
        self._turn.acquire(timeout=_INSIDE)
        with self._changed:
            self._forks = get_ident()
            while self._inside.keys() - {get_ident()} and time.monotonic() < until:
                self._changed.wait(until - time.monotonic())

    def end_fork(self) -> None:
        with self._changed:
            self._forks = 0
            self._changed.notify_all()
            if self._turn.locked():
                self._turn.release()

    def begin_child(self) -> None:
        mine = self._inside.get(get_ident(), 0)
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        self._inside = {get_ident(): mine} if mine else {}
        self._forks = 0


_gate: Final = _Gate()


@contextlib.contextmanager
def unforked() -> Iterator[None]:
    """Let no other thread fork during a ``with`` block, or a function, that is soon over.

    Locks are taken before it: the thread that forks may hold one.

    >>> with unforked():
    ...     "nobody forks"
    'nobody forks'
    """
    _gate.enter()
    try:
        yield
    finally:
        _gate.leave()


def _before_fork() -> None:
    _wait_for_modules()
    _gate.begin_fork()


def _wait_for_modules() -> None:
    """Wait until no other thread loads a module, but not for long."""
    until = time.monotonic() + _LOADING
    while _is_loading() and time.monotonic() < until:
        time.sleep(_POLL)


def _is_loading() -> bool:
    """Whether another thread loads a module; not, if Python does not say."""
    bootstrap = getattr(importlib, "_bootstrap", None)
    # A copy: modules are loaded while we look.
    locks = {**getattr(bootstrap, "_module_locks", {})}
    holders = {getattr(lock(), "owner", None) for lock in locks.values()}
    return bool(holders - {None, get_ident()})


def _begin_child() -> None:
    _gate.begin_child()
    for owner, renew in [*_renewed.values()]:
        if (living := owner()) is not None:
            renew(living)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_gate.end_fork, after_in_child=_begin_child
    )

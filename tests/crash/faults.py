"""Experiments: every system call of every operation, killed at and failed.

Promises: whatever happens at whichever call, what was acknowledged is there whole, what was not is
there whole or not at all, and the exit code says which; what is left is put in order by the next
open, and by no second one. A fault that does not land is told and is no case; many are a violation.
"""

from __future__ import annotations

import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from engramdown.errors import EngramdownError
from tests.crash.campaign import MissingError, Trial
from tests.crash.performing import BROKEN, DONE, REFUSED
from tests.crash.subjects import (
    OF_JOBS,
    OF_MEMORY,
    OF_SKILLS,
    OF_TRANSCRIPTS,
    SUBJECTS,
    Kind,
    Subject,
)
from tests.crash.system_calls import Injection, Ran, Tracer, can_trace

Faults = Callable[[Mapping[str, int]], Iterable[Injection]]

_FULL: Final = ("ENOSPC", "EDQUOT", "EIO")
_NAMED: Final = (*_FULL, "EACCES")
_ERRORS: Final[dict[str, tuple[str, ...]]] = {
    "openat": (*_NAMED, "EMFILE"),
    "write": _FULL,
    "pwrite64": _FULL,
    "fsync": _FULL,
    "fdatasync": _FULL,
    "close": _FULL,
    "flock": ("EIO", "ENOLCK"),
    "ftruncate": ("EIO", "EACCES"),
    "truncate": ("EIO", "EACCES"),
    "fchmod": ("EIO", "EPERM"),
    "renameat2": (*_NAMED, "EINVAL", "ENOSYS"),
    "link": (*_NAMED, "EPERM"),
    "linkat": (*_NAMED, "EPERM"),
}
"""The errors that a call is failed with; the others get those of a call that takes a name."""
_A_WHILE: Final = 25
_MISSED: Final = "the fault did not land"
_MANY: Final = 20
"""Of so many faults one may miss: at the turn of a second an operation makes a call less."""


def kills_of(calls: Mapping[str, int]) -> list[Injection]:
    """Return a SIGKILL in front of each call of an operation that makes so many of each."""
    return [Injection(call, at) for call, count in calls.items() for at in range(1, count + 1)]


def errors_of(calls: Mapping[str, int]) -> list[Injection]:
    """Return every error of each call, once and from there on."""
    return [
        Injection(call, at, error, lasts)
        for call, count in calls.items()
        for at in range(1, count + 1)
        for error in _ERRORS.get(call, _NAMED)
        for lasts in (False, True)
    ]


def both_of(calls: Mapping[str, int]) -> list[Injection]:
    """Return all of these."""
    return kills_of(calls) + errors_of(calls)


def tried(tracer: Tracer, subject: Subject, name: str, root: Path, fault: Injection) -> str:
    """Carry out an operation on a new folder at ``root`` with a fault; return what is wrong."""
    subject.copy(root)
    try:
        ran = tracer.run(name, root, fault)
        if not ran.landed:
            shutil.rmtree(root)
            subject.copy(root)
            ran = tracer.run(name, root, fault)
        wrong = _wrong(ran, fault)
        if not wrong:
            subject.verify(root, done=ran.ended == DONE)
    except (AssertionError, EngramdownError, OSError) as error:
        wrong = f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(root)
    return wrong


def _wrong(ran: Ran, fault: Injection) -> str:
    """Return what is wrong with how an operation ended."""
    if not ran.landed:
        return f"{_MISSED}; ended with {ran.ended}"
    if ran.ended == -signal.SIGKILL and not fault.error:
        return ""
    if ran.ended in (DONE, REFUSED):
        return ""
    reason = "broke" if ran.ended == BROKEN else f"ended with {ran.ended}"
    return f"{reason}: {ran.said}"


class _Bench:
    """A tracer, and how many of the faults missed that were put in with it."""

    def __init__(self, tracer: Tracer, root: Path) -> None:
        """Work with ``tracer`` at ``root``."""
        self.tracer = tracer
        self._root = root
        self._tries = self._misses = 0

    def cases(self, name: str, subject: Subject, faults: Iterable[Injection]) -> Iterator[Trial]:
        """Put faults into an operation; tell those that miss, and yield them if they are many."""
        for fault in faults:
            wrong = tried(self.tracer, subject, name, self._root, fault)
            missed = wrong.startswith(_MISSED)
            self._tries += 1
            self._misses += missed
            if missed:
                sys.stderr.write(f"MISSED {name}: {fault}: {wrong}\n")
            if not missed or self._misses > 1 + self._tries // _MANY:
                yield Trial(f"{name}: {fault}", wrong)


def trials(
    folder: Path, dice: random.Random, kinds: Mapping[str, Kind], faults: Faults
) -> Iterator[Trial]:
    """Yield each fault in each operation once, a few of each operation in turn.

    Raises:
        MissingError: If nothing can be traced here.
    """
    if not can_trace():
        raise MissingError("strace is missing here, or may not trace")
    left: dict[str, tuple[Subject, list[Injection]]] = {}
    names = list(kinds)
    dice.shuffle(names)
    with Tracer(folder) as tracer:
        bench = _Bench(tracer, folder / "now")
        while names:
            for name in list(names):
                if name not in left:
                    subject = SUBJECTS[name].make(folder / name)
                    todo = list(faults(tracer.record(name, subject.copy)))
                    dice.shuffle(todo)
                    left[name] = subject, todo
                subject, todo = left[name]
                now = [todo.pop() for _ in range(min(_A_WHILE, len(todo)))]
                yield from bench.cases(name, subject, now)
                if not todo:
                    names.remove(name)


# Each of these kills or fails every call of every operation.
memory_killed = partial(trials, kinds=OF_MEMORY, faults=kills_of)
memory_failed = partial(trials, kinds=OF_MEMORY, faults=errors_of)
transcripts_cut_short = partial(trials, kinds=OF_TRANSCRIPTS, faults=both_of)
skills_cut_short = partial(trials, kinds=OF_SKILLS, faults=both_of)
jobs_cut_short = partial(trials, kinds=OF_JOBS, faults=both_of)

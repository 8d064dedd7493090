"""Experiments: every operation cut short, or failed, at every point of its disk.

Promises: as :mod:`tests.crash.faults`, in one process and so a hundred times as fast, and at points
that no tracer reaches: in the middle of a write. What a killed process left is opened by one that
is killed as well.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from tests.crash.campaign import Trial
from tests.crash.scopes import OPERATIONS, Case, opened
from tests.hippocampus.disks import Point, WatchedDisk

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EMFILE)

_ROOT: Final = Path(__file__).resolve().parent.parent.parent


class Fault:
    """Raises an error of the system at a point, and, if it is sticky, at all points after it."""

    def __init__(self, number: int, code: int, *, sticky: bool) -> None:
        """Raise the error ``code`` at the point with this ``number``, counted from 1."""
        self.number = number
        self._left = number
        self._code = code
        self._sticky = sticky
        self._healed = False
        self.landed = ""

    def heal(self) -> None:
        """Let everything work again."""
        self._healed = True

    def __call__(self, point: Point) -> None:
        """Raise it, if it is time."""
        self._left -= 1
        if self._healed or not (self._left == 0 or (self._sticky and self._left < 0)):
            return
        self.landed = self.landed or str(point)
        raise OSError(self._code, os.strerror(self._code))


def act_on_failing_disk(case: Case, root: Path, fault: Fault) -> str:
    """Carry out an operation, check what it left, and return what is wrong."""
    case.copy(root)
    store = opened(root, WatchedDisk(fault))

    def verify(*, done: bool) -> None:
        case.verify(root, done=done, store=store if fault.number % 3 else None)

    return fail(lambda: case.operation.act(store), root, fault, verify)


def fail(act: Callable[[], object], root: Path, fault: Fault, verify: Callable[..., object]) -> str:
    """Act on a failing disk, verify what it left, remove it, and return what is wrong."""
    try:
        act()
        done = True
    except StoreError as error:
        done = False
        if str(root) not in str(error):
            return f"names no path: {error}"
    except OSError as error:
        return f"escaped: {error!r}"
    fault.heal()
    try:
        verify(done=done)
    except (AssertionError, StoreError) as error:
        return f"done={done}: {error}"
    shutil.rmtree(root)
    return ""


def points_killed(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Kill every operation at every point, and at some of them what opens the scope again."""
    names = list(OPERATIONS)
    dice.shuffle(names)
    for name in names:
        command = [sys.executable, "-m", "tests.crash.runner", name, f"{dice.randint(5, 9)}"]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONUNBUFFERED": "1"},
        ) as child:
            try:
                for line in child.stdout or ():
                    point, _, said = line.strip().partition(": ")
                    yield Trial(f"{name}: killed at point {point}", "" if said == "ok" else said)
            finally:
                child.kill()


def points_failed(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Fail every operation at every point with some error, once and from there on."""
    names = list(OPERATIONS)
    dice.shuffle(names)
    for name in names:
        case = Case(folder / name, name)
        for number, sticky in ((at, sticky) for at in count(1) for sticky in (False, True)):
            fault = Fault(number, dice.choice(ERRORS), sticky=sticky)
            wrong = act_on_failing_disk(case, folder / f"{name}-{number}-{sticky}", fault)
            if not fault.landed:
                break
            yield Trial(f"{name}: {fault.landed}, point {number}, sticky {sticky}", wrong)

"""A disk that fails at any call, once or from then on, loses nothing and hides nothing."""

from __future__ import annotations

import errno
import os
import random
import shutil
import time
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from engramdown.errors import StoreError
from tests.crash.scopes import OPERATIONS, Case, opened
from tests.hippocampus.disks import Point, WatchedDisk

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EMFILE)


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
        self._left -= 1
        if self._healed or not (self._left == 0 or (self._sticky and self._left < 0)):
            return
        self.landed = self.landed or str(point)
        raise OSError(self._code, os.strerror(self._code))


def act_on_failing_disk(case: Case, root: Path, fault: Fault) -> str:
    """Carry out an operation, check what it left, and return what is wrong."""
    case.copy(root)
    store = opened(root, WatchedDisk(fault))
    try:
        case.operation.act(store)
        done = True
    except StoreError as error:
        done = False
        if str(root) not in str(error):
            return f"names no path: {error}"
    except OSError as error:
        return f"escaped: {error!r}"
    fault.heal()
    try:
        case.verify(root, done=done, store=store if fault.number % 3 else None)
    except (AssertionError, StoreError) as error:
        return f"done={done}: {error}"
    shutil.rmtree(root)
    return ""


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_error_at_any_call_leaves_memory_whole(name: str, tmp_path: Path) -> None:
    case = Case(tmp_path, name)
    landed = 0
    for number in count(1):
        sticky = number % 2 == 0
        fault = Fault(number, ERRORS[number % len(ERRORS)], sticky=sticky)
        assert act_on_failing_disk(case, tmp_path / f"{number}", fault) == "", fault.landed
        if not fault.landed:
            break
        landed += 1
    assert landed >= 20


@pytest.mark.soak
def test_no_error_at_any_call_does_harm(tmp_path: Path, soak_seconds: float) -> None:
    end = time.monotonic() + soak_seconds
    dice = random.Random()
    cases = [Case(tmp_path / name, name) for name in OPERATIONS]
    landed = 0
    for number in count(1):
        fault = Fault(dice.randint(1, 100), dice.choice(ERRORS), sticky=dice.random() < 0.5)
        case = dice.choice(cases)
        wrong = act_on_failing_disk(case, tmp_path / f"{number}", fault)
        assert wrong == "", f"{fault.number} of {case.name}: {fault.landed}"
        landed += bool(fault.landed)
        if time.monotonic() > end:
            break
    assert landed >= number / 4

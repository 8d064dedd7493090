"""A disk that fails at any call, once or from then on, loses nothing and hides nothing."""

from __future__ import annotations

import random
import time
from itertools import count
from pathlib import Path

import pytest

from tests.crash.points import ERRORS, Fault, act_on_failing_disk
from tests.crash.scopes import OPERATIONS, Case


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
    seed = random.SystemRandom().randrange(2**32)
    dice = random.Random(seed)
    cases = [Case(tmp_path / name, name) for name in OPERATIONS]
    landed = 0
    for number in count(1):
        fault = Fault(dice.randint(1, 100), dice.choice(ERRORS), sticky=dice.random() < 0.5)
        case = dice.choice(cases)
        wrong = act_on_failing_disk(case, tmp_path / f"{number}", fault)
        assert wrong == "", f"seed {seed}, {fault.number} of {case.name}: {fault.landed}"
        landed += bool(fault.landed)
        # A busy machine may need all of the time for one.
        if number >= 20 and time.monotonic() > end:
            break
    assert landed, f"seed {seed}, {number} faults"

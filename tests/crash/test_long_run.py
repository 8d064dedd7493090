"""Whatever is done to a scope, in whatever order, memory is what the model says."""

from __future__ import annotations

import os
import random
import time

import pytest
from hypothesis import settings

from tests.crash.long_run import LongRun, story

LongRun.TestCase.settings = settings(max_examples=5, stateful_step_count=30)
test_any_run = LongRun.TestCase


@pytest.mark.soak
def test_thousands_of_steps_in_long_runs(soak_seconds: float) -> None:
    end = time.monotonic() + soak_seconds
    # What is red in CI is red for whoever looks into it; at a desk each run tells other stories.
    dice = random.Random(1 if os.environ.get("CI") else None)
    while time.monotonic() < end:
        story(dice.randrange(2**32), steps=200)

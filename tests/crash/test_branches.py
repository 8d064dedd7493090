"""Random histories in real git, for as long as there is time."""

from __future__ import annotations

import random
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.crash.branches import trials


@pytest.mark.soak
def test_no_merge_in_a_random_history_loses_an_entry(tmp_path: Path, soak_seconds: float) -> None:
    end = time.monotonic() + soak_seconds
    with closing(trials(tmp_path, random.Random(13))) as cases:
        for trial in cases:
            assert not trial.wrong, trial.what
            if time.monotonic() > end:
                break

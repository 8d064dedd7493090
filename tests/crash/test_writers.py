"""Writers at their full number, up to 300 deeds each; test_campaign.py has the small crowds."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.crash.concurrency import judge, run_processes, run_threads
from tests.crash.writers import ROLES

EACH = 300
# Who finds a page of a skill changed begins anew: 300 of them take minutes.
OF_SKILLS = 60
# With less time than this, in seconds, each of them does less.
ENOUGH = 10


@pytest.mark.soak
def test_eight_writers_with_many_deeds_each_lose_nothing(
    tmp_path: Path, soak_seconds: float
) -> None:
    end = time.monotonic() + soak_seconds
    share = min(1.0, max(0.1, soak_seconds / ENOUGH))
    seed = random.SystemRandom().randrange(2**32)
    # Who writes what comes first is another one each time.
    rounds = [(role, run) for role in ROLES for run in (run_processes, run_threads)]
    random.Random(seed).shuffle(rounds)
    for number, (role, run) in enumerate(rounds):
        root = tmp_path / f"{number}"
        said = run(role, root, 8, round(share * (OF_SKILLS if role == "skills" else EACH)))
        assert judge(role, root, said) == "", f"{role} with {run.__name__}, seed {seed}"
        if time.monotonic() > end:
            break

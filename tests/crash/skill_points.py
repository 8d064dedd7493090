"""An experiment: every operation on skills, failed at every point of its disk.

Promises: as :func:`tests.crash.points.points_failed` for memory, once and from there on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from tests.crash.campaign import Trial
from tests.crash.points import ERRORS, Fault, fail
from tests.crash.skilled import SKILLED, Skilled, opened
from tests.hippocampus.disks import WatchedDisk


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Fail every operation at every point with every error."""
    for name in dice.sample([*SKILLED], len(SKILLED)):
        subject = Skilled(folder / name, name)
        for number in count(1):
            landed = ""
            for code in dice.sample(ERRORS, len(ERRORS)):
                for sticky in (False, True):
                    fault = Fault(number, code, sticky=sticky)
                    root = folder / f"{name}-{number}-{code}-{sticky}"
                    subject.copy(root)
                    act = partial(SKILLED[name].act, opened(root, WatchedDisk(fault)))
                    wrong = fail(act, root, fault, partial(subject.verify, root))
                    landed = fault.landed
                    if landed:
                        yield Trial(f"{name}: {landed}, {code}, sticky {sticky}", wrong)
            if not landed:
                break

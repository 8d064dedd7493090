"""An experiment: every operation on skills, failed at every point of its disk.

Promises: as :func:`tests.crash.points.points_failed` for memory, once and from there on.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from engramdown.errors import StoreError
from tests.crash.campaign import Trial
from tests.crash.points import ERRORS, Fault
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
                    wrong = _act(subject, name, folder / "now", fault)
                    landed = fault.landed
                    if landed:
                        yield Trial(f"{name}: {landed}, {code}, sticky {sticky}", wrong)
            if not landed:
                break


def _act(subject: Skilled, name: str, root: Path, fault: Fault) -> str:
    """Carry out an operation on a failing disk, and return what is wrong."""
    subject.copy(root)
    try:
        SKILLED[name].act(opened(root, WatchedDisk(fault)))
        done = True
    except StoreError as error:
        done = False
        if str(root) not in str(error):
            return f"names no path: {error}"
    except OSError as error:
        return f"escaped: {error!r}"
    finally:
        fault.heal()
    try:
        subject.verify(root, done=done)
    except (AssertionError, StoreError) as error:
        return f"done={done}: {error}"
    finally:
        shutil.rmtree(root)
    return ""

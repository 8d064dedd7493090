"""The fuzz targets as an experiment of the campaign: ``python -m tests.crash --only fuzz``.

Promises: every target gets its turn, a batch of inputs at a time; what breaks a law is told with
the input, so that it can be tried again.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from tests.crash.campaign import Trial
from tests.fuzz.mutating import mutants
from tests.fuzz.targets import TARGETS, inputs

__all__ = ["trials"]

_BATCH: Final = 25


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Yield batches of inputs, of one target after the other, for ever."""
    del folder  # What needs one makes its own.
    made = {name: mutants([*inputs(name).values()], dice) for name in TARGETS}
    while True:
        for name, inputs_of in made.items():
            yield _tried(name, list(islice(inputs_of, _BATCH)))


def _tried(name: str, batch: list[bytes]) -> Trial:
    for at, data in enumerate(batch, 1):
        try:
            TARGETS[name](data)
        except Exception:  # noqa: BLE001 - whatever it is, it is what was looked for
            return Trial(f"{name} on {data!r}", traceback.format_exc(), at)
    return Trial(f"{name}: {len(batch)} inputs", count=len(batch))

"""Every law holds for the seeds of its target, and for all that once broke it."""

from __future__ import annotations

import random
from itertools import islice

from tests.fuzz.mutating import changed, mutants
from tests.fuzz.targets import TARGETS, inputs
from tests.tables import every

CASES = [(name, data) for name in TARGETS for data in inputs(name).values()]
NAMES = [f"{name}-{of}" for name in TARGETS for of in inputs(name)]


@every("name, data", CASES, ids=NAMES)
def test_the_law_holds(name: str, data: bytes) -> None:
    TARGETS[name](data)


@every("name", TARGETS)
def test_every_target_has_seeds(name: str) -> None:
    assert len(inputs(name)) >= 3


def test_the_same_dice_make_the_same_inputs() -> None:
    seeds = list(inputs("importers").values())
    one, other = (
        list(islice(mutants(seeds, random.Random(7)), len(seeds) + 200)) for _ in range(2)
    )
    assert one == other
    assert one[: len(seeds)] == seeds
    assert len(set(one)) > 150


def test_a_change_of_json_is_mostly_json() -> None:
    line = b'{"role": "user", "text": "a", "meta": {"b": [1, 2]}}'
    made = {changed(line, random.Random(number)) for number in range(60)}
    assert sum(each.startswith((b"{", b"[", b'"')) for each in made) > 20

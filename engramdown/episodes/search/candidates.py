"""Which few hundred of a million lines are worth ranking.

Promises: the choice depends on what the transcripts say and on nothing else: not on the order in
which they came into the index, nor on what number a chunk has there. No I/O.

The candidates are the lines whose own words weigh most, and of equals the newest. The rarest words
of the question say where to look: their lists are gone through whole, as long as that is not too
much; the frequent ones only add to the weight of what was found. Where somebody speaks whom the
question names comes before everything else: the rest is most often about somebody else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nlargest
from typing import Final

from engramdown.recall.source import CHUNK

__all__ = ["LONGEST_LISTS", "MOST", "Lists", "candidates"]

MOST: Final = 200
"""How many candidates are ranked."""
LONGEST_LISTS: Final = 20_000
"""How many lines may be gone through to find them."""
_ABOVE_ALL: Final = 1e6

Lists = Sequence[Sequence[int]]
"""The keys of the lines that hold a term: a list for each way to say it."""


def candidates(
    terms: Sequence[Lists],
    weights: Sequence[float],
    freshness: Sequence[int],
    wanted: Callable[[int], bool],
    speaking: Collection[int] = (),
) -> list[int]:
    """Return the keys of the candidates, those of most worth first.

    Args:
        terms: Where each term stands.
        weights: How much it is worth.
        freshness: A number per chunk, the larger the later.
        wanted: Whether a line may be one.
        speaking: The chunks in which somebody speaks whom the question names.
    """
    chosen: list[int] = []
    for level in _levels(_found(terms), weights, speaking):
        need = MOST - len(chosen)
        chosen += _newest(level, need, freshness, wanted)
        if len(chosen) >= MOST:
            break
    return chosen


def _found(terms: Sequence[Lists]) -> dict[int, int]:
    """Return by key which of the terms a line holds, as bits; the rarest decide which lines."""
    sizes = [sum(map(len, lists)) for lists in terms]
    found: dict[int, int] = {}
    gone_through = 0
    for number in sorted(range(len(terms)), key=lambda number: (sizes[number], number)):
        bit = 1 << number
        gone_through += sizes[number]
        for keys in terms[number]:
            here = keys if not found or gone_through <= LONGEST_LISTS else found.keys() & keys
            if not found:
                found = dict.fromkeys(here, bit)
                continue
            for key in here:
                found[key] = found.get(key, 0) | bit
    return found


def _levels(
    found: dict[int, int], weights: Sequence[float], speaking: Collection[int]
) -> Iterator[list[int]]:
    """Yield the lines that hold the same weight, the heaviest first."""
    there = 1 << len(weights) if speaking else 0
    by_mask: defaultdict[int, list[int]] = defaultdict(list)
    for key, mask in found.items():
        whole = mask | there if there and key // CHUNK in speaking else mask
        by_mask[whole].append(key)
    heavy = {mask: _weight(mask, (*weights, _ABOVE_ALL)) for mask in by_mask}
    for mask in sorted(by_mask, key=lambda mask: (-heavy[mask], mask)):
        yield by_mask[mask]


def _weight(mask: int, weights: Iterable[float]) -> float:
    return sum(weight for bit, weight in enumerate(weights) if mask >> bit & 1)


def _newest(
    keys: list[int], need: int, freshness: Sequence[int], wanted: Callable[[int], bool]
) -> list[int]:
    """Return the newest of ``keys`` that are wanted, at most ``need``."""

    def age(key: int) -> int:
        return freshness[key // CHUNK] * CHUNK + key % CHUNK

    if len(keys) > need:
        # Most often all of the first ones are wanted, and sorting a few of many is quick.
        first = nlargest(need, keys, key=age)
        if all(map(wanted, first)):
            return first
    keys.sort(key=age, reverse=True)
    kept: list[int] = []
    for key in keys:
        if len(kept) == need:
            break
        if wanted(key):
            kept.append(key)
    return kept

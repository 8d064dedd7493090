"""What of a conversation fits into a prompt, and what each part of a prompt may cost.

Promises: pure; the fresh tail is shown whole, whatever the room. What is older is looked at from
the newest on: it is shown if it fits; if not, as placeholders; if not even those fit it is left
out, and what is behind it still has its chance. A tool call and its results are shown, replaced or
left out together. More room never shows less of the items that are looked at first. Linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from engramdown.consolidation.summaries import Item, cuts

__all__ = ["LEAST", "Fate", "allotted", "fates"]

Fate = Literal["whole", "brief", "out"]
"""Shown whole; replaced by a placeholder; left out."""

LEAST: Final = 24
"""No placeholder costs less, in tokens."""


def fates(items: Sequence[Item], tail: int, room: int, brief: Callable[[int], int]) -> list[Fate]:
    """Return what becomes of each item of a view.

    Args:
        items: The view.
        tail: Where the fresh tail begins: a place that parts no tool call from its results.
        room: What the items before it may cost, in tokens.
        brief: What the placeholder of the item at a place would cost.

    >>> said = [Item(seq, cost, "user") for seq, cost in enumerate([10, 9_000, 10, 10])]
    >>> fates(said, 3, 50, lambda at: 30), fates(said, 3, 20, lambda at: 30)
    (['whole', 'brief', 'whole', 'whole'], ['whole', 'out', 'whole', 'whole'])
    """
    chosen: list[Fate] = ["whole"] * len(items)
    for start, end in reversed(_groups(items, tail)):
        cost = sum(items[at].tokens for at in range(start, end))
        if cost <= room:
            room -= cost
            continue
        briefs = _briefs(items, range(start, end), brief) if room >= LEAST else [room + 1]
        if sum(briefs) > room:
            chosen[start:end] = ["out"] * (end - start)
            continue
        room -= sum(briefs)
        for at, tokens in enumerate(briefs, start):
            if tokens < items[at].tokens:
                chosen[at] = "brief"
    return chosen


def allotted(costs: Mapping[str, int], room: int) -> dict[str, int]:
    """Return what each part may cost: all that it needs, as long as there is room.

    >>> allotted({"rules": 30, "lessons": 50, "journal": 10}, 60)
    {'rules': 30, 'lessons': 30, 'journal': 0}
    """
    left, given = max(room, 0), {}
    for name, cost in costs.items():
        given[name] = min(cost, left)
        left -= given[name]
    return given


def _groups(items: Sequence[Item], tail: int) -> list[tuple[int, int]]:
    """Return where what belongs together begins and ends, of all that is before the tail."""
    free = cuts(items)
    starts = [at for at in range(tail) if free[at]]
    return list(zip(starts, [*starts[1:], tail], strict=True)) if starts else []


def _briefs(items: Sequence[Item], places: range, brief: Callable[[int], int]) -> list[int]:
    return [min(items[at].tokens, brief(at)) for at in places]

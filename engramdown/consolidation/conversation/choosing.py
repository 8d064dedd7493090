"""Which parts of a conversation are summarised next.

Promises: pure; what is chosen is contiguous, lies before the fresh tail, and parts no tool call
from its results. Leaves are made of messages, condensed gists of gists of one depth. Linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from engramdown.consolidation.conversation.items import Item, cuts

__all__ = [
    "FAN_IN",
    "LEAF_MESSAGES",
    "LEAST_TARGET",
    "SOURCE_TOKENS",
    "Chunk",
    "condensed_chunks",
    "handoff_chunk",
    "leaf_chunks",
]

LEAF_MESSAGES: Final = 10
"""Fewer messages than this are no leaf, unless no more can be read with them."""
SOURCE_TOKENS: Final = 20_000
"""So many tokens a summary is made from at most, unless one tool call has more."""
FAN_IN: Final = 4
"""So many gists of one depth are condensed at least; 2 when there is no room left."""
LEAST_TARGET: Final = 10
"""A summary may always have so many tokens."""

_LEAF_SHARE: Final = 3
_CONDENSED_SHARE: Final = 2
_HANDOFF: Final = 2_000
# One gist alone is not condensed.
_FEWEST: Final = 2


class Chunk(NamedTuple):
    """A part of the view.

    Attributes:
        start: Where it begins.
        end: Where it ends, exclusive.
        tokens: What it costs.
        target: What a summary of it should cost at most.
        depth: Of that summary.
    """

    start: int
    end: int
    tokens: int
    target: int
    depth: int


def leaf_chunks(
    items: Sequence[Item],
    end: int,
    least: int = LEAF_MESSAGES,
    most: int = SOURCE_TOKENS,
) -> list[Chunk]:
    """Return the runs of messages before ``end`` that become a leaf each.

    Args:
        items: The view.
        end: Where the fresh tail begins.
        least: How many messages a leaf has, unless the next ones are too long to be read with
            them; then they may be fewer, but for the last few of a conversation and for a trifle.
        most: How many tokens it is made from at most, unless one tool call has more.

    >>> found = leaf_chunks([Item(seq, 30, "user") for seq in range(12)], 11)
    >>> [(chunk.start, chunk.end, chunk.target) for chunk in found]
    [(0, 11, 110)]
    """
    free = cuts(items)
    found = []
    for start, stop in _runs(items[:end], messages=True):
        for first, last, tokens, is_full in _pieces(items, free, (start, stop), (least, most)):
            if last - first >= least or is_full:
                found.append(_chunk(first, last, tokens, _LEAF_SHARE, 0))
    return found


def condensed_chunks(
    items: Sequence[Item], end: int, fan_in: int = FAN_IN, most: int = SOURCE_TOKENS
) -> list[Chunk]:
    """Return the runs of gists of one depth before ``end`` that become a deeper one each.

    >>> gists = [Item(f"g{at}", 30, depth=0) for at in range(9)]
    >>> [(chunk.start, chunk.end, chunk.depth) for chunk in condensed_chunks(gists, 9)]
    [(0, 5, 1), (5, 9, 1)]
    """
    found = []
    for start, stop in _runs(items[:end], messages=False):
        for first, last in _shares(start, stop, max(fan_in, _FEWEST)):
            end_of, tokens = _readable(items, first, last, most)
            found.append(_chunk(first, end_of, tokens, _CONDENSED_SHARE, items[first].depth + 1))
    return found


def handoff_chunk(items: Sequence[Item], end: int) -> Chunk | None:
    """Return all that stands before ``end``; ``None`` if that is nothing, or one handoff."""
    before = items[:end]
    if not before or (len(before) == 1 and before[0].role == "handoff"):
        return None
    tokens = sum(item.tokens for item in before)
    depth = max(item.depth for item in before) + 1
    return Chunk(0, end, tokens, min(_HANDOFF, max(tokens, LEAST_TARGET)), depth)


def _chunk(first: int, last: int, tokens: int, share: int, depth: int) -> Chunk:
    return Chunk(first, last, tokens, max(tokens // share, LEAST_TARGET), depth)


def _runs(items: Sequence[Item], *, messages: bool) -> Iterator[tuple[int, int]]:
    """Yield where runs of messages, or of gists of one depth, begin and end."""
    start = 0
    for at in range(1, len(items) + 1):
        if at < len(items) and items[at].depth == items[start].depth:
            continue
        if items[start].is_message == messages:
            yield start, at
        start = at


def _pieces(
    items: Sequence[Item], free: Sequence[bool], run: tuple[int, int], size: tuple[int, int]
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the pieces of a run that are read at once, their tokens, and whether no more fit."""
    least, most = size
    trifle = most // max(least, 1)
    # A run may begin and end within a tool call: what was cut off there stays where it is.
    places = [place for place in range(run[0], run[1] + 1) if free[place]]
    first, tokens = places[0] if places else 0, 0
    for start, stop in pairwise(places):
        cost = sum(item.tokens for item in items[start:stop])
        is_small = start - first < least and tokens < trifle
        # A trifle is read with what is too long anyway.
        if start > first and tokens + cost > most and not (is_small and cost > most):
            yield first, start, tokens, not is_small
            first, tokens = start, 0
        tokens += cost
    if len(places) > 1:
        yield first, places[-1], tokens, tokens >= most


def _readable(items: Sequence[Item], first: int, last: int, most: int) -> tuple[int, int]:
    """Return how far gists may be read at once, two of them at least, and what that costs."""
    tokens = sum(item.tokens for item in items[first:last])
    while tokens > most and last - first > _FEWEST:
        last -= 1
        tokens -= items[last].tokens
    return last, tokens


def _shares(start: int, stop: int, fan_in: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a run of gists, about as long as each other."""
    count = (stop - start) // fan_in
    for nth in range(count):
        length, more = divmod(stop - start, count - nth)
        end = start + length + bool(more)
        yield start, end
        start = end

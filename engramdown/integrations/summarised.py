"""Summaries in the place of what they stand for, in the history that another library is given.

Promises: pure; what no summary covers is given as it was kept, in order; until something is
summarised anew, the beginning stays the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engramdown.integrations.lines import Entry, readable

__all__ = ["Summary", "put_in"]


class Summary(NamedTuple):
    """A summary in view.

    Attributes:
        first: The first line that it stands for.
        last: The last one.
        text: What a model is shown.
    """

    first: int
    last: int
    text: str


def put_in(
    entries: list[Entry], summaries: list[Summary], made: Callable[[str], Any]
) -> list[Entry]:
    """Return entries with each summary in the place of what it covers.

    Args:
        entries: What a session keeps, in order.
        summaries: In order, and apart from each other.
        made: Returns the value for a summary.
    """
    left: list[Entry] = []
    shown = set[int]()
    for entry in entries:
        covers = next((each for each in summaries if each.first <= entry.seq <= each.last), None)
        if covers is None:
            left.append(entry)
        elif covers.first not in shown:
            shown.add(covers.first)
            value = made(covers.text)
            left.append(Entry(value, seq=covers.first, json=readable(value)))
    return left

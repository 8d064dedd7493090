"""Finding one thing by its id, or by the beginning of it.

Promises: pure; an exact id wins over a prefix; a prefix that begins several ids is an error that
lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from engramdown.hippocampus.document import Document, Placed
from engramdown.hippocampus.filing import entry_id

__all__ = ["by_prefix", "find_line"]

T = TypeVar("T")


def by_prefix(prefix: str, items: Sequence[T], id_of: Callable[[T], str], where: str) -> T:
    """Return the first of ``items`` whose id is ``prefix``, or the only one that begins so.

    Args:
        prefix: An id or its beginning.
        items: What to look through.
        id_of: Returns the id of an item.
        where: Where they stand, for the message of an error.

    Raises:
        EntryNotFoundError: If there is none.
        AmbiguousIdError: If several ids begin so.
    """
    exact = [item for item in items if id_of(item) == prefix]
    found = exact or [item for item in items if prefix and id_of(item).startswith(prefix)]
    if not found:
        raise EntryNotFoundError(prefix, where)
    ids = list(dict.fromkeys(map(id_of, found)))
    if len(ids) > 1:
        raise AmbiguousIdError(prefix, ids)
    return found[0]


def find_line(document: Document, wanted: str) -> Placed | None:
    """Return the entry with the id or address ``wanted``; only lines that can be it are read."""
    hand = wanted.startswith("~")
    mark = "" if hand else f"id:{wanted}"
    # Backwards: what is asked for was mostly written a moment ago.
    for block in reversed(document.blocks):
        if mark in block.raw and block.shape in ("item", "paragraph"):
            placed = document.at(block)
            if entry_id(placed) == wanted:
                return placed
    return None

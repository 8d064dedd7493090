"""Finding one thing by its id, or by the beginning of it.

Promises: pure; an exact id wins over a prefix; a prefix that begins several ids is an error that
lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from engramdown.hippocampus.document import Document, Placed
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import address, entry_id

__all__ = ["by_prefix", "find_line", "find_lines", "retired_name"]

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


def retired_name(prefix: str) -> Callable[[Entry], str]:
    """Return what names retired memories, if this is how one of them is asked for.

    A line that a person wrote gets an id when it is retired; ``~`` asks for the address before.
    """
    if prefix.startswith("~"):
        return lambda entry: address(entry.text)
    return lambda entry: entry.id


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


def find_lines(document: Document, wanted: Collection[str]) -> dict[str, Placed]:
    """Return the entries with the ids or addresses ``wanted`` that are there, in one pass.

    Of several with one id it is the last, as in :func:`find_line`.
    """
    if len(wanted) == 1:
        found = {each: find_line(document, each) for each in wanted}
        return {each: placed for each, placed in found.items() if placed is not None}
    entries = ((entry_id(placed), placed) for placed in document.placed())
    return {each: placed for each, placed in entries if each in wanted}

"""Finding one thing by its id, or by the beginning of it.

Promises: pure; an exact id wins over a prefix; a prefix that begins several ids is an error that
lists them. The address of an entry without an id is also found without its mark, and with ``~``,
which was the mark before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import address, entry_id
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import ADDRESS, current_id, is_address

__all__ = ["begins", "by_prefix", "find_line", "find_lines", "retired_name"]

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
    wanted = current_id(prefix)
    exact = [item for item in items if id_of(item) == wanted]
    found = exact or [item for item in items if begins(id_of(item), wanted)]
    if not found:
        raise EntryNotFoundError(prefix, where)
    ids = list(dict.fromkeys(map(id_of, found)))
    if len(ids) > 1:
        raise AmbiguousIdError(prefix, ids)
    return found[0]


def begins(entry_id: str, prefix: str) -> bool:
    """Whether an id or an address begins with ``prefix``, which may leave out the mark.

    >>> begins("_7a2pcsc", "7a2"), begins("_7a2pcsc", "~7a2"), begins("7a2pcsc0", "_7a2")
    (True, True, False)
    """
    wanted = current_id(prefix)
    return wanted != "" and entry_id.startswith((wanted, ADDRESS + wanted))


def retired_name(prefix: str, entries: Iterable[Entry]) -> Callable[[Entry], str]:
    """Return what names retired memories, if this is how one of them is asked for.

    A line that a person wrote gets an id when it is retired; its address before still finds it,
    without its mark only where no id begins so.

    Args:
        prefix: An id, an address, or the beginning of one.
        entries: The retired memories.
    """
    if not is_address(current_id(prefix)) and any(begins(entry.id, prefix) for entry in entries):
        return lambda entry: entry.id
    return lambda entry: address(entry.text)


def find_line(document: Document, wanted: str) -> Placed | None:
    """Return the entry with the id or address ``wanted``; only lines that can be it are read."""
    hand = is_address(wanted)
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

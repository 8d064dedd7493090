"""One memory as it stands in a store.

An :class:`Entry` is a snapshot; it holds everything that can be said about a line of
memory without opening a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeVar

from engramdown.engram import Basis, Confidence, Engram, Kind, Scope, Source, fold, slug
from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import ADDRESS, current_id, is_address

T = TypeVar("T")
# What an entry says as the engram does that it was made of.
_SHARED: Final = ("text", "kind", "scope", "confidence", "source", "origin", "expires")
CROCKFORD: Final = "0123456789abcdefghjkmnpqrstvwxyz"


class Entry(NamedTuple):
    """One memory as it stands in a store; ``str(entry)`` is its text.

    Attributes:
        id: Eight characters of Crockford base32, or ``~`` and seven for a line without metadata.
        text: What is remembered, exactly as it was encoded.
        kind: See :class:`engramdown.Engram`.
        scope: The scope of the store that holds it.
        confidence: ``high`` for a line without metadata.
        topic: The slug of its topic, or ``""``.
        source: ``user`` for a line without metadata.
        basis: ``told`` for a line without metadata; ``verified`` once a person confirmed it.
        ts: The day it was written, ``YYYY-MM-DD``, or ``""``.
        origin: Where it was learned, ``<session>#<episode>``, or ``""``.
        expires: The last day on which it holds, or ``""``.
        pin: Whether a person pinned it.
        file: The file that holds it, relative to the memory folder: ``topics/ci.md``.
        line: The line of that file on which it starts, from 1.
        heading: The heading it stands under, as it is written, or ``""``.
        spelled: How that file is spelled on the disk, if otherwise: ``USER.md``.
        comments: The private comments inside its lines, as they stand; no model is sent them.
    """

    id: str
    text: str
    kind: Kind
    scope: Scope
    confidence: Confidence = "high"
    topic: str = ""
    source: Source = "user"
    basis: Basis = "told"
    ts: str = ""
    origin: str = ""
    expires: str = ""
    pin: bool = False
    file: str = ""
    line: int = 0
    heading: str = ""
    spelled: str = ""
    comments: str = ""

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def disk_file(self) -> str:
        """The file that holds it as it is spelled on the disk: what a person opens."""
        return self.spelled or self.file

    @property
    def fold(self) -> str:
        """The form in which its text is compared, see :func:`engramdown.engram.fold`."""
        return fold(self.text)

    @property
    def by_person(self) -> bool:
        """Whether a person wrote, said, confirmed or pinned it: no automatic job may touch it."""
        return self.source == "user" or self.basis == "verified" or self.pin

    @classmethod
    def of(cls, engram: Engram) -> Entry:
        """Return the entry that ``engram`` becomes, without an id and a place."""
        values: dict[str, Any] = {name: getattr(engram, name) for name in _SHARED}
        topic = slug(engram.topic) if engram.topic else ""
        return cls(id="", topic=topic, basis=engram.basis or "inferred", **values)

    def engram(self) -> Engram:
        """Return the memory without its place, to encode it elsewhere."""
        values: dict[str, Any] = {name: getattr(self, name) for name in _SHARED}
        return Engram(topic=self.topic, basis=self.basis, **values)


class Written(NamedTuple):
    """What a store did with one engram.

    Attributes:
        action: ``encoded`` if a line was added (or a keyed fact replaced), ``merged`` if the
            memory was there already.
        entry: The memory as it stands in the store now.
    """

    action: Literal["encoded", "merged"]
    entry: Entry


class Archived(NamedTuple):
    """A retired memory.

    Attributes:
        entry: The memory as it stands in ``archive.md``.
        was: The file it was in.
        reason: Why it was retired: ``forgotten``, ``deleted``, ``declined``, ``replaced``, ….
        by: Who retired it.
        date: When, ``YYYY-MM-DD``.
        replaced: The id of the memory that stands for it now, or ``""``.
    """

    entry: Entry
    was: str
    reason: str
    by: str
    date: str
    replaced: str = ""


def address(text: str) -> str:
    """Return the address of an entry without an id: ``_`` and a digest of its text."""
    number = int.from_bytes(
        hashlib.blake2b(fold(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    )
    return ADDRESS + "".join(CROCKFORD[number >> 5 * place & 31] for place in range(7))


def entry_id(placed: Placed) -> str:
    """Return the id of an entry, or the address of one that has none."""
    meta = placed.block.meta
    return (meta.get("id") if meta else "") or address(placed.block.text)


def begins(entry_id: str, prefix: str) -> bool:
    """Whether an id or an address begins with ``prefix``, which may leave out the mark.

    >>> begins("_7a2pcsc", "7a2"), begins("_7a2pcsc", "~7a2"), begins("7a2pcsc0", "_7a2")
    (True, True, False)
    """
    wanted = current_id(prefix)
    return wanted != "" and entry_id.startswith((wanted, ADDRESS + wanted))


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

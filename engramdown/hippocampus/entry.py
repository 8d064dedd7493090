"""One memory as it stands in a store.

Promises: an :class:`Entry` is a snapshot; it holds everything that can be said about a line of
memory without opening a file.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from engramdown.engram import Basis, Confidence, Engram, Kind, Scope, Source, fold, slug


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
        return cls(
            id="",
            text=engram.text,
            kind=engram.kind,
            scope=engram.scope,
            confidence=engram.confidence,
            topic=slug(engram.topic) if engram.topic else "",
            source=engram.source,
            basis=engram.basis or "inferred",
            origin=engram.origin,
            expires=engram.expires,
        )

    def engram(self) -> Engram:
        """Return the memory without its place, to encode it elsewhere."""
        return Engram(
            self.text,
            self.kind,
            self.scope,
            self.confidence,
            self.topic,
            self.source,
            basis=self.basis,
            origin=self.origin,
            expires=self.expires,
        )


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

"""One memory as it is in a store.

An :class:`Entry` is a snapshot; it holds everything that can be said about a line of
memory without opening a file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal, NamedTuple, TypeVar

from engramdown import engram as engrams
from engramdown.engram import Basis, Confidence, Engram, Kind, Scope, Source, fold, slug
from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from engramdown.kinds import ASIDE, LESSONS, RULES, is_name, kind_in, topic_of
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import ADDRESS, Metadata, current_id, is_address

T = TypeVar("T")
# What an entry says as the engram does that it was made of.
_SHARED: Final = ("text", "kind", "scope", "confidence", "source", "origin", "cites", "expires")
# What the version of an entry depends on: not on where it is.
_VERSIONED: Final = (*_SHARED, "topic", "basis", "ts", "pin", "comments")
CROCKFORD: Final = "0123456789abcdefghjkmnpqrstvwxyz"


class Entry(NamedTuple):
    """One memory as it is in a store; ``str(entry)`` is its text.

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
        heading: The heading it is under, as it is written, or ``""``.
        spelled: How that file is spelled on the disk, if otherwise: ``USER.md``.
        comments: The private comments inside its lines, as they are; no model sees them.
        cites: The lines of files that it is about, see :mod:`engramdown.hippocampus.citations`.
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
    cites: str = ""

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
        entry: The memory as it is in the store now.
    """

    action: Literal["encoded", "merged"]
    entry: Entry


class Archived(NamedTuple):
    """A retired memory.

    Attributes:
        entry: The memory as it is in ``archive.md``.
        was: The file it was in.
        reason: Why it was retired: ``forgotten``, ``deleted``, ``declined``, ``replaced``, ….
        by: Who retired it.
        date: When, ``YYYY-MM-DD``.
        replaced: The id of the memory that replaced it, or ``""``.
    """

    entry: Entry
    was: str
    reason: str
    by: str
    date: str
    replaced: str = ""


def age_of(entry: Entry, today: date) -> int | None:
    """Return how many days ago a memory was written, or ``None`` when that is not known."""
    try:
        return (today - date.fromisoformat(entry.ts)).days
    except ValueError:
        return None


def passes(entry: Entry, today: date, filters: Mapping[str, Any]) -> bool:
    """Return whether ``entry`` passes all filters; one without a date has no age.

    Args:
        entry: A memory.
        today: From when its age is counted.
        filters: The kinds, scopes, confidences and sources that pass, by the name of the field,
            the topic, and how many days old it is, ``older`` than these and not ``newer``. What is
            empty or ``None`` lets everything pass.
    """
    for name in ("kind", "scope", "confidence", "source"):
        if filters[name] and getattr(entry, name) not in filters[name]:
            return False
    if filters["topic"] and entry.topic != slug(filters["topic"]):
        return False
    older, newer = filters["older"], filters["newer"]
    if older is None and newer is None:
        return True
    age = age_of(entry, today)
    if age is None or (older is not None and age <= older):
        return False
    return newer is None or age <= newer


def address(text: str) -> str:
    """Return the address of an entry without an id: ``_`` and a digest of its text."""
    number = int.from_bytes(
        hashlib.blake2b(fold(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    )
    return ADDRESS + "".join(CROCKFORD[number >> 5 * place & 31] for place in range(7))


def version(entry: Entry) -> str:
    """Return a digest of what the lines of a memory say; it stays when they are moved.

    >>> one = Entry("k3v9q2ht", "Use uv", "always", "project")
    >>> [version(one) == version(each) for each in (one._replace(line=7), one._replace(pin=True))]
    [True, False]
    """
    said = repr([getattr(entry, name) for name in _VERSIONED])
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
    matches = exact or [item for item in items if begins(id_of(item), wanted)]
    if not matches:
        raise EntryNotFoundError(prefix, where)
    ids = list(dict.fromkeys(map(id_of, matches)))
    if len(ids) > 1:
        raise AmbiguousIdError(prefix, ids)
    return matches[0]


def retired_name(prefix: str, entries: Iterable[Entry]) -> Callable[[Entry], str]:
    """Return what names retired memories, if one of them is looked for as ``prefix``.

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
    # Backwards: mostly it was written a moment ago.
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


# What an entry of a memory file says: its kind and defaults, where its copies are, what bars it.
#
# Pure. An entry without metadata was written by a person; what ``archive.md`` holds decides whether
# a memory may come again: what a person turned down is not learned again, nor is what had become
# part of it, and what gave way to another memory does not come back beside it, unless it is news.

_TASK: Final = re.compile(r"\[([ xX-])\](?:[ \t]|\Z)")
# What a value may be; anything else in a file counts as absent.
_SCOPES: Final[dict[str, Scope]] = {each: each for each in engrams.SCOPES}
_SOURCES: Final[dict[str, Source]] = {each: each for each in engrams.SOURCES}
_CONFIDENCES: Final[dict[str, Confidence]] = {each: each for each in engrams.CONFIDENCES}
_BASES: Final[dict[str, Basis]] = {each: each for each in engrams.BASES}
_FALSE: Final = frozenset({"", "no", "false", "off"})


def copies_of(file: str, meta: Metadata) -> list[str]:
    """Return the other files that hold a lesson: its topic's, or the one of all lessons."""
    if not meta.get("id"):
        return []
    if topic_of(file):
        return [LESSONS]
    topic = meta.get("topic")
    name = f"topics/{topic}.md"
    return [name] if topic and file == LESSONS and is_name(name) else []


def split_task(text: str) -> tuple[str, str]:
    """Return the tick of a task-list item (``" "``, ``x``, ``-``, or ``""``) and its text.

    >>> split_task("[x] Use uv"), split_task("Use uv")
    (('x', 'Use uv'), ('', 'Use uv'))
    """
    match = _TASK.match(text)
    return (match[1].lower(), text[match.end() :]) if match else ("", text)


def is_memory(file: str, placed: Placed) -> bool:
    """Whether an entry counts as a memory: a paragraph in ``rules.md`` does only in a section."""
    if placed.block.shape == "item":
        return True
    if file == RULES:
        return bool(placed.kind or placed.heading)
    return file not in ASIDE


def raw_entries(file: str, document: Document) -> list[Placed]:
    """Return the entries of a file that count as memories."""
    return [placed for placed in document.placed() if is_memory(file, placed)]


def as_entry(file: str, scope: Scope, placed: Placed) -> Entry:
    """Return what an entry says about itself, with the defaults of the format."""
    meta = placed.block.meta
    values = meta.values() if meta else {}
    get = values.get
    # What a person wrote carries an id while it is retired.
    ours = "id" in values and not get("hand")
    text = placed.block.text
    source = _SOURCES.get(get("source", ""), "llm" if ours else "user")
    return Entry(
        id=get("id") or address(text),
        text=text,
        kind=kind_in(file, placed.kind, get("kind", "")),
        scope=_SCOPES.get(get("scope", ""), scope),
        confidence=_CONFIDENCES.get(get("confidence", ""), "medium" if ours else "high"),
        topic=get("topic") or topic_of(file),
        source=source,
        basis=_BASES.get(get("basis", ""), "told" if source == "user" else "inferred"),
        ts=get("ts", ""),
        origin=get("from", ""),
        cites=get("cites", ""),
        expires=get("expires", ""),
        pin=get("pin", "") not in _FALSE,
        file=file,
        line=placed.line,
        heading=placed.heading,
        comments=placed.block.comments,
    )


def fields(engram: Engram, entry_id: str, today: str) -> dict[str, str]:
    """Return the metadata of a new line; a basis that follows from the source is left out."""
    default = "told" if engram.source == "user" else "inferred"
    return {
        "id": entry_id,
        "topic": slug(engram.topic) if engram.topic else "",
        "confidence": engram.confidence,
        "source": engram.source,
        "basis": engram.basis if engram.basis != default else "",
        "from": engram.origin,
        "cites": engram.cites,
        "expires": engram.expires,
        "ts": engram.ts or today,
    }


# The reasons in ``archive.md`` for which a memory is not learned again.
TOMBSTONES: Final = frozenset({"deleted", "declined", "forgotten"})

_REPLACED: Final = "replaced"
# A memory that replaced another one for one of these reasons says all of it.
_SAID: Final = frozenset({"duplicate", "merged"})
# A session is called by when it began, unless somebody named it.
_DATED: Final = re.compile(r"(\d{4})(\d\d)(\d\d)-\d{6}")


def tombstones(archive: Document) -> Iterator[Placed]:
    """Yield the entries of the archive that are not to be learned again."""
    entries = [each for each in archive.placed() if each.block.meta is not None]
    unwanted = {each.id for each in entries if _is_tombstone(each.block)}
    heirs = _heirs([each.block for each in entries], _SAID) if unwanted else {}
    for placed in entries:
        block = placed.block
        if _is_tombstone(block) or unwanted.intersection(_line(heirs, block.value("id"))):
            yield placed


def tombstones_of(archive: Document, text: str) -> list[Block]:
    """Return the entries of the archive for which ``text`` is not to be learned again."""
    return [block for block in archive.same(text) if _is_tombstone(block)]


def successors(archive: Document, engram: Engram) -> Iterator[str]:
    """Yield the ids of what may replace an engram that was retired and is not news.

    ``""`` is the fact that has its key.
    """
    same = [block for block in archive.same(engram.text) if block.meta is not None]
    gone = [block for block in same if _is_old(block, engram)]
    heirs = _heirs([placed.block for placed in archive.placed()]) if gone else {}
    for block in reversed(gone):
        first = block.value("replaced")
        yield from (first, *_line(heirs, first))


def _is_old(block: Block, engram: Engram) -> bool:
    """Whether an engram says nothing but what an entry of the archive said, which gave way."""
    reason = block.value("reason")
    if block.value("kind") != engram.kind or reason not in {_REPLACED, *_SAID}:
        return False
    origins = set(filter(None, engram.origin.split(",")))
    if engram.basis == "verified":
        return False  # A person has just said yes to it.
    if origins and origins <= set(block.value("from").split(",")):
        return True
    if reason in _SAID:
        return engram.source != "user" or bool(origins)
    # What was replaced may hold again: it counts who says so, and when it was said.
    days = ["-".join(found.groups()) for found in map(_DATED.match, origins) if found]
    archived = block.value("archived")
    if engram.source == "consolidation":
        return not days or min(days) <= archived
    return bool(days) and max(days) < archived


def _heirs(blocks: list[Block], reasons: frozenset[str] = _SAID | {_REPLACED}) -> dict[str, str]:
    """Return which id replaced which, as far as the archive says."""
    return {
        block.value("id"): block.value("replaced")
        for block in blocks
        if block.value("reason") in reasons
    }


def _line(heirs: dict[str, str], first: str) -> Iterator[str]:
    """Yield what replaced ``first``, what replaced that, and so on, each once."""
    seen = {"", first}
    heir = heirs.get(first, "")
    while heir not in seen:
        yield heir
        seen.add(heir)
        heir = heirs.get(heir, "")


def _is_tombstone(block: Block) -> bool:
    return block.value("reason") in TOMBSTONES

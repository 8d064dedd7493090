"""What an entry of a memory file says: its kind and defaults, where else it stands, what bars it.

Pure. An entry without metadata was written by a person; what ``archive.md`` holds decides whether
a memory may come again: what a person turned down is not learned again, nor is what had become part
of it, and what gave way to another memory does not come back beside it, unless it is news.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeVar

from engramdown import engram as engrams
from engramdown.engram import BASES, CONFIDENCES, SCOPES, SOURCES, Basis, Confidence, Engram, Scope
from engramdown.hippocampus.entry import Entry, address
from engramdown.kinds import ASIDE, LESSONS, RULES, is_name, kind_in, topic_of
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import Metadata

_TASK: Final = re.compile(r"\[([ xX-])\](?:[ \t]|\Z)")
# What a value may be; anything else in a file counts as absent.
_SCOPES: Final[dict[str, Scope]] = {each: each for each in SCOPES}
_SOURCES: Final[dict[str, engrams.Source]] = {each: each for each in SOURCES}
_CONFIDENCES: Final[dict[str, Confidence]] = {each: each for each in CONFIDENCES}
_BASES: Final[dict[str, Basis]] = {each: each for each in BASES}
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
        "topic": engrams.slug(engram.topic) if engram.topic else "",
        "confidence": engram.confidence,
        "source": engram.source,
        "basis": engram.basis if engram.basis != default else "",
        "from": engram.origin,
        "expires": engram.expires,
        "ts": engram.ts or today,
    }


TOMBSTONES: Final = frozenset({"deleted", "declined", "forgotten"})
"""The reasons in ``archive.md`` for which a memory is not learned again."""

_REPLACED: Final = "replaced"
# What stands for a memory that went for one of these says all of it.
_SAID: Final = frozenset({"duplicate", "merged"})
# A session is called by when it began, unless somebody named it.
_DATED: Final = re.compile(r"(\d{4})(\d\d)(\d\d)-\d{6}")


def tombstones(archive: Document) -> Iterator[Placed]:
    """Yield the entries of the archive that are not to be learned again."""
    found = [each for each in archive.placed() if each.block.meta is not None]
    unwanted = {_value(each.block, "id") for each in found if _is_tombstone(each.block)}
    heirs = _heirs([each.block for each in found], _SAID) if unwanted else {}
    for placed in found:
        block = placed.block
        if _is_tombstone(block) or unwanted.intersection(_line(heirs, _value(block, "id"))):
            yield placed


def tombstones_of(archive: Document, text: str) -> list[Block]:
    """Return the entries of the archive for which ``text`` is not to be learned again."""
    return [block for block in archive.same(text) if _is_tombstone(block)]


def successors(archive: Document, engram: Engram) -> Iterator[str]:
    """Yield the ids of what may stand for an engram that was retired and is no news.

    ``""`` is the fact that has its key.
    """
    same = [block for block in archive.same(engram.text) if block.meta is not None]
    gone = [block for block in same if _is_old(block, engram)]
    heirs = _heirs([placed.block for placed in archive.placed()]) if gone else {}
    for block in reversed(gone):
        first = _value(block, "replaced")
        yield from (first, *_line(heirs, first))


def _is_old(block: Block, engram: Engram) -> bool:
    """Whether an engram says nothing but what an entry of the archive said, which gave way."""
    reason = _value(block, "reason")
    if _value(block, "kind") != engram.kind or reason not in {_REPLACED, *_SAID}:
        return False
    told = set(filter(None, engram.origin.split(",")))
    if engram.basis == "verified":
        return False  # A person has just said yes to it.
    if told and told <= set(_value(block, "from").split(",")):
        return True
    if reason in _SAID:
        return engram.source != "user" or bool(told)
    # What was replaced may hold again: it counts who says so, and when it was said.
    days = ["-".join(found.groups()) for found in map(_DATED.match, told) if found]
    archived = _value(block, "archived")
    if engram.source == "consolidation":
        return not days or min(days) <= archived
    return bool(days) and max(days) < archived


def _heirs(blocks: list[Block], reasons: frozenset[str] = _SAID | {_REPLACED}) -> dict[str, str]:
    """Return which id stands for which, as far as the archive says."""
    return {
        _value(block, "id"): _value(block, "replaced")
        for block in blocks
        if _value(block, "reason") in reasons
    }


def _line(heirs: dict[str, str], first: str) -> Iterator[str]:
    """Yield what stands for ``first``, what stands for that, and so on, each once."""
    seen = {"", first}
    heir = heirs.get(first, "")
    while heir not in seen:
        yield heir
        seen.add(heir)
        heir = heirs.get(heir, "")


def _is_tombstone(block: Block) -> bool:
    return _value(block, "reason") in TOMBSTONES


def _value(block: Block, key: str) -> str:
    return (block.meta or Metadata()).get(key)


T = TypeVar("T")

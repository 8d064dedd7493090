"""What ``archive.md`` says about a memory that comes again.

Promises: pure; what a person turned down is not learned again, nor is what had become part of it;
what gave way to another memory does not come back beside it, unless it is news: a person's word,
or said after it had gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engramdown.engram import Engram
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import Metadata

__all__ = ["TOMBSTONES", "successors", "tombstones", "tombstones_of"]

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

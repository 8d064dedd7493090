"""A proposal with what a person needs to decide on it.

It is pure: beside the proposal stand the memories that it would retire and those that say nearly
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from engramdown.engram import Engram, fact_key
from engramdown.gate.gate import REASONS, harmless
from engramdown.gate.keyed_values import describe_value
from engramdown.gate.pending import Operation, Pending, Queue
from engramdown.hippocampus.entry import Entry
from engramdown.language.similarity import Rewordings, is_rewording
from engramdown.markdown.metadata import OPERATIONS

# What waits times what is known: so much is compared, and of what is alike so much looked at.
_COMPARED: Final = 1_000_000
_LOOKED_AT: Final = 40
_NOTHING: Final = Rewordings(())
_BROUGHT: Final = "it came with git, and is somebody else's"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal with what a person needs to decide about it.

    Attributes:
        id: Its id; commands take any unique prefix.
        engram: What is proposed.
        hold: Why nobody was prompted about it, or ``""``.
        reason: Why it waits, in words.
        op: ``encode``, ``replace``, ``forget``, or an operation of a plan: ``drop``, ``merge``,
            ``supersede``, ``expire``, ``move``; write a ``skill``; ``load`` what git brought, and
            stands there.
        replaces: The memory that accepting it would retire, or ``None``.
        takes: The memories that an operation of a plan would retire or move.
        comments: The private comments inside its lines, as they stand; they are not part of it.
        similar: Memories that say nearly the same.
        file: The file it waits in, or ``""``.
        line: Its line there, from 1, or 0.
        ts: The day it was proposed.
        is_ours: Whether it was proposed here; ``False`` if it came with git.
    """

    id: str
    engram: Engram
    hold: str = ""
    reason: str = ""
    op: Operation | Literal["load"] = "encode"
    replaces: Entry | None = None
    similar: tuple[Entry, ...] = ()
    file: str = ""
    line: int = 0
    ts: str = ""
    takes: tuple[Entry, ...] = ()
    is_ours: bool = True
    comments: str = ""


def describe(
    items: Sequence[tuple[Queue, Pending]],
    entries: Sequence[Entry],
    brought: Collection[tuple[str, int]] = (),
) -> list[Proposal]:
    """Return what waits with the memories that it touches.

    Of very much that waits beside very many memories, only the first are compared with these.

    Args:
        items: What waits, and where.
        entries: The memories of both scopes.
        brought: Where the lines wait that git brought: file and line.
    """
    known = Rewordings(entry.text for entry in entries)
    at_hand = _ByMark(entries)
    compared = _COMPARED // max(len(entries), 1)
    return [
        _describe(
            item,
            queue.file,
            at_hand,
            known if at < compared else _NOTHING,
            is_ours=(queue.file, item.line) not in brought,
        )
        for at, (queue, item) in enumerate(items)
    ]


def _describe(
    item: Pending, file: str, memories: _ByMark, known: Rewordings, *, is_ours: bool
) -> Proposal:
    takes = memories.taken(item)
    replaces = None if takes else memories.replaced(item)
    near: Iterator[int] = islice(known.near(item.engram.text), _LOOKED_AT)
    near = (at for at in near if is_rewording(item.engram.text, known.texts[at]))
    similar = tuple(
        memories.entries[at]
        for at in near
        if memories.entries[at] is not replaces and memories.entries[at] not in takes
    )
    hold, reason = (REASONS.get(code, code) for code in (item.hold, item.reason or item.hold))
    if not is_ours and not hold and item.reason in ("", "confidence"):
        # What a line lets out is filled in as if it had been written here.
        reason = _BROUGHT
    return Proposal(
        id=item.id,
        engram=harmless(item.engram),
        hold=hold,
        reason=item.problem or "; ".join(filter(None, [reason, describe_value(item.put)])),
        op=item.op,
        replaces=replaces,
        similar=similar,
        file=file,
        line=item.line,
        ts=item.ts,
        takes=takes,
        is_ours=is_ours,
        comments=item.comments,
    )


class _ByMark:
    """Memories by what a proposal names them by."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._places: dict[str, list[int]] = {}
        self._facts: dict[str, Entry] = {}
        for at, entry in enumerate(entries):
            self._places.setdefault(entry.id, []).append(at)
            key = fact_key(entry.text) if entry.kind == "profile" else ""
            if key:
                self._facts.setdefault(key, entry)

    def taken(self, item: Pending) -> tuple[Entry, ...]:
        """Return the memories that a part of a plan is about; a question on them is no memory."""
        ids = {*item.of.split(",")} if item.op in OPERATIONS else set[str]()
        found = sorted(at for each in ids for at in self._places.get(each, ()))
        return tuple(self.entries[at] for at in found)

    def replaced(self, item: Pending) -> Entry | None:
        """Return the memory that accepting ``item`` would retire."""
        if item.of:
            return next((self.entries[at] for at in self._places.get(item.of, ())), None)
        key = fact_key(item.engram.text) if item.engram.kind == "profile" else ""
        return self._facts.get(key)

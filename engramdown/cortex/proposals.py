"""A proposal with what a person needs to decide about it.

Promises: pure; what accepting it would retire, and what says nearly the same, stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engramdown.cortex.evidence import harmless
from engramdown.cortex.gate import REASONS
from engramdown.cortex.keyed.marks import told_beside
from engramdown.cortex.pending import Operation, Pending, Queue
from engramdown.engram import Engram, fact_key
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.metadata import OPERATIONS
from engramdown.likeness.similarity import Rewordings

__all__ = ["Proposal", "describe"]


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
        similar: Memories that say nearly the same.
        file: The file it waits in, or ``""``.
        line: Its line there, from 1, or 0.
        ts: The day it was proposed.
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


def describe(items: Sequence[tuple[Queue, Pending]], entries: Sequence[Entry]) -> list[Proposal]:
    """Return what waits with the memories that it touches.

    Args:
        items: What waits, and where.
        entries: The memories of both scopes.
    """
    known = Rewordings(entry.text for entry in entries)
    return [_describe(item, queue.file, entries, known) for queue, item in items]


def _describe(item: Pending, file: str, entries: Sequence[Entry], known: Rewordings) -> Proposal:
    takes = _taken(item, entries)
    replaces = None if takes else _replaced(item, entries)
    near = known.matches(item.engram.text)
    similar = tuple(
        entries[at] for at in near if entries[at] is not replaces and entries[at] not in takes
    )
    hold, reason = (REASONS.get(code, code) for code in (item.hold, item.reason or item.hold))
    return Proposal(
        id=item.id,
        engram=harmless(item.engram),
        hold=hold,
        reason=item.problem or "; ".join(filter(None, [reason, told_beside(item.put)])),
        op=item.op,
        replaces=replaces,
        similar=similar,
        file=file,
        line=item.line,
        ts=item.ts,
        takes=takes,
    )


def _taken(item: Pending, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the memories that a part of a plan is about; a question about them is no memory."""
    if item.op not in OPERATIONS:
        return ()
    ids = item.of.split(",")
    return tuple(entry for entry in entries if entry.id in ids)


def _replaced(item: Pending, entries: Sequence[Entry]) -> Entry | None:
    """Return the memory that accepting ``item`` would retire."""
    if item.of:
        return next((entry for entry in entries if entry.id == item.of), None)
    key = fact_key(item.engram.text) if item.engram.kind == "profile" else ""
    facts = (entry for entry in entries if entry.kind == "profile" and key)
    return next((fact for fact in facts if fact_key(fact.text) == key), None)

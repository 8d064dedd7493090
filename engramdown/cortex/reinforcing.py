"""What is known already and comes again: how sure memory is of it afterwards.

Promises: pure; a guess that two conversations tell is not a guess any more, it becomes *medium*;
nothing that a job learns makes memory surer of what a person wrote than that person was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engramdown.engram import CONFIDENCES, Engram, fold
from engramdown.gate.gate import scope_of
from engramdown.hippocampus.entry import Entry

__all__ = ["reinforced"]


def reinforced(engram: Engram, entries: Iterable[Entry]) -> Engram:
    """Return ``engram`` as sure as it may be, given what stands already.

    Args:
        engram: What a job has learned.
        entries: The memories of both scopes.
    """
    said = scope_of(engram), engram.kind, fold(engram.text)
    known = [entry for entry in entries if (entry.scope, entry.kind, entry.fold) == said]
    theirs = [entry for entry in known if entry.by_person]
    if theirs:
        sure = [engram.confidence, *(entry.confidence for entry in theirs)]
        return replace(engram, confidence=max(sure, key=CONFIDENCES.index))
    again = any(entry.confidence == "low" and _is_other(entry, engram) for entry in known)
    return replace(engram, confidence="medium") if again and engram.confidence == "low" else engram


def _is_other(entry: Entry, engram: Engram) -> bool:
    """Whether another conversation told it: saying it twice in one is no second word."""
    return not _sessions(entry.origin) & _sessions(engram.origin)


def _sessions(origin: str) -> set[str]:
    return {each.partition("#")[0] for each in origin.split(",") if each}

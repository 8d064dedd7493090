"""Tidying that needs no model: what stands twice, and what has expired.

Promises: pure and deterministic; of two memories that say the same the one that a person wrote
stays, then the one that is read always, the surer one, the older one; nothing of a person's is
named as a duplicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from engramdown.consolidation.plan import Drop, Expire, Memory, Operation, Plan
from engramdown.engram import CONFIDENCES, SOURCES, fold

__all__ = ["duplicates", "expired", "tidy"]


def tidy(memories: Sequence[Memory], today: date) -> Plan:
    """Return what can be tidied without a judgement.

    Args:
        memories: What stands in one scope.
        today: The day on which memories may have expired.
    """
    over = expired(memories, today)
    gone = {operation.id for operation in over}
    left = [memory for memory in memories if memory.id not in gone]
    return Plan((*over, *duplicates(left)))


def expired(memories: Iterable[Memory], today: date) -> list[Expire]:
    """Return the memories whose last day has passed."""
    return [
        Expire(memory.id, f"its last day was {memory.expires}")
        for memory in memories
        if memory.expires and _is_day(memory.expires) and memory.expires < today.isoformat()
    ]


def duplicates(memories: Iterable[Memory]) -> list[Operation]:
    """Return the memories that stand in the same words, of one kind, under one heading."""
    alike: dict[tuple[str, str, str, str], list[Memory]] = {}
    for memory in memories:
        where = "" if memory.kind == "lesson" else memory.heading
        key = (memory.kind, memory.scope, where, fold(memory.text))
        alike.setdefault(key, []).append(memory)
    found: list[Operation] = []
    for same in alike.values():
        stays = min(same, key=_weakness)
        found += [
            Drop(each.id, stays.id, "the same words")
            for each in same
            if each is not stays and each.id != stays.id and not each.by_person
        ]
    return found


def _weakness(memory: Memory) -> tuple[bool, bool, int, int, bool, str]:
    """Return what is smallest for the memory that stays; of equals the first one does."""
    return (
        not memory.by_person,
        memory.file.startswith("topics/"),
        SOURCES.index(memory.source),
        CONFIDENCES.index(memory.confidence),
        bool(memory.expires),
        memory.ts or "9999",
    )


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:  # a person mistyped it
        return False

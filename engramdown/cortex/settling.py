"""Questions about memories that stand: how a part of a plan waits for a person, and is carried out.

Promises: what is accepted is done to the memories as they read when it was proposed, and to no
others; what a person declines is remembered by what it was about, and never as words that must not
be learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from engramdown.clock import today
from engramdown.consolidation.plan import (
    Drop,
    Expire,
    Memory,
    Merge,
    Move,
    Operation,
    Supersede,
)
from engramdown.consolidation.plan_preview import merged_memory, origins
from engramdown.engram import Basis, Engram, Scope, slug
from engramdown.errors import StoreError
from engramdown.gate.gate import harmless
from engramdown.gate.pending import Pending
from engramdown.hippocampus.changeset import Draft, Filed, PlanContext, Revision, new_id, revise
from engramdown.hippocampus.entry import Entry, address, entry_id
from engramdown.hippocampus.placement import as_entry, raw_entries
from engramdown.kinds import ASIDE
from engramdown.markdown.metadata import sort_ids
from engramdown.secrets.redaction import redact

__all__ = ["REASONS", "entry_of", "question", "revision", "settle"]

REASONS: Final[Mapping[type[Operation], str]] = {
    Drop: "duplicate",
    Merge: "merged",
    Supersede: "replaced",
    Expire: "expired",
    Move: "",
}
"""The word of each operation for the archive."""

# Where an entry stands on a disk: no plan knows it.
_PLACE: Final = frozenset({"line", "spelled", "comments"})


def question(operation: Operation, known: Mapping[str, Memory], why: str, hold: str) -> Pending:
    """Return the line of ``pending.md`` that asks a person whether to do ``operation``.

    Args:
        operation: What a plan proposes.
        known: The memories of its scope by id.
        why: Why it is not simply done.
        hold: The code of why nobody is prompted about it, or ``""``.
    """
    taken = [known[each] for each in operation.ids]
    topic = operation.topic if isinstance(operation, Move) else ""
    first = taken[0]
    engram = Engram(
        _words(operation, taken),
        first.kind,
        first.scope,
        topic=topic,
        source="consolidation",
        origin=origins(taken),
    )
    return Pending(
        new_id(),
        harmless(engram),
        hold=hold,
        reason=redact(why),
        op=operation.name,
        of=",".join(sort_ids(operation.ids)),
        ts=today().isoformat(),
        stays=operation.stays,
        seen=_digest(taken),
    )


def revision(operation: Operation, known: Mapping[str, Entry]) -> Revision:
    """Return what ``operation`` means for the store.

    Args:
        operation: What a plan proposes.
        known: The memories of its scope by id.
    """
    taken = tuple(known[each] for each in operation.ids)
    reason = REASONS[type(operation)]
    if isinstance(operation, Merge):
        return Revision(taken, reason, comes=entry_of(merged_memory(taken, operation.text)))
    if isinstance(operation, Move):
        return Revision(stays=taken[0], topic=slug(operation.topic))
    stays = known[operation.stays] if operation.stays else None
    learned = origins(taken) if stays and not stays.by_person else ""
    return Revision(taken, reason, stays, learned=learned)


def settle(
    folder: Draft, asked: Sequence[tuple[Pending, str]], scope: Scope, desk: PlanContext
) -> list[Filed | StoreError | None]:
    """Carry out what a person accepted, each file read once for all of it.

    Args:
        folder: The memory files.
        asked: The proposals, each with the words of a merged memory, as the person wants them.
        scope: The scope of the files.
        desk: What carrying it out needs.

    Returns:
        For each what stands now, ``None`` if something went, or why it was not carried out: the
        memories are not as they were when it was proposed.

    Raises:
        StoreError: If a memory would be gone; nothing may be written then.
    """
    ids = {each for item, _ in asked for each in (*item.of.split(","), item.stays)}
    known = _standing(folder, ids, scope, desk)
    outcomes: list[Filed | StoreError | None] = [_gone(item, known) for item, _ in asked]
    wanted = {
        at: _verified(revision(_operation(item, text), known), desk.by)
        for at, (item, text) in enumerate(asked)
        if outcomes[at] is None
    }
    for at, done in zip(wanted, revise(folder, wanted.values(), desk), strict=True):
        item, part = asked[at][0], wanted[at]
        stands = part.comes or (part.stays if item.op == "move" else None)
        if done.problem:
            outcomes[at] = _stale(item, done.problem)
        elif stands:
            outcomes[at] = Filed(done.id, stands.file, added=True, said=stands)
    return outcomes


def entry_of(memory: Memory) -> Entry:
    """Return a memory as an entry of a store."""
    if isinstance(memory, Entry):
        return memory
    values = {name: getattr(memory, name) for name in Entry._fields if name not in _PLACE}
    return Entry(**values)


def _words(operation: Operation, taken: Sequence[Memory]) -> str:
    text = taken[0].text
    if isinstance(operation, Merge):
        return operation.text
    if isinstance(operation, Drop):
        return f"Remove, as `{operation.of}` says the same: {text}"
    if isinstance(operation, Supersede):
        return f"Remove, as `{operation.by}` replaces it: {text}"
    if isinstance(operation, Expire):
        return f"Remove, as it expired on {taken[0].expires}: {text}"
    return f"Move to the topic {slug(operation.topic)}: {text}"


def _operation(item: Pending, text: str) -> Operation:
    ids = tuple(item.of.split(","))
    if item.op == "merge":
        return Merge(ids, text)
    if item.op == "move":
        return Move(ids[0], item.engram.topic)
    if item.op == "supersede":
        return Supersede(ids[0], item.stays)
    return Drop(ids[0], item.stays) if item.op == "drop" else Expire(ids[0])


def _gone(item: Pending, known: Mapping[str, Entry]) -> StoreError | None:
    """Return why what a proposal is about is not as it was, or ``None``."""
    ids = item.of.split(",")
    is_there = all(each in known for each in ids)
    if not is_there or _digest([known[each] for each in ids]) != item.seen:
        return _stale(item, "the memories that it is about were changed since")
    if item.stays and item.stays not in known:
        return _stale(item, f"{item.stays}, which was to stay, is not there any more")
    return None


def _verified(wanted: Revision, by: str) -> Revision:
    if wanted.comes is None:
        return wanted
    # A person has read these words: whoever is here, or who ticked what git brought.
    basis: Basis = "verified" if by == "user" else "observed"
    comes = wanted.comes._replace(basis=basis)
    return Revision(wanted.taken, wanted.reason, comes=comes)


def _standing(
    folder: Draft, ids: Iterable[str], scope: Scope, desk: PlanContext
) -> dict[str, Entry]:
    """Return the memories with these ids as they stand now; a lesson as it stands among lessons."""
    found: dict[str, Entry] = {}
    wanted = set(ids)
    for name in (each for each in desk.names if each not in ASIDE):
        for placed in raw_entries(name, folder.get(name)):
            memory_id = entry_id(placed)
            if memory_id in wanted and memory_id not in found:
                found[memory_id] = as_entry(name, scope, placed)
    return found


def _digest(taken: Iterable[Memory]) -> str:
    texts = {memory.id: memory.text for memory in taken}
    return address("\n".join(texts[each] for each in sort_ids(texts)))[1:]


def _stale(item: Pending, why: str) -> StoreError:
    return StoreError(f"{item.id} is not carried out: {why}; decline it")

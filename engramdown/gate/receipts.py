"""Turns decisions into receipts that say what became of each engram.

*Encoded* means that the line is on the disk and was read back. An error of a store becomes a
receipt that says *failed* and why, for exactly the engrams it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engramdown.clock import today
from engramdown.engram import Engram, fold
from engramdown.errors import StoreError
from engramdown.gate.gate import Decision, harmless, scope_of
from engramdown.gate.pending import Pending, Queue
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import Entry, Written
from engramdown.hippocampus.protocol import BatchProtocol, HippocampusProtocol
from engramdown.kinds import PENDING


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one engram.

    Attributes:
        engram: The engram, without the secrets that it may have held.
        action: ``encoded`` (on the disk), ``merged`` (known already), ``queued`` (waits for a
            person), ``discarded``, ``forgotten`` (a proposal to forget was accepted), or
            ``failed`` (nothing was written).
        reason: Why.
        id: The id of the memory, or of the proposal that waits; or ``""``.
        file: The file that holds it, relative to the memory folder, or ``""``.
        line: Its line there, from 1, or 0.
        is_ours: Whether nobody decided on it but who is here: of a tick that came with git, not.
    """

    engram: Engram
    action: Literal["encoded", "merged", "queued", "discarded", "forgotten", "failed"]
    reason: str
    id: str = ""
    file: str = ""
    line: int = 0
    is_ours: bool = True


@dataclass(frozen=True, slots=True)
class Decided:
    """An engram of a batch and what is to be done with it.

    Attributes:
        at: Its place in the batch, from 0.
        engram: The engram.
        decision: What the gate said.
        replaces: The id of the memory in its scope that it is to replace, or ``""``.
    """

    at: int
    engram: Engram
    decision: Decision
    replaces: str = ""


def written_receipt(engram: Engram, written: Written, reason: str) -> Receipt:
    """Return the receipt for what a store wrote."""
    entry = written.entry
    why = "known already" if written.action == "merged" else reason
    # A fact about the user is kept for all projects, whatever scope it was given.
    if engram.scope != entry.scope:
        engram = replace(engram, scope=entry.scope)
    return Receipt(engram, written.action, why, entry.id, entry.disk_file, entry.line)


def discard(decided: Sequence[Decided]) -> dict[int, Receipt]:
    """Return the receipts of what is discarded."""
    return {
        each.at: Receipt(harmless(each.engram), "discarded", each.decision.reason)
        for each in decided
        if each.decision.action == "discard"
    }


def failed(engrams: Iterable[Engram], error: StoreError) -> list[Receipt]:
    """Return the receipts of engrams that an error kept from being written."""
    return [Receipt(harmless(each), "failed", str(error)) for each in engrams]


def encode_into(store: HippocampusProtocol, decided: Sequence[Decided]) -> dict[int, Receipt]:
    """Write what is to be encoded, as one step, and return the receipts by place."""
    mine = [each for each in decided if each.decision.action == "encode"]
    if not mine:
        return {}
    try:
        written = write(store, [each.engram for each in mine])
    except StoreError as error:
        return _failed(mine, error)
    return {
        each.at: written_receipt(each.engram, line, each.decision.reason)
        for each, line in zip(mine, written, strict=True)
    }


def queue_into(queue: Queue, decided: Sequence[Decided]) -> dict[int, Receipt]:
    """Let what is to be confirmed wait, as one step, and return the receipts by place."""
    mine = [each for each in decided if each.decision.action == "confirm"]
    if not mine:
        return {}
    try:
        waiting = queue.add([_pending(each) for each in mine])
    except StoreError as error:
        return _failed(mine, error)
    return {
        each.at: waiting_receipt(queue, item, each.decision.reason)
        for each, item in zip(mine, waiting, strict=True)
    }


def waiting_receipt(queue: Queue, item: Pending, reason: str) -> Receipt:
    """Return the receipt for a proposal that waits."""
    file = PENDING if queue.file else ""
    return Receipt(harmless(item.engram), "queued", reason, item.id, file, item.line)


def _pending(decided: Decided) -> Pending:
    engram, decision = decided.engram, decided.decision
    if engram.via == "assistant" and engram.source == "user":
        # Whoever is asked about it is not told that they said so.
        engram = replace(engram, source="llm")
    return Pending(
        new_id(),
        # What waits has the day on which it was proposed.
        replace(harmless(engram), scope=scope_of(engram), ts=""),
        hold=decision.code if decision.held else "",
        reason=decision.code,
        op="replace" if decided.replaces else "encode",
        of=decided.replaces,
        ts=today().isoformat(),
    )


def _failed(decided: Sequence[Decided], error: StoreError) -> dict[int, Receipt]:
    receipts = failed((each.engram for each in decided), error)
    return {each.at: receipt for each, receipt in zip(decided, receipts, strict=True)}


# Writing engrams into any store.
#
# What is returned was read back from the store; a store that can write a batch as one
# step does.


def write(store: HippocampusProtocol, engrams: Sequence[Engram]) -> list[Written]:
    """Write ``engrams`` in order and return what the store holds of each.

    Raises:
        StoreError: If the store could not write one, or does not return what it wrote.
    """
    if isinstance(store, BatchProtocol):
        return store.encode(engrams)
    return [_write_one(store, engram) for engram in engrams]


def _write_one(store: HippocampusProtocol, engram: Engram) -> Written:
    known = _find(store, engram) is not None
    if engram.kind == "profile":
        store.rewrite_identity([engram.text])
    elif engram.kind == "lesson":
        store.encode_lesson(engram.text, engram.topic, engram.source)
    else:
        store.encode_rule(engram.text, engram.kind, engram.confidence, engram.source)
    entry = _find(store, engram)
    if entry is None:
        msg = f"{type(store).__name__}: does not hold what it was told to write"
        raise StoreError(msg)
    return Written("merged" if known else "encoded", entry)


def _find(store: HippocampusProtocol, engram: Engram) -> Entry | None:
    said = fold(engram.text)
    same = (each for each in store.entries() if each.kind == engram.kind and each.fold == said)
    return next(same, None)

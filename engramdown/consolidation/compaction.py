"""Asking a model how to say the same in fewer memories.

Promises: writes nothing; a model sees memories as data, by their ids and without their secrets;
what it answers is a plan that still has to be judged, and names only what it was given in that
very call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.asking.answers import strange_ids
from engramdown.consolidation.plan import (
    Drop,
    Expire,
    Memory,
    Merge,
    Move,
    Operation,
    Plan,
    Supersede,
)
from engramdown.consolidation.prompts import OURS, render
from engramdown.language.untrusted import one_line
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.consolidation.compaction_form import Change
    from engramdown.consolidation.model import LanguageModel

__all__ = ["BATCH", "Proposed", "batches", "crowded", "propose"]

BATCH: Final = 100
"""So many memories a model is shown at once, and so many characters of them at most:"""
_CHARACTERS: Final = 40_000


class Proposed(NamedTuple):
    """What a model proposed for one batch.

    Attributes:
        plan: The plan; it may be empty.
        memories: What the model was given.
        refusal: Why its answer is not used, or ``""``.
    """

    plan: Plan
    memories: tuple[Memory, ...]
    refusal: str = ""


class _Shown(NamedTuple):
    """A memory as a prompt shows it."""

    id: str
    text: str
    kind: str
    topic: str
    heading: str
    written: str
    expires: str
    by_person: str


def crowded(memories: Iterable[Memory], threshold: int) -> list[str]:
    """Return the files that hold more than ``threshold`` memories."""
    sizes = Counter(memory.file for memory in memories)
    return [file for file, size in sizes.items() if size > threshold]


def batches(memories: Iterable[Memory], files: Sequence[str]) -> Iterator[tuple[Memory, ...]]:
    """Yield the memories of ``files`` in pieces that a model can be shown, file by file."""
    held = list(memories)
    for file in files:
        pieces = _pieces(memory for memory in held if memory.file == file)
        # Of a single memory there is nothing to compact.
        yield from (piece for piece in pieces if len(piece) > 1)


def _pieces(memories: Iterable[Memory]) -> Iterator[tuple[Memory, ...]]:
    piece: list[Memory] = []
    size = 0
    for memory in memories:
        if piece and (len(piece) == BATCH or size + len(memory.text) > _CHARACTERS):
            yield tuple(piece)
            piece, size = [], 0
        piece.append(memory)
        size += len(memory.text)
    yield tuple(piece)


def propose(
    batch: Sequence[Memory],
    model: LanguageModel,
    today: date,
    templates: Mapping[str, str] = OURS,
) -> Proposed:
    """Ask ``model`` what to change about a batch of memories. No lock may be held meanwhile.

    Args:
        batch: The memories of one file.
        model: The language model.
        today: The day on which memories may have expired.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
    """
    from engramdown.consolidation.compaction_form import Compaction

    shown = [_shown(memory) for memory in batch]
    prompt = render("compaction", templates, memories=shown, today=today.isoformat())
    answer = model.ask(Compaction, prompt.system, prompt.user)
    named = [each for change in answer.operations for each in (*change.ids, change.stays) if each]
    strange = strange_ids(named, {memory.id for memory in batch})
    if strange:
        return Proposed(Plan(), tuple(batch), f"the model's answer is refused: {strange}")
    operations = [each for change in answer.operations for each in _operations(change)]
    return Proposed(Plan(tuple(operations)), tuple(batch))


def _operations(change: Change) -> Iterator[Operation]:
    """Yield what a change means, one memory each but for a merge."""
    # A person reads the reason in a terminal, before saying yes.
    reason = one_line(redact(change.reason))
    if change.operation == "merge":
        yield Merge(tuple(change.ids), change.text.strip(), reason)
        return
    for each in change.ids:
        if change.operation == "drop":
            yield Drop(each, change.stays, reason)
        elif change.operation == "supersede":
            yield Supersede(each, change.stays, reason)
        elif change.operation == "move":
            yield Move(each, change.topic, reason)
        else:
            yield Expire(each, reason)


def _shown(memory: Memory) -> _Shown:
    return _Shown(
        memory.id,
        redact(memory.text),
        memory.kind,
        redact(memory.topic),
        redact(memory.heading),
        memory.ts,
        memory.expires,
        "yes" if memory.by_person else "",
    )

"""Compaction: plans by rules or by a model that say the same in fewer memories.

Nothing is written here. Without a model only exact and near duplicates, replaced facts and expired
memories go, and never a person's memory as a duplicate; memories are compared only where they could
be the same, so that the time grows with their number. A model sees memories as data, with their
ids and without secrets, and may name only those of that very call; its plan is judged afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.information_loss import is_duplicate, likeness_key
from engramdown.consolidation.plan import Operation, operation_of
from engramdown.consolidation.prompts import OURS, render
from engramdown.consolidation.replay import strange_ids
from engramdown.engram import CONFIDENCES, SOURCES, fact_key, fold
from engramdown.language.untrusted import one_line
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.consolidation.forms import Change
    from engramdown.hippocampus.entry import Entry
    from engramdown.models.port import LanguageModel

# How many memories, and how many characters of them, a model is shown at once.
BATCH: Final = 100
_CHARACTERS: Final = 40_000


class Proposed(NamedTuple):
    """A model's proposal for one batch.

    Attributes:
        operations: The changes, if any.
        refusal: Why its answer is not used, or ``""``.
    """

    operations: list[Operation]
    refusal: str = ""


def crowded_files(memories: Iterable[Entry], threshold: int) -> list[str]:
    """Return the files that hold more than ``threshold`` memories."""
    sizes = Counter(memory.file for memory in memories)
    return [file for file, size in sizes.items() if size > threshold]


def batches(memories: Iterable[Entry], files: Sequence[str]) -> Iterator[tuple[Entry, ...]]:
    """Yield the memories of ``files`` in pieces that a model can be shown, file by file."""
    held = list(memories)
    for file in files:
        piece: list[Entry] = []
        size = 0
        for memory in (each for each in held if each.file == file):
            full = len(piece) == BATCH or size + len(memory.text) > _CHARACTERS
            if piece and full:
                # A single memory cannot be compacted.
                yield from [tuple(piece)] if len(piece) > 1 else []
                piece, size = [], 0
            piece.append(memory)
            size += len(memory.text)
        yield from [tuple(piece)] if len(piece) > 1 else []


def propose(
    batch: Sequence[Entry], model: LanguageModel, today: date, templates: Mapping[str, str] = OURS
) -> Proposed:
    """Ask ``model`` what to change about a batch of memories. No lock may be held meanwhile.

    Args:
        batch: The memories of one file.
        model: The language model.
        today: The day on which memories may have expired.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model's answer has another form.
    """
    from engramdown.consolidation.forms import Compaction

    shown = [
        {
            "id": memory.id,
            "text": redact(memory.text),
            "kind": memory.kind,
            "topic": redact(memory.topic),
            "heading": redact(memory.heading),
            "written": memory.ts,
            "expires": memory.expires,
            "by_person": "yes" if memory.by_person else "",
        }
        for memory in batch
    ]
    prompt = render("compaction", templates, memories=shown, today=today.isoformat())
    changes = model.ask(Compaction, prompt.system, prompt.user).operations
    named = [each for change in changes for each in (*change.ids, change.stays) if each]
    strange = strange_ids(named, {memory.id for memory in batch})
    if strange:
        return Proposed([], f"the model's answer is refused: {strange}")
    return Proposed([each for change in changes for each in _operations(change)])


def _operations(change: Change) -> list[Operation]:
    """Return the operations of a change, each of one memory unless it is a merge."""
    # A person reads the reason in a terminal before saying yes.
    reason, name = one_line(redact(change.reason)), change.operation
    taken = [change.ids] if name == "merge" else [[each] for each in change.ids]
    more = change.stays, change.text.strip(), change.topic
    return [operation_of(name, each, *more, reason=reason) for each in taken]


# ---- without a model ----

# With how many others a memory is compared at most, even if all have the same words.
_COMPARED: Final = 10
_EXACT: Final = "the same words"
_NEAR: Final = "the same in other words"


def tidy(memories: Sequence[Entry], today: date) -> list[Operation]:
    """Return a plan of changes that need no judgement.

    At most half of a file goes at once, as a plan that takes more is refused as a whole; expired
    memories and exact repetitions do not count.

    Args:
        memories: The memories of one scope.
        today: The day on which memories may have expired.
    """
    over = expired(memories, today)
    gone = {operation.id for operation in over}
    left = [memory for memory in memories if memory.id not in gone]
    twice = duplicates(left)
    gone = {operation.id for operation in twice}
    # A memory that stays for a duplicate is replaced only the next time.
    staying = {operation.stays for operation in twice}
    replaced = superseded(memory for memory in left if memory.id not in gone)
    files = {memory.id: memory.file for memory in memories}
    sizes = Counter(memory.file for memory in memories)
    lost = Counter[str]()
    operations = [*over]
    for operation in (*twice, *(each for each in replaced if each.id not in staying)):
        file = files[operation.id]
        if operation.reason != _EXACT:
            if (lost[file] + 1) * 2 > sizes[file]:
                continue
            lost[file] += 1
        operations.append(operation)
    return operations


def expired(memories: Iterable[Entry], today: date) -> list[Operation]:
    """Return the memories whose last day has passed."""
    return [
        Operation("expire", (memory.id,), reason=f"its last day was {memory.expires}")
        for memory in memories
        if memory.expires and _is_day(memory.expires) and memory.expires < today.isoformat()
    ]


def duplicates(memories: Iterable[Entry]) -> list[Operation]:
    """Return the memories that repeat another one of the same kind under the same heading.

    Lessons about two topics are two lessons, whatever their words.
    """
    keys: dict[str, Hashable] = {}
    alike: dict[Hashable, list[Entry]] = {}
    for memory in memories:
        folded = fold(memory.text)
        if folded not in keys:
            keys[folded] = likeness_key(memory.text)
        where = "" if memory.kind == "lesson" else memory.heading
        alike.setdefault((memory.kind, memory.scope, where, keys[folded]), []).append(memory)
    return [drop for same in alike.values() if len(same) > 1 for drop in _twice(same)]


def superseded(memories: Iterable[Entry]) -> list[Operation]:
    """Return the facts about the user that a newer one of the same key has replaced.

    Two facts of the same day both stay, as neither is known to be the newer one.
    """
    facts: dict[tuple[str, str, str], list[Entry]] = {}
    for memory in memories:
        key = fact_key(memory.text)
        if memory.kind == "profile" and key:
            facts.setdefault((memory.scope, memory.heading, key), []).append(memory)
    operations = []
    for same in facts.values():
        stays = max(same, key=lambda each: (each.by_person, each.ts))
        why = f"a newer fact of {stays.ts}"
        operations += [
            Operation("supersede", (each.id,), stays.id, reason=why)
            for each in same
            if each.ts < stays.ts and each.id != stays.id and not each.by_person
        ]
    return operations


def _twice(memories: Sequence[Entry]) -> Iterator[Operation]:
    """Yield the duplicates among memories that may say the same, in their order."""
    stays: list[Entry] = []
    by_fold: dict[str, list[Entry]] = {}
    goes: dict[int, Operation] = {}
    for at, memory in sorted(enumerate(memories), key=lambda each: _weakness(each[1])):
        folded = by_fold.setdefault(fold(memory.text), [])
        compared = (*folded, *stays[:_COMPARED])
        twin = next((each for each in compared if _says_the_same(memory, each)), None)
        if twin is None:
            stays.append(memory)
            folded.append(memory)
        elif memory.by_person:
            folded.append(memory)  # It stays, so another one with the very same words goes.
        elif twin.id != memory.id:
            why = _EXACT if twin in folded else _NEAR
            goes[at] = Operation("drop", (memory.id,), twin.id, reason=why)
    staying = {memory.id for memory in stays}
    # If two memories have the same id, nobody knows which of them would go.
    return (goes[at] for at in sorted(goes) if goes[at].id not in staying)


def _says_the_same(memory: Entry, other: Entry) -> bool:
    apart = memory.topic and other.topic and memory.topic != other.topic
    return not apart and is_duplicate(memory.text, other.text)


def _weakness(memory: Entry) -> tuple[bool, bool, int, int, bool, str]:
    """Return a key that is smallest for the memory that stays; of equal ones the first stays."""
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

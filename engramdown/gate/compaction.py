"""Compacts memory: plans without a lock, checks the plan, then applies it or asks.

Nothing that a person wrote is retired without their word, and every operation of a plan gets a
receipt. If a model fails or its plan is refused, the scope stays byte for byte as it was. No lock
is held while a model thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.clock import today
from engramdown.consolidation import compaction
from engramdown.consolidation.compaction import batches, crowded_files, propose
from engramdown.consolidation.plan import Memory, Merge, Operation, Plan, Ruling
from engramdown.consolidation.plan_preview import (
    Row,
    Search,
    diff,
    memory_after,
    merged_memory,
    no_longer_found,
)
from engramdown.consolidation.plan_rules import drops_too_much, is_safe, judge
from engramdown.engram import Engram, Scope
from engramdown.errors import InvalidEngramError, ModelError, StoreError
from engramdown.gate.gate import REASONS, Decision
from engramdown.gate.pending_file import FileQueue, entry_of, question, revision
from engramdown.hippocampus.changeset import Revised
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.store import Hippocampus
from engramdown.recall.memories import MemoryIndex

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.models.port import LanguageModel

_JOB: Final = "compaction"

_MOST_QUESTIONS: Final = 20
_HOLD: Final = "tidying"
_EMPTY: Final = "nothing to compact"
_YOURS: Final = "you decide on what is more than a duplicate or expired"

Action = Literal["applied", "queued", "refused", "passed over", "failed", "nothing"]
Gate = Callable[[Engram], Decision]


@dataclass(frozen=True, slots=True)
class CompactionReceipt:
    """What became of one operation, or of the plan of one scope.

    Attributes:
        scope: The scope.
        action: ``applied``, ``queued`` (waits for a person), ``refused``, ``passed over`` (the
            memories changed meanwhile), ``failed``, or ``nothing`` where there is nothing to do.
        reason: Why.
        operation: The operation, or ``None`` if it is about the plan as a whole.
        id: The memory that stands now for what went, or the proposal that waits; or ``""``.
    """

    scope: Scope
    action: Action
    reason: str
    operation: Operation | None = None
    id: str = ""


class Prepared(NamedTuple):
    """What is to be done in one scope, planned and checked; nothing is written yet.

    Attributes:
        store: The store of the scope.
        entries: Its memories, as the plan saw them.
        apply: What may be applied, the safe operations first.
        propose: What only a person may decide.
        refused: What must not be done.
        problem: Why nothing at all is done, or ``""``.
        outcome: What the receipt says then.
    """

    store: Hippocampus
    entries: tuple[Entry, ...]
    apply: tuple[Operation, ...] = ()
    propose: tuple[Ruling, ...] = ()
    refused: tuple[Ruling, ...] = ()
    problem: str = ""
    outcome: Action = "refused"

    def diff(self) -> list[Row]:
        """Return what a person sees before saying yes."""
        return diff(self.apply, self.entries)

    def known(self) -> dict[str, Entry]:
        """Return its memories by id."""
        return {entry.id: entry for entry in reversed(self.entries)}


class Compaction:
    """One compaction of some stores."""

    def __init__(
        self,
        gate: Gate,
        threshold: Callable[[Scope], int],
        usable: Callable[[Hippocampus], list[Entry]] = Hippocampus.entries,
    ) -> None:
        """Prepare a compaction.

        Args:
            gate: What a merged text is asked about.
            threshold: Files of a scope with more memories than it returns are compacted.
            usable: Returns the memories of a store that count; by default all.
        """
        self._gate = gate
        self._usable = usable
        self._threshold = threshold

    @classmethod
    def of(cls, scopes: Scopes) -> Compaction:
        """Return a compaction of the stores of a scopes."""

        def threshold(scope: Scope) -> int:
            return scopes.settings.of(scope).consolidation.threshold

        return cls(scopes.encoding_gate, threshold, scopes.usable)

    def prepare_all(
        self, scopes: Scopes, scope: Scope | None = None, *, use_model: bool = True
    ) -> list[Prepared]:
        """Return what is to be done in each scope, or in one.

        Args:
            scopes: The scopes.
            scope: The scope, or ``None`` for both.
            use_model: Whether to ask the model of the cortex about files that are crowded.

        Raises:
            StoreError: If a store could not be read.
            SettingsError: If the model of the cortex is none.
        """
        from engramdown.gate.model_runs import Asking, prompts_for

        wanted = use_model and scopes.needs_compaction()
        model = Asking.begin(scopes).of(_JOB) if wanted else None
        stores = [store for store in scopes.stores if scope in (None, store.scope)]
        return [
            self.prepare(store, model, prompts_for(scopes, _JOB, store.scope) if model else {})
            for store in stores
        ]

    def prepare(
        self,
        store: Hippocampus,
        model: LanguageModel | None = None,
        templates: Mapping[str, str] | None = None,
        *,
        everything: bool = True,
    ) -> Prepared:
        """Return what is to be done in one scope. No lock is held.

        Args:
            store: The store of the scope.
            model: The language model, or ``None`` to do without.
            templates: A scope's own prompts.
            everything: Also look for duplicates in files that are not crowded.
        """
        entries = tuple(self._usable(store))
        files = set(crowded_files(entries, self._threshold(store.scope)))
        day = today()
        plan = compaction.tidy(entries, day)
        if not everything:
            known = {entry.id: entry for entry in entries}
            kept = (each for each in plan.operations if known[each.ids[0]].file in files)
            plan = Plan(tuple(kept))
        first = judge(plan, entries, day)
        prepared = Prepared(store, entries, first.apply, first.propose, first.refused)
        if model is not None:
            try:
                prepared = self._ask(prepared, model, templates or {})
            except ModelError as error:
                return Prepared(store, entries, problem=str(error), outcome="failed")
        prepared = self._checked(prepared)
        if not (prepared.apply or prepared.propose or prepared.refused or prepared.problem):
            return prepared._replace(problem=_EMPTY, outcome="nothing")
        return prepared

    def carry_out(
        self,
        prepared: Sequence[Prepared],
        mode: str,
        *,
        approved: bool = False,
        dry_run: bool = False,
    ) -> list[CompactionReceipt]:
        """Apply what may be applied, let the rest wait, and tell what became of each operation.

        Args:
            prepared: What :meth:`prepare` returned, for each scope.
            mode: ``autopilot``, ``copilot`` or ``off``.
            approved: Whether a person saw the diff and said yes to it.
            dry_run: Write nothing, and tell what would become of each.
        """
        if mode == "off":
            off = REASONS["off"]
            return [CompactionReceipt(each.store.scope, "refused", off) for each in prepared]
        mine = [self._mine(each, mode, approved=approved) for each in prepared]
        hold = _HOLD if mode == "autopilot" or approved else ""
        # Of all scopes first: the last step of each, which undo takes back, is its plan.
        queued = [
            list(_queued(each, applied, hold, dry_run=dry_run))
            for each, applied in zip(prepared, mine, strict=True)
        ]
        receipts: list[CompactionReceipt] = []
        for each, applied, asked in zip(prepared, mine, queued, strict=True):
            scope = each.store.scope
            receipts += _applied(each, applied, dry_run=dry_run)
            receipts += asked
            receipts += [
                CompactionReceipt(scope, "refused", it.why, it.operation) for it in each.refused
            ]
            if each.problem:
                receipts.append(CompactionReceipt(scope, each.outcome, each.problem))
        return receipts

    def _mine(self, prepared: Prepared, mode: str, *, approved: bool) -> list[Operation]:
        """Return what is applied without asking about each."""
        if approved:
            return list(prepared.apply)
        known = prepared.known()
        safe = [each for each in prepared.apply if is_safe(each, known, today())]
        return safe if mode == "autopilot" else []

    def _ask(
        self, prepared: Prepared, model: LanguageModel, templates: Mapping[str, str]
    ) -> Prepared:
        """Return what is prepared with what a model proposes for the files that are crowded."""
        left = [entry_of(memory) for memory in memory_after(prepared.apply, prepared.entries)]
        # What stays for a duplicate is not touched again in the same run.
        staying = {operation.stays for operation in prepared.apply}
        for file in crowded_files(left, self._threshold(prepared.store.scope)):
            operations: list[Operation] = []
            for batch in batches(left, [file]):
                found = propose(batch, model, today(), templates)
                if found.refusal:
                    return Prepared(prepared.store, prepared.entries, problem=found.refusal)
                operations += found.plan.operations
            if not operations:
                continue
            ruled = judge(Plan(tuple(operations)), left, today())
            # What went without a model counts as well: a run takes half of a file at most.
            together = Plan((*prepared.apply, *operations))
            refusal = ruled.refusal or drops_too_much(together, prepared.entries, today())
            if refusal:
                return Prepared(prepared.store, prepared.entries, problem=refusal)
            late = [each for each in ruled.apply if staying.intersection(each.ids)]
            refused = [Ruling(each, "refuse", "it stays for a duplicate") for each in late]
            prepared = prepared._replace(
                apply=(*prepared.apply, *(each for each in ruled.apply if each not in late)),
                propose=(*prepared.propose, *ruled.propose),
                refused=(*prepared.refused, *ruled.refused, *refused),
            )
        return prepared

    def _checked(self, prepared: Prepared) -> Prepared:
        """Take out what the gate objects to, and what could not be found any more."""
        known = prepared.known()
        objections = [
            ruling
            for operation in prepared.apply
            if (ruling := self._objection(operation, known)) is not None
        ]
        gone = {ruling.operation for ruling in objections}
        left = [each for each in prepared.apply if each not in gone]
        lost = no_longer_found(left, prepared.entries, _searching)
        gone |= {ruling.operation for ruling in lost}
        found = [*objections, *lost]
        return prepared._replace(
            apply=tuple(each for each in prepared.apply if each not in gone),
            propose=(*prepared.propose, *(each for each in found if each.verdict == "propose")),
            refused=(*prepared.refused, *(each for each in found if each.verdict == "refuse")),
        )

    def _objection(self, operation: Operation, known: Mapping[str, Entry]) -> Ruling | None:
        """Return what the gate says against a merged text; it came from outside."""
        if not isinstance(operation, Merge):
            return None
        new = merged_memory([known[each] for each in operation.ids], operation.text)
        try:
            engram = Engram(
                new.text, new.kind, new.scope, new.confidence, new.topic,
                "consolidation", origin=new.origin, via="tool", expires=new.expires,
            )  # fmt: skip
        except InvalidEngramError as error:
            return Ruling(operation, "refuse", str(error))
        decision = self._gate(engram)
        if decision.action == "encode" or decision.code == "confidence":
            return None
        if decision.code in ("contradiction", "instruction"):
            return Ruling(operation, "propose", decision.reason)
        return Ruling(operation, "refuse", decision.reason)


def compact(
    scopes: Scopes, *, approved: bool = False, dry_run: bool = False, use_model: bool = True
) -> list[CompactionReceipt]:
    """Compact every store of files of a cortex; see :meth:`engramdown.Cortex.compact_all`."""
    if scopes.mode == "off":
        return [
            CompactionReceipt(store.scope, "refused", REASONS["off"]) for store in scopes.stores
        ]
    compaction = Compaction.of(scopes)
    prepared = compaction.prepare_all(scopes, use_model=use_model)
    return compaction.carry_out(prepared, scopes.mode, approved=approved, dry_run=dry_run)


def tidied(scopes: Scopes) -> list[str]:
    """Tidy what is crowded without a model, and return what was done, in words.

    Raises:
        StoreError: If a store could not be read.
    """
    compaction = Compaction.of(scopes)
    told = []
    for store in scopes.stores:
        prepared = compaction.prepare(store, everything=False)
        receipts = compaction.carry_out([prepared], scopes.mode)
        done = sum(each.action == "applied" for each in receipts)
        waits = sum(each.action == "queued" for each in receipts)
        if done:
            told.append(
                f"{store.memory}: tidied {done} duplicate or expired memories away; "
                "`engramdown undo` brings them back"
            )
        if waits:
            told.append(f"{store.memory}: {waits} questions about tidying wait in pending.md")
        told += [f"could not tidy: {each.reason}" for each in receipts if each.action == "failed"]
    return told


def _applied(
    prepared: Prepared, operations: Sequence[Operation], *, dry_run: bool
) -> Iterator[CompactionReceipt]:
    """Apply operations as one step."""
    if not operations:
        return
    scope, known = prepared.store.scope, prepared.known()
    revisions = [revision(each, known) for each in operations]
    try:
        done = [Revised(each) for each in revisions] if dry_run else prepared.store.apply(revisions)
    except StoreError as error:
        yield from (
            CompactionReceipt(scope, "failed", str(error), operation) for operation in operations
        )
        return
    for operation, each in zip(operations, done, strict=True):
        if each.problem:
            yield CompactionReceipt(scope, "passed over", each.problem, operation)
        else:
            yield CompactionReceipt(scope, "applied", operation.reason, operation, each.id)


def _queued(
    prepared: Prepared, applied: Sequence[Operation], hold: str, *, dry_run: bool
) -> Iterator[CompactionReceipt]:
    """Let a person decide on what is not applied, a few at a time.

    What they were asked before is not asked again.
    """
    rest = (each for each in prepared.apply if each not in applied)
    rulings = [*(Ruling(each, "propose", _YOURS) for each in rest), *prepared.propose]
    scope, known, queue = prepared.store.scope, prepared.known(), FileQueue(prepared.store)
    try:
        answered = queue.answered() if rulings else set()
        asked = [(each, question(each.operation, known, each.why, hold)) for each in rulings]
        new = [(each, item) for each, item in asked if (item.op, item.of) not in answered]
        now = new[:_MOST_QUESTIONS]
        items = [item for _, item in now]
        waiting = queue.add(items) if items and not dry_run else items
    except StoreError as error:
        yield from (
            CompactionReceipt(scope, "failed", str(error), each.operation) for each in rulings
        )
        return
    for (each, _), item in zip(now, waiting, strict=True):
        found = "" if dry_run else item.id
        yield CompactionReceipt(scope, "queued", each.why, each.operation, found)
    for each, _ in new[_MOST_QUESTIONS:]:
        why = f"{_MOST_QUESTIONS} questions are enough for once"
        yield CompactionReceipt(scope, "refused", why, each.operation)
    known_items = [item for _, item in new]
    for each, item in asked:
        if item not in known_items:
            yield CompactionReceipt(scope, "refused", "you were asked before", each.operation)


def _searching(memories: Sequence[Memory]) -> Search:
    """Return the search through ``memories`` that a person and a model have, too."""
    index, day = MemoryIndex(entry_of(memory) for memory in memories), today()
    return lambda query: [hit.entry.id for hit in index.search(query, day)]

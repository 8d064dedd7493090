"""Compacts memory: plans without a lock, checks the plan, then applies it or asks.

Nothing that a person wrote is retired without their word, and every operation of a plan gets a
receipt. If a model fails or its plan is refused, the scope stays byte for byte as it was. No lock
is held while a model thinks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.clock import today
from engramdown.consolidation import compaction, plan
from engramdown.consolidation.compaction import batches, crowded_files, propose
from engramdown.consolidation.plan import Operation, Ruling
from engramdown.consolidation.plan_rules import drops_too_much, is_safe, judge
from engramdown.engram import Engram, Scope
from engramdown.errors import InvalidEngramError, ModelError, StoreError
from engramdown.gate.contradictions import contradictions_among
from engramdown.gate.gate import REASONS
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.pending import Pending
from engramdown.gate.pending_file import FileQueue, question, revision
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
    """A checked plan for one scope; nothing is written yet.

    Attributes:
        store: The store of the scope.
        entries: Its memories, as the plan saw them.
        apply: The operations that may be applied, the safe ones first.
        propose: The operations that only a person may decide on.
        refused: The operations that must not be carried out.
        problem: Why nothing at all is done, or ``""``.
        outcome: The action of the receipt if there is a problem.
        contradictions: Every two memories of which only one can hold; a person has to say which.
    """

    store: Hippocampus
    entries: tuple[Entry, ...]
    apply: tuple[Operation, ...] = ()
    propose: tuple[Ruling, ...] = ()
    refused: tuple[Ruling, ...] = ()
    problem: str = ""
    outcome: Action = "refused"
    contradictions: tuple[tuple[Entry, Entry], ...] = ()

    def diff(self) -> list[plan.Row]:
        """Return the diff that a person sees before saying yes."""
        return plan.diff(self.apply, self.entries)

    def known(self) -> dict[str, Entry]:
        """Return its memories by id."""
        return {entry.id: entry for entry in reversed(self.entries)}


class Compaction:
    """One compaction of the stores of two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Prepare a compaction of ``scopes``."""
        self._scopes = scopes

    def prepare_all(self, scope: Scope | None = None, *, use_model: bool = True) -> list[Prepared]:
        """Return the plan for each scope, or for one.

        Args:
            scope: The scope, or ``None`` for both.
            use_model: Whether to ask the model about crowded files.

        Raises:
            StoreError: If a store could not be read.
            SettingsError: If the model is invalid.
        """
        scopes = self._scopes
        asks = use_model and scopes.needs_compaction()
        model = Asking.begin(scopes).of(_JOB) if asks else None
        return [
            self.prepare(store, model, prompts_for(scopes, _JOB, store.scope) if model else {})
            for store in scopes.stores
            if scope in (None, store.scope)
        ]

    def prepare(
        self,
        store: Hippocampus,
        model: LanguageModel | None = None,
        templates: Mapping[str, str] | None = None,
        *,
        everything: bool = True,
    ) -> Prepared:
        """Return the plan for one scope. No lock is held.

        Args:
            store: The store of the scope.
            model: The language model, or ``None``.
            templates: A scope's own prompts.
            everything: Also look for duplicates in files that are not crowded.
        """
        entries, day = tuple(self._scopes.usable(store)), today()
        plan = compaction.tidy(entries, day)
        if not everything:
            files = set(self._crowded(store.scope, entries))
            known = {entry.id: entry for entry in entries}
            plan = [it for it in plan if known[it.id].file in files]
        first = judge(plan, entries, day)
        prepared = Prepared(store, entries, first.apply, first.propose, first.refused)
        if model is not None:
            try:
                prepared = self._ask(prepared, model, templates or {})
            except ModelError as error:
                return Prepared(store, entries, problem=str(error), outcome="failed")
        prepared = self._checked(prepared)
        if everything:
            gone = {each for operation in prepared.apply for each in operation.ids}
            left = [entry for entry in entries if entry.id not in gone]
            found = ((left[at], left[later]) for at, later in contradictions_among(left))
            prepared = prepared._replace(contradictions=tuple(found))
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
        """Apply what may be applied, queue the rest, and return a receipt for each operation.

        Args:
            prepared: What :meth:`prepare` returned, for each scope.
            mode: ``autopilot``, ``copilot`` or ``off``.
            approved: Whether a person saw the diff and said yes to it.
            dry_run: Write nothing, and return the receipts that there would be.
        """
        if mode == "off":
            return [_refused_off(each.store) for each in prepared]
        mine: list[list[Operation]] = []
        for each in prepared:
            known, day = each.known(), today()
            is_automatic = approved or mode == "autopilot"
            apply = each.apply if is_automatic else ()
            mine.append([it for it in apply if approved or is_safe(it, known, day)])
        hold = _HOLD if mode == "autopilot" or approved else ""
        # Of all scopes first: the last step of each, which undo takes back, is its plan.
        queued = [
            list(_queue(each, applied, hold, dry_run=dry_run))
            for each, applied in zip(prepared, mine, strict=True)
        ]
        receipts: list[CompactionReceipt] = []
        for each, applied, asked in zip(prepared, mine, queued, strict=True):
            scope = each.store.scope
            receipts += _apply(each, applied, dry_run=dry_run)
            receipts += asked
            for ruling in each.refused:
                receipts.append(CompactionReceipt(scope, "refused", ruling.why, ruling.operation))
            if each.problem:
                receipts.append(CompactionReceipt(scope, each.outcome, each.problem))
        return receipts

    def _crowded(self, scope: Scope, memories: Sequence[Entry]) -> Sequence[str]:
        return crowded_files(memories, self._scopes.settings.of(scope).consolidation.threshold)

    def _ask(
        self, prepared: Prepared, model: LanguageModel, templates: Mapping[str, str]
    ) -> Prepared:
        """Return ``prepared`` with what a model proposes for crowded files."""
        left = plan.memory_after(prepared.apply, prepared.entries)
        # What stays for a duplicate is not touched again in the same run.
        staying = {operation.stays for operation in prepared.apply}
        for file in self._crowded(prepared.store.scope, left):
            operations: list[Operation] = []
            for batch in batches(left, [file]):
                found = propose(batch, model, today(), templates)
                if found.refusal:
                    return Prepared(prepared.store, prepared.entries, problem=found.refusal)
                operations += found.operations
            if not operations:
                continue
            ruled = judge(operations, left, today())
            # What went without a model counts as well: a run takes half of a file at most.
            together = (*prepared.apply, *operations)
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
        """Take out what the gate objects to, and what a search would no longer find."""
        known = prepared.known()
        rulings = (self._objection(operation, known) for operation in prepared.apply)
        objections = [ruling for ruling in rulings if ruling is not None]
        gone = {ruling.operation for ruling in objections}
        left = [each for each in prepared.apply if each not in gone]
        found = [*objections, *plan.no_longer_found(left, prepared.entries, _search_of)]
        gone = {ruling.operation for ruling in found}
        return prepared._replace(
            apply=tuple(each for each in prepared.apply if each not in gone),
            propose=(*prepared.propose, *(each for each in found if each.verdict == "propose")),
            refused=(*prepared.refused, *(each for each in found if each.verdict == "refuse")),
        )

    def _objection(self, operation: Operation, known: Mapping[str, Entry]) -> Ruling | None:
        """Return the objection of the gate to a merged text, which came from outside."""
        if operation.name != "merge":
            return None
        new = plan.merged_memory([known[each] for each in operation.ids], operation.text)
        try:
            engram = Engram(
                new.text, new.kind, new.scope, new.confidence, new.topic,
                "consolidation", origin=new.origin, via="tool", expires=new.expires,
            )  # fmt: skip
        except InvalidEngramError as error:
            return Ruling(operation, "refuse", str(error))
        decision = self._scopes.encoding_gate(engram)
        if decision.action == "encode" or decision.code == "confidence":
            return None
        is_asked = decision.code in ("contradiction", "instruction")
        return Ruling(operation, "propose" if is_asked else "refuse", decision.reason)


def compact(
    scopes: Scopes, *, approved: bool = False, dry_run: bool = False, use_model: bool = True
) -> list[CompactionReceipt]:
    """Compact every store of files of a cortex; see :meth:`engramdown.Cortex.compact_all`."""
    if scopes.mode == "off":
        return [_refused_off(store) for store in scopes.stores]
    compaction = Compaction(scopes)
    prepared = compaction.prepare_all(use_model=use_model)
    return compaction.carry_out(prepared, scopes.mode, approved=approved, dry_run=dry_run)


def tidied(scopes: Scopes) -> list[str]:
    """Tidy crowded files without a model, and return sentences about it.

    Raises:
        StoreError: If a store could not be read.
    """
    compaction = Compaction(scopes)
    notes = []
    for store in scopes.stores:
        prepared = compaction.prepare(store, everything=False)
        receipts = compaction.carry_out([prepared], scopes.mode)
        count = Counter(each.action for each in receipts)
        if done := count["applied"]:
            notes.append(
                f"{store.memory}: tidied {done} duplicate or expired memories away; "
                "`engramdown undo` brings them back"
            )
        if waits := count["queued"]:
            notes.append(f"{store.memory}: {waits} questions about tidying wait in pending.md")
        notes += [f"could not tidy: {each.reason}" for each in receipts if each.action == "failed"]
    return notes


def _refused_off(store: Hippocampus) -> CompactionReceipt:
    return CompactionReceipt(store.scope, "refused", REASONS["off"])


def _apply(
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
        yield from (CompactionReceipt(scope, "failed", str(error), each) for each in operations)
        return
    for operation, each in zip(operations, done, strict=True):
        if each.problem:
            yield CompactionReceipt(scope, "passed over", each.problem, operation)
        else:
            yield CompactionReceipt(scope, "applied", operation.reason, operation, each.id)


def _queue(
    prepared: Prepared, applied: Sequence[Operation], hold: str, *, dry_run: bool
) -> Iterator[CompactionReceipt]:
    """Queue what is not applied as questions, a few at a time, and none twice."""
    rest = (each for each in prepared.apply if each not in applied)
    rulings = [*(Ruling(each, "propose", _YOURS) for each in rest), *prepared.propose]
    if not rulings:
        return
    scope, known, queue = prepared.store.scope, prepared.known(), FileQueue(prepared.store)
    new: list[tuple[Ruling, Pending]] = []
    before: list[Ruling] = []
    try:
        answered = queue.answered()
        for each in rulings:
            item = question(each.operation, known, each.why, hold)
            if (item.op, item.of) in answered:
                before.append(each)
            else:
                new.append((each, item))
        waiting = [item for _, item in new[:_MOST_QUESTIONS]]
        waiting = queue.add(waiting) if waiting and not dry_run else waiting
    except StoreError as error:
        for each in rulings:
            yield CompactionReceipt(scope, "failed", str(error), each.operation)
        return
    for (each, _), item in zip(new, waiting, strict=False):
        found = "" if dry_run else item.id
        yield CompactionReceipt(scope, "queued", each.why, each.operation, found)
    enough = f"{_MOST_QUESTIONS} questions are enough for once"
    for each, _ in new[_MOST_QUESTIONS:]:
        yield CompactionReceipt(scope, "refused", enough, each.operation)
    for each in before:
        yield CompactionReceipt(scope, "refused", "you were asked before", each.operation)


def _search_of(memories: Sequence[Entry]) -> plan.Search:
    """Return the same search through ``memories`` that people and models use."""
    index, day = MemoryIndex(memories), today()
    return lambda query: [hit.entry.id for hit in index.search(query, day)]

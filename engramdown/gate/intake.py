"""Takes engrams in: gathers evidence, asks the gate, and reports what became of each.

It reads both scopes once for a batch and makes one step for each file that changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, overload

from engramdown.clock import today
from engramdown.engram import CONFIDENCES, Engram, Scope, fact_key, fold
from engramdown.errors import EngramdownError, EntryNotFoundError, InvalidEngramError, StoreError
from engramdown.gate.gate import (
    REASONS,
    Decision,
    Evidence,
    TurnedDown,
    decide,
    harmless,
    holds_secret,
    humble,
    is_own_word,
    nothing_erased,
    scope_of,
)
from engramdown.gate.pending import (
    Order,
    Pending,
    Queue,
    TickRefusedError,
    always,
    identity,
    kind_and_fold,
    only,
)
from engramdown.gate.pending_file import FileQueue
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import Entry, Written, by_prefix
from engramdown.hippocampus.store import BatchProtocol, Hippocampus, HippocampusProtocol
from engramdown.kinds import PENDING
from engramdown.storage.disk import Disk

__all__: list[str] = []


class Intake:
    """The gate before two stores.

    Attributes:
        waiting: What waits for a person.
    """

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        usable: Callable[[HippocampusProtocol], list[Entry]] | None = None,
        waiting: Waiting | None = None,
        erased: Callable[[str], bool] = nothing_erased,
    ) -> None:
        """Stand before ``stores``.

        Args:
            stores: The stores.
            usable: Returns the memories of one that count; by default all.
            waiting: What waits; the queues of ``stores`` unless given.
            erased: Whether a person erased a text for good.
        """
        self._stores = stores
        self._usable = usable or _all_of
        self._erased = erased
        self.waiting = waiting or Waiting(stores)

    def decision(self, mode: str, engram: Engram) -> Decision:
        """Return what is to be done with an engram; nothing is written."""
        return decide(mode, engram, self._evidence(mode, [engram]).findings(engram))

    def gate(self, mode: str, batch: Iterable[Engram]) -> Callable[[Engram], Decision]:
        """Return what decides on each of ``batch``; what may speak against them is read once."""
        evidence = self._evidence(mode, batch)
        return lambda engram: decide(mode, engram, evidence.findings(engram))

    def propose(
        self, mode: str, engrams: Engram | Iterable[object], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; see :meth:`engramdown.Cortex.propose`."""
        batch = [humble(engram) for engram in _batch(engrams)]
        try:
            evidence = self._evidence(mode, batch, by_person=by_person)
        except StoreError as error:
            return failed(batch, error)
        return self._carry_out(
            [
                self._decided(mode, evidence, at, engram, by_person=by_person)
                for at, engram in enumerate(batch)
            ]
        )

    def encode(self, engrams: Engram | Iterable[object]) -> list[Receipt]:
        """Write engrams that a person decided on; secrets are redacted."""
        yes = Decision("encode", "asked for")
        return self._carry_out(
            [Decided(at, harmless(each), yes) for at, each in enumerate(_batch(engrams))]
        )

    def _evidence(self, mode: str, batch: Iterable[Engram], *, by_person: bool = False) -> Evidence:
        """Read what may speak against ``batch``; against a user's sure word nothing does.

        But for a fact that could take the place of one of theirs.
        """
        sure = (_is_sure_word_of_user(each) and (by_person or not _key(each)) for each in batch)
        if mode == "off" or all(sure):
            return Evidence({})
        entries = {scope: self._usable(store) for scope, store in self._stores.items()}
        return Evidence(entries, self.waiting.turned_down(), self._erased)

    def _decided(
        self, mode: str, evidence: Evidence, at: int, engram: Engram, *, by_person: bool
    ) -> Decided:
        """Ask the gate; what is known already needs nobody's answer."""
        found = evidence.findings(engram, by_person=by_person)
        decision = decide(mode, engram, found)
        asks = decision.action == "confirm" and not holds_secret(engram)
        if asks and (evidence.is_known(engram) or self.waiting.gave_way(engram)):
            return Decided(at, engram, Decision("encode", "known already"))
        return Decided(at, engram, decision, evidence.replaced_by(engram, found))

    def _carry_out(self, decided: Sequence[Decided]) -> list[Receipt]:
        """Encode or queue what was decided, one step for each file, and return the receipts."""
        receipts = discard(decided)
        for scope, store in self._stores.items():
            mine = [each for each in decided if scope_of(each.engram) == scope]
            receipts |= encode_into(store, mine)
            receipts |= self.waiting.add(scope, mine)
        return [receipts[each.at] for each in decided]


def _all_of(store: HippocampusProtocol) -> list[Entry]:
    return store.entries()


def _is_sure_word_of_user(engram: Engram) -> bool:
    return is_own_word(engram) and engram.confidence == "high"


def _key(engram: Engram) -> str:
    return fact_key(engram.text) if engram.kind == "profile" else ""


def _batch(engrams: Engram | Iterable[object]) -> list[Engram]:
    batch: list[Engram] = []
    for each in [engrams] if isinstance(engrams, Engram) else engrams:
        if not isinstance(each, Engram):
            reason = f"a {type(each).__name__} is no Engram; pass Engram(text, kind, scope)"
            raise InvalidEngramError("engrams", reason)
        batch.append(each)
    return batch


# Turns decisions into receipts that say what became of each engram.
#
# *Encoded* means that the line is on the disk and was read back. An error of a store becomes a
# receipt that says *failed* and why, for exactly the engrams it concerns.


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


# The review queue of both scopes, and how decisions are carried out.
#
# Nothing is decided without a person's word or tick. A decision that cannot be carried out leaves
# the proposal waiting and says why. What is accepted is written without its secrets. A tick that
# came with git is somebody else's: what it adds counts as observed, and it removes nothing that a
# person here wrote.

DECISIONS: Final = ("accept", "decline", "skip")

_ELSEWHERE: Final = (
    "{id} is for all your projects, and a tick in the file of one is not enough for that; "
    "accept it with `engramdown review`"
)
_BROUGHT: Final = "the line of {id} came with git, its tick too"
_BROUGHT_FOR: Final = "the tick of {id} came with git and is not yours, and {why}"
_TAKES: Final = "it takes away what you wrote, confirmed or pinned"
_SHAPES: Final = "it is no plain memory"
_STAYS: Final = frozenset({"failed", "queued"})
_TICKED_ELSEWHERE: Final = "ticked by somebody else, came with git"
_WHERE: Final = "what is pending (`engramdown review` lists it)"


CameWithGit = Callable[[Scope], Collection[tuple[int, str]]]
"""Returns which lines of a ``pending.md`` came with git and nobody here approved: line and text."""


class Answer(NamedTuple):
    """What a person decided about one proposal of many.

    Attributes:
        id: The id of the proposal.
        decision: ``accept``, ``decline`` or ``skip``.
        text: The words that they want instead of the proposed ones, or ``None``.
    """

    id: str
    decision: str = "accept"
    text: str | None = None


class _Decided(NamedTuple):
    """A proposal, where it waits, and what a person decided about it, here or elsewhere.

    A tick that came with git has a ``key``; see :func:`digest_of_tick`.
    """

    queue: Queue
    item: Pending
    is_accepted: bool
    text: str | None = None
    why_not: Callable[[], str] | None = None
    key: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the person decided it here."""
        return not self.key


class _NotWrittenError(EngramdownError):
    """Nothing could be written, whatever was ticked: all of it is still to be decided on."""


Gates = Callable[[Iterable[Engram]], Callable[[Engram], Decision]]
"""Returns what decides on engrams, of which it is told all beforehand."""


PassOver = Callable[[StoreError], object]
"""Is told of what cannot be read."""


@contextlib.contextmanager
def _passing_over(tell: PassOver | None) -> Iterator[None]:
    """Tell of what cannot be read, and go on, if there is somebody to tell."""
    try:
        yield
    except StoreError as error:
        if tell is None:
            raise
        tell(error)


def nothing_came(scope: Scope) -> Collection[tuple[int, str]]:
    """Return nothing: every tick is the person's."""
    del scope
    return ()


def _everything_passes(engrams: Iterable[Engram]) -> Callable[[Engram], Decision]:
    del engrams
    return lambda _: Decision("encode", "nobody looks")


class Waiting:
    """The queues of both scopes."""

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        came_with_git: CameWithGit = nothing_came,
        gates: Gates = _everything_passes,
        *,
        reviews: Callable[[], bool] = bool,
        rules: Callable[[], str] = str,
        home: Path | None = None,
        dry: Callable[[], bool] = bool,
    ) -> None:
        """Find the queue of each store: its ``pending.md``, or memory if it has no files.

        Args:
            stores: The stores.
            came_with_git: Returns what git brought of a ``pending.md``.
            gates: Decide on what ticks bring that came with git.
            reviews: Whether such ticks wait, and no model sees such lines; asked each time.
            rules: Returns what decides on such ticks in words: one that was refused is decided on
                again when it says something else.
            home: The folder of the global scope, to keep in its cache which of them were refused;
                ``None`` keeps it in mind.
            dry: Whether nothing is to be written; asked each time.
        """
        self._stores = stores
        self._queues = {scope: _queue_of(store) for scope, store in stores.items()}
        self._came_with_git = came_with_git
        self._gates = gates
        self._reviews = reviews
        self._rules = rules
        self._refusals = {
            scope: Refusals(store, home, dry)
            for scope, store in stores.items()
            if isinstance(store, Hippocampus)
        }
        self._turned_down = TurnedDown()

    def add(self, scope: Scope, decided: Sequence[Decided]) -> dict[int, Receipt]:
        """Let what is to be confirmed wait, and return the receipts by place."""
        return queue_into(self._queues[scope], decided)

    def items(self, pass_over: PassOver | None = None) -> list[tuple[Queue, Pending]]:
        """Return what waits, with its queue.

        Args:
            pass_over: Is told of each queue that cannot be read; the others are returned.

        Raises:
            StoreError: If a queue cannot be read, and nobody is told of it instead.
        """
        found: list[tuple[Queue, Pending]] = []
        for queue in self._queues.values():
            with _passing_over(pass_over):
                found += [(queue, item) for item in queue.pending()]
        return found

    def brought(
        self, items: Iterable[tuple[Queue, Pending]], pass_over: PassOver | None = None
    ) -> set[tuple[str, int]]:
        """Return where the lines stand that git brought and nobody approved, if any wait there.

        Args:
            items: What waits, with its queue.
            pass_over: Is told of each queue of which nobody can say it.

        Returns:
            The file and the line of each.
        """
        files = {queue.file for queue, _ in items}
        found: set[tuple[str, int]] = set()
        for scope, queue in self._queues.items():
            with _passing_over(pass_over):
                if queue.file in files:
                    found |= {(queue.file, line) for line, _ in self._came_with_git(scope)}
        return found

    def ours(self, pass_over: PassOver | None = None) -> list[tuple[Queue, Pending]]:
        """Return what waits, with its queue, but for lines that git brought and nobody approved."""
        found: list[tuple[Queue, Pending]] = []
        for scope, queue in self._queues.items():
            with _passing_over(pass_over):
                items = queue.pending()
                came = self._came_with_git(scope) if items and self._reviews() else ()
                found += [(queue, item) for item in items if _place(item) not in came]
        return found

    def forgot(self, scope: Scope, entry: Entry) -> None:
        """Take note that a person let a store forget ``entry``."""
        self._queues[scope].forgot(entry)

    def ask_to_forget(self, scope: Scope, entry: Entry) -> Receipt:
        """Let the question wait whether a memory is to be forgotten.

        Raises:
            StoreError: If it could not be written.
        """
        queue, question = self._queues[scope], f"Delete: {entry.text}"
        item = Pending(
            new_id(),
            harmless(Engram(question, entry.kind, entry.scope, "medium", source="llm")),
            reason="retire",
            op="forget",
            of=entry.id,
            ts=today().isoformat(),
        )
        (waiting,) = queue.add([item])
        return waiting_receipt(queue, waiting, REASONS["retire"])

    def turned_down(self) -> TurnedDown:
        """Return what a person declined, deleted or forgot, in whichever scope."""
        unwanted = tuple(each for queue in self._queues.values() for each in queue.turned_down())
        if unwanted != self._turned_down.unwanted:
            self._turned_down = TurnedDown(unwanted)
        return self._turned_down

    def gave_way(self, engram: Engram) -> bool:
        """Whether another memory of its scope took the place of this one, which is no news."""
        return self._queues[scope_of(engram)].gave_way(engram)

    def resolve(self, proposal_id: str, decision: str, text: str | None) -> Receipt:
        """Carry out what a person decided; see :meth:`engramdown.Cortex.resolve`."""
        check_decision(decision)
        queue, item = by_prefix(proposal_id, self.items(), lambda each: each[1].id, _WHERE)
        if decision == "skip":
            return waiting_receipt(queue, item, "skipped")
        (outcome,) = self._decide([_Decided(queue, item, decision == "accept", text)], always)
        if isinstance(outcome, EngramdownError):
            raise outcome
        return _receipt(queue, item, outcome)

    def resolve_all(self, answers: Sequence[Answer]) -> list[Receipt]:
        """Carry out what a person decided about many; see :meth:`Review.resolve_all`."""
        for each in answers:
            check_decision(each.decision)
        items = self.items()
        by_id = {item.id: (queue, item) for queue, item in items}
        found = [
            by_id.get(each.id) or by_prefix(each.id, items, lambda one: one[1].id, _WHERE)
            for each in answers
        ]
        decided = [
            _Decided(queue, item, each.decision == "accept", each.text)
            for (queue, item), each in zip(found, answers, strict=True)
            if each.decision != "skip"
        ]
        outcomes = iter(self._decide(decided, always))
        return [
            waiting_receipt(queue, item, "skipped")
            if each.decision == "skip"
            else _receipt(queue, item, next(outcomes))
            for (queue, item), each in zip(found, answers, strict=True)
        ]

    def has_ticks(self) -> bool:
        """Whether a person ticked anything; what cannot be read is told by those who read it."""
        for queue in self._queues.values():
            # One that cannot be read may hold a tick.
            with contextlib.suppress(StoreError):
                if not any(item.tick for item in queue.pending()):
                    continue
            return True
        return False

    def apply_ticks(
        self,
        tell: Callable[[str], None],
        scope: Scope | None = None,
        go_on: Callable[[], bool] = always,
        *,
        remind: Callable[[str], None] = lambda _: None,
    ) -> list[Receipt]:
        """Carry out the lines that a person ticked; a line that somebody else did is passed over.

        A tick of somebody else that was refused waits for the person: it is decided on again only
        when the line or the settings are others.

        Args:
            tell: Is told in words what could not be read or carried out.
            scope: Whose queue; by default those of both.
            go_on: Asked before each line but the first whether there is time for it; what is left
                stays ticked.
            remind: Is told in words why each tick still waits that was refused before.
        """
        receipts: list[Receipt] = []
        for each, queue in self._queues.items():
            if scope not in (None, each):
                continue
            try:
                ticked = [item for item in queue.pending() if item.tick]
                decided, left = self._ticked(each, queue, ticked) if ticked else ([], {})
            except StoreError as error:
                tell(f"could not read what is pending: {error}")
                continue
            for refusal in left.values():
                remind(refusal.why)
            done = self._apply(decided, go_on)
            for one, outcome, receipt in done:
                if receipt.action in _STAYS:
                    tell(_told(receipt))
                    if one.key and not isinstance(outcome, _NotWrittenError):
                        left[one.key] = Refusal(one.item.id, _told(receipt))
            if ticked and each in self._refusals:
                self._refusals[each].keep(left)
            receipts += [receipt for _, _, receipt in done]
        return receipts

    def _ticked(
        self, scope: Scope, queue: Queue, ticked: Sequence[Pending]
    ) -> tuple[list[_Decided], dict[str, Refusal]]:
        """Return what was decided by ticks, and by whom, and what was refused before."""
        # Looked at before anything is done: each line that goes moves those below it.
        came = self._came_with_git(scope)
        rules = self._rules() if came else ""
        keys = [digest_of_tick(it, rules) if _place(it) in came else "" for it in ticked]
        known = self._refusals[scope].known() if any(keys) and scope in self._refusals else {}
        left = {key: known[key] for key in keys if key in known}
        new = [(item, key) for item, key in zip(ticked, keys, strict=True) if key not in left]
        brought = [item for item, key in new if key]
        why_not = self._not_theirs_to_say(brought) if brought else None
        decided: list[_Decided] = []
        for item, key in new:
            accepts, is_ours = item.tick == "x", not key
            elsewhere = _ELSEWHERE if accepts and self._leaves_project(queue, item) else ""
            asked = partial(_refusal, item, elsewhere, None if is_ours else why_not)
            decided.append(_Decided(queue, item, accepts, None, asked, key))
        return decided, left

    def _apply(
        self, decided: Sequence[_Decided], go_on: Callable[[], bool]
    ) -> list[tuple[_Decided, Receipt | EngramdownError, Receipt]]:
        """Carry ticks out, and return what became of them as far as there was time."""
        outcomes = self._decide(decided, go_on)
        # One that somebody else was quicker with is no news, and one for later none yet.
        return [
            (each, outcome, replace(_ticked_receipt(each, outcome), is_ours=each.is_ours))
            for each, outcome in zip(decided, outcomes, strict=True)
            if outcome is not None and not isinstance(outcome, EntryNotFoundError)
        ]

    def _not_theirs_to_say(self, brought: Sequence[Pending]) -> Callable[[Pending], str]:
        """Return what tells why a tick that came with git waits for the person, or ``""``.

        What there is to look at is looked at once for all of them.
        """
        if self._reviews():
            return lambda _: _BROUGHT
        gate = self._gates(_observed(item.engram) for item in brought)
        stand = (entry for store in self._stores.values() for entry in store.entries())
        by_person = {entry.id for entry in stand if entry.by_person}

        def why_not(item: Pending) -> str:
            if item.tick != "x":
                return ""
            if item.put or item.op == "skill":
                return _BROUGHT_FOR.replace("{why}", _SHAPES)
            if item.op != "encode" and not by_person.isdisjoint({*item.of.split(","), item.stays}):
                return _BROUGHT_FOR.replace("{why}", _TAKES)
            decision = gate(_observed(item.engram))
            if decision.action == "encode":
                return ""
            reason = decision.reason.replace("{", "{{").replace("}", "}}")
            return _BROUGHT_FOR.replace("{why}", reason)

        return why_not

    def _leaves_project(self, queue: Queue, item: Pending) -> bool:
        """Whether a line of the project's file asks for a memory in the global scope.

        A project's file may have come with somebody else's commit, its ticks included.
        """
        return (
            queue is not self._queues["global"]
            and item.op == "encode"
            and scope_of(item.engram) == "global"
        )

    def _decide(
        self, decided: Sequence[_Decided], go_on: Callable[[], bool]
    ) -> list[Receipt | EngramdownError | None]:
        """Carry out what was decided, one step for all that one file declines or accepts.

        ``None`` stands for what there was no time for.
        """
        done: dict[int, Receipt | EngramdownError] = {}
        batches: dict[tuple[bool, bool, int], list[int]] = {}
        for at, each in enumerate(decided):
            try:
                # Words that a person gives instead may be none that can be kept.
                _ = _order(each) if each.text is not None else None
            except EngramdownError as error:
                done[at] = error
                continue
            if self._moves(each):
                if not done or go_on():
                    done[at] = self._move(each)
                continue
            key = (each.is_accepted, each.is_ours, id(each.queue))
            batches.setdefault(key, []).append(at)
        # What is declined goes first: what is accepted may lift a tombstone.
        for key in sorted(batches, key=lambda key: key[0]):
            if not done or go_on():
                batch = [decided[at] for at in batches[key]]
                # Those for which there is no time have no receipt.
                done |= dict(zip(batches[key], _carry_out(batch, go_on), strict=False))
        return [done.get(at) for at in range(len(decided))]

    def _moves(self, decided: _Decided) -> bool:
        """Whether a person moved a proposal to the other scope."""
        item = decided.item
        is_elsewhere = self._queues[scope_of(item.engram)] is not decided.queue
        asks = decided.is_accepted and decided.is_ours and item.op == "encode"
        return is_elsewhere and asks and not item.problem

    def _move(self, decided: _Decided) -> Receipt | EngramdownError:
        try:
            order = _order(decided)
            order.check()
            engram = order.engram or order.item.engram
            # Destination first, source second.
            written = self._queues[scope_of(engram)].confirm(engram)
            decided.queue.drop(decided.item)
        except EngramdownError as error:
            return error
        return written_receipt(engram, written, "accepted")


def check_decision(decision: str) -> None:
    """Refuse what is no decision.

    Raises:
        InvalidEngramError: If it is none of the three.
    """
    if decision not in DECISIONS:
        raise InvalidEngramError.not_one_of("decision", decision, DECISIONS)


class _Orders(Sequence[Order]):
    """Orders that are made when they are asked for: there may be no time for most of them."""

    def __init__(self, decided: Sequence[_Decided]) -> None:
        self._decided = decided
        self._made: dict[int, Order] = {}

    def __len__(self) -> int:
        return len(self._decided)

    @overload
    def __getitem__(self, at: int) -> Order: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Order]: ...
    def __getitem__(self, at: int | slice) -> Order | Sequence[Order]:
        if isinstance(at, slice):
            return _Orders(self._decided[at])
        if at not in self._made:
            self._made[at] = _order(self._decided[at])
        return self._made[at]


def _order(decided: _Decided) -> Order:
    item, text = decided.item, decided.text
    by = "user" if decided.is_ours else "git"
    if not decided.is_accepted:
        return Order(item, None, by, decided.why_not)
    engram = item.engram if decided.is_ours else _observed(item.engram)
    engram = engram if text is None else replace(engram, text=text)
    return Order(item, harmless(engram), by, decided.why_not)


def _carry_out(
    batch: Sequence[_Decided], go_on: Callable[[], bool]
) -> list[Receipt | EngramdownError]:
    """Carry out what one queue is asked; return what became of it as far as there was time."""
    orders = _Orders(batch)
    try:
        outcomes = batch[0].queue.decide(orders, go_on)
    except EngramdownError as error:
        failed = error if batch[0].is_ours else _NotWrittenError(str(error))
        return [failed] * len(batch)
    return [
        outcome if isinstance(outcome, EngramdownError) else _done(orders[at], outcome)
        for at, outcome in enumerate(outcomes)
    ]


def _done(order: Order, written: Written | None) -> Receipt:
    if order.engram is None:
        return Receipt(harmless(order.item.engram), "discarded", "declined")
    why = "accepted" if order.by == "user" else _TICKED_ELSEWHERE
    if written is None:
        return Receipt(order.engram, "forgotten", why, order.item.of)
    return written_receipt(order.engram, written, why)


def _receipt(queue: Queue, item: Pending, outcome: Receipt | EngramdownError | None) -> Receipt:
    return outcome if isinstance(outcome, Receipt) else _failed_queue(queue, item, str(outcome))


def _ticked_receipt(decided: _Decided, outcome: Receipt | EngramdownError) -> Receipt:
    """Return the receipt for a tick; one of somebody else that is refused still waits."""
    if isinstance(outcome, TickRefusedError) and not decided.is_ours:
        return waiting_receipt(decided.queue, decided.item, str(outcome))
    return _receipt(decided.queue, decided.item, outcome)


def _told(receipt: Receipt) -> str:
    """Return in words why a ticked line stays."""
    if receipt.action == "queued":
        # No trouble, as "could not" would be: it waits like everything that they proposed.
        return f"left to you what somebody else ticked: {receipt.reason}"
    whose = "what you ticked" if receipt.is_ours else "what somebody else ticked"
    return f"could not carry out {whose}: {receipt.reason}"


def _failed_queue(queue: Queue, item: Pending, reason: str) -> Receipt:
    return replace(waiting_receipt(queue, item, reason), action="failed")


def _refusal(item: Pending, elsewhere: str, why_not: Callable[[Pending], str] | None) -> str:
    """Return why a tick is not carried out, or ``""``."""
    reason = (why_not(item) if why_not is not None else "") or elsewhere
    return reason.format(id=item.id) if reason else ""


def _place(item: Pending) -> tuple[int, str]:
    return item.line, item.engram.text


def _observed(engram: Engram) -> Engram:
    """Return what somebody else ticked: nobody here said or confirmed it."""
    sure = max(engram.confidence, "medium", key=CONFIDENCES.index)
    source = "llm" if engram.source == "user" else engram.source
    return replace(engram, source=source, confidence=sure, basis="observed", via="web")


def _queue_of(store: HippocampusProtocol) -> Queue:
    return FileQueue(store) if isinstance(store, Hippocampus) else PlainQueue(store)


# Which ticks that came with git were refused, so that each is decided on and told of once.
#
# Holds digests, no words; may be lost at any moment, then they are decided on once more.
# It stands in the folder of the global scope, so that nothing that was cloned or pulled can say so
# of itself. A line that a person changed since is decided on again.

_LETTERS: Final = 16


class Refusal(NamedTuple):
    """A tick that was refused: the id of its proposal, and why; ``""`` if that is not known."""

    id: str
    why: str = ""


def digest_of_tick(item: Pending, rules: str) -> str:
    """Return what a tick is known by, wherever it stands, for as long as the same rules hold."""
    return _digest(f"{rules}\n{replace(item, line=0)!r}")


class Refusals:
    """The ticks of one scope that were refused."""

    def __init__(
        self, store: Hippocampus, home: Path | None, dry: Callable[[], bool] = bool
    ) -> None:
        """Keep those of ``store`` in the cache of ``home``; ``None``, or ``dry``, only in mind."""
        self._history = store.files.history
        name = f"refused-{_digest(os.path.realpath(store.root))}.json"
        self._path = home / "cache" / name if home else None
        self._dry = dry
        self._disk = Disk()
        self._last = ""
        self._kept: Mapping[str, Refusal] | None = None

    def known(self) -> Mapping[str, Refusal]:
        """Return the ticks that were refused, but for those of lines that a person changed since.

        They are known by :func:`digest_of_tick`.
        """
        if self._kept is None or (self._path is not None and not self._dry()):
            self._last, self._kept = self._load()
        if not self._kept or self._last == self._history.last:
            return self._kept
        steps = self._history.steps_after(self._last)
        if not steps:
            return {}  # It is another journal: nobody knows what was changed since.
        touched = {
            change.id
            for step in steps
            if step.by == "person"
            for change in step.changes
            if change.file == PENDING
        }
        return {key: it for key, it in self._kept.items() if it.id not in touched}

    def keep(self, refused: Mapping[str, Refusal]) -> None:
        """Take note of all ticks that are refused now; those that are not among them are gone."""
        last = self._history.last
        if (last, refused) == (self._last, self._kept) or not (refused or self._kept):
            return
        self._last, self._kept = last, refused
        if self._path is None or self._dry():
            return
        told = {"last": last, "ticks": {key: each.id for key, each in refused.items()}}
        try:
            self._disk.make_folder(self._path.parent)
            self._disk.create(self._path, json.dumps(told).encode())
        except (OSError, StoreError):
            return  # Then they are decided on once more.

    def _load(self) -> tuple[str, Mapping[str, Refusal]]:
        try:
            data = self._disk.read(self._path) if self._path is not None else None
            told: Any = json.loads(data or b"")
            found = {str(key): Refusal(str(each)) for key, each in told["ticks"].items()}
            return str(told["last"]), found
        except (OSError, StoreError, ValueError, LookupError, TypeError, AttributeError):
            return "", {}
        except RecursionError:  # JSON that is nested for its own sake
            return "", {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LETTERS]


# The proposals of a store that has no files.
#
# They wait for as long as the process runs; otherwise as in ``pending.md``.


class PlainQueue:
    """The proposals of a store that has no files, for as long as the process runs."""

    file = ""

    def __init__(self, store: HippocampusProtocol) -> None:
        """Begin with an empty queue for ``store``."""
        self._store = store
        self._waiting: list[Pending] = []
        self._unwanted: list[Engram] = []

    def pending(self) -> list[Pending]:
        """Return what waits, the oldest first."""
        return list(self._waiting)

    def add(self, items: Sequence[Pending]) -> list[Pending]:
        """Append proposals that do not wait yet."""
        waiting = {identity(item): item for item in self._waiting}
        found = []
        for item in items:
            known = waiting.setdefault(identity(item), item)
            if known is item:
                self._waiting.append(item)
            found.append(known)
        return found

    def accept(self, item: Pending, engram: Engram, by: str = "user") -> Written | None:
        """Carry one proposal out; raises what :meth:`decide` returns."""
        return only(self.decide([Order(item, engram, by)]))

    def decline(self, item: Pending, by: str = "user") -> None:
        """Take one proposal away; raises what :meth:`decide` returns."""
        only(self.decide([Order(item, None, by)]))

    def decide(
        self, orders: Sequence[Order], go_on: Callable[[], bool] = always
    ) -> list[Written | EngramdownError | None]:
        """Carry out what a person decided, one after the other.

        Nothing comes with git where there are no files.
        """
        done: list[Written | EngramdownError | None] = []
        for at in range(len(orders)):
            if done and not go_on():
                break
            try:
                order = orders[at]
                if order.engram is None:
                    self._decline(order.item)
                    done.append(None)
                else:
                    done.append(self._accept(order.item, order.engram))
            except EngramdownError as error:
                done.append(error)
        return done

    def _accept(self, item: Pending, engram: Engram) -> Written | None:
        """Write the memory, then retire what it replaces, then take the proposal away."""
        self._check(item)
        written = None if item.op == "forget" else self.confirm(engram)
        replaced = item.of if written is None or written.entry.id != item.of else ""
        if item.op != "encode" and any(entry.id == replaced for entry in self._store.entries()):
            gone = self._store.forget(replaced)
            if item.op == "forget":
                self.forgot(gone)
        self.drop(item)
        return written

    def _decline(self, item: Pending) -> None:
        """Take the proposal away and remember its text."""
        self.drop(item)
        if item.op != "forget":
            self._unwanted.append(item.engram)

    def confirm(self, engram: Engram) -> Written:
        """Write what a person accepted."""
        return write(self._store, [replace(engram, basis="verified")])[0]

    def drop(self, item: Pending) -> None:
        """Take the proposal away."""
        self._check(item)
        self._waiting.remove(item)

    def forgot(self, entry: Entry) -> None:
        """Remember the text of what the store was told to forget."""
        self._unwanted.append(entry.engram())

    def turned_down(self) -> list[tuple[str, str]]:
        """Return what was declined or forgotten and does not stand in the store again."""
        known = {(entry.kind, entry.fold) for entry in self._store.entries()}
        unwanted = (each for each in self._unwanted if kind_and_fold(each) not in known)
        return [(each.text, each.kind) for each in unwanted]

    def gave_way(self, engram: Engram) -> bool:
        """Return ``False``: such a store does not tell what took the place of what."""
        del engram
        return False

    def _check(self, item: Pending) -> None:
        if item not in self._waiting:
            raise EntryNotFoundError(item.id, "what is pending")

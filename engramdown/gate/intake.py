"""Takes engrams in: asks the gate, writes or queues them, and carries out what a person decides.

Both scopes are read once for a batch, and each file that changes is written in one step. A receipt
says *encoded* if the line is on the disk and was read back; if a store fails, the receipts of the
affected engrams say *failed* and why.

Only a person's word or tick decides about a proposal. If a decision cannot be carried out, the
proposal stays and the reason is reported. Accepted text is written without its secrets. A tick that
came with git is somebody else's: what it adds counts as observed, and it removes nothing that a
person here wrote.
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
from typing import Any, Final, Literal

from engramdown.clock import today
from engramdown.engram import CONFIDENCES, Engram, Scope, fact_key
from engramdown.errors import (
    MALFORMED,
    EngramdownError,
    EntryNotFoundError,
    InvalidEngramError,
    StoreError,
)
from engramdown.gate import gate
from engramdown.gate.pending import (
    Answer,
    Order,
    Pending,
    PlainQueue,
    TickRefusedError,
    always,
    write,
)
from engramdown.gate.pending_file import FileQueue
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import Entry, Written, by_prefix
from engramdown.hippocampus.store import Hippocampus, HippocampusProtocol, passing_over
from engramdown.kinds import PENDING
from engramdown.storage.disk import Disk

DECISIONS: Final = ("accept", "decline", "skip")

_TICKED_ELSEWHERE: Final = "ticked by somebody else, came with git"
WHERE: Final = "what is pending (`engramdown review` lists it)"

Queue = FileQueue | PlainQueue
# Returns the lines of a ``pending.md`` that came with git and are not approved: number and text.
CameWithGit = Callable[[Scope], Collection[tuple[int, str]]]
# Takes all engrams of a batch and returns the function that decides on each.
Gates = Callable[[Iterable[Engram]], Callable[[Engram], gate.Decision]]
# Is called with each error of reading.
PassOver = Callable[[StoreError], object]


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
        is_ours: Whether a person here decided on it; ``False`` for a tick that came with git.
    """

    engram: Engram
    action: Literal["encoded", "merged", "queued", "discarded", "forgotten", "failed"]
    reason: str
    id: str = ""
    file: str = ""
    line: int = 0
    is_ours: bool = True


# What became of a decision, and what kept it from being carried out, if anything did.
Resolved = tuple[Receipt, EngramdownError | None]


@dataclass(frozen=True, slots=True)
class Decided:
    """An engram of a batch, with the decision about it.

    Attributes:
        at: Its place in the batch, from 0.
        engram: The engram.
        decision: The decision of the gate.
        replaces: The id of the memory in its scope that it will replace, or ``""``.
    """

    at: int
    engram: Engram
    decision: gate.Decision
    replaces: str = ""


class Intake:
    """The gate before two stores.

    Attributes:
        waiting: The proposals that wait for a person.
    """

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        usable: Callable[[HippocampusProtocol], list[Entry]],
        waiting: Waiting,
        erased: Callable[[str], bool],
    ) -> None:
        """Guard ``stores``.

        Args:
            stores: The stores by scope.
            usable: Returns the memories of a store that count.
            waiting: The proposals that wait.
            erased: Whether a person erased a text for good.
        """
        self._stores = stores
        self._usable = usable
        self._erased = erased
        self.waiting = waiting

    def decider(self, mode: str, batch: Iterable[Engram]) -> Callable[[Engram], gate.Decision]:
        """Return the function that decides on each of ``batch``; memory is read once."""
        evidence = self._evidence(mode, batch)
        return lambda engram: gate.decide(mode, engram, evidence.findings(engram))

    def propose(
        self, mode: str, engrams: Iterable[object], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; see :meth:`engramdown.Cortex.propose`."""
        batch = [gate.drop_unverified_claims(engram) for engram in _checked(engrams)]
        try:
            evidence = self._evidence(mode, batch, by_person=by_person)
        except StoreError as error:
            return failed(batch, error)
        decided = []
        for at, engram in enumerate(batch):
            found = evidence.findings(engram, by_person=by_person)
            decision = gate.decide(mode, engram, found)
            replaces = evidence.replaced_by(engram, found)
            asks = decision.action == "confirm" and not gate.holds_secret(engram)
            if asks and (evidence.is_known(engram) or self.waiting.gave_way(engram)):
                # Nobody needs to be asked about a known memory.
                decision, replaces = gate.Decision("encode", "known already"), ""
            decided.append(Decided(at, engram, decision, replaces))
        return self.carry_out(decided)

    def encode(self, engrams: Iterable[object]) -> list[Receipt]:
        """Write engrams that a person decided on; secrets are redacted."""
        yes, batch = gate.Decision("encode", "asked for"), _checked(engrams)
        decided = [Decided(at, gate.without_secrets(each), yes) for at, each in enumerate(batch)]
        return self.carry_out(decided)

    def _evidence(
        self, mode: str, batch: Iterable[Engram], *, by_person: bool = False
    ) -> gate.Evidence:
        """Read the evidence about ``batch``.

        A user's high-confidence word needs none, except a fact that could replace one of theirs.
        """

        def is_beyond_doubt(engram: Engram) -> bool:
            is_fact = engram.kind == "profile" and fact_key(engram.text)
            return (
                gate.is_own_word(engram)
                and engram.confidence == "high"
                and (by_person or not is_fact)
            )

        if mode == "off" or all(map(is_beyond_doubt, batch)):
            return gate.Evidence({})
        entries = {scope: self._usable(store) for scope, store in self._stores.items()}
        return gate.Evidence(entries, self.waiting.turned_down(), self._erased)

    def carry_out(self, decided: Sequence[Decided]) -> list[Receipt]:
        """Encode or queue what was decided, one step for each file, and return the receipts."""
        receipts: dict[int, Receipt] = {}
        for scope, store in self._stores.items():
            mine = [each for each in decided if gate.scope_of(each.engram) == scope]
            receipts |= _in_one_step(mine, "encode", partial(_encode, store))
            receipts |= _in_one_step(mine, "confirm", partial(_queue, self.waiting.queue(scope)))
        return [
            receipts.get(each.at)
            or Receipt(gate.without_secrets(each.engram), "discarded", each.decision.reason)
            for each in decided
        ]


def _checked(engrams: Iterable[object]) -> list[Engram]:
    batch = []
    for each in engrams:
        if not isinstance(each, Engram):
            reason = f"a {type(each).__name__} is not an Engram; pass Engram(text, kind, scope)"
            raise InvalidEngramError("engrams", reason)
        batch.append(each)
    return batch


# ---- from a decision to a receipt ----


def failed(engrams: Iterable[Engram], error: StoreError) -> list[Receipt]:
    """Return the receipts of engrams that could not be written."""
    return [Receipt(gate.without_secrets(each), "failed", str(error)) for each in engrams]


def _in_one_step(
    decided: Iterable[Decided],
    action: gate.Action,
    carry_out: Callable[[Sequence[Decided]], list[Receipt]],
) -> dict[int, Receipt]:
    """Carry out what has one ``action``, and return the receipts by place."""
    mine = [each for each in decided if each.decision.action == action]
    try:
        receipts = carry_out(mine) if mine else []
    except StoreError as error:
        receipts = failed((each.engram for each in mine), error)
    return {each.at: receipt for each, receipt in zip(mine, receipts, strict=True)}


def _encode(store: HippocampusProtocol, decided: Sequence[Decided]) -> list[Receipt]:
    both = zip(decided, write(store, [each.engram for each in decided]), strict=True)
    return [written_receipt(each.engram, it, each.decision.reason) for each, it in both]


def _queue(queue: Queue, decided: Sequence[Decided]) -> list[Receipt]:
    both = zip(decided, queue.add([_proposal(each) for each in decided]), strict=True)
    return [waiting_receipt(queue, item, each.decision.reason) for each, item in both]


def _proposal(decided: Decided) -> Pending:
    engram, decision = decided.engram, decided.decision
    if engram.via == "assistant" and engram.source == "user":
        # The person who is asked must not read that they said so.
        engram = replace(engram, source="llm")
    return Pending(
        new_id(),
        # A proposal carries the day on which it was proposed.
        replace(gate.without_secrets(engram), scope=gate.scope_of(engram), ts=""),
        hold=decision.code if decision.held else "",
        reason=decision.code,
        op="replace" if decided.replaces else "encode",
        of=decided.replaces,
        ts=today().isoformat(),
    )


def written_receipt(engram: Engram, written: Written, reason: str) -> Receipt:
    """Return the receipt for a written memory."""
    entry = written.entry
    why = "known already" if written.action == "merged" else reason
    # A fact about the user is global, whatever scope it was given.
    if engram.scope != entry.scope:
        engram = replace(engram, scope=entry.scope)
    return Receipt(engram, written.action, why, entry.id, entry.disk_file, entry.line)


def waiting_receipt(queue: Queue, item: Pending, reason: str) -> Receipt:
    """Return the receipt for a proposal that waits."""
    file = PENDING if queue.file else ""
    return Receipt(gate.without_secrets(item.engram), "queued", reason, item.id, file, item.line)


# ---- proposals, and what a person decides about them ----


class _NotWrittenError(EngramdownError):
    """Nothing of a batch of ticks could be written; all of them are still undecided."""


class Waiting:
    """The queues of both scopes."""

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        came_with_git: CameWithGit = lambda _: (),
        gates: Gates = lambda _: lambda _: gate.Decision("encode", "nobody looks"),
        *,
        reviews: Callable[[], bool] = bool,
        rules: Callable[[], str] = str,
        home: Path | None = None,
        dry: Callable[[], bool] = bool,
    ) -> None:
        """Find the queue of each store: its ``pending.md``, or memory if it has no files.

        Args:
            stores: The stores by scope.
            came_with_git: Returns the lines of a ``pending.md`` that git brought.
            gates: Decide on the memories that ticks from git would add.
            reviews: Whether ticks from git wait, and models do not see such lines.
            rules: Returns the settings that decide on such ticks, as text: a refused one is decided
                on again when the text changes.
            home: The folder of the global scope, whose cache keeps the refused ones; ``None`` keeps
                them in memory.
            dry: Whether nothing may be written.
        """
        self._stores = stores
        self._queues: dict[Scope, Queue] = {}
        self._refusals: dict[Scope, Refusals] = {}
        for scope, store in stores.items():
            if isinstance(store, Hippocampus):
                self._queues[scope] = FileQueue(store)
                self._refusals[scope] = Refusals(store.root, home, dry)
            else:
                self._queues[scope] = PlainQueue(store)
        self._came_with_git = came_with_git
        self._gates = gates
        self._reviews = reviews
        self._rules = rules
        self._turned_down = gate.TurnedDown()

    def queue(self, scope: Scope) -> Queue:
        """Return the queue of a scope."""
        return self._queues[scope]

    def items(
        self, pass_over: PassOver | None = None, *, ours: bool = False
    ) -> list[tuple[Queue, Pending]]:
        """Return the waiting proposals, each with its queue.

        Args:
            pass_over: Called with the error of each queue that cannot be read; the others are
                returned.
            ours: Leave out lines that git brought and nobody approved.

        Raises:
            StoreError: If a queue cannot be read and ``pass_over`` is ``None``.
        """
        found: list[tuple[Queue, Pending]] = []
        for scope, queue in self._queues.items():
            with passing_over(pass_over):
                items = queue.pending()
                came = self._came_with_git(scope) if ours and items and self._reviews() else ()
                found += [(queue, item) for item in items if _place(item) not in came]
        return found

    def brought(
        self, items: Iterable[tuple[Queue, Pending]], pass_over: PassOver | None = None
    ) -> set[tuple[str, int]]:
        """Return the file and line of each proposal that git brought and nobody approved.

        Args:
            items: The waiting proposals with their queues; only their files are looked at.
            pass_over: Called with the error of each queue for which this cannot be found out.
        """
        files = {queue.file for queue, _ in items}
        found: set[tuple[str, int]] = set()
        for scope, queue in self._queues.items():
            with passing_over(pass_over):
                if queue.file in files:
                    found |= {(queue.file, line) for line, _ in self._came_with_git(scope)}
        return found

    def ask_to_forget(self, scope: Scope, entry: Entry) -> Receipt:
        """Queue the question whether to forget a memory.

        Raises:
            StoreError: If it could not be written.
        """
        queue = self._queues[scope]
        question = Engram(f"Delete: {entry.text}", entry.kind, entry.scope, "medium", source="llm")
        day = today().isoformat()
        item = Pending(
            new_id(),
            gate.without_secrets(question),
            reason="retire",
            op="forget",
            of=entry.id,
            ts=day,
        )
        (waiting,) = queue.add([item])
        return waiting_receipt(queue, waiting, gate.REASONS["retire"])

    def turned_down(self) -> gate.TurnedDown:
        """Return what a person declined, deleted or forgot, in either scope."""
        unwanted = tuple(each for queue in self._queues.values() for each in queue.turned_down())
        if unwanted != self._turned_down.unwanted:
            self._turned_down = gate.TurnedDown(unwanted)
        return self._turned_down

    def gave_way(self, engram: Engram) -> bool:
        """Whether another memory of its scope already took the place of this one."""
        return self._queues[gate.scope_of(engram)].gave_way(engram)

    def resolve(self, answers: Sequence[Answer]) -> list[Resolved]:
        """Carry out what a person decided; see :meth:`Review.resolve_all`."""
        items = self.items()
        # If several have one id, the first in the list counts.
        by_id = {item.id: (queue, item) for queue, item in reversed(items)}
        found = [
            by_id.get(each.id) or by_prefix(each.id, items, lambda one: one[1].id, WHERE)
            for each in answers
        ]
        both = [*zip(found, answers, strict=True)]
        orders = [
            (queue, Order(item, item.engram if it.decision == "accept" else None, text=it.text))
            for (queue, item), it in both
            if it.decision != "skip"
        ]
        outcomes = iter(self._decide(orders, always))
        resolved: list[Resolved] = []
        for (queue, item), it in both:
            skipped = waiting_receipt(queue, item, "skipped") if it.decision == "skip" else None
            outcome = skipped or next(outcomes)
            error = outcome if isinstance(outcome, EngramdownError) else None
            resolved.append((_receipt(queue, item, outcome), error))
        return resolved

    def has_ticks(self) -> bool:
        """Whether a person ticked anything; a queue that cannot be read may hold a tick."""
        for queue in self._queues.values():
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
        """Carry out the ticked lines; a line that another process already carried out is skipped.

        A refused tick of somebody else waits for the person: it is decided on again only when the
        line or the settings change.

        Args:
            tell: Called with a sentence for each failure to read or to carry out.
            scope: The scope of the queue; by default both.
            go_on: Called before each line but the first: whether there is time for it. The rest
                stays ticked.
            remind: Called with the reason for each tick that was refused before and still waits.
        """
        receipts: list[Receipt] = []
        for each, queue in self._queues.items():
            if scope not in (None, each):
                continue
            try:
                ticked = [item for item in queue.pending() if item.tick]
                orders, left = self._orders(each, queue, ticked) if ticked else ([], {})
            except StoreError as error:
                tell(f"could not read what is pending: {error}")
                continue
            for why in left.values():
                remind(why)
            receipts += self._apply(queue, orders, left, go_on, tell)
            if ticked and each in self._refusals:
                self._refusals[each].keep(left)
        return receipts

    def _apply(
        self,
        queue: Queue,
        orders: Sequence[tuple[Order, str]],
        left: dict[str, str],
        go_on: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> Iterator[Receipt]:
        """Carry out ticks and yield the receipts; refused ticks are added to ``left``."""
        outcomes = self._decide([(queue, order) for order, _ in orders], go_on)
        for (order, key), outcome in zip(orders, outcomes, strict=True):
            # Another process was quicker, or there was no time.
            if outcome is None or isinstance(outcome, EntryNotFoundError):
                continue
            if key and isinstance(outcome, TickRefusedError):
                receipt = waiting_receipt(queue, order.item, str(outcome))
            else:
                receipt = _receipt(queue, order.item, outcome)
            receipt = replace(receipt, is_ours=not key)
            if receipt.action in ("failed", "queued"):
                tell(why := _why_it_stays(receipt))
                if key and not isinstance(outcome, _NotWrittenError):
                    left[key] = why
            yield receipt

    def _orders(
        self, scope: Scope, queue: Queue, ticked: Sequence[Pending]
    ) -> tuple[list[tuple[Order, str]], dict[str, str]]:
        """Return the orders that ticks give, and the ticks that were refused before.

        A tick that came with git has a key beside its order, see :func:`digest_of_tick`; a tick of
        the person has ``""``.
        """
        # Before anything is carried out: each removed line moves the lines below it.
        came = self._came_with_git(scope)
        rules = self._rules() if came else ""
        keys = [digest_of_tick(it, rules) if _place(it) in came else "" for it in ticked]
        known = self._refusals[scope].known() if any(keys) and scope in self._refusals else {}
        left = {key: known[key] for key in keys if key in known}
        new = [(item, key) for item, key in zip(ticked, keys, strict=True) if key not in left]
        brought = [item for item, key in new if key]
        theirs: Callable[[Pending], str] = self._not_theirs_to_say(brought) if brought else str

        def refusal(item: Pending, key: str) -> str:
            """Return why a tick is not carried out, or ``""``."""
            reason = theirs(item) if key else ""
            # A project's file may have come with somebody else's commit, its ticks included.
            leaves_project = queue is not self._queues["global"] and (
                item.op == "encode" and gate.scope_of(item.engram) == "global"
            )
            if reason or item.tick != "x" or not leaves_project:
                return reason
            return (
                f"{item.id} is for all your projects, and a tick in the file of one is not enough "
                "for that; accept it with `engramdown review`"
            )

        orders: list[tuple[Order, str]] = []
        for item, key in new:
            engram = _observed(item.engram) if key else item.engram
            accepted, by = engram if item.tick == "x" else None, "git" if key else "user"
            orders.append((Order(item, accepted, by, partial(refusal, item, key)), key))
        return orders, left

    def _not_theirs_to_say(self, brought: Sequence[Pending]) -> Callable[[Pending], str]:
        """Return a function that says why a tick from git waits for the person, or ``""``.

        Memory is read once for all of them.
        """
        if self._reviews():
            return lambda item: f"the line of {item.id} came with git, its tick too"
        decides = self._gates(_observed(item.engram) for item in brought)
        stand = (entry for store in self._stores.values() for entry in store.entries())
        by_person = {entry.id for entry in stand if entry.by_person}

        def why_not(item: Pending) -> str:
            ids = {*item.of.split(","), item.stays}
            if item.tick != "x":
                return ""
            if item.put or item.op == "skill":
                why = "it is not a plain memory"
            elif item.op != "encode" and not by_person.isdisjoint(ids):
                why = "it takes away what you wrote, confirmed or pinned"
            else:
                decision = decides(_observed(item.engram))
                why = "" if decision.action == "encode" else decision.reason
            sentence = f"the tick of {item.id} came with git and is not yours, and {why}"
            return sentence if why else ""

        return why_not

    def _decide(
        self, decided: Sequence[tuple[Queue, Order]], go_on: Callable[[], bool]
    ) -> list[Receipt | EngramdownError | None]:
        """Carry out orders: all that one file accepts, or declines, in one step.

        An outcome is ``None`` if there was no time for the order.
        """
        done: dict[int, Receipt | EngramdownError] = {}
        batches: dict[tuple[bool, bool, int], list[int]] = {}
        for at, (queue, order) in enumerate(decided):
            item, is_ours = order.item, order.by == "user"
            is_elsewhere = self._queues[gate.scope_of(item.engram)] is not queue
            # A person changed the scope of the proposal.
            is_moved = is_elsewhere and item.op == "encode" and not item.problem
            if is_moved and order.is_accepted and is_ours:
                if not done or go_on():
                    done[at] = self._move(queue, order)
                continue
            batches.setdefault((order.is_accepted, is_ours, id(queue)), []).append(at)
        # Declined ones first: accepting may lift a tombstone.
        for key in sorted(batches, key=lambda key: key[0]):
            if not done or go_on():
                queue = decided[batches[key][0]][0]
                orders = [decided[at][1] for at in batches[key]]
                # Orders for which there was no time have no receipt.
                done |= dict(zip(batches[key], _carry_out(queue, orders, go_on), strict=False))
        return [done.get(at) for at in range(len(decided))]

    def _move(self, queue: Queue, order: Order) -> Receipt | EngramdownError:
        try:
            order.check()
            engram = order.engram or order.item.engram
            # Destination first, source second.
            written = self._queues[gate.scope_of(engram)].confirm(engram)
            queue.drop(order.item)
        except EngramdownError as error:
            return error
        return written_receipt(engram, written, "accepted")


def _carry_out(
    queue: Queue, orders: Sequence[Order], go_on: Callable[[], bool]
) -> list[Receipt | EngramdownError]:
    """Carry out the orders of one queue; return the outcomes of those there was time for."""
    is_ours = orders[0].by == "user"
    try:
        outcomes = queue.decide(orders, go_on)
    except EngramdownError as error:
        return [error if is_ours else _NotWrittenError(str(error))] * len(orders)
    why = "accepted" if is_ours else _TICKED_ELSEWHERE
    done: list[Receipt | EngramdownError] = []
    for order, outcome in zip(orders, outcomes, strict=False):
        if isinstance(outcome, EngramdownError):
            done.append(outcome)
        elif order.engram is None:
            done.append(Receipt(gate.without_secrets(order.item.engram), "discarded", "declined"))
        elif outcome is None:
            done.append(Receipt(order.engram, "forgotten", why, order.item.of))
        else:
            done.append(written_receipt(order.engram, outcome, why))
    return done


def _receipt(queue: Queue, item: Pending, outcome: Receipt | EngramdownError | None) -> Receipt:
    if isinstance(outcome, Receipt):
        return outcome
    return replace(waiting_receipt(queue, item, str(outcome)), action="failed")


def _why_it_stays(receipt: Receipt) -> str:
    """Return a sentence that says why a ticked line stays."""
    if receipt.action == "queued":
        # Not a failure: it waits like every other proposal.
        return f"left to you what somebody else ticked: {receipt.reason}"
    whose = "what you ticked" if receipt.is_ours else "what somebody else ticked"
    return f"could not carry out {whose}: {receipt.reason}"


def _place(item: Pending) -> tuple[int, str]:
    return item.line, item.engram.text


def _observed(engram: Engram) -> Engram:
    """Return an engram that somebody else ticked as one that nobody here confirmed."""
    sure = max(engram.confidence, "medium", key=CONFIDENCES.index)
    source = "llm" if engram.source == "user" else engram.source
    return replace(engram, source=source, confidence=sure, basis="observed", via="web")


# ---- ticks that came with git and were refused ----
#
# They are kept so that each is decided on and reported once. Only digests are kept, no words; when
# they are lost, the ticks are decided on once more. They are in the folder of the global scope, so
# that nothing that was cloned or pulled can add to them.

_LETTERS: Final = 16


def digest_of_tick(item: Pending, rules: str) -> str:
    """Return what identifies a tick, on whatever line, for as long as the same rules hold."""
    return _digest(f"{rules}\n{replace(item, line=0)!r}")


class Refusals:
    """The refused ticks of one scope."""

    def __init__(self, root: Path, home: Path | None, dry: Callable[[], bool]) -> None:
        """Keep those of ``root`` in the cache of ``home``; if ``dry`` or ``None``, in memory."""
        name = f"refused-{_digest(os.path.realpath(root))}.json"
        self._path = home / "cache" / name if home else None
        self._dry = dry
        self._disk = Disk()
        self._kept: Mapping[str, str] | None = None

    def known(self) -> Mapping[str, str]:
        """Return why each tick was refused, by :func:`digest_of_tick`.

        The reason is ``""`` if another process decided it.
        """
        if self._kept is None or (self._path is not None and not self._dry()):
            self._kept = self._load()
        return self._kept

    def keep(self, refused: Mapping[str, str]) -> None:
        """Keep the ticks that are refused now, and no others."""
        if refused == self._kept or not (refused or self._kept):
            return
        self._kept = refused
        if self._path is None or self._dry():
            return
        # If this fails, they are decided on once more.
        with contextlib.suppress(OSError, StoreError):
            self._disk.make_folder(self._path.parent)
            self._disk.create(self._path, json.dumps({"ticks": [*refused]}).encode())

    def _load(self) -> Mapping[str, str]:
        try:
            data = self._disk.read(self._path) if self._path is not None else None
            known: Any = json.loads(data or b"")
            return {str(key): "" for key in known["ticks"]}
        except (OSError, StoreError, *MALFORMED):
            return {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LETTERS]

"""What waits for a person in both scopes, and what became of what they decided.

Promises: nothing is decided without a person's word or tick; a decision that cannot be carried
out leaves the proposal waiting and says why; what is accepted is written without its secrets. A
tick that came with git is somebody else's: what it brings is observed, and takes nothing away that
a person here wrote.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engramdown.clock import today
from engramdown.cortex.evidence import TurnedDown, harmless, scope_of
from engramdown.cortex.gate import REASONS, Decision
from engramdown.cortex.pending import Pending, Queue
from engramdown.cortex.plain_queue import PlainQueue
from engramdown.cortex.receipts import (
    Decided,
    Receipt,
    queue_into,
    waiting_receipt,
    written_receipt,
)
from engramdown.cortex.review import FileQueue
from engramdown.engram import CONFIDENCES, Engram, Scope
from engramdown.errors import (
    EngramdownError,
    EntryNotFoundError,
    InvalidEngramError,
    StoreError,
)
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.files import new_id
from engramdown.hippocampus.finding import by_prefix
from engramdown.hippocampus.protocol import HippocampusProtocol
from engramdown.hippocampus.store import Hippocampus

__all__ = ["DECISIONS", "CameWithGit", "Waiting", "nothing_came"]

DECISIONS: Final = ("accept", "decline", "skip")

_ELSEWHERE: Final = (
    "{id} is for all your projects, and a tick in the file of one is not enough for that; "
    "accept it with `engramdown review`"
)
_BROUGHT: Final = (
    "the line of {id} came with git, its tick too; accept it with `engramdown review`, "
    "or change the line yourself"
)
_BROUGHT_FOR: Final = (
    "the tick of {id} came with git and is not yours, and {why}; "
    "decide on it with `engramdown review`"
)
_TAKES: Final = "it takes away what you wrote, confirmed or pinned"
_SHAPES: Final = "it is no plain memory"
_TICKED_ELSEWHERE: Final = "ticked by somebody else, came with git"
_WHERE: Final = "what is pending (`engramdown review` lists it)"


CameWithGit = Callable[[Scope], Collection[tuple[int, str]]]
"""Returns which lines of a ``pending.md`` came with git and nobody here approved: line and text."""


def nothing_came(scope: Scope) -> Collection[tuple[int, str]]:
    """Return nothing: every tick is the person's."""
    del scope
    return ()


def _everything_passes(engram: Engram) -> Decision:
    del engram
    return Decision("encode", "nobody looks")


class Waiting:
    """The queues of both scopes."""

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        came_with_git: CameWithGit = nothing_came,
        gate: Callable[[Engram], Decision] = _everything_passes,
        *,
        reviews: Callable[[], bool] = bool,
    ) -> None:
        """Find the queue of each store: its ``pending.md``, or memory if it has no files.

        Args:
            stores: The stores.
            came_with_git: Returns what git brought of a ``pending.md``.
            gate: Decides on what a tick brings that came with git.
            reviews: Whether such ticks wait, and no model sees such lines; asked each time.
        """
        self._stores = stores
        self._queues = {scope: _queue_of(store) for scope, store in stores.items()}
        self._came_with_git = came_with_git
        self._gate = gate
        self._reviews = reviews
        self._turned_down = TurnedDown()

    def add(self, scope: Scope, decided: Sequence[Decided]) -> dict[int, Receipt]:
        """Let what is to be confirmed wait, and return the receipts by place."""
        return queue_into(self._queues[scope], decided)

    def items(self) -> list[tuple[Queue, Pending]]:
        """Return what waits, with its queue."""
        queues = self._queues.values()
        return [(queue, item) for queue in queues for item in queue.pending()]

    def ours(self) -> list[tuple[Queue, Pending]]:
        """Return what waits, with its queue, but for lines that git brought and nobody approved."""
        found: list[tuple[Queue, Pending]] = []
        for scope, queue in self._queues.items():
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
        if decision not in DECISIONS:
            raise InvalidEngramError.not_one_of("decision", decision, DECISIONS)
        queue, item = by_prefix(proposal_id, self.items(), lambda each: each[1].id, _WHERE)
        if decision == "skip":
            return waiting_receipt(queue, item, "skipped")
        if decision == "decline":
            return self._decline(queue, item)
        return self._accept(queue, item, text)

    def has_ticks(self) -> bool:
        """Whether a person ticked anything; what cannot be read is told by those who read it."""
        for queue in self._queues.values():
            # One that cannot be read may hold a tick.
            with contextlib.suppress(StoreError):
                if not any(item.tick for item in queue.pending()):
                    continue
            return True
        return False

    def apply_ticks(self, tell: Callable[[str], None], scope: Scope | None = None) -> list[Receipt]:
        """Carry out the lines that a person ticked; a line that somebody else did is passed over.

        Args:
            tell: Is told in words what could not be read or carried out.
            scope: Whose queue; by default those of both.
        """
        receipts: list[Receipt] = []
        for each, queue in self._queues.items():
            if scope not in (None, each):
                continue
            try:
                ticked = [item for item in queue.pending() if item.tick]
                # Looked at before anything is done: each line that goes moves those below it.
                came = self._came_with_git(each) if ticked else ()
            except StoreError as error:
                tell(f"could not read what is pending: {error}")
                continue
            for item in ticked:
                receipts += self._apply_tick(queue, item, is_ours=_place(item) not in came)
        for receipt in receipts:
            if receipt.action == "failed":
                whose = "what you ticked" if receipt.is_ours else "what somebody else ticked"
                tell(f"could not carry out {whose}: {receipt.reason}")
        return receipts

    def _apply_tick(self, queue: Queue, item: Pending, *, is_ours: bool) -> list[Receipt]:
        try:
            accepts = item.tick == "x"
            why_not = _ELSEWHERE if accepts and self._leaves_project(queue, item) else ""
            if not is_ours:
                why_not = self._not_theirs_to_say(item) or why_not
            if why_not:
                receipt = waiting_receipt(queue, item, why_not.format(id=item.id))
                return [replace(receipt, action="failed", is_ours=is_ours)]
            if not is_ours:
                return [self._as_brought(queue, item)]
            return [self._accept(queue, item, None) if accepts else self._decline(queue, item)]
        except EntryNotFoundError:
            return []
        except EngramdownError as error:
            receipt = waiting_receipt(queue, item, str(error))
            return [replace(receipt, action="failed", is_ours=is_ours)]

    def _not_theirs_to_say(self, item: Pending) -> str:
        """Return why a tick that came with git waits for the person, or ``""``."""
        if self._reviews():
            return _BROUGHT
        if item.tick != "x":
            return ""
        if item.put or item.op == "skill":
            return _BROUGHT_FOR.replace("{why}", _SHAPES)
        ids = {*item.of.split(","), item.stays}
        stand = (entry for store in self._stores.values() for entry in store.entries())
        if item.op != "encode" and any(each.by_person for each in stand if each.id in ids):
            return _BROUGHT_FOR.replace("{why}", _TAKES)
        decision = self._gate(_observed(item.engram))
        if decision.action == "encode":
            return ""
        return _BROUGHT_FOR.replace("{why}", decision.reason.replace("{", "{{").replace("}", "}}"))

    def _as_brought(self, queue: Queue, item: Pending) -> Receipt:
        """Carry out a tick that came with git, as what it is."""
        if item.tick != "x":
            queue.decline(item, by="git")
            return replace(_declined(item), is_ours=False)
        engram = harmless(_observed(item.engram))
        written = queue.accept(item, engram, by="git")
        if written is None:
            return Receipt(engram, "forgotten", _TICKED_ELSEWHERE, item.of, is_ours=False)
        return replace(written_receipt(engram, written, _TICKED_ELSEWHERE), is_ours=False)

    def _leaves_project(self, queue: Queue, item: Pending) -> bool:
        """Whether a line of the project's file asks for a memory in the global scope.

        A project's file may have come with somebody else's commit, its ticks included.
        """
        return (
            queue is not self._queues["global"]
            and item.op == "encode"
            and scope_of(item.engram) == "global"
        )

    def _accept(self, queue: Queue, item: Pending, text: str | None) -> Receipt:
        engram = harmless(item.engram if text is None else replace(item.engram, text=text))
        home = self._queues[scope_of(engram)]
        if home is queue or item.op != "encode" or item.problem:
            written = queue.accept(item, engram)
        else:
            # A person moved it to the other scope: destination first, source second.
            written = home.confirm(engram)
            queue.drop(item)
        if written is None:
            return Receipt(engram, "forgotten", "accepted", item.of)
        return written_receipt(engram, written, "accepted")

    def _decline(self, queue: Queue, item: Pending) -> Receipt:
        queue.decline(item)
        return _declined(item)


def _declined(item: Pending) -> Receipt:
    return Receipt(harmless(item.engram), "discarded", "declined")


def _place(item: Pending) -> tuple[int, str]:
    return item.line, item.engram.text


def _observed(engram: Engram) -> Engram:
    """Return what somebody else ticked: nobody here said or confirmed it."""
    sure = max(engram.confidence, "medium", key=CONFIDENCES.index)
    source = "llm" if engram.source == "user" else engram.source
    return replace(engram, source=source, confidence=sure, basis="observed", via="web")


def _queue_of(store: HippocampusProtocol) -> Queue:
    return FileQueue(store) if isinstance(store, Hippocampus) else PlainQueue(store)

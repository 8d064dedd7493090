"""What waits for a person in both scopes, and what became of what they decided.

Promises: nothing is decided without a person's word or tick; a decision that cannot be carried
out leaves the proposal waiting and says why; what is accepted is written without its secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engramdown.clock import today
from engramdown.cortex.evidence import TurnedDown, harmless, scope_of
from engramdown.cortex.gate import REASONS
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
from engramdown.engram import Engram, Scope
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
_WHERE: Final = "what is pending (`engramdown review` lists it)"


CameWithGit = Callable[[Scope, Pending], bool]
"""Tells whether a line came with git, so that its tick is nobody's here."""


def nothing_came(scope: Scope, item: Pending) -> bool:
    """Return ``False``: every tick counts."""
    del scope, item
    return False


class Waiting:
    """The queues of both scopes."""

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        came_with_git: CameWithGit = nothing_came,
    ) -> None:
        """Find the queue of each store: its ``pending.md``, or memory if it has no files."""
        self._queues = {scope: _queue_of(store) for scope, store in stores.items()}
        self._came_with_git = came_with_git
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
        return [
            (queue, item)
            for scope, queue in self._queues.items()
            for item in queue.pending()
            if not self._came_with_git(scope, item)
        ]

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
            except StoreError as error:
                tell(f"could not read what is pending: {error}")
                continue
            for item in ticked:
                receipts += self._apply_tick(each, queue, item)
        for receipt in receipts:
            if receipt.action == "failed":
                tell(f"could not carry out what you ticked: {receipt.reason}")
        return receipts

    def _apply_tick(self, scope: Scope, queue: Queue, item: Pending) -> list[Receipt]:
        try:
            accepts = item.tick == "x"
            why_not = _ELSEWHERE if accepts and self._leaves_project(queue, item) else ""
            if self._came_with_git(scope, item):
                why_not = _BROUGHT
            if why_not:
                reason = why_not.format(id=item.id)
                return [replace(waiting_receipt(queue, item, reason), action="failed")]
            return [self._accept(queue, item, None) if accepts else self._decline(queue, item)]
        except EntryNotFoundError:
            return []
        except EngramdownError as error:
            return [replace(waiting_receipt(queue, item, str(error)), action="failed")]

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
        return Receipt(harmless(item.engram), "discarded", "declined")


def _queue_of(store: HippocampusProtocol) -> Queue:
    return FileQueue(store) if isinstance(store, Hippocampus) else PlainQueue(store)

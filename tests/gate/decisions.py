"""One decision of a person about one proposal."""

from __future__ import annotations

from typing import Protocol

from engramdown.engram import Engram
from engramdown.errors import EngramdownError
from engramdown.gate.pending import Order, Outcome, Pending
from engramdown.hippocampus.entry import Written


class Queue(Protocol):
    """A queue of either kind."""

    def decide(self, orders: list[Order]) -> list[Outcome]:
        """Carry orders out."""
        ...


def accept(queue: Queue, item: Pending, engram: Engram) -> Written | None:
    """Carry a proposal out with ``engram`` in its place; raises why it still waits."""
    (outcome,) = queue.decide([Order(item, engram)])
    if isinstance(outcome, EngramdownError):
        raise outcome
    return outcome


def decline(queue: Queue, item: Pending) -> None:
    """Take a proposal away; raises why it still waits."""
    (outcome,) = queue.decide([Order(item, None)])
    if isinstance(outcome, EngramdownError):
        raise outcome

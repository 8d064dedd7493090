"""A proposal as it stands in a queue, and what the queue of one scope can do.

It is pure. Two proposals are the same if their texts are and they would do the same; for values
under keys, if the values are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from engramdown.engram import Engram, fold
from engramdown.errors import EngramdownError
from engramdown.hippocampus.entry import Entry, Written

Operation = Literal[
    "encode", "replace", "forget", "drop", "merge", "supersede", "expire", "move", "skill"
]
Tick = Literal["", "x", "-"]
Identity = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """A proposal as it stands in a queue.

    Attributes:
        id: Its own id, not that of a memory.
        engram: What is proposed.
        hold: The code of why nobody is prompted about it, or ``""``; see ``gate.REASONS``.
        reason: The code of why it waits.
        op: ``encode`` it, ``replace`` the memory ``of`` with it, ``forget`` the memory ``of``,
            write a ``skill``, or an operation of a plan; see :mod:`engramdown.gate.pending_file`.
        of: The id of a memory, or ids with commas between; of a skill, what its procedure is known
            by; or ``""``.
        tick: ``x`` if a person accepted it in the file, ``-`` if they declined it, else ``""``.
        ts: The day it was proposed.
        line: Its line in ``pending.md``, from 1, or 0.
        problem: Why it cannot be accepted as it stands, or ``""``.
        stays: The memory that is to stay for those of ``of``, or ``""``.
        seen: A digest of what those said when it was proposed, or ``""``; of a value under a key,
            of its own words, so that it is known whether a person changed them.
        put: Of a value that a program put under a key, what its metadata says of that.
        comments: The private comments inside its lines, as they stand.
    """

    id: str
    engram: Engram
    hold: str = ""
    reason: str = ""
    op: Operation = "encode"
    of: str = ""
    tick: Tick = ""
    ts: str = ""
    line: int = 0
    problem: str = ""
    stays: str = ""
    seen: str = ""
    put: tuple[tuple[str, str], ...] = ()
    comments: str = ""


class Order(NamedTuple):
    """What a person decided about a proposal.

    Attributes:
        item: The proposal.
        engram: What is to be carried out in its place; ``None`` if they declined it.
        by: ``user``, or ``git`` if it was ticked elsewhere: then it is not verified.
        why_not: Returns why it is not to be carried out after all, or ``""``; asked only then.
    """

    item: Pending
    engram: Engram | None
    by: str = "user"
    why_not: Callable[[], str] | None = None

    def check(self) -> None:
        """Refuse what is not to be carried out.

        Raises:
            TickRefusedError: If there is a reason.
        """
        reason = self.why_not() if self.why_not is not None else ""
        if reason:
            raise TickRefusedError(reason)


class TickRefusedError(EngramdownError):
    """A ticked line is not carried out: whoever ticked it may not decide that."""


def always() -> bool:
    """Return ``True``: there is time for all of it."""
    return True


def only(done: Sequence[Written | EngramdownError | None]) -> Written | None:
    """Return what became of the only order, or raise why it still waits."""
    (outcome,) = done
    if isinstance(outcome, EngramdownError):
        raise outcome
    return outcome


class Queue(Protocol):
    """Where proposals of one scope wait."""

    file: str

    def pending(self) -> list[Pending]:
        """Return what waits, the oldest first."""
        ...

    def add(self, items: Sequence[Pending]) -> list[Pending]:
        """Let proposals wait; one that waits already is returned as it is."""
        ...

    def accept(self, item: Pending, engram: Engram, by: str = "user") -> Written | None:
        """Carry a proposal out with ``engram`` in its place; ``None`` if it retires a memory.

        Args:
            item: The proposal.
            engram: What is to be written.
            by: ``user``, or ``git`` if it was ticked elsewhere: then it is not verified.

        Raises:
            EntryNotFoundError: If somebody decided on it or changed it meanwhile.
            StoreError: If it could not be written; the proposal still waits.
        """
        ...

    def decline(self, item: Pending, by: str = "user") -> None:
        """Take a proposal away and remember that a person did not want it; errors as above."""
        ...

    def decide(
        self, orders: Sequence[Order], go_on: Callable[[], bool] = always
    ) -> list[Written | EngramdownError | None]:
        """Carry out what a person decided, as one step for all that they accepted or declined.

        What is accepted is written with the engram of its order; what is declined is remembered.

        Args:
            orders: What they decided, either accepted or declined, all of it.
            go_on: Asked before each but the first whether there is time for it.

        Returns:
            What became of each, in order, as far as there was time: what was written, ``None`` if
            nothing new stands, or why it still waits; :class:`EntryNotFoundError` if somebody
            decided on it or changed it meanwhile.

        Raises:
            StoreError: If nothing could be written; all of them still wait.
        """
        ...

    def confirm(self, engram: Engram) -> Written:
        """Write what a person accepted in the queue of another scope."""
        ...

    def drop(self, item: Pending) -> None:
        """Take a proposal away that was carried out elsewhere."""
        ...

    def forgot(self, entry: Entry) -> None:
        """Take note that a person let the store forget ``entry``."""
        ...

    def turned_down(self) -> list[tuple[str, str]]:
        """Return what a person declined, deleted or forgot: each text with its kind."""
        ...

    def gave_way(self, engram: Engram) -> bool:
        """Whether another memory took the place of this one, which is no news."""
        ...


def identity(item: Pending) -> Identity:
    """Return what makes two proposals the same."""
    what = (item.op, item.of)
    if item.put:  # A value is another one if only a space is.
        return (item.engram.kind, item.engram.text, *what, *(text for _, text in item.put))
    return (*kind_and_fold(item.engram), *what)


def kind_and_fold(engram: Engram) -> tuple[str, str]:
    """Return what makes two memories of one scope the same."""
    return engram.kind, fold(engram.text)

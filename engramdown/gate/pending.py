"""A proposal as it stands in a queue, and what the queue of one scope can do.

It is pure. Two proposals are the same if their texts are and they would do the same; for values
under keys, if the values are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, NamedTuple, Protocol

from engramdown.engram import Engram, fact_key, fold
from engramdown.errors import EngramdownError
from engramdown.gate.gate import REASONS, harmless
from engramdown.gate.keyed_values import describe_value
from engramdown.hippocampus.entry import Entry, Written
from engramdown.language.similarity import Rewordings, is_rewording
from engramdown.markdown.metadata import OPERATIONS

__all__: list[str] = []

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


# A proposal with what a person needs to decide on it.
#
# It is pure: beside the proposal stand the memories that it would retire and those that say nearly
# the same.

# What waits times what is known: so much is compared, and of what is alike so much looked at.
_COMPARED: Final = 1_000_000
_LOOKED_AT: Final = 40
_NOTHING: Final = Rewordings(())
_BROUGHT: Final = "it came with git, and is somebody else's"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal with what a person needs to decide about it.

    Attributes:
        id: Its id; commands take any unique prefix.
        engram: What is proposed.
        hold: Why nobody was prompted about it, or ``""``.
        reason: Why it waits, in words.
        op: ``encode``, ``replace``, ``forget``, or an operation of a plan: ``drop``, ``merge``,
            ``supersede``, ``expire``, ``move``; write a ``skill``; ``load`` what git brought, and
            stands there.
        replaces: The memory that accepting it would retire, or ``None``.
        takes: The memories that an operation of a plan would retire or move.
        comments: The private comments inside its lines, as they stand; they are not part of it.
        similar: Memories that say nearly the same.
        file: The file it waits in, or ``""``.
        line: Its line there, from 1, or 0.
        ts: The day it was proposed.
        is_ours: Whether it was proposed here; ``False`` if it came with git.
    """

    id: str
    engram: Engram
    hold: str = ""
    reason: str = ""
    op: Operation | Literal["load"] = "encode"
    replaces: Entry | None = None
    similar: tuple[Entry, ...] = ()
    file: str = ""
    line: int = 0
    ts: str = ""
    takes: tuple[Entry, ...] = ()
    is_ours: bool = True
    comments: str = ""


def describe(
    items: Sequence[tuple[Queue, Pending]],
    entries: Sequence[Entry],
    brought: Collection[tuple[str, int]] = (),
) -> list[Proposal]:
    """Return what waits with the memories that it touches.

    Of very much that waits beside very many memories, only the first are compared with these.

    Args:
        items: What waits, and where.
        entries: The memories of both scopes.
        brought: Where the lines wait that git brought: file and line.
    """
    known = Rewordings(entry.text for entry in entries)
    at_hand = _ByMark(entries)
    compared = _COMPARED // max(len(entries), 1)
    return [
        _describe(
            item,
            queue.file,
            at_hand,
            known if at < compared else _NOTHING,
            is_ours=(queue.file, item.line) not in brought,
        )
        for at, (queue, item) in enumerate(items)
    ]


def _describe(
    item: Pending, file: str, memories: _ByMark, known: Rewordings, *, is_ours: bool
) -> Proposal:
    takes = memories.taken(item)
    replaces = None if takes else memories.replaced(item)
    near: Iterator[int] = islice(known.near(item.engram.text), _LOOKED_AT)
    near = (at for at in near if is_rewording(item.engram.text, known.texts[at]))
    similar = tuple(
        memories.entries[at]
        for at in near
        if memories.entries[at] is not replaces and memories.entries[at] not in takes
    )
    hold, reason = (REASONS.get(code, code) for code in (item.hold, item.reason or item.hold))
    if not is_ours and not hold and item.reason in ("", "confidence"):
        # What a line lets out is filled in as if it had been written here.
        reason = _BROUGHT
    return Proposal(
        id=item.id,
        engram=harmless(item.engram),
        hold=hold,
        reason=item.problem or "; ".join(filter(None, [reason, describe_value(item.put)])),
        op=item.op,
        replaces=replaces,
        similar=similar,
        file=file,
        line=item.line,
        ts=item.ts,
        takes=takes,
        is_ours=is_ours,
        comments=item.comments,
    )


class _ByMark:
    """Memories by what a proposal names them by."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._places: dict[str, list[int]] = {}
        self._facts: dict[str, Entry] = {}
        for at, entry in enumerate(entries):
            self._places.setdefault(entry.id, []).append(at)
            key = fact_key(entry.text) if entry.kind == "profile" else ""
            if key:
                self._facts.setdefault(key, entry)

    def taken(self, item: Pending) -> tuple[Entry, ...]:
        """Return the memories that a part of a plan is about; a question on them is no memory."""
        ids = {*item.of.split(",")} if item.op in OPERATIONS else set[str]()
        found = sorted(at for each in ids for at in self._places.get(each, ()))
        return tuple(self.entries[at] for at in found)

    def replaced(self, item: Pending) -> Entry | None:
        """Return the memory that accepting ``item`` would retire."""
        if item.of:
            return next((self.entries[at] for at in self._places.get(item.of, ())), None)
        key = fact_key(item.engram.text) if item.engram.kind == "profile" else ""
        return self._facts.get(key)

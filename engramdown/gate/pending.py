"""Proposals: how a queue keeps them, how a person sees them, and the decisions about them.

Two proposals are the same if they have the same text and would do the same; values under keys must
be equal. Nothing here touches a file: a store without files keeps its proposals in
:class:`PlainQueue` until the process ends; ``pending.md`` is
:class:`engramdown.gate.pending_file.FileQueue`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from engramdown.engram import Engram, fact_key, fold
from engramdown.errors import EngramdownError, EntryNotFoundError, StoreError
from engramdown.forks import cached_property
from engramdown.gate.gate import REASONS, without_secrets
from engramdown.gate.keyed_values import describe_value
from engramdown.hippocampus.entry import Entry, Written
from engramdown.hippocampus.store import BatchProtocol, HippocampusProtocol
from engramdown.markdown.metadata import OPERATIONS

Operation = Literal[
    "encode", "replace", "forget", "drop", "merge", "supersede", "expire", "move", "skill"
]
Tick = Literal["", "x", "-"]
Identity = tuple[str, ...]
Outcome = Written | EngramdownError | None

_BROUGHT: Final = "it came with git, and is somebody else's"
# For so many proposals it is kept which memories say the same.
_FOUND: Final = 4_096


@dataclass(frozen=True, slots=True)
class Pending:
    """A proposal in a queue.

    Attributes:
        id: Its own id, not that of a memory.
        engram: The proposed memory.
        hold: The code of why nobody is prompted about it, or ``""``; see ``gate.REASONS``.
        reason: The code of why it waits.
        op: ``encode`` it, ``replace`` the memory ``of`` with it, ``forget`` the memory ``of``,
            write a ``skill``, or an operation of a plan; see :mod:`engramdown.gate.pending_file`.
        of: The id of a memory, or ids separated by commas; the key of the procedure for a skill;
            or ``""``.
        tick: ``x`` if a person accepted it in the file, ``-`` if they declined it, else ``""``.
        ts: The day it was proposed.
        line: Its line in ``pending.md``, from 1, or 0.
        problem: Why it cannot be accepted as it stands, or ``""``.
        stays: The memory that stays instead of those of ``of``, or ``""``.
        seen: A digest of their texts when it was proposed, or ``""``; for a value under a key, a
            digest of its own text, which shows whether a person changed it.
        put: The metadata of a value that a program put under a key.
        comments: The private comments inside its lines.
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


class TickRefusedError(EngramdownError):
    """A tick is not carried out, because the person who made it may not decide this."""


@dataclass(eq=False)
class Order:
    """A decision about a proposal.

    Attributes:
        item: The proposal.
        given: What the person accepted; ``None`` if they declined the proposal.
        by: ``user``, or ``git`` if it was ticked elsewhere and is therefore not verified.
        why_not: Returns the reason against carrying it out, or ``""``; called at that moment.
        text: Other words that the person wants, or ``None``.
    """

    item: Pending
    given: Engram | None
    by: str = "user"
    why_not: Callable[[], str] = str
    text: str | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the proposal was accepted, not declined."""
        return self.given is not None

    @cached_property
    def engram(self) -> Engram | None:
        """The engram to write, without secrets; ``None`` if the proposal was declined.

        Secrets are looked for on first use, as there may be no time to carry out most orders.

        Raises:
            InvalidEngramError: If the person's words cannot be a memory.
        """
        if self.given is None or self.text is None:
            return self.given and without_secrets(self.given)
        return without_secrets(replace(self.given, text=self.text))

    def check(self) -> None:
        """Check that nothing speaks against carrying it out.

        Raises:
            TickRefusedError: If something does.
        """
        if reason := self.why_not():
            raise TickRefusedError(reason)


class Answer(NamedTuple):
    """What a person decided about one proposal of many.

    Attributes:
        id: The id of the proposal.
        decision: ``accept``, ``decline`` or ``skip``.
        text: The words that the person wants instead, or ``None``.
    """

    id: str
    decision: str = "accept"
    text: str | None = None


def always() -> bool:
    """Return ``True``: there is time for everything."""
    return True


def identity(item: Pending) -> Identity:
    """Return what makes two proposals the same."""
    what = (item.op, item.of)
    if item.put:  # Values differ if a single space does.
        return (item.engram.kind, item.engram.text, *what, *(text for _, text in item.put))
    return (*kind_and_fold(item.engram), *what)


def kind_and_fold(engram: Engram) -> tuple[str, str]:
    """Return what makes two memories of one scope the same."""
    return engram.kind, fold(engram.text)


# ---- what a person sees of a proposal ----


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal with what a person needs to decide about it.

    Attributes:
        id: Its id; commands take any unique prefix.
        engram: The proposed memory.
        hold: Why nobody was prompted about it, or ``""``.
        reason: Why it waits, in words.
        op: ``encode``, ``replace``, ``forget``, or an operation of a plan: ``drop``, ``merge``,
            ``supersede``, ``expire``, ``move``; write a ``skill``; ``load`` an entry or page that
            git brought.
        replaces: The memory that accepting it would retire, or ``None``.
        takes: The memories that an operation of a plan would retire or move.
        comments: The private comments inside its lines; they are not part of it.
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
    items: Sequence[tuple[str, Pending]],
    entries: Sequence[Entry],
    brought: Collection[tuple[str, int]] = (),
) -> list[Proposal]:
    """Return proposals with the memories that they touch.

    Args:
        items: The proposals, each with its file.
        entries: The memories of both scopes.
        brought: The file and line of each proposal that git brought.
    """
    if not items:
        return []
    said_again = _finder(tuple(entry.text for entry in entries))
    by_id: dict[str, list[int]] = {}
    facts: dict[str, Entry] = {}
    for at, entry in enumerate(entries):
        by_id.setdefault(entry.id, []).append(at)
        if key := fact_key(entry.text) if entry.kind == "profile" else "":
            facts.setdefault(key, entry)

    def proposal(file: str, item: Pending) -> Proposal:
        engram, replaces = item.engram, None
        ids = {*item.of.split(",")} if item.op in OPERATIONS else set[str]()
        takes = tuple(
            entries[at] for at in sorted(at for each in ids for at in by_id.get(each, ()))
        )
        if not takes and item.of:
            replaces = next((entries[at] for at in by_id.get(item.of, ())), None)
        elif not takes and engram.kind == "profile":
            replaces = facts.get(fact_key(engram.text))
        near = [entries[at] for at in said_again(engram.text)]
        hold, reason = (REASONS.get(code, code) for code in (item.hold, item.reason or item.hold))
        is_ours = (file, item.line) not in brought
        if not is_ours and not hold and item.reason in ("", "confidence"):
            # The reason of a line without one was filled in as if it had been written here.
            reason = _BROUGHT
        return Proposal(
            id=item.id,
            engram=without_secrets(engram),
            hold=hold,
            reason=item.problem or "; ".join(filter(None, [reason, describe_value(item.put)])),
            op=item.op,
            replaces=replaces,
            similar=tuple(each for each in near if each is not replaces and each not in takes),
            file=file,
            line=item.line,
            ts=item.ts,
            takes=takes,
            is_ours=is_ours,
            comments=item.comments,
        )

    return [proposal(file, item) for file, item in items]


@lru_cache(maxsize=2)
def _finder(texts: tuple[str, ...]) -> Callable[[str], tuple[int, ...]]:
    """Return what finds the positions of those of ``texts`` that another one says again.

    What waits is looked at again and again, and memory seldom changes in between.
    """
    # Imported here: most often nothing waits.
    from engramdown.language.meaning import Statements

    known = Statements(texts)
    return lru_cache(maxsize=_FOUND)(lambda text: tuple(known.said_again(text)))


# ---- a store without files ----


def write(store: HippocampusProtocol, engrams: Sequence[Engram]) -> list[Written]:
    """Write ``engrams`` in order, in one step if the store can; return the memories.

    Raises:
        StoreError: If the store could not write one, or does not hold it afterwards.
    """
    if isinstance(store, BatchProtocol):
        return store.encode(engrams)

    def find(engram: Engram) -> Entry | None:
        same = (each for each in store.entries() if each.kind == engram.kind)
        return next((each for each in same if each.fold == fold(engram.text)), None)

    written = []
    for engram in engrams:
        known = find(engram) is not None
        if engram.kind == "profile":
            store.rewrite_identity([engram.text])
        elif engram.kind == "lesson":
            store.encode_lesson(engram.text, engram.topic, engram.source)
        else:
            store.encode_rule(engram.text, engram.kind, engram.confidence, engram.source)
        entry = find(engram)
        if entry is None:
            msg = f"{type(store).__name__}: does not hold what it was told to write"
            raise StoreError(msg)
        written.append(Written("merged" if known else "encoded", entry))
    return written


class PlainQueue:
    """The proposals of a store without files, until the process ends."""

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
        """Append new proposals; one that waits already is returned as it is."""
        waiting = {identity(item): item for item in self._waiting}
        found = [waiting.setdefault(identity(item), item) for item in items]
        self._waiting = list(waiting.values())
        return found

    def decide(self, orders: Sequence[Order], go_on: Callable[[], bool] = always) -> list[Outcome]:
        """Carry out decisions, one after the other; see ``FileQueue.decide``."""
        done: list[Outcome] = []
        for order in orders:
            if done and not go_on():
                break
            try:
                done.append(self._carry_out(order.item, order.engram))
            except EngramdownError as error:
                done.append(error)
        return done

    def _carry_out(self, item: Pending, engram: Engram | None) -> Written | None:
        """Write the memory, retire what it replaces, then remove the proposal."""
        self._check(item)
        if engram is None:
            self._waiting.remove(item)
            if item.op != "forget":
                self._unwanted.append(item.engram)
            return None
        written = None if item.op == "forget" else self.confirm(engram)
        replaced = item.of if written is None or written.entry.id != item.of else ""
        if item.op != "encode" and any(entry.id == replaced for entry in self._store.entries()):
            gone = self._store.forget(replaced)
            if item.op == "forget":
                self.forgot(gone)
        self._waiting.remove(item)
        return written

    def confirm(self, engram: Engram) -> Written:
        """Write a memory that a person accepted in the queue of the other scope."""
        return write(self._store, [replace(engram, basis="verified")])[0]

    def drop(self, item: Pending) -> None:
        """Remove a proposal that was carried out elsewhere."""
        self._check(item)
        self._waiting.remove(item)

    def forgot(self, entry: Entry) -> None:
        """Remember the text of a memory that a person let the store forget."""
        self._unwanted.append(entry.engram())

    def turned_down(self) -> list[tuple[str, str]]:
        """Return what was declined or forgotten, except what is in the store again."""
        known = {(entry.kind, entry.fold) for entry in self._store.entries()}
        unwanted = (each for each in self._unwanted if kind_and_fold(each) not in known)
        return [(each.text, each.kind) for each in unwanted]

    def gave_way(self, engram: Engram) -> bool:
        """Return ``False``: such a store does not say which memory replaced which."""
        del engram
        return False

    def _check(self, item: Pending) -> None:
        if item not in self._waiting:
            raise EntryNotFoundError(item.id, "what is pending")

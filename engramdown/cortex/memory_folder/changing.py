"""From what a changed page says to memories: gated, written as one step, or asked about.

Promises: what a person wrote or confirmed is only ever asked about; every memory that a model
changed gets a sentence if it did not become what the model wanted; a memory that somebody changed
meanwhile is left as it is, and told; what goes stands in ``archive.md`` first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import today
from engramdown.consolidation.plan import Move
from engramdown.cortex.evidence import harmless
from engramdown.cortex.pending import Operation, Pending
from engramdown.cortex.recalling import flat
from engramdown.cortex.review import FileQueue
from engramdown.cortex.settling import question
from engramdown.engram import RULE_KINDS, Engram, Kind
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus.draft import Act
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.errands import on_errand
from engramdown.hippocampus.files import new_id
from engramdown.hippocampus.filing import PROFILE, RULES
from engramdown.hippocampus.revising import Revision
from engramdown.hippocampus.store import Hippocampus
from engramdown.integrations.memory_pages import Edits, Said

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.turns import Session

__all__ = ["Changing", "Outcome"]

_ASKS: Final = "an assistant asks for it"
_YOURS: Final = "contradiction"  # What a person wrote would not stand any more.
_SHOWN: Final = 100
_WAITS: Final = "Waits for the user's yes in pending.md, and is not in memory yet"
_WHY_YOURS: Final = "the user wrote or confirmed it"
_WHY_COPILOT: Final = "the user wants to be asked"


class Outcome(NamedTuple):
    """What became of a change.

    Attributes:
        changed: How many memories stand in the files as the model wanted.
        queued: How many wait for a person.
        notes: A sentence about each that did not become what was asked for.
    """

    changed: int
    queued: int
    notes: tuple[str, ...]


class Changing:
    """One change of one memory file by a model."""

    def __init__(
        self,
        cortex: Cortex,
        store: Hippocampus,
        file: str,
        why: str,
        session: Session | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            cortex: Gates what comes.
            store: Holds the file.
            file: The file.
            why: The words for the journal.
            session: The running conversation, in which what comes was learned.
        """
        self._session = session
        self._cortex = cortex
        self._store = store
        self._file = file
        self._why = why
        self._revisions: list[tuple[Revision, str]] = []
        self._items: list[tuple[Pending, str]] = []
        self._notes: list[str] = []

    def edit(self, entries: Sequence[Entry], found: Edits) -> Outcome:
        """Carry out what a changed page says.

        Args:
            entries: The memories of the page, in order.
            found: What became of them.

        Raises:
            StoreError: If a store could not be read or written.
        """
        for title in found.headings:
            self._notes.append(
                f"Left out: the heading {flat(title, _SHOWN)!r}; the user adds those."
            )
        for at, said in found.reworded:
            self._reword(entries[at], said.text)
        for at in found.removed:
            self._remove(entries[at])
        changed, queued = self._settled()
        engrams = [engram for said in found.added for engram in self._engram(said)]
        for receipt in self._cortex.propose(engrams) if engrams else ():
            words = flat(receipt.engram.text, _SHOWN)
            changed += receipt.action in ("encoded", "merged")
            if receipt.action == "merged":
                self._notes.append(f"Known already: {words!r}")
            elif receipt.action == "queued":
                queued += 1
                self._notes.append(f"{_WAITS}: {words!r} ({receipt.reason})")
            elif receipt.action != "encoded":
                self._notes.append(f"Not written: {words!r} ({receipt.reason})")
        return Outcome(changed, queued, tuple(self._notes))

    def move(self, entries: Iterable[Entry], topic: str) -> Outcome:
        """Let memories go over to another topic.

        Args:
            entries: The memories.
            topic: Its slug.

        Raises:
            StoreError: If a store could not be read or written.
        """
        for entry in entries:
            words = flat(entry.text, _SHOWN)
            if self._may_touch(entry):
                self._revisions.append((Revision(stays=entry, topic=topic), words))
            else:
                asked = question(Move(entry.id, topic), {entry.id: entry}, _ASKS, self._hold(_ASKS))
                self._items.append((asked, f"{words!r} under {topic} ({self._why_not(entry)})"))
        changed, queued = self._settled()
        return Outcome(changed, queued, tuple(self._notes))

    def _reword(self, entry: Entry, text: str) -> None:
        words = flat(text, _SHOWN)
        try:
            engram = self._learned(text, entry.kind, entry.topic)
        except InvalidEngramError as error:
            self._notes.append(f"Not written: {words!r} ({error})")
            return
        decision = self._cortex.encoding_gate(engram)
        if decision.action == "discard":
            self._notes.append(f"Not written: {words!r} ({decision.reason})")
        elif decision.action == "encode" and self._may_touch(entry):
            comes = entry._replace(
                id="",
                text=text,
                source="llm",
                basis=engram.basis or "inferred",
                ts="",
                origin=engram.origin or entry.origin,
            )
            self._revisions.append((Revision((entry,), "replaced", comes=comes), words))
        else:
            code = _YOURS if entry.by_person else decision.code
            why = self._why_not(entry) if decision.action == "encode" else decision.reason
            safe = flat(harmless(engram).text, _SHOWN)
            self._items.append((self._pending(engram, "replace", entry, code), f"{safe!r} ({why})"))

    def _remove(self, entry: Entry) -> None:
        words = flat(entry.text, _SHOWN)
        if self._may_touch(entry):
            self._revisions.append((Revision((entry,), "removed"), words))
            return
        engram = Engram(f"Delete: {entry.text}", entry.kind, entry.scope, source="llm")
        item = self._pending(engram, "forget", entry, _ASKS)
        self._items.append((item, f"to delete {words!r} ({self._why_not(entry)})"))

    def _may_touch(self, entry: Entry) -> bool:
        """Whether a memory is a model's own to change."""
        return not entry.by_person and self._cortex.mode == "autopilot"

    def _why_not(self, entry: Entry) -> str:
        return _WHY_YOURS if entry.by_person else _WHY_COPILOT

    def _hold(self, code: str) -> str:
        return code if self._cortex.mode == "autopilot" else ""

    def _pending(self, engram: Engram, op: Operation, entry: Entry, code: str) -> Pending:
        return Pending(
            new_id(),
            harmless(engram),
            hold=self._hold(code),
            reason=code,
            op=op,
            of=entry.id,
            ts=today().isoformat(),
        )

    def _learned(self, text: str, kind: Kind, topic: str) -> Engram:
        """Return what a model says, and where it has it from.

        Raises:
            InvalidEngramError: If it cannot be a memory.
        """
        session = self._session
        heard = session is not None and session.heard_from_tool(text)
        began = session.turn_began if session is not None else None
        return Engram(
            text,
            kind,
            self._store.scope,
            topic=topic,
            source="llm",
            basis="observed" if heard else "inferred",
            origin=str(began) if began else "",
            via="tool" if heard else "",
        )

    def _settled(self) -> tuple[int, int]:
        """Write what may be written as one step, and let the rest wait."""
        changed = 0
        if self._revisions:
            with on_errand(Act("update", "llm", self._why)):
                done = self._store.apply([each for each, _ in self._revisions], by="llm")
            for result, (_, words) in zip(done, self._revisions, strict=True):
                changed += not result.problem
                if result.problem:
                    self._notes.append(f"Left as it was: {words!r} ({result.problem})")
        if self._items:
            FileQueue(self._store).add([item for item, _ in self._items])
            self._notes += [f"{_WAITS}: {what}" for _, what in self._items]
        return changed, len(self._items)

    def _engram(self, said: Said) -> Iterator[Engram]:
        """Yield what is to be remembered, or note why it cannot be."""
        kind: Kind = "profile" if self._file == PROFILE else "lesson"
        if self._file == RULES:
            kind = next((each for each in RULE_KINDS if each == said.section), "always")
        topics = self._file.startswith("topics/")
        topic = self._file.removeprefix("topics/").removesuffix(".md") if topics else ""
        try:
            yield self._learned(said.text, kind, topic)
        except InvalidEngramError as error:
            self._notes.append(f"Not written: {flat(said.text, _SHOWN)!r} ({error})")

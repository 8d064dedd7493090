"""The coordinator: decides what is written, and assembles what a model sees.

Promises: every engram that is proposed gets a receipt that tells what became of it, and
*encoded* means that the line is on the disk; what holds a secret is never written as it came;
reading works in every mode, with no model and no network.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engramdown.clock import today
from engramdown.cortex.conversations import Conversations
from engramdown.cortex.notebooks import Notebooks
from engramdown.cortex.skillbook import Skillbook
from engramdown.cortex.toolbox import Toolbox
from engramdown.engram import SCOPES, Engram, Scope
from engramdown.errors import (
    EntryNotFoundError,
    InvalidEngramError,
    LockTimeoutError,
    SessionNotFoundError,
    StoreError,
)
from engramdown.forks import cached_property
from engramdown.hippocampus.changeset import FileChange
from engramdown.hippocampus.entry import Archived, Entry, by_prefix, retired_name
from engramdown.hippocampus.protocol import HippocampusProtocol
from engramdown.hippocampus.store import REFUSED, ClosedDisk, Hippocampus, is_refused
from engramdown.kinds import kind_in_scope
from engramdown.settings import MODES, Settings, find_places, load
from engramdown.storage.disk import ERASING, Disk
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.consolidation.facts import Message
    from engramdown.cortex.compacting import CompactionReceipt
    from engramdown.cortex.context import MemoryContext
    from engramdown.cortex.erased import Marks
    from engramdown.cortex.erasing import Erased
    from engramdown.cortex.gate import Decision
    from engramdown.cortex.identity import Identity
    from engramdown.cortex.intake import Intake
    from engramdown.cortex.news import News
    from engramdown.cortex.proposals import Proposal
    from engramdown.cortex.pulled import Arrival, Pulled
    from engramdown.cortex.receipts import Receipt
    from engramdown.cortex.recollection import Recollection
    from engramdown.cortex.sleep_summary import SleepSummary
    from engramdown.cortex.sleeper import Sleeper
    from engramdown.cortex.turns import Session
    from engramdown.cortex.waiting import Answer, Waiting
    from engramdown.cortex.watching import Watching
    from engramdown.cortex.why import Why
    from engramdown.cortex.worker import Worker
    from engramdown.episodes.card import Card
    from engramdown.episodes.earlier_sessions import Past
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.recall.memories import Index

__all__ = ["Cortex"]

T = TypeVar("T")
# So many steps may come of a hand edit.
_LATELY = 8


class Cortex(Conversations, Notebooks, Skillbook, Toolbox):
    """Two stores and the gate before them.

    Attributes:
        global_hc: The store of what holds everywhere.
        project_hc: The store of this project.
        settings: What was configured.
    """

    def __init__(
        self,
        global_hc: HippocampusProtocol,
        project_hc: HippocampusProtocol,
        mode: str = "autopilot",
        model: object = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        """Coordinate two stores.

        Args:
            global_hc: Any store that satisfies :class:`engramdown.HippocampusProtocol`.
            project_hc: Another one.
            mode: ``autopilot``, ``copilot`` or ``off``.
            model: Kept for jobs that use a language model; nothing here needs one.
            settings: Budgets; the defaults unless given.

        Raises:
            InvalidEngramError: If the mode is none of the three.
        """
        self.global_hc = global_hc
        self.project_hc = project_hc
        self.mode = mode
        self.model = model
        self.settings = settings or Settings()
        self._notices: list[str] = []
        self._unread: list[str] = []
        self._closed = ""
        self._allows_global = False
        self._rehearsing = False
        self._marks: dict[Path, Marks] = {}
        self._hear: Callable[[], Callable[[list[Receipt]], None] | None] | None = None
        self._card_callbacks: list[Callable[[Card], object]] = []
        self._index: tuple[list[Entry], Index] | None = None

    @classmethod
    def open(
        cls,
        project: Path | str | None = None,
        home: Path | str | None = None,
        mode: str | None = None,
        model: object = None,
        *,
        settings: Settings | None = None,
    ) -> Cortex:
        """Open the scopes that are found from the working directory.

        Args:
            project: A project's folder, or its ``.engramdown``; by default the nearest one above
                the working directory. Where there is none, one begins there at the first write,
                except in the home folder, where the global scope is: it cannot be a project.
            home: The folder of the global scope; by default ``ENGRAMDOWN_HOME`` or
                ``~/.engramdown``.
            mode: ``autopilot``, ``copilot`` or ``off``; by default what is configured.
            model: See :class:`Cortex`.
            settings: What holds; by default what the ``config.toml`` of both scopes says.

        Raises:
            SettingsError: If a setting is wrong, or a folder cannot be that of a project.
        """
        places = find_places(project, home)
        if settings is None:
            settings = load(places.home, places.project, mode)
        refused = REFUSED if is_refused(places.home, places.project) else ""
        decided = settings.mode if mode is None else mode
        stores = (
            _store(places.home, "global", settings, refused),
            _store(places.project, "project", settings, places.closed),
        )
        cortex = cls(*stores, decided, model, settings=settings)
        cortex._closed = places.closed
        cortex._notice(wait=False)
        return cortex

    @property
    def mode(self) -> str:
        """What is written without asking: ``autopilot``, ``copilot`` or ``off``; can be set."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        if mode not in MODES:
            raise InvalidEngramError.not_one_of("mode", mode, MODES)
        self._mode = mode

    @property
    def stores(self) -> tuple[Hippocampus, ...]:
        """The stores of files: global, then project."""
        both = (self.global_hc, self.project_hc)
        return tuple(store for store in both if isinstance(store, Hippocampus))

    def notices(self) -> list[str]:
        """Return what opening noticed: hand edits that were taken in, or why it could not look.

        And in which files git left a merge to a person: until then both sides are memory.
        """
        return [*self._notices, *filter(None, (store.files.conflict() for store in self.stores))]

    def unread(self) -> list[str]:
        """Return which files could not be read so far, and why: what was returned is without them.

        :meth:`notices` tells of them, too.
        """
        return list(self._unread)

    def unreadable(self) -> list[str]:
        """Return which files of memory cannot be read now, and why."""
        lost: list[str] = []
        for store in self.stores:
            store.entries(lambda error: lost.append(str(error)))
        return lost

    def entries(self) -> list[Entry]:
        """Return every memory, global ones first, in file order; also what waits for approval.

        What cannot be read hides nothing else: :meth:`unread` names it.
        """
        return [*self._read(self.global_hc), *self._read(self.project_hc)]

    def readable(self, store: HippocampusProtocol) -> list[Entry]:
        """Return the memories that may reach a model, as :meth:`usable`, of what can be read.

        For who shows memory. Who decides on it must not take what is unread for what is not there.
        """
        entries = self._read(store)
        if not self._reviews:
            return entries
        try:
            return self._pulled.shown(store, entries)
        except StoreError as error:
            self._pass_over(error)
            return []

    def if_readable(self, read: Callable[[], Iterable[T]]) -> list[T]:
        """Return what ``read`` returns; nothing, and :meth:`unread` names it, if it cannot be read.

        For who shows what there is, file by file: one that is broken hides none of the others.
        """
        try:
            return [*read()]
        except StoreError as error:
            self._pass_over(error)
            return []

    def archived(self) -> list[Archived]:
        """Return what was retired, the global scope's first, the oldest first in each.

        What cannot be read hides nothing else: :meth:`unread` names it.
        """
        return [item for store in self.stores for item in self.if_readable(store.archived)]

    def usable(self, store: HippocampusProtocol) -> list[Entry]:
        """Return the memories of a store that may reach a model, in file order.

        With ``pulled = "review"`` those are left out that git brought and nobody approved.
        """
        entries = store.entries()
        return self._pulled.shown(store, entries) if self._reviews else entries

    def usable_page(self, store: Hippocampus, name: str, text: str) -> str:
        """Return ``text`` of the file ``name`` if it may reach a model, else ``""``."""
        return self._pulled.page(store, name, text) if self._reviews else text

    def arrivals(self) -> list[Arrival]:
        """Return what git brought that nobody here wrote, and that a person was not told of yet.

        Call :meth:`told` when they were; it is not returned again then.

        Raises:
            StoreError: If memory cannot be read.
        """
        return self._pulled.news()

    def told(self, arrivals: Iterable[Arrival]) -> None:
        """Take note that a person was told of ``arrivals``.

        Raises:
            StoreError: If it cannot be written.
        """
        self._pulled.told(arrivals)

    def keep_own(self) -> None:
        """Take note of files of this person's, which git does not know: what a session begins with.

        When they are committed, nobody asks who wrote them. In mode off nothing is noted.
        """
        if self.mode == "off":
            return
        try:
            self._pulled.keep_own()
        except StoreError as error:
            self._tell(f"could not take note of what is yours: {error}")

    def find(self, prefix: str) -> Entry:
        """Return the memory whose id begins with ``prefix``.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
        """
        return self._find(prefix)[1]

    def why(self, entry_id: str) -> Why:
        """Return why a memory, a proposal or a retired memory is there: what taught and brought it.

        Args:
            entry_id: Its id or a unique prefix.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
            StoreError: If a store could not be read.
        """
        from engramdown.cortex.why import why

        return why(self, entry_id, self._pulled.is_brought)

    def recall(self, query: str, limit: int = 20) -> list[Entry]:
        """Return the memories that fit ``query`` best, the best first; any text is a query.

        Args:
            query: Words to look for.
            limit: How many to return at most.
        """
        from engramdown.recall.memories import Index

        entries = [*self.readable(self.global_hc), *self.readable(self.project_hc)]
        if self._index is None or self._index[0] != entries:
            self._index = (entries, Index(entries))
        hits = self._index[1].search(query, today())
        return [hit.entry for hit in hits[: max(limit, 0)]]

    def encoding_gate(self, engram: Engram) -> Decision:
        """Return what is to be done with an engram; nothing is written."""
        kept = _of_project(engram) if self._refuses_global else engram
        return self._intake.decision(self.mode, kept)

    @one_call()
    def propose(
        self, engrams: Engram | Iterable[Engram], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; a receipt for each says what happened.

        A store that cannot be read or written gives receipts with ``failed``, not an exception.

        Args:
            engrams: What is to be remembered.
            by_person: The user typed it here and now: a fact (``Name: Ada``) of theirs with the
                same key gives way to it. Otherwise it is held, whatever source the engram claims.
        """
        self._notice()
        batch = _batch(engrams)
        kept = self._within_reach(batch)
        receipts = self._intake.propose(self.mode, kept, by_person=by_person)
        return self._heard(self._made_own(_said_where(batch, kept, receipts)))

    @one_call()
    def encode(self, engrams: Engram | Iterable[Engram]) -> list[Receipt]:
        """Write engrams without asking the gate: a person has decided. Secrets are redacted."""
        batch = _batch(engrams)
        kept = self._within_reach(batch)
        return self._heard(self._made_own(_said_where(batch, kept, self._intake.encode(kept))))

    def allow_global(self) -> None:
        """Let a memory for all projects begin, though one was refused: a person asks for it now."""
        if self._refuses_global and isinstance(self.global_hc, Hippocampus):
            self.global_hc = _store(self.global_hc.root, "global", self.settings)
            self._allows_global = True

    @property
    def shared_root(self) -> Path | None:
        """The folder that keeps what is about all projects: approvals, and what models cost.

        The project's where a memory for all of them was refused; ``None`` if no store has files.
        """
        roots = [store.root for store in self.stores]
        return next(iter(roots[::-1] if self._refuses_global else roots), None)

    def pending(self, *, for_model: bool = False) -> list[Proposal]:
        """Return what waits for a person, global proposals first, each with what it touches.

        Behind them stands what git brought and waits to be approved.

        Args:
            for_model: Whether a model is told: then without anything that git brought and nobody
                approved.
        """
        from engramdown.cortex.proposals import describe

        waits = self._intake.waiting
        items = (waits.ours if for_model else waits.items)(self._pass_over)
        brought = waits.brought(items, self._pass_over)
        waiting = describe(items, self.entries(), brought) if items else []
        shows = self._reviews and not for_model
        return [*waiting, *self.if_readable(self._pulled.proposals)] if shows else waiting

    def count_pending(self) -> int:
        """Return how many proposals wait for a person, as :meth:`pending` lists them."""
        brought = sum(self.if_readable(lambda: [self._pulled.count()])) if self._reviews else 0
        return len(self._intake.waiting.items(self._pass_over)) + brought

    @one_call()
    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what a person decided about a proposal.

        Args:
            proposal_id: Its id or a unique prefix.
            decision: ``accept``, ``decline`` or ``skip``.
            text: The words that the person wants instead of the proposed ones, or ``None``.

        Raises:
            InvalidEngramError: If the decision is none of the three, or the text is empty.
            EntryNotFoundError: If no proposal has this id, any more.
            AmbiguousIdError: If several have.
            StoreError: If it could not be written; the proposal still waits.
        """
        self._notice()
        receipt = self._resolved_load(proposal_id, decision, text) if self._reviews else None
        if receipt is None:
            receipt = self._intake.waiting.resolve(proposal_id, decision, text)
        self._heard([receipt])
        return receipt

    @one_call()
    def resolve_all(self, answers: Iterable[Answer]) -> list[Receipt]:
        """Carry out what a person decided about many proposals, in one step for each file.

        Args:
            answers: What they decided about each.

        Returns:
            What became of each; what could not be carried out still waits, and *failed* says why.

        Raises:
            InvalidEngramError: If a decision is none of the three; nothing is carried out.
            EntryNotFoundError: If no proposal has one of the ids; nothing is carried out.
            AmbiguousIdError: If several have; nothing is carried out.
            StoreError: If what waits could not be read.
        """
        self._notice()
        given = list(answers)
        loads = self._pulled.ids() if self._reviews else frozenset[str]()
        rest = [each for each in given if each.id not in loads]
        receipts = iter(self._intake.waiting.resolve_all(rest))
        approved = self._pulled.resolve_all(given) if loads else {}
        return self._heard([approved.get(at) or next(receipts) for at in range(len(given))])

    @one_call()
    def apply_ticks(self, go_on: Callable[[], bool] | None = None) -> list[Receipt]:
        """Carry out the lines of ``pending.md`` that a person ticked, in one step for each file.

        Call it between turns. A line that cannot be carried out stays, and its receipt tells why.

        Args:
            go_on: Asked before each line whether there is time for it; what is left stays ticked.
        """
        self._notice(wait=False)
        if not self._intake.waiting.has_ticks():
            return []
        # Who ticked a line stands in the journal: that has to be known first.
        if not self._notice():
            return []
        ask = go_on or (lambda: True)
        return self._heard(self._intake.waiting.apply_ticks(self._tell, None, ask))

    @one_call()
    def forget(self, entry_id: str, why: str = "") -> Entry:
        """Retire the memory with this id or unique prefix; it can be restored."""
        from engramdown.secrets.redaction import redact

        scope, entry = self._find(entry_id)
        store = self._store(scope)
        if isinstance(store, Hippocampus):
            gone = store.forget(entry.id, redact(why))
        else:
            gone = store.forget(entry.id)
        self._intake.waiting.forgot(scope, gone)
        return gone

    @one_call()
    def erase(
        self,
        ids: str | Iterable[str] = (),
        *,
        words: str | Iterable[str] = (),
        pieces: bool = False,
        dry_run: bool = False,
    ) -> Erased:
        """Erase memories for good: nothing brings them back. Only a person's word is a reason.

        Their words leave memory, the archive, what waits, the journal of changes, transcripts with
        what was made of them, notes, pages and our blocks in files such as ``AGENTS.md``. They are
        not learned again. What is cut short is finished by whoever opens memory next.

        Args:
            ids: The memories, live, waiting or retired, by ids or unique prefixes.
            words: Texts to erase that are no memory here, or are none any more.
            pieces: Empty lines, too, that share twelve characters in a row with a text, though not
                half of it; otherwise they stay, and are told in ``shared``.
            dry_run: Change nothing, and tell what would go.

        Returns:
            What went, what stays, and what cannot be reached from here.

        Raises:
            EntryNotFoundError: If there is no such memory.
            AmbiguousIdError: If there are several.
            InvalidEngramError: If nothing is named.
            StoreError: If something could not be read or written.

        >>> cortex.erase("k3v9q2ht", dry_run=True).memories  # doctest: +SKIP
        """
        from engramdown.cortex.erasing import erase

        names = [ids] if isinstance(ids, str) else [*ids]
        texts = [words] if isinstance(words, str) else [*words]
        self._notice()
        return erase(self, names, texts, pieces=pieces, dry_run=dry_run)

    @one_call()
    def restore(self, entry_id: str) -> Entry:
        """Bring back the retired memory with this id or unique prefix, in whichever scope it is.

        Raises:
            EntryNotFoundError: If no archive has one.
            AmbiguousIdError: If the archives of both scopes have several.
        """
        # Of a text that was retired more than once, the last time counts.
        retired = [item.entry for store in self.stores for item in reversed(store.archived())]
        try:
            wanted = by_prefix(entry_id, retired, retired_name(entry_id, retired), "the archive").id
        except EntryNotFoundError:
            wanted = entry_id  # A store without files cannot be asked before it restores.
        return self._first(lambda store: store.restore(wanted), entry_id)

    @one_call()
    def update(self, entry_id: str, text: str) -> Entry:
        """Change the text of a memory; its id stays. Secrets are redacted."""
        from engramdown.secrets.redaction import redact

        scope, entry = self._find(entry_id)
        return self._store(scope).update(entry.id, redact(text))

    def needs_compaction(self) -> bool:
        """Whether a file holds more memories than ``consolidation.threshold`` allows."""
        return any(
            size > self.settings.of(store.scope).consolidation.threshold
            for store in self.stores
            for size in Counter(entry.file for entry in self.usable(store)).values()
        )

    @one_call()
    def compact_all(
        self, *, approved: bool = False, dry_run: bool = False, use_model: bool = True
    ) -> list[CompactionReceipt]:
        """Say the same in fewer memories: duplicates, what has expired, and what a model proposes.

        In autopilot duplicates and what has expired go to the archive; the rest waits for a
        person, as everything does in copilot. What a person wrote always waits.

        Args:
            approved: A person saw the diff and said yes: apply all that needs no further word.
            dry_run: Write nothing, and tell what would be done.
            use_model: Ask the model about files that hold too much, if there is one.

        Returns:
            What became of each operation; of a scope in which nothing is done, why.

        Raises:
            StoreError: If a store could not be read.
            SettingsError: If ``model`` is none.
        """
        from engramdown.cortex.compacting import compact

        self._notice()
        return compact(self, approved=approved, dry_run=dry_run, use_model=use_model)

    @one_call()
    def tidy_if_due(self) -> None:
        """Tidy files that hold too much, without a model: what a session does as it begins."""
        if self.mode == "off" or self._rehearsing:
            return
        try:
            if self.needs_compaction():
                from engramdown.cortex.compacting import tidied

                for notice in tidied(self):
                    self._tell(notice)
        except StoreError as error:
            self._tell(f"could not tidy memory: {error}")

    def queues(self, home: Path | None = None) -> Waiting:
        """Return what waits in both scopes; what is ticked there is carried out as what it is.

        Args:
            home: The folder of the global scope, to keep there which ticks were refused.
        """
        from engramdown.cortex.waiting import Waiting

        stores: dict[Scope, HippocampusProtocol] = {
            "global": self.global_hc,
            "project": self.project_hc,
        }
        came = self._pulled.brought_proposals

        def gates(engrams: Iterable[Engram]) -> Callable[[Engram], Decision]:
            return self._intake.gate(self.mode, engrams)

        return Waiting(
            stores,
            came,
            gates,
            reviews=lambda: self._reviews,
            rules=lambda: f"{self.mode} {self.settings}",
            home=home,
            dry=lambda: self._rehearsing,
        )

    @one_call()
    def sleep(
        self,
        *,
        use_model: bool = True,
        dry_run: bool = False,
        scope: Scope | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> SleepSummary:
        """Do what is due: learn from finished sessions, and compact memory.

        It can be stopped anywhere, also by a kill: the next one goes on there.

        Args:
            use_model: Ask the model, if there is one.
            dry_run: Write nothing and ask no model; tell what would be done.
            scope: Only this scope; by default both.
            should_stop: Asked before each step whether to stop.

        Returns:
            What became of everything; what fails is told there.

        Raises:
            SettingsError: If ``model`` is none.
        """
        from engramdown.cortex.sleeping import Sleep

        return Sleep(
            self, use_model=use_model, dry_run=dry_run, scope=scope, should_stop=should_stop
        ).run()

    def sleeper(self, every: float = 3600, patience: float = 10) -> Sleeper:
        """Return what sleeps in the background while a program runs: a context manager.

        Args:
            every: How many seconds lie between the end of a sleep and the next.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.
        """
        from engramdown.cortex.sleeper import Sleeper

        return Sleeper(self, every, patience)

    def worker(self, every: float | None = None, patience: float = 10) -> Worker:
        """Return what does beside a program what nobody has to wait for: a context manager.

        It closes sessions that nobody ended, writes cards, looks for facts if that is set, and
        summarises conversations that are idle.

        Args:
            every: How many seconds lie between the end of a round and the next; by default what is
                set, five minutes.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        from engramdown.cortex.worker import Worker

        return Worker(self, every, patience)

    def watching(self, on_change: Callable[[list[News]], object]) -> Watching:
        """Return what watches memory while a program runs: a context manager.

        Hand edits are taken in as they happen, and ticked lines carried out.

        Args:
            on_change: Is given what happened, in a thread of its own.

        Raises:
            StoreError: If no store has files.
        """
        from engramdown.cortex.watching import Watching

        return Watching(self, on_change)

    def reopened(self) -> Cortex:
        """Return another one over the same scopes, whose stores are its own, for another thread.

        A store without files is shared: only whoever wrote it knows how to open it again.
        """
        opened: list[HippocampusProtocol] = []
        refused = REFUSED if self._refuses_global else ""
        for store, closed in ((self.global_hc, refused), (self.project_hc, self._closed)):
            if isinstance(store, Hippocampus):
                opened.append(_store(store.root, store.scope, self.settings, closed))
            else:
                opened.append(store)
        cortex = Cortex(opened[0], opened[1], self.mode, self.model, settings=self.settings)
        cortex._closed = self._closed
        cortex._card_callbacks = self._card_callbacks
        cortex._allows_global = self._allows_global
        return cortex

    def maybe_update_identity(
        self, messages: str | Iterable[str | Message], *, use_model: bool = True
    ) -> list[Receipt]:
        """Keep the facts about the user that are in what they wrote: name, time zone, tools.

        Ask for it every fifth message or so, between turns: a model takes its time. A fact that
        contradicts what a person wrote waits for them. In mode off nothing is looked for.

        Args:
            messages: What the user wrote last, oldest first; a
                :class:`engramdown.consolidation.facts.Message` tells where it stands.
            use_model: Ask the model, if there is one; without, only what is stated is found.

        Returns:
            What became of each fact; :meth:`notices` tells what of a model's answer was refused.

        Raises:
            ModelError: If the model gave no answer of use; memory is as it was.
            SettingsError: If ``model`` is none.
            StoreError: If a prompt or the ledger could not be read or written.
        """
        from engramdown.cortex.learning import facts

        if self.mode == "off":
            return []
        found = facts(self, messages, use_model=use_model)
        for refusal in found.refusals:
            self._tell(refusal)
        return self.propose(found.engrams)

    def build_memory_context(
        self, message: str = "", session: Session | None = None, *, scratchpad: bool = False
    ) -> MemoryContext:
        """Return what a model is to see of memory, ranked by ``message`` under the budgets.

        An unchanged memory gives unchanged bytes. What :meth:`get_scratchpad_context` says stands
        there alone, and is paid for once.

        Args:
            message: What the model is sent.
            session: The conversation that it is for: what was told of earlier ones stays in it,
                and who the assistant and the user are.
            scratchpad: Also what that says: for a program that has no scratchpad to describe.
        """
        if session is None:
            earlier, who = self.earlier_sessions(), None
        else:
            earlier, who = session.earlier, session.identity
        return self._recollection.context(message, earlier, who, scratchpad=scratchpad)

    def identity(self) -> Identity:
        """Return who the assistant and the user are, and from which files that is.

        Raises:
            StoreError: If one cannot be read.
        """
        return self._recollection.identity()

    def standing(self, identity: Identity) -> Identity:
        """Return what a session was told of who is who, without what a person took out since.

        What was added or changed since stays away: that is for the next session.

        Raises:
            StoreError: If memory cannot be read.
        """
        return self._recollection.standing(identity, lambda: self._notice(wait=False))

    def earlier_sessions(self, running: str = "", in_view: Iterable[str] = ()) -> tuple[Past, ...]:
        """Return the sessions that a model is to be reminded of, newest first; none unless set.

        Args:
            running: The id of the session that runs: what ended after it began is not told.
            in_view: The ids of sessions that the model sees anyway.
        """
        if not self.settings.episodes.history or self.episodes is None:
            return ()
        from engramdown.episodes.earlier_sessions import earlier

        return tuple(earlier(self.episodes, running, in_view))

    def past_experience(
        self,
        message: str = "",
        subjects: str | Iterable[str] = (),
        limit: int = 3,
        max_bytes: int = 4_000,
        *,
        session: Session | None = None,
    ) -> str:
        """Return what was said earlier about the subjects of a turn; ``""`` if there is nothing.

        It is quoted as data, with pointers. What cannot be searched has nothing.

        Args:
            message: What the user wrote: searched for if it is one line of at most 100 characters
                and there are no subjects.
            subjects: What the turn is about, as ``entity:light.office``. Whom it is with is none:
                ``contact:``, an e-mail address, a phone number, a UUID.
            limit: How many excerpts at most.
            max_bytes: How long all may be, as UTF-8; 500 at least.
            session: The conversation that it is for: what was said in it is left out.

        Raises:
            ValueError: If ``max_bytes`` is less than 500.
        """
        from engramdown.cortex.experience import past_experience, sought

        query, running = sought(message, subjects), "" if session is None else session.id
        return past_experience(self.episodes, query, limit, max_bytes, running=running)

    def get_scratchpad_context(self) -> str:
        """Return what memory says about scratchpads, for the description of such a tool.

        :meth:`build_memory_context` leaves it out, unless it is told otherwise.
        """
        return self._recollection.scratchpad()

    @one_call()
    def session(
        self,
        session: str | None = None,
        *,
        parent: str | None = None,
        parent_call: str | None = None,
        title: str = "",
        in_view: Iterable[str] = (),
    ) -> Session:
        """Begin a conversation, which is recorded in the transcripts.

        Args:
            session: The id of its transcript, or ``None`` for a new one; one that is there goes on.
            parent: The id of the session that it is begun from.
            parent_call: The tool call that begins it.
            title: What to call it.
            in_view: The ids of sessions that the model sees anyway, so that it is not reminded.

        Raises:
            InvalidSessionError: If an id is no safe file name.
        """
        from engramdown.cortex.turns import Session

        return Session(self, session, parent, parent_call, title, in_view=in_view)

    def listen(self, hear: Callable[[], Callable[[list[Receipt]], None] | None]) -> None:
        """Let ``hear()``, if it is still there, be told of what becomes of engrams."""
        self._hear = hear

    def fill_card(self, session: str) -> bool:
        """Ask the model what a session was about, and keep it for the session's card.

        Args:
            session: The id of the session.

        Returns:
            Whether the card has it now; not if lines were taken back meanwhile, or none may be
            shown.

        Raises:
            ModelError: If there is no model, it gives no answer of the form, or one that gives
                orders.
            SessionNotFoundError: If there is no such session.
            StoreError: If it could not be kept.
        """
        from engramdown.cortex.filling import fill_card

        if self.episodes is None:
            raise SessionNotFoundError(session, "a scope without files")
        return fill_card(self, self.episodes, session)

    def on_card(self, callback: Callable[[Card], object]) -> None:
        """Call ``callback`` with each card that a model fills in, as soon as it is on the disk.

        It is called in the thread that made the card, also by :meth:`worker` and :meth:`sleeper`.
        An exception of it stops nothing: it becomes a ``RuntimeWarning``, and the card stays.

        Example:
            >>> import tempfile
            >>> cortex = Cortex.open(tempfile.mkdtemp(), tempfile.mkdtemp())
            >>> cortex.on_card(lambda card: print(card.title, card.tags))
        """
        self._card_callbacks.append(callback)

    def tell_of_card(self, card: Card) -> None:
        """Tell whoever asked with :meth:`on_card`."""
        for callback in tuple(self._card_callbacks):
            try:
                callback(card)
            except Exception as error:  # noqa: BLE001 - code of the caller's: the card stands
                msg = f"a callback of on_card raised {type(error).__name__}: {error}"
                warnings.warn(msg, RuntimeWarning, stacklevel=2)

    def rehearse(self) -> None:
        """From now on write nothing; :meth:`rehearsed` tells what would have been written.

        Raises:
            StoreError: If a store has no files: it could only do as it is told.
        """
        for store in (self.global_hc, self.project_hc):
            if not isinstance(store, Hippocampus):
                msg = f"{type(store).__name__}: cannot rehearse; only a store of files can"
                raise StoreError(msg)
        for store in self.stores:
            store.rehearse()
        self._rehearsing = True

    def rehearsed(self) -> list[FileChange]:
        """Return what the rehearsed steps would change."""
        return [change for store in self.stores for change in store.rehearsed()]

    # What only some calls need is imported when it is first asked for: a command that searches
    # memory must start as fast as a shell prompt, and needs neither the gate nor the context.

    @cached_property
    def episodes(self) -> EpisodicMemory | None:
        """The transcripts: of the project, or of the global scope where no project can be.

        ``None`` if a store has no files, or only a rehearsal is on.
        """
        from engramdown.episodes.memory import EpisodicMemory

        if not self.stores or self._rehearsing:
            return None
        store = self.stores[0 if self._closed else -1]
        return EpisodicMemory(store.root, self.settings.of(store.scope).episodes)

    @cached_property
    def _intake(self) -> Intake:
        from engramdown.cortex.intake import Intake

        stores: dict[Scope, HippocampusProtocol] = {
            "global": self.global_hc,
            "project": self.project_hc,
        }
        queues = self.queues(self._home)
        return Intake(stores, self.usable, queues, self._was_erased)

    @cached_property
    def _recollection(self) -> Recollection:
        from engramdown.cortex.recollection import Recollection

        screen = self._pulled if self._reviews else None
        skills = self.told_skills
        return Recollection(
            self.global_hc,
            self.project_hc,
            self.settings,
            screen,
            skills,
            pass_over=self._pass_over,
        )

    @cached_property
    def _pulled(self) -> Pulled:
        from engramdown.cortex.pulled import Pulled

        return Pulled(self.stores, self._home, review=self._reviews, dry=lambda: self._rehearsing)

    @property
    def _home(self) -> Path | None:
        """The folder of the global scope, if it has files."""
        return self.shared_root if isinstance(self.global_hc, Hippocampus) else None

    @property
    def _reviews(self) -> bool:
        """Whether nothing that git brings reaches a model before a person approved it."""
        return self.settings.pulled == "review"

    @property
    def _refuses_global(self) -> bool:
        """Whether a memory for all projects was refused, and there is none."""
        home, project = self.global_hc, self.project_hc
        if self._allows_global or not isinstance(home, Hippocampus):
            return False
        return isinstance(project, Hippocampus) and is_refused(home.root, project.root)

    def _within_reach(self, batch: Sequence[object]) -> list[object]:
        """Return engrams as the project keeps them, where it is to keep all of them."""
        if not self._refuses_global:
            return [*batch]
        # What is no engram is refused by whoever is given it.
        return [_of_project(each) if isinstance(each, Engram) else each for each in batch]

    def _made_own(self, receipts: list[Receipt]) -> list[Receipt]:
        if self._reviews:
            self._pulled.said(receipts)
        return receipts

    def _resolved_load(self, prefix: str, decision: str, text: str | None) -> Receipt | None:
        """Decide on what git brought; ``None`` if the proposal is one of ``pending.md``."""
        waiting = self.pending()
        found = by_prefix(prefix, waiting, lambda each: each.id, "what is pending")
        if found.op != "load":
            return None
        if decision not in ("accept", "decline", "skip"):
            raise InvalidEngramError.not_one_of("decision", decision, ("accept", "decline", "skip"))
        return self._pulled.resolve(found.id, decision, text)

    def _heard(self, receipts: list[Receipt]) -> list[Receipt]:
        hear = self._hear() if self._hear is not None else None
        if hear is not None:
            hear(receipts)
        return receipts

    def _store(self, scope: Scope) -> HippocampusProtocol:
        return self.global_hc if scope == "global" else self.project_hc

    def _tell_erased(self, store: Hippocampus) -> None:
        """Tell of lines that say again what was erased: an editor may have had them."""
        steps = [step for step in store.history()[-_LATELY:] if step.by == "person"]
        new = {change.id for step in steps for change in step.changes if change.before is None}
        for entry in store.entries() if new else ():
            if entry.id in new and self._was_erased(entry.text):
                self._tell(
                    f"{entry.disk_file}:{entry.line}: says again what you erased for good; an "
                    f"editor may have kept it: engramdown forget --forever {entry.id}"
                )

    def _was_erased(self, text: str) -> bool:
        """Whether a person erased a text for good, in either scope."""
        # Imported here: whoever only reads gates nothing.
        from engramdown.cortex.erased import Marks

        for store in self.stores:
            marks = self._marks.setdefault(store.root, Marks(store.root))
            if marks.knows(text):
                return True
        return False

    def _finish_erasing(self, *, wait: bool) -> None:
        """Finish what a person began to erase for good, if somebody died in the middle of it."""
        if not any((store.root / ERASING).exists() for store in self.stores):
            return
        from engramdown.cortex.erasing import finish

        try:
            for reason in finish(self, wait=wait):
                self._tell(f"could not erase everything yet: {reason}")
        except (OSError, StoreError) as error:
            self._tell(f"could not finish erasing: {error}")

    def _notice(self, *, wait: bool = True) -> bool:
        """Take in hand edits; a scope that cannot be written is read as it is.

        Return whether nobody held a lock for too long, which counts if we ``wait`` for it.
        """
        self._finish_erasing(wait=wait)
        was_free = True
        for store in self.stores:
            try:
                if store.notice(wait=wait):
                    self._tell(f"{store.memory}: took in what you or git changed")
                    self._tell_erased(store)
                for reason in store.files.obstacles():
                    if reason not in self._unread:
                        self._tell(f"a topic is passed over: {reason}")
            except StoreError as error:
                was_free = was_free and not isinstance(error, LockTimeoutError)
                self._tell(f"could not look for hand edits: {error}")
        return was_free

    def _read(self, store: HippocampusProtocol) -> list[Entry]:
        """Return the memories of a store that can be read."""
        if isinstance(store, Hippocampus):
            return store.entries(self._pass_over)
        return store.entries()

    def _pass_over(self, error: StoreError) -> None:
        """Take note of what could not be read; of a scope that is no folder once."""
        roots = [store for store in self.stores if str(error).startswith(str(store.root))]
        lost: list[str] = []
        for store in roots:
            try:
                store.check_folder()
            except StoreError as other:
                lost.append(str(other))
        reason = lost[0] if lost else str(error)
        if reason not in self._unread:
            self._unread.append(reason)
        same = (f"could not look for hand edits: {error}", f"a topic is passed over: {error}")
        self._notices = [each for each in self._notices if each not in same]
        self._tell(f"could not be read, and is left out: {reason}")

    def _tell(self, notice: str) -> None:
        """Keep a notice; a trouble that lasts is told once."""
        if notice not in self._notices:
            self._notices.append(notice)

    def _find(self, prefix: str) -> tuple[Scope, Entry]:
        both = [(scope, entry) for scope in SCOPES for entry in self._read(self._store(scope))]
        return by_prefix(prefix, both, lambda each: each[1].id, "memory")

    def _first(self, act: Callable[[HippocampusProtocol], T], entry_id: str) -> T:
        """Return what ``act`` gives for the project, or else for the global scope."""
        for store in (self.project_hc, self.global_hc):
            try:
                return act(store)
            except EntryNotFoundError:
                continue
        raise EntryNotFoundError(entry_id, "the archive")


def _batch(engrams: Engram | Iterable[Engram]) -> list[Engram]:
    return [engrams] if isinstance(engrams, Engram) else [*engrams]


def _of_project(engram: Engram) -> Engram:
    """Return an engram as one of the project: there a fact about the user is a lesson."""
    return replace(engram, kind=kind_in_scope(engram.kind, "project"), scope="project")


def _said_where(
    meant: Sequence[object], kept: Sequence[object], receipts: Sequence[Receipt]
) -> list[Receipt]:
    """Return receipts that say what is kept in another scope than it was meant for."""
    return [
        receipt
        if before is after or receipt.action in ("discarded", "failed")
        else replace(receipt, reason=f"{receipt.reason}, kept in this project: {REFUSED}")
        for before, after, receipt in zip(meant, kept, receipts, strict=True)
    ]


def _store(root: Path, scope: Scope, chosen: Settings, closed: str = "") -> Hippocampus:
    settings = chosen.of(scope)
    durable, limit = settings.durability == "full", settings.max_file_bytes
    disk = ClosedDisk(closed, limit=limit) if closed else Disk(durable=durable, limit=limit)
    return Hippocampus(root, scope, disk=disk, lock_timeout=settings.lock_timeout)

"""The two scopes of a memory, what they hold, and the one way to write to them.

Every proposed engram gets a receipt, and *encoded* means that the line is on the disk. A secret is
never written. Reading works in every mode, with no model and no network. Code that needs memory is
given a :class:`Scopes` rather than the Cortex, which is above it.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from engramdown import errors
from engramdown.clock import today
from engramdown.engram import SCOPES, Engram, Scope, Source
from engramdown.forks import cached_property
from engramdown.hippocampus.changeset import FileChange
from engramdown.hippocampus.entry import Archived, Entry, by_prefix, retired_name
from engramdown.hippocampus.store import REFUSED, Hippocampus, HippocampusProtocol, is_refused
from engramdown.kinds import scope_for
from engramdown.settings import MODES, Settings, find_places, load
from engramdown.storage.disk import ERASING, disk_of
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.episodes.card import Card
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.arrivals import Pulled
    from engramdown.gate.erasure_marks import Marks
    from engramdown.gate.gate import Decision
    from engramdown.gate.intake import Intake, Receipt, Waiting
    from engramdown.gate.past import Past
    from engramdown.hippocampus.citations import Citations
    from engramdown.recall.memories import Hit, MemoryIndex
    from engramdown.recall.vectors import MemoryLane
    from engramdown.storage.usage import Used

T = TypeVar("T")
# A hand edit becomes at most this many steps.
_LATEST_STEPS = 8


class Scopes:
    """The global scope and the one of the project, with the gate before them.

    Attributes:
        global_hc: The store for all projects.
        project_hc: The store of this project.
        model: A language model, its name, or ``None`` for the configured one.
        settings: The configuration.
        closed: Why the project can only be read, or ``""``.
        lane_off: Why the last recall found memories by their words alone, or ``""``.
        is_dry: Whether changes are only recorded, and nothing is written.
        past: The earlier moment at which memory is shown, or ``None``.
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
        """Join two stores; see :class:`engramdown.Cortex`."""
        self.global_hc = global_hc
        self.project_hc = project_hc
        self.mode = mode
        self.model = model
        self.settings = settings or Settings()
        self._notices: list[str] = []
        self._unread: list[str] = []
        self.closed = ""
        self._allows_global = False
        self.is_dry = False
        self.past: Past | None = None
        self._marks: dict[Path, Marks] = {}
        self._hear: Callable[[], Callable[[list[Receipt]], None] | None] | None = None
        self._card_callbacks: list[Callable[[Card], object]] = []
        self._index: tuple[list[Entry], MemoryIndex] | None = None
        self._lanes: dict[Path, MemoryLane] = {}
        self.lane_off = ""

    @classmethod
    def open(
        cls,
        project: Path | str | None = None,
        home: Path | str | None = None,
        mode: str | None = None,
        model: object = None,
        *,
        settings: Settings | None = None,
        as_of: str | date = "",
    ) -> Scopes:
        """Open the scopes that are found from the working directory.

        See :meth:`engramdown.Cortex.open`.
        """
        places = find_places(project, home)
        if settings is None:
            settings = load(places.home, places.project, mode)
        refused = REFUSED if is_refused(places.home, places.project) else ""
        decided = settings.mode if mode is None else mode
        stores = (
            open_store(places.home, "global", settings, refused),
            open_store(places.project, "project", settings, places.closed),
        )
        scopes = cls(*stores, decided, model, settings=settings)
        scopes.closed = places.closed
        scopes.notice(wait=False)
        if as_of:
            scopes.look_back(as_of)
        return scopes

    @property
    def mode(self) -> str:
        """How much is written without asking: ``autopilot``, ``copilot`` or ``off``."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        if mode not in MODES:
            raise errors.InvalidEngramError.not_one_of("mode", mode, MODES)
        self._mode = mode

    @property
    def stores(self) -> tuple[Hippocampus, ...]:
        """The stores of files: global, then project."""
        return tuple(store for store in self._both if isinstance(store, Hippocampus))

    @property
    def _both(self) -> tuple[HippocampusProtocol, HippocampusProtocol]:
        return self.global_hc, self.project_hc

    def notices(self) -> list[str]:
        """Return messages: hand edits that were taken in, and what went wrong.

        Also the files with merge conflicts; until a person resolves them, both sides are memory.
        """
        return [*self._notices, *filter(None, (store.files.conflict() for store in self.stores))]

    def unread(self) -> list[str]:
        """Return which files were left out so far because they could not be read, and why.

        :meth:`notices` has them, too.
        """
        return list(self._unread)

    def forget_notices(self) -> None:
        """Begin anew to collect :meth:`notices` and :meth:`unread`, as for another request."""
        self._notices, self._unread = [], []

    def unreadable(self) -> list[str]:
        """Return which files of memory cannot be read now, and why."""
        lost: list[str] = []
        for store in self.stores:
            store.entries(lambda error: lost.append(str(error)))
        return lost

    def entries(self) -> list[Entry]:
        """Return every memory, global ones first, in file order, including unapproved ones.

        See :meth:`engramdown.Cortex.entries`.
        """
        return [entry for store in self._both for entry in self._read(store)]

    def readable(self, store: HippocampusProtocol) -> list[Entry]:
        """Return the memories of the readable files that may reach a model.

        Use it to show memory. A decision must use :meth:`usable`, which raises instead of leaving
        out what cannot be read.
        """
        entries = self._read(store)
        if not self.reviews:
            return entries
        return self.if_readable(lambda: self.pulled.shown(store, entries))

    def if_readable(self, read: Callable[[], Iterable[T]]) -> list[T]:
        """Return what ``read`` returns, or nothing if it raises; :meth:`unread` then has the error.

        With this, a broken file does not hide the others.
        """
        try:
            return [*read()]
        except errors.StoreError as error:
            self.pass_over(error)
            return []

    def archived(self) -> list[Archived]:
        """Return the retired memories, global ones first, the oldest first in each scope.

        A file that cannot be read is left out, and :meth:`unread` names it.
        """
        return [item for store in self.stores for item in self.if_readable(store.archived)]

    def usable(self, store: HippocampusProtocol) -> list[Entry]:
        """Return the memories of a store that may reach a model, in file order.

        With ``pulled = "review"`` this leaves out what git brought and nobody approved.
        """
        entries = store.entries()
        return self.pulled.shown(store, entries) if self.reviews else entries

    def usable_page(self, store: Hippocampus, name: str, text: str) -> str:
        """Return ``text`` of the file ``name`` if it may reach a model, else ``""``."""
        return self.pulled.page(store, name, text) if self.reviews else text

    def find(self, prefix: str) -> Entry:
        """Return the memory whose id begins with ``prefix``; see :meth:`engramdown.Cortex.find`."""
        return self.locate(prefix)[1]

    def raw_text(self, entry: Entry) -> str:
        """Return the lines of a memory as they are in its file, or ``""`` if there is none."""
        for store in self.stores:
            if store.scope == entry.scope:
                placed = store.files.document(entry.file).placed()
                return next((each.block.raw for each in placed if each.line == entry.line), "")
        return ""

    def recall(self, query: str, limit: int = 20) -> list[Entry]:
        """Return the memories that fit ``query`` best, the best first; any text is a query.

        See :meth:`engramdown.Cortex.recall`.
        """
        found = self.recall_hits(query)[: max(limit, 0)]
        if self.lane_off:
            self.tell(self.lane_off)
        return [hit.entry for hit in found]

    def recall_hits(self, query: str) -> list[Hit]:
        """Return everything that fits ``query``, the best first, and what of it is outdated.

        If embeddings cannot be used, :attr:`lane_off` says why.
        """
        by_store, index = self._indexed()
        scored = index.weighed(query, self.day())
        ranked = [*scored]
        if self.settings.episodes.embedder and query.strip() and not self.past:
            ranked = self._by_meaning_too(query, by_store, ranked)
        return index.hits(ranked, scored, query)

    def similar(self, query: str, *, by_meaning: bool = False) -> list[tuple[Entry, float]]:
        """Return memories with how near each is to ``query``, from 0 to 1, the nearest first.

        Args:
            query: Any string.
            by_meaning: Ask the embedder; by words alone otherwise.

        Raises:
            EmbeddingError: If embeddings cannot be used for this question.
        """
        from engramdown.recall.query import similarities

        by_store, index = self._indexed()
        if by_meaning:
            near = self._nearness(query, by_store)
            pairs = zip(index.entries, near, strict=True)
            found = [(entry, max(score, 0.0)) for entry, score in pairs]
            return sorted(found, key=lambda each: -each[1])
        scored = index.weighed(query, self.day())
        hits = index.hits([*scored], scored, query)
        scores = similarities(query, [(hit.entry.text, hit.score) for hit in hits])
        return [(hit.entry, score) for hit, score in zip(hits, scores, strict=True)]

    def _indexed(self) -> tuple[list[list[Entry]], MemoryIndex]:
        """Return the memories of both stores, and an index of them all."""
        from engramdown.recall.memories import MemoryIndex

        by_store = [self.readable(store) for store in self._both]
        entries = [entry for found in by_store for entry in found]
        if self._index is None or self._index[0] != entries:
            self._index = (entries, MemoryIndex(entries))
        return by_store, self._index[1]

    def _by_meaning_too(
        self, query: str, by_store: Sequence[Sequence[Entry]], by_words: list[int]
    ) -> list[int]:
        """Return places among the entries, the best first, by words and by meaning.

        If embeddings cannot be used, the words alone count.
        """
        from engramdown.models.embedders import EmbeddingError
        from engramdown.recall.vectors import POOL, fused, reason_of

        self.lane_off = ""
        try:
            near = self._nearness(query, by_store)
        except EmbeddingError as error:
            self.lane_off = reason_of(error)
            return by_words
        nearest = sorted(
            (at for at, score in enumerate(near) if score > 0), key=lambda at: -near[at]
        )
        scores = fused(by_words, nearest[:POOL])
        return sorted(scores, key=lambda at: (-scores[at], at))

    def _nearness(self, query: str, by_store: Sequence[Sequence[Entry]]) -> list[float]:
        """Return how near each memory is to ``query`` by meaning; 0 where nothing may be kept.

        Raises:
            EmbeddingError: If embeddings cannot be used for this question.
        """
        near: list[float] = []
        for store, entries in zip(self._both, by_store, strict=True):
            lane = self.lane(store)
            texts = [each.text for each in entries]
            near += lane.near(query, texts) if lane is not None else [0.0] * len(texts)
        return near

    def lane(self, store: HippocampusProtocol, file: str = "") -> MemoryLane | None:
        """Return what finds in a store by meaning; ``None`` if nothing may be kept there.

        Args:
            store: The store.
            file: The name of the file with the vectors, if not that of its memories.
        """
        from engramdown.recall.vectors import OF_MEMORIES, MemoryLane

        if not isinstance(store, Hippocampus) or (self.closed and store.scope != "global"):
            return None
        key = store.root / (file or OF_MEMORIES)
        if key not in self._lanes:
            own = self.settings.of(store.scope).episodes
            self._lanes[key] = MemoryLane(store.root, own, file=key.name)
        return self._lanes[key]

    def recall_topic(self, topic: str) -> list[Entry]:
        """Return the lessons of a topic that a model may see, global ones first, in file order.

        Args:
            topic: Any words; words with the same slug are the same topic.

        Raises:
            InvalidEngramError: If it is a path or otherwise not a topic.
            StoreError: If memory cannot be read.
        """
        found: list[Entry] = []
        for store in self._both:
            shown = {entry.id for entry in self.usable(store)}
            found += [entry for entry in store.recall_topic(topic) if entry.id in shown]
        return found

    def topics(self) -> Mapping[str, int]:
        """Return the number of lessons of each topic, by slug.

        Raises:
            StoreError: If memory cannot be read.
        """
        entries = (entry for store in self._both for entry in self.usable(store))
        return Counter(entry.topic for entry in entries if entry.topic)

    def encoding_gate(self, engram: Engram) -> Decision:
        """Return the decision about an engram; nothing is written."""
        ours = _of_project(engram) if self.refuses_global else engram
        return self.intake.decider(self.mode, [ours])(ours)

    @one_call()
    def propose(
        self, engrams: Engram | Iterable[Engram], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; a receipt for each says what happened.

        See :meth:`engramdown.Cortex.propose`.
        """
        self.notice()
        return self._take_in(
            engrams, lambda batch: self.intake.propose(self.mode, batch, by_person=by_person)
        )

    @one_call()
    def encode(self, engrams: Engram | Iterable[Engram]) -> list[Receipt]:
        """Write engrams without asking the gate: a person has decided. Secrets are redacted."""
        return self._take_in(engrams, self.intake.encode)

    def _take_in(
        self,
        engrams: Engram | Iterable[Engram],
        take_in: Callable[[Sequence[object]], list[Receipt]],
    ) -> list[Receipt]:
        """Take engrams in, all into the project if a global memory was refused."""
        given: Iterable[object] = [engrams] if isinstance(engrams, Engram) else engrams
        own = batch = [self._sealed(it) if isinstance(it, Engram) else it for it in given]
        if self.refuses_global:
            # ``take_in`` refuses anything else than engrams.
            own = [_of_project(it) if isinstance(it, Engram) else it for it in batch]
        receipts = [
            receipt
            if before is after or receipt.action in ("discarded", "failed")
            else replace(receipt, reason=f"{receipt.reason}, kept in this project: {REFUSED}")
            for before, after, receipt in zip(batch, own, take_in(own), strict=True)
        ]
        if self.reviews:
            self.pulled.said(receipts)
        return self.heard(receipts)

    def _sealed(self, engram: Engram) -> Engram:
        """Return an engram with the digests of what it cites, as only the project's may."""
        if not engram.cites:
            return engram
        is_own = self.refuses_global or scope_for(engram.kind, engram.scope) == "project"
        citations = self.citations(of_project=is_own)
        return replace(engram, cites=citations.sealed(engram.cites))

    def count(self, how: Literal["shown", "recalled"], entries: Iterable[Entry]) -> None:
        """Count that memories were shown in a context, or recalled.

        Nothing is counted in mode off, in a dry run, or where that is not possible at once.
        """
        from engramdown.storage.usage import MEMORIES, Usage

        used = {(entry.scope, f"{how}/{entry.id}"): None for entry in entries if entry.id}
        for store in self.stores if used and self.mode != "off" and not self.is_dry else ():
            if names := [name for scope, name in used if scope == store.scope]:
                Usage(store.root, MEMORIES).add(names)

    def uses(self) -> dict[str, Used]:
        """Return how often each memory was used, by how and id: ``shown/k3v9q2ht``."""
        from engramdown.storage.usage import MEMORIES, Usage

        found: dict[str, Used] = {}
        for store in self.stores:
            found |= Usage(store.root, MEMORIES).counts()
        return found

    def citations(self, *, of_project: bool = True) -> Citations:
        """Return a reader of the files that memories of the project cite; others cite none."""
        # Imported here: no search needs it whose hits are only listed.
        from engramdown.hippocampus.citations import Citations

        own = self.project_hc
        if self.past or not (of_project and isinstance(own, Hippocampus)):
            return Citations()
        return Citations(own.root.parent)

    def allow_global(self) -> None:
        """Allow a memory for all projects although it was refused before."""
        if self.refuses_global and isinstance(self.global_hc, Hippocampus):
            self.global_hc = open_store(self.global_hc.root, "global", self.settings)
            self._allows_global = True

    @property
    def shared_root(self) -> Path | None:
        """The folder for data about all projects: approvals, and the ledger of model calls.

        It is that of the project where a global memory was refused; ``None`` without files.
        """
        roots = [store.root for store in self.stores]
        return next(iter(roots[::-1] if self.refuses_global else roots), None)

    @one_call()
    def forget(self, entry_id: str, why: str = "", *, version: str = "") -> Entry:
        """Retire the memory with this id or unique prefix; it can be restored.

        ``version`` is that of :meth:`update`.
        """
        scope, entry = self.locate(entry_id)
        return self._forget(scope, entry, why, by="user", version=version)

    def _forget(
        self,
        scope: Scope,
        entry: Entry,
        why: str,
        *,
        by: Source,
        seen: Entry | None = None,
        version: str = "",
    ) -> Entry:
        from engramdown.secrets.redaction import redact

        store = self.store(scope)
        if isinstance(store, Hippocampus):
            gone = store.forget(entry.id, redact(why), by=by, seen=seen, version=version)
        else:
            gone = store.forget(entry.id)
        self.intake.waiting.queue(scope).forgot(gone)
        return gone

    @one_call()
    def retire(self, entry: Entry, why: str = "") -> Receipt:
        """Forget a memory for a model that asks for it, or let a person be asked.

        What a person wrote, confirmed or pinned waits for them, and in mode copilot everything.

        Args:
            entry: The memory.
            why: The reason for the journal.

        Returns:
            ``forgotten``, ``queued``, or ``discarded`` in mode off.

        Raises:
            EntryNotFoundError: If it is gone.
            StoreError: If it could not be written.
        """
        from engramdown.gate.gate import REASONS
        from engramdown.gate.intake import Receipt

        if self.mode == "off":
            return Receipt(entry.engram(), "discarded", REASONS["off"], entry.id)
        store = self.store(entry.scope)
        current = None
        if isinstance(store, Hippocampus):
            # A line that a person has just changed by hand counts as theirs.
            store.notice()
            current = entry = store.find(entry.id)
        if self.mode == "copilot" or entry.by_person:
            receipt = self.intake.waiting.ask_to_forget(entry.scope, entry)
        else:
            gone = self._forget(entry.scope, entry, why, by="llm", seen=current)
            receipt = Receipt(gone.engram(), "forgotten", "asked for", gone.id)
        return self.heard([receipt])[0]

    @one_call()
    def restore(self, entry_id: str) -> Entry:
        """Bring back the retired memory with this id or unique prefix, in whichever scope it is.

        See :meth:`engramdown.Cortex.restore`.
        """
        # If a text was retired more than once, the last time counts.
        retired = [item.entry for store in self.stores for item in reversed(store.archived())]
        try:
            wanted = by_prefix(entry_id, retired, retired_name(entry_id, retired), "the archive").id
        except errors.EntryNotFoundError:
            wanted = entry_id  # A store without files cannot be asked before it restores.
        for store in (self.project_hc, self.global_hc):
            with contextlib.suppress(errors.EntryNotFoundError):
                return store.restore(wanted)
        raise errors.EntryNotFoundError(entry_id, "the archive")

    @one_call()
    def update(self, entry_id: str, text: str, *, version: str = "") -> Entry:
        """Change the text of a memory; its id stays. Secrets are redacted.

        Args:
            entry_id: Its id or a unique prefix.
            text: What it says from now on.
            version: What :func:`engramdown.hippocampus.version` said of it when it was seen; if it
                has another one by now, it stays as it is. ``""`` for any.

        Raises:
            ChangedError: If it has another version.
        """
        from engramdown.secrets.redaction import redact

        scope, entry = self.locate(entry_id)
        store = self.store(scope)
        if isinstance(store, Hippocampus):
            return store.update(entry.id, redact(text), version=version)
        return store.update(entry.id, redact(text))

    @one_call()
    def verify(self, entry_id: str, *, version: str = "") -> Entry:
        """Note that a person confirms a memory; the rest is as in :meth:`update`.

        Raises:
            StoreError: If its store has no files.
        """
        entry, store = self._noted(entry_id)
        return store.verify(entry.id, version=version)

    @one_call()
    def pin(self, entry_id: str, *, pinned: bool = True, version: str = "") -> Entry:
        """Pin a memory, so that no automatic job touches it, or take the pin out.

        The rest is as in :meth:`verify`.
        """
        entry, store = self._noted(entry_id)
        return store.pin(entry.id, pinned=pinned, version=version)

    def _noted(self, entry_id: str) -> tuple[Entry, Hippocampus]:
        scope, entry = self.locate(entry_id)
        store = self.store(scope)
        if not isinstance(store, Hippocampus):
            msg = f"{type(store).__name__}: keeps no such notes; only a store of files does"
            raise errors.StoreError(msg)
        return entry, store

    def needs_compaction(self) -> bool:
        """Whether a file holds more memories than ``consolidation.threshold`` allows."""
        return any(
            size > self.settings.of(store.scope).consolidation.threshold
            for store in self.stores
            for size in Counter(entry.file for entry in self.usable(store)).values()
        )

    def queues(self, home: Path | None = None) -> Waiting:
        """Return the proposals of both scopes.

        Args:
            home: The folder of the global scope, to keep refused ticks there.
        """
        from engramdown.gate.intake import Waiting

        return Waiting(
            self._by_scope(),
            self.pulled.brought_proposals,
            lambda engrams: self.intake.decider(self.mode, engrams),
            reviews=lambda: self.reviews,
            rules=lambda: f"{self.mode} {self.settings}",
            home=home,
            dry=lambda: self.is_dry,
        )

    def reopened(self) -> Scopes:
        """Return another one over the same scopes, whose stores are its own, for another thread.

        See :meth:`engramdown.Cortex.reopened`.
        """
        refused = REFUSED if self.refuses_global else ""
        opened = [
            open_store(store.root, store.scope, self.settings, closed)
            if isinstance(store, Hippocampus)
            else store
            for store, closed in zip(self._both, (refused, self.closed), strict=True)
        ]
        scopes = Scopes(opened[0], opened[1], self.mode, self.model, settings=self.settings)
        scopes.closed = self.closed
        scopes._card_callbacks = self._card_callbacks
        scopes._allows_global = self._allows_global
        if self.past:
            scopes.look_back(self.past)
        return scopes

    def listen(self, hear: Callable[[], Callable[[list[Receipt]], None] | None]) -> None:
        """Call what ``hear()`` returns, unless it is ``None``, with all receipts."""
        self._hear = hear

    def on_card(self, callback: Callable[[Card], object]) -> None:
        """Call ``callback`` with each card; ``cortex.worker.on_card`` says when."""
        self._card_callbacks.append(callback)

    def tell_of_card(self, card: Card) -> None:
        """Call the callbacks of :meth:`on_card`."""
        for callback in tuple(self._card_callbacks):
            try:
                callback(card)
            except Exception as error:  # noqa: BLE001 - code of the caller's: the card stands
                msg = f"a callback of on_card raised {type(error).__name__}: {error}"
                warnings.warn(msg, RuntimeWarning, stacklevel=2)

    def dry_run(self) -> None:
        """From now on write nothing; :meth:`planned_changes` returns what would have been written.

        Raises:
            StoreError: If a store has no files.
        """
        for store in self._both:
            if not isinstance(store, Hippocampus):
                msg = f"{type(store).__name__}: cannot do a dry run; only a store of files can"
                raise errors.StoreError(msg)
        for store in self.stores:
            store.dry_run()
        self.is_dry = True

    def look_back(self, as_of: str | date | Past) -> None:
        """From now on show memory as it was, and write nothing; see :meth:`engramdown.Cortex.open`.

        Raises:
            InvalidEngramError: If the moment is still to come.
            GitError: If it is no moment, and no commit.
            StoreError: If a store has no files, or its journal cannot be read.
        """
        # Imported here: memory is seldom looked at as it was.
        from engramdown.gate.past import Past, find_past, texts_at
        from engramdown.git.diff import Place

        places: dict[Path, Place] = {}
        for store in reversed(self.stores):
            with contextlib.suppress(errors.GitError):
                limit = self.settings.of(store.scope).max_file_bytes
                places[store.root] = Place.of(store.root, store.scope, limit)
        past = as_of if isinstance(as_of, Past) else find_past(as_of, places.values())
        for store in self.stores:
            texts = texts_at(store, past, places.get(store.root), self.was_erased)
            if texts is None and store.memory.is_dir():
                self.tell(f"{store.memory}: neither its journal nor git goes back so far")
            store.files.look_back(texts or {})
        self.dry_run()
        if self.reviews:
            for store in self.stores:
                store.files.look_back(self.pulled.approved_texts(store))
        self.past = past

    def day(self) -> date:
        """Return the day on which memory is shown: today, unless it is shown as it was."""
        return self.past.when.date() if self.past else today()

    def planned_changes(self) -> list[FileChange]:
        """Return what the steps of the dry run would change."""
        return [change for store in self.stores for change in store.planned_changes()]

    # These are imported on first use: a command that searches memory must start as fast as a shell
    # prompt, and needs neither the gate nor the context.

    @cached_property
    def episodes(self) -> EpisodicMemory | None:
        """The transcripts; see :meth:`engramdown.Cortex.episodes`."""
        from engramdown.episodes.memory import EpisodicMemory

        if not self.stores or self.is_dry:
            return None
        store = self.stores[0 if self.closed else -1]
        return EpisodicMemory(store.root, self.settings.of(store.scope).episodes)

    @cached_property
    def intake(self) -> Intake:
        """The way in for proposed engrams."""
        from engramdown.gate.intake import Intake

        queues = self.queues(self.home_root)
        return Intake(self._by_scope(), self.usable, queues, self.was_erased)

    @cached_property
    def pulled(self) -> Pulled:
        """What git brought that somebody else wrote."""
        from engramdown.gate.arrivals import Pulled

        return Pulled(self.stores, self.home_root, review=self.reviews, dry=lambda: self.is_dry)

    @property
    def home_root(self) -> Path | None:
        """The folder of the global scope, if it has files."""
        return self.shared_root if isinstance(self.global_hc, Hippocampus) else None

    @property
    def reviews(self) -> bool:
        """Whether what git brings reaches a model only after a person approved it."""
        return self.settings.pulled == "review"

    @property
    def refuses_global(self) -> bool:
        """Whether a global memory was refused and does not exist."""
        home, project = self.global_hc, self.project_hc
        if self._allows_global or not isinstance(home, Hippocampus):
            return False
        return isinstance(project, Hippocampus) and is_refused(home.root, project.root)

    def heard(self, receipts: list[Receipt]) -> list[Receipt]:
        """Return ``receipts``, after passing them to the listener."""
        hear = self._hear() if self._hear is not None else None
        if hear is not None:
            hear(receipts)
        return receipts

    def store(self, scope: Scope) -> HippocampusProtocol:
        """Return the store of a scope."""
        return self._by_scope()[scope]

    def _by_scope(self) -> dict[Scope, HippocampusProtocol]:
        return {"global": self.global_hc, "project": self.project_hc}

    def was_erased(self, text: str) -> bool:
        """Whether a person erased a text for good, in either scope."""
        # Imported here: reading does not need it.
        from engramdown.gate.erasure_marks import Marks

        marks = (self._marks.setdefault(it.root, Marks(it.root)) for it in self.stores)
        return any(each.knows(text) for each in marks)

    def notice(self, *, wait: bool = True) -> bool:
        """Take in hand edits; a scope that cannot be written is read as it is.

        Args:
            wait: Whether to wait for locks.

        Returns:
            Whether all locks were free in time.
        """
        if any((store.root / ERASING).exists() for store in self.stores):
            # An erasure was interrupted.
            from engramdown.gate.erase import finish

            try:
                for reason in finish(self.stores, self.settings, wait=wait):
                    self.tell(f"could not erase everything yet: {reason}")
            except (OSError, errors.StoreError) as error:
                self.tell(f"could not finish erasing: {error}")
        was_free = True
        for store in self.stores:
            try:
                if store.notice(wait=wait):
                    self.tell(f"{store.memory}: took in what you or git changed")
                    for line in self._said_again(store):
                        self.tell(line)
                for reason in store.files.obstacles():
                    if reason not in self._unread:
                        self.tell(f"a topic is passed over: {reason}")
            except errors.StoreError as error:
                was_free = was_free and not isinstance(error, errors.LockTimeoutError)
                self.tell(f"could not look for hand edits: {error}")
        return was_free

    def _said_again(self, store: Hippocampus) -> Iterator[str]:
        """Yield which new lines repeat erased words, for instance from an editor's buffer."""
        steps = [step for step in store.history()[-_LATEST_STEPS:] if step.by == "person"]
        new = {change.id for step in steps for change in step.changes if change.before is None}
        for entry in store.entries() if new else ():
            if entry.id in new and self.was_erased(entry.text):
                yield (
                    f"{entry.disk_file}:{entry.line}: says again what you erased for good; an "
                    f"editor may have kept it: engramdown forget --forever {entry.id}"
                )

    def _read(self, store: HippocampusProtocol) -> list[Entry]:
        """Return the memories of the readable files of a store."""
        if isinstance(store, Hippocampus):
            return store.entries(self.pass_over)
        return store.entries()

    def pass_over(self, error: errors.StoreError) -> None:
        """Note what could not be read, once for a scope whose folder is broken."""
        reason = str(error)
        for store in self.stores:
            if str(error).startswith(str(store.root)):
                try:
                    store.check_folder()
                except errors.StoreError as other:
                    reason = str(other)
                    break
        if reason not in self._unread:
            self._unread.append(reason)
        same = (f"could not look for hand edits: {error}", f"a topic is passed over: {error}")
        self._notices = [each for each in self._notices if each not in same]
        self.tell(f"could not be read, and is left out: {reason}")

    def tell(self, notice: str) -> None:
        """Keep a notice, each text once."""
        if notice not in self._notices:
            self._notices.append(notice)

    def locate(self, prefix: str) -> tuple[Scope, Entry]:
        """Return the memory whose id begins with ``prefix``, and its scope."""
        both = [(scope, entry) for scope in SCOPES for entry in self._read(self.store(scope))]
        return by_prefix(prefix, both, lambda each: each[1].id, "memory")


class HasScopes(Protocol):
    """An object with scopes, such as a Cortex."""

    scopes: Scopes


def scopes_of(given: Scopes | HasScopes) -> Scopes:
    """Return scopes, or those of a Cortex."""
    return given if isinstance(given, Scopes) else given.scopes


def _of_project(engram: Engram) -> Engram:
    """Return an engram for the project, where a fact about the user becomes a lesson."""
    if engram.scope == "project" and engram.kind != "profile":
        return engram
    kind = "lesson" if engram.kind == "profile" else engram.kind
    return replace(engram, kind=kind, scope="project")


def open_store(
    root: Path, scope: Scope, chosen: Settings, closed: str = "", patience: float = inf
) -> Hippocampus:
    """Open the store of a scope as the settings say.

    Args:
        root: Its folder.
        scope: The scope.
        chosen: The settings.
        closed: Why nothing can be written to it, or ``""``.
        patience: The longest wait for a lock, in seconds, if the settings have a longer one.
    """
    settings = chosen.of(scope)
    timeout = min(patience, settings.lock_timeout)
    return Hippocampus(root, scope, disk=disk_of(settings, closed), lock_timeout=timeout)

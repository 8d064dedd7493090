"""What waits for a person in ``pending.md``, and its resolution.

Promises: a proposal is a task-list line that any editor can tick; accepting one writes the memory
and takes the line away in a single step; one that somebody else decided on or changed meanwhile
is refused; what is declined leaves a tombstone, so that it and re-wordings of it are not proposed
again; a line that we did not understand is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, get_args

from engramdown.clock import today
from engramdown.cortex.kinds import kind_of
from engramdown.engram import Engram, Kind
from engramdown.errors import EngramdownError, EntryNotFoundError, InvalidEngramError, StoreError
from engramdown.gate.keyed_values import digest_of, key_of, proposed
from engramdown.gate.pending import (
    Identity,
    Operation,
    Order,
    Pending,
    Tick,
    always,
    identity,
    kind_and_fold,
    only,
)
from engramdown.hippocampus import placement
from engramdown.hippocampus.changeset import (
    Act,
    Draft,
    Filed,
    PlanContext,
    file_engram,
    new_id,
    retire,
    standing_for,
)
from engramdown.hippocampus.entry import Entry, Written, address, entry_id
from engramdown.hippocampus.placement import tombstones
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import ARCHIVE, ASIDE, PENDING, kind_in_scope, title_of
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import KEPT, OPERATIONS, Metadata
from engramdown.secrets.redaction import redact

__all__ = ["FileQueue"]

_OPERATIONS: Final[dict[str, Operation]] = {each: each for each in get_args(Operation)}
_TICKS: Final[dict[str, Tick]] = {"x": "x", "-": "-"}
_SAYS: Final = {"git": "carried out a tick that came with git on"}

_Done = Filed | Written | EngramdownError | None


class FileQueue:
    """The proposals of one scope in its ``pending.md``."""

    def __init__(self, store: Hippocampus) -> None:
        """Use the files of ``store``."""
        self._store = store
        self._known: tuple[Document, list[tuple[Placed, Pending]]] = (Document(), [])
        self.file = str(store.memory / PENDING)

    def pending(self) -> list[Pending]:
        """Return what waits, in file order."""
        return self._all(self._store.files.document(PENDING))

    def add(self, items: Sequence[Pending]) -> list[Pending]:
        """Append proposals that do not wait yet."""

        def edit(draft: Draft) -> list[Pending]:
            document = draft.get(PENDING)
            waiting = {identity(item): item for item in reversed(self._all(document))}
            new = [each for each in items if each.put and identity(each) not in waiting]
            self._make_way(draft, {key_of(each.put) for each in new})
            return [self._add(draft, waiting, item) for item in items]

        added = self._store.files.change(Act("propose", items[0].engram.source), edit)
        now = {item.id: item for item in self.pending()}
        # What is not there any more was decided on by somebody else since.
        return [now.get(item.id, item) for item in added]

    def withdraw(self, keys: Collection[tuple[str, str]]) -> None:
        """Take away what a program put under keys and does not want any more.

        What a person ticked or changed stays.
        """
        if any(item.put and key_of(item.put) in keys for item in self.pending()):
            act = Act("propose", "llm", "took back what it had put")
            self._store.files.change(act, lambda draft: self._make_way(draft, keys))

    def accept(self, item: Pending, engram: Engram, by: str = "user") -> Written | None:
        """Carry one proposal out; raises what :meth:`decide` returns."""
        return only(self.decide([Order(item, engram, by)]))

    def decline(self, item: Pending, by: str = "user") -> None:
        """Take one proposal away; raises what :meth:`decide` returns."""
        only(self.decide([Order(item, None, by)]))

    def decide(
        self, orders: Sequence[Order], go_on: Callable[[], bool] = always
    ) -> list[Written | EngramdownError | None]:
        """Write what was accepted and archive what was declined, as one step over the file."""

        def edit(draft: Draft) -> list[_Done]:
            lines = _Lines(self._read_all(draft.get(PENDING)))
            standing = _Standing(draft, self._store.files.names())
            done: list[_Done] = []
            taken: list[Placed | None] = []
            for at in range(len(orders)):
                if done and not go_on():
                    break
                taken.append(None)
                try:
                    order = orders[at]
                    with draft.whole():
                        placed = lines.take(order.item, self.file)
                        done.append(self._carry_out(draft, standing, placed, order))
                        taken[-1] = placed
                except EngramdownError as error:
                    done.append(error)
            self._settle(draft, orders, done)
            gone = [
                placed.block
                for placed, outcome in zip(taken, done, strict=True)
                if placed and not isinstance(outcome, EngramdownError)
            ]
            draft.put(PENDING, draft.get(PENDING).without(gone))
            return done

        done = self._store.files.change(lambda done: _act(orders, done), edit)
        filed = [each for each in done if isinstance(each, Filed)]
        written = iter(self._store.read_back(filed))
        return [next(written) if isinstance(each, Filed) else each for each in done]

    def _carry_out(
        self, draft: Draft, standing: _Standing, placed: Placed, order: Order
    ) -> Filed | Written | None:
        """Write what was accepted, or archive what was declined; the line itself stays."""
        item, engram = order.item, order.engram
        order.check()
        if engram is None:
            _turn_down(draft, placed, item, order.by)
            return None
        if item.problem:
            where = f"{self.file}:{item.line}"
            raise StoreError(f"{where}: {item.problem}; mend the line in an editor, or decline it")
        if item.op == "skill":
            return self._skill(item, engram)
        if item.op in OPERATIONS:
            return None  # All of these are settled together.
        if item.put and item.op != "forget":
            return self._put(draft, standing, order, engram)
        self._retire_replaced(draft, standing, order, engram)
        return None if item.op == "forget" else _write(draft, engram, order.by)

    def confirm(self, engram: Engram) -> Written:
        """Write what a person accepted in the queue of another scope."""
        act = Act("accept", "user", "accepted in the other scope")
        return self._store.written(
            self._store.files.change(act, lambda draft: _write(draft, engram))
        )

    def drop(self, item: Pending) -> None:
        """Take the proposal away."""
        act = Act("accept", "user", f"accepted proposal {item.id} into the other scope")
        self._store.files.change(act, lambda draft: self._take(draft, item))

    def forgot(self, entry: Entry) -> None:
        """Do nothing: the store keeps what it forgot in ``archive.md``."""

    def answered(self) -> set[tuple[str, str]]:
        """Return which questions about memories that stand wait, or were answered with no.

        Each is what it would do, and the ids of the memories that it is about.
        """
        waiting = (item for item in self.pending() if item.op in OPERATIONS)
        found: set[tuple[str, str]] = {(item.op, item.of) for item in waiting}
        for placed in self._store.files.document(ARCHIVE).placed():
            values = placed.block.meta.values() if placed.block.meta else {}
            if values.get("reason") == KEPT:
                found.add((values.get("op", ""), values.get("of", "")))
        return found

    def turned_down(self) -> list[tuple[str, str]]:
        """Return the tombstones in ``archive.md``: each text with its kind."""
        blocks = (each.block for each in tombstones(self._store.files.document(ARCHIVE)))
        return [(block.text, block.meta.get("kind") if block.meta else "") for block in blocks]

    def gave_way(self, engram: Engram) -> bool:
        """Whether another memory took the place of this one, which is no news."""
        return standing_for(self._store.files.document, engram) is not None

    def _all(self, document: Document) -> list[Pending]:
        return [item for _, item in self._read_all(document)]

    def _read_all(self, document: Document) -> list[tuple[Placed, Pending]]:
        """Return what waits in a document, with its line; the same document is read once."""
        if self._known[0] is not document:
            found = ((placed, self._read(placed)) for placed in document.placed())
            self._known = (document, [(placed, item) for placed, item in found if item])
        return self._known[1]

    def _add(self, draft: Draft, waiting: dict[Identity, Pending], item: Pending) -> Pending:
        known = waiting.setdefault(identity(item), item)
        if known is item:
            document = draft.get(PENDING)
            title = title_of(PENDING)
            text = f"[ ] {item.engram.text}"
            draft.put(PENDING, document.add(text, _metadata(item), "", title))
        return known

    def _make_way(self, draft: Draft, keys: Collection[tuple[str, str]]) -> None:
        """Take away what a program put under keys before, and nobody looked at yet."""
        for placed in draft.get(PENDING).placed() if keys else ():
            old = self._read(placed)
            if old is None or not old.put or key_of(old.put) not in keys:
                continue
            if not old.tick and old.seen == digest_of(old.engram.text):
                draft.put(PENDING, draft.get(PENDING).remove(placed.block))

    def _read(self, placed: Placed) -> Pending | None:
        """Read a task-list line; any other line of the file is the person's note."""
        tick, text = placement.split_task(placed.block.text)
        if not tick or not text.strip() or placed.block.shape != "item":
            return None
        entry = placement.as_entry(PENDING, self._store.scope, placed)._replace(text=text)
        values = placed.block.meta.values() if placed.block.meta else {}
        if not {"id", "kind"} & values.keys():
            entry = entry._replace(kind=self._kind_of(text))
        engram, problem = _engram(entry)
        return Pending(
            id=_pending_id(placed),
            engram=engram,
            hold=values.get("hold", ""),
            reason=_reason(values),
            op=_OPERATIONS.get(values.get("op", ""), "encode"),
            of=values.get("of", ""),
            tick=_TICKS.get(tick, ""),
            ts=entry.ts,
            line=placed.line,
            problem=problem,
            stays=values.get("replaced", ""),
            seen=values.get("seen", ""),
            put=proposed(values),
            comments=entry.comments,
        )

    def _kind_of(self, text: str) -> Kind:
        """Return the kind of a person's own line; their tick in a project changes no other."""
        return kind_in_scope(kind_of(text), self._store.scope)

    def _skill(self, item: Pending, engram: Engram) -> Written:
        """Write a skill; done again, it is the same skill."""
        # Imported here: hardly ever does a skill wait.
        from engramdown.cortex.skill_drafts import write_skill

        return write_skill(self._store.root, item, engram, dry=self._store.rehearses)

    def _settle(self, draft: Draft, orders: Sequence[Order], done: list[_Done]) -> None:
        """Carry out the accepted parts of plans, and set what became of them in ``done``."""
        asked = {
            at: (orders[at].item, engram.text)
            for at, outcome in enumerate(done)
            if outcome is None and orders[at].item.op in OPERATIONS
            for engram in (orders[at].engram,)
            if engram is not None
        }
        if not asked:
            return
        from engramdown.cortex.settling import settle

        desk = PlanContext(self._store.files.names(), new_id, today().isoformat(), orders[0].by)
        outcomes: Sequence[_Done]
        try:
            with draft.whole():
                outcomes = settle(draft, [*asked.values()], self._store.scope, desk)
        except EngramdownError as error:
            outcomes = [error] * len(asked)
        for at, outcome in zip(asked, outcomes, strict=True):
            done[at] = outcome

    def _put(self, draft: Draft, standing: _Standing, order: Order, engram: Engram) -> Filed:
        """Write a value under the key under which a program put it."""
        # Imported here: hardly ever does a value wait.
        from engramdown.gate.keyed_values import accepted, first_made, proposed_place

        item = order.item
        place = proposed_place(item, engram, self._store.scope)
        made = first_made(draft, place) if place else ""
        self._retire_replaced(draft, standing, order, engram)
        return accepted(draft, item, place, engram, made) if place else _write(draft, engram)

    def _retire_replaced(
        self, draft: Draft, standing: _Standing, order: Order, engram: Engram
    ) -> None:
        """Move the memory that the proposal is about to the archive, wherever it stands."""
        item = order.item
        if item.op == "encode" or not item.of:
            return
        lines = standing.lines(item.of)
        if item.op == "forget" and not lines and not _is_retired(draft, item.of):
            raise StoreError(
                f"{self.file}:{item.line}: no memory with id {item.of!r} is there, so none is "
                f"forgotten; decline {item.id}, or take the line out"
            )
        archived: set[str] = set()
        for name, placed in lines:
            entry = placement.as_entry(name, self._store.scope, placed)
            if item.op == "replace" and (entry.kind, entry.fold) == kind_and_fold(engram):
                continue  # The person turned the proposal back into what it was to replace.
            if entry.fold not in archived:  # Else it is the copy under a topic.
                reason = "forgotten" if item.op == "forget" else "replaced"
                record = {"kind": entry.kind, "was": name, "reason": reason, "by": order.by}
                retire(draft, placed, record, new_id(), today().isoformat())
                archived.add(entry.fold)
            draft.put(name, draft.get(name).remove(placed.block))

    def _take(self, draft: Draft, item: Pending) -> None:
        document = draft.get(PENDING)
        placed = _Lines(self._read_all(document)).take(item, self.file)
        draft.put(PENDING, document.remove(placed.block))


class _Lines:
    """The lines of ``pending.md``, read once for all that was decided."""

    def __init__(self, lines: Iterable[tuple[Placed, Pending]]) -> None:
        self._by_id: dict[str, list[tuple[Placed, Pending]]] = {}
        for placed, item in lines:
            self._by_id.setdefault(item.id, []).append((placed, item))

    def take(self, item: Pending, file: str) -> Placed:
        """Return the line of a proposal, if it still is what was decided on, once."""
        same = self._by_id.get(item.id, [])
        for at, (placed, fresh) in enumerate(same):
            if _is_unchanged(fresh, item):
                del same[at]
                return placed
        raise EntryNotFoundError(item.id, f"{file} as it was when it was decided on")


class _Standing:
    """Where the memories of a draft stand, read once for all that was decided."""

    def __init__(self, draft: Draft, names: Sequence[str]) -> None:
        self._draft = draft
        self._names = [name for name in names if name not in ASIDE]
        self._found: dict[str, list[tuple[str, Placed]]] = {}
        self._is_read = False

    def lines(self, memory_id: str) -> list[tuple[str, Placed]]:
        """Return the lines of a memory, each with its file; it is about to go."""
        if not self._is_read:
            self._read()
        found = self._found.pop(memory_id, [])
        if all(placed.block in self._draft.get(name).blocks for name, placed in found):
            return found
        # Something that was accepted before it changed the line.
        self._read()
        return self._found.pop(memory_id, [])

    def _read(self) -> None:
        self._found, self._is_read = {}, True
        for name in self._names:
            for placed in placement.raw_entries(name, self._draft.get(name)):
                self._found.setdefault(entry_id(placed), []).append((name, placed))


def _is_retired(draft: Draft, memory_id: str) -> bool:
    """Whether the archive holds a memory: then it was there once, and is forgotten."""
    return any(
        memory_id in (entry_id(placed), address(placed.block.text))
        for placed in draft.get(ARCHIVE).placed()
    )


def _act(orders: Sequence[Order], done: Sequence[_Done]) -> Act:
    """Return the words for the journal: about what was carried out, not about what waits."""
    carried_out = [
        orders[at] for at, each in enumerate(done) if not isinstance(each, EngramdownError)
    ]
    by = orders[0].by
    op = "decline" if orders[0].engram is None else "accept"
    did = "declined" if op == "decline" else _SAYS.get(by, "accepted")
    one = len(carried_out) == 1
    what = f"proposal {carried_out[0].item.id}" if one else f"{len(carried_out)} proposals"
    return Act(op, by, f"{did} {what}")


def _turn_down(draft: Draft, placed: Placed, item: Pending, by: str) -> None:
    """Let the archive remember what a person declined."""
    if item.op == "forget":
        return
    # What was asked about memories that stand are no words to be kept out.
    reason = KEPT if item.op in OPERATIONS else "declined"
    record = {"kind": item.engram.kind, "was": PENDING, "reason": reason, "by": by}
    retire(draft, _for_archive(placed), record, new_id(), today().isoformat())


def _reason(values: Mapping[str, str]) -> str:
    """Return why a line waits: of one that we wrote without a reason, as it is not certain."""
    if values.get("reason") or values.get("hold") or not values.keys() >= {"id", "kind", "scope"}:
        return values.get("reason", "")
    return "" if values.get("op") else "confidence"


def _pending_id(placed: Placed) -> str:
    """Return the id of a proposal; the address of one without is that of its text, unticked."""
    meta = placed.block.meta
    text = placement.split_task(placed.block.text)[1]
    return (meta.get("id") if meta else "") or address(text)


def _engram(entry: Entry) -> tuple[Engram, str]:
    """Return what a line proposes, and what is wrong with a line that cannot be a memory."""
    try:
        return entry.engram(), ""
    except InvalidEngramError as error:
        text = entry.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        problem = str(error) if text == entry.text else "text: holds bytes that are not UTF-8"
        return Engram(text, entry.kind, entry.scope, entry.confidence, "", entry.source), problem


def _is_unchanged(fresh: Pending, item: Pending) -> bool:
    """Whether a line still says what was decided on, wherever it stands now."""
    same_tick = item.tick in ("", fresh.tick)
    return same_tick and replace(fresh, line=item.line, tick=item.tick) == item


def _metadata(item: Pending) -> Metadata:
    more = {
        "kind": item.engram.kind,
        "scope": item.engram.scope,
        "hold": item.hold,
        "op": "" if item.op == "encode" else item.op,
        "of": item.of,
        "seen": item.seen,
        "reason": "" if _is_plain(item) else item.reason,
        "replaced": item.stays,
        **dict(item.put),
    }
    return Metadata().update(placement.fields(item.engram, item.id, today().isoformat()) | more)


def _is_plain(item: Pending) -> bool:
    """Whether the reason need not be written: it follows from the rest of the line."""
    return item.op not in OPERATIONS and (bool(item.hold) or item.reason == "confidence")


def _for_archive(placed: Placed) -> Placed:
    """Return a proposal without a secret that a person typed into it, and as no proposal."""
    meta = placed.block.meta or Metadata()
    aside = {"hold": "", "seen": "", "replaced": ""}
    if meta.get("op") not in OPERATIONS:
        aside |= {"op": "", "of": ""}
    meta = meta.update(aside)
    return Document().add(redact(placed.block.text), meta).placed()[0]


def _write(draft: Draft, engram: Engram, by: str = "user") -> Filed:
    """Write what a person accepted; it is verified with that, so it is no old word of a job."""
    if by != "user":
        return file_engram(draft, engram, new_id, today().isoformat())
    engram = replace(engram, basis="verified")
    filed = file_engram(draft, engram, new_id, today().isoformat())
    if filed.added:
        return filed  # A new line says so from the beginning.
    block = _line_of(draft.get(filed.file), filed.id, engram.text)
    copies = placement.copies_of(filed.file, block.meta) if block and block.meta else []
    for name in (filed.file, *copies):
        document = draft.get(name)
        line = _line_of(document, filed.id, engram.text)
        if line is not None and line.meta is not None:
            draft.put(name, document.note(line, line.meta.update({"basis": "verified"})))
    return filed


def _line_of(document: Document, memory_id: str, text: str) -> Block | None:
    """Return the line of a memory that is known by an id of ours."""
    for block in document.same(text):
        if _has_id(block, memory_id):
            return block
    # What stands for it may say something else.
    found = (each.block for each in document.placed() if _has_id(each.block, memory_id))
    return next(found, None)


def _has_id(block: Block, memory_id: str) -> bool:
    return block.meta is not None and block.meta.get("id") == memory_id

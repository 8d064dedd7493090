"""The proposals in ``pending.md``, and what happens when a person decides on one.

A proposal is a task-list line that any editor can tick. Accepting it writes the memory and removes
the line in one step. A proposal that somebody else decided on or changed in the meantime is
refused. What is declined leaves a tombstone, so that it is not proposed again, not even reworded. A
line that cannot be understood is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, get_args

from engramdown.clock import today
from engramdown.consolidation.plan import Drop, Expire, Memory, Merge, Move, Supersede
from engramdown.consolidation.plan import Operation as OperationSettling
from engramdown.consolidation.plan_preview import merged_memory, origins
from engramdown.engram import Basis, Engram, Kind, Scope, slug
from engramdown.errors import (
    EngramdownError,
    EntryNotFoundError,
    InvalidEngramError,
    InvalidSkillError,
    SkillExistsError,
    StoreError,
)
from engramdown.gate.gate import harmless, kind_of
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
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.changeset import (
    Act,
    Draft,
    Filed,
    PlanContext,
    Revision,
    file_engram,
    new_id,
    retire,
    revise,
    standing_for,
)
from engramdown.hippocampus.entry import (
    Entry,
    Written,
    address,
    as_entry,
    entry_id,
    raw_entries,
    tombstones,
)
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import ARCHIVE, ASIDE, PENDING, kind_in_scope, title_of
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.front_matter import FrontMatter
from engramdown.markdown.metadata import KEPT, OPERATIONS, Metadata, sort_ids
from engramdown.secrets.redaction import redact
from engramdown.skills.store import SkillStore
from engramdown.skills.validation import check_description, check_label, check_text

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


# Questions about memories that stand: how a part of a plan waits for a person, and is carried out.
#
# What is accepted is done to the memories as they read when it was proposed, and to no
# others; what a person declines is remembered by what it was about, and never as words that must
# not be learned.

REASONS: Final[Mapping[type[OperationSettling], str]] = {
    Drop: "duplicate",
    Merge: "merged",
    Supersede: "replaced",
    Expire: "expired",
    Move: "",
}
"""The word of each operation for the archive."""

# Where an entry stands on a disk: no plan knows it.
_PLACE: Final = frozenset({"line", "spelled", "comments"})


def question(
    operation: OperationSettling, known: Mapping[str, Memory], why: str, hold: str
) -> Pending:
    """Return the line of ``pending.md`` that asks a person whether to do ``operation``.

    Args:
        operation: What a plan proposes.
        known: The memories of its scope by id.
        why: Why it is not simply done.
        hold: The code of why nobody is prompted about it, or ``""``.
    """
    taken = [known[each] for each in operation.ids]
    topic = operation.topic if isinstance(operation, Move) else ""
    first = taken[0]
    engram = Engram(
        _words(operation, taken),
        first.kind,
        first.scope,
        topic=topic,
        source="consolidation",
        origin=origins(taken),
    )
    return Pending(
        new_id(),
        harmless(engram),
        hold=hold,
        reason=redact(why),
        op=operation.name,
        of=",".join(sort_ids(operation.ids)),
        ts=today().isoformat(),
        stays=operation.stays,
        seen=_digest(taken),
    )


def revision(operation: OperationSettling, known: Mapping[str, Entry]) -> Revision:
    """Return what ``operation`` means for the store.

    Args:
        operation: What a plan proposes.
        known: The memories of its scope by id.
    """
    taken = tuple(known[each] for each in operation.ids)
    reason = REASONS[type(operation)]
    if isinstance(operation, Merge):
        return Revision(taken, reason, comes=entry_of(merged_memory(taken, operation.text)))
    if isinstance(operation, Move):
        return Revision(stays=taken[0], topic=slug(operation.topic))
    stays = known[operation.stays] if operation.stays else None
    learned = origins(taken) if stays and not stays.by_person else ""
    return Revision(taken, reason, stays, learned=learned)


def settle(
    folder: Draft, asked: Sequence[tuple[Pending, str]], scope: Scope, desk: PlanContext
) -> list[Filed | StoreError | None]:
    """Carry out what a person accepted, each file read once for all of it.

    Args:
        folder: The memory files.
        asked: The proposals, each with the words of a merged memory, as the person wants them.
        scope: The scope of the files.
        desk: What carrying it out needs.

    Returns:
        For each what stands now, ``None`` if something went, or why it was not carried out: the
        memories are not as they were when it was proposed.

    Raises:
        StoreError: If a memory would be gone; nothing may be written then.
    """
    ids = {each for item, _ in asked for each in (*item.of.split(","), item.stays)}
    known = _standing(folder, ids, scope, desk)
    outcomes: list[Filed | StoreError | None] = [_gone(item, known) for item, _ in asked]
    wanted = {
        at: _verified(revision(_operation(item, text), known), desk.by)
        for at, (item, text) in enumerate(asked)
        if outcomes[at] is None
    }
    for at, done in zip(wanted, revise(folder, wanted.values(), desk), strict=True):
        item, part = asked[at][0], wanted[at]
        stands = part.comes or (part.stays if item.op == "move" else None)
        if done.problem:
            outcomes[at] = _stale(item, done.problem)
        elif stands:
            outcomes[at] = Filed(done.id, stands.file, added=True, said=stands)
    return outcomes


def entry_of(memory: Memory) -> Entry:
    """Return a memory as an entry of a store."""
    if isinstance(memory, Entry):
        return memory
    values = {name: getattr(memory, name) for name in Entry._fields if name not in _PLACE}
    return Entry(**values)


def _words(operation: OperationSettling, taken: Sequence[Memory]) -> str:
    text = taken[0].text
    if isinstance(operation, Merge):
        return operation.text
    if isinstance(operation, Drop):
        return f"Remove, as `{operation.of}` says the same: {text}"
    if isinstance(operation, Supersede):
        return f"Remove, as `{operation.by}` replaces it: {text}"
    if isinstance(operation, Expire):
        return f"Remove, as it expired on {taken[0].expires}: {text}"
    return f"Move to the topic {slug(operation.topic)}: {text}"


def _operation(item: Pending, text: str) -> OperationSettling:
    ids = tuple(item.of.split(","))
    if item.op == "merge":
        return Merge(ids, text)
    if item.op == "move":
        return Move(ids[0], item.engram.topic)
    if item.op == "supersede":
        return Supersede(ids[0], item.stays)
    return Drop(ids[0], item.stays) if item.op == "drop" else Expire(ids[0])


def _gone(item: Pending, known: Mapping[str, Entry]) -> StoreError | None:
    """Return why what a proposal is about is not as it was, or ``None``."""
    ids = item.of.split(",")
    is_there = all(each in known for each in ids)
    if not is_there or _digest([known[each] for each in ids]) != item.seen:
        return _stale(item, "the memories that it is about were changed since")
    if item.stays and item.stays not in known:
        return _stale(item, f"{item.stays}, which was to stay, is not there any more")
    return None


def _verified(wanted: Revision, by: str) -> Revision:
    if wanted.comes is None:
        return wanted
    # A person has read these words: whoever is here, or who ticked what git brought.
    basis: Basis = "verified" if by == "user" else "observed"
    comes = wanted.comes._replace(basis=basis)
    return Revision(wanted.taken, wanted.reason, comes=comes)


def _standing(
    folder: Draft, ids: Iterable[str], scope: Scope, desk: PlanContext
) -> dict[str, Entry]:
    """Return the memories with these ids as they stand now; a lesson as it stands among lessons."""
    found: dict[str, Entry] = {}
    wanted = set(ids)
    for name in (each for each in desk.names if each not in ASIDE):
        for placed in raw_entries(name, folder.get(name)):
            memory_id = entry_id(placed)
            if memory_id in wanted and memory_id not in found:
                found[memory_id] = as_entry(name, scope, placed)
    return found


def _digest(taken: Iterable[Memory]) -> str:
    texts = {memory.id: memory.text for memory in taken}
    return address("\n".join(texts[each] for each in sort_ids(texts)))[1:]


def _stale(item: Pending, why: str) -> StoreError:
    return StoreError(f"{item.id} is not carried out: {why}; decline it")


# A proposed skill: how it waits for a person, and how it is written once they accept it.
#
# Nothing is written without a person's word; what is written twice, as after a crash, is
# written once; a skill that is there already is never replaced; no secret is written.

NOTE = "learned-from"
"""The key in ``metadata`` that says where a skill was learned."""


def skill_question(draft: SkillDraft, scope: Scope, *, of: str, origin: str, why: str) -> Pending:
    """Return the line of ``pending.md`` that asks a person whether to keep a skill.

    Args:
        draft: The skill.
        scope: Where it is to hold.
        of: What the procedure is known by, so that it is not proposed again.
        origin: Where it was learned.
        why: Why it is proposed.
    """
    engram = Engram(
        draft_text(draft), "lesson", scope, source="consolidation", basis="observed", origin=origin
    )
    return Pending(
        new_id(),
        harmless(engram),
        # Nobody is prompted about it; that it is said in words is what a person sees everywhere.
        hold=why,
        op="skill",
        of=of,
        ts=today().isoformat(),
    )


def write_skill(root: Path, item: Pending, engram: Engram, *, dry: bool = False) -> Written:
    """Write the skill that a person accepted, and return where it stands.

    Args:
        root: The folder of the scope.
        item: The proposal.
        engram: Its words as the person wants them.
        dry: Whether nothing is written, but for the checks.

    Raises:
        InvalidSkillError: If it is no skill as it reads now.
        SkillRefusedError: If it holds a secret.
        SkillExistsError: If there is another one of that label.
        StoreError: If it could not be written.
    """
    from engramdown.skills.library import Skills

    draft = read_draft(engram.text)
    store = SkillStore(root, engram.scope)
    skills = Skills([store])
    page = skills.drafted(draft.label, draft.description, draft.body)
    if engram.origin:
        page = page.with_mapping("metadata", {NOTE: engram.origin})
    path = store.files.folder / draft.label / "SKILL.md"
    if not dry:
        _create(store, draft.label, page)
    file = path.relative_to(root).as_posix()
    entry = Entry(item.id, engram.text, "lesson", engram.scope, file=file)
    return Written("encoded", entry)


def _create(store: SkillStore, label: str, page: FrontMatter) -> None:
    try:
        store.create(label, page)
    except SkillExistsError:
        if store.read(label).page.render() != page.render():
            raise  # Else a crash came between the skill and its proposal.


# A skill that is proposed, as the text of a line of ``pending.md`` and of what follows below it.
#
# No I/O; what is written is read again as it was; a person may change every word of it
# before they tick it, and what cannot be a skill any more says why.

_FORM: Final = re.compile(r"\s*Skill\s+`([^`\n]*)`\s*:(.*?)(?:\n[ \t]*\n(.*))?\Z", re.DOTALL)
_HOW: Final = "write `Skill `, the label in backquotes, a colon and what it does"


class SkillDraft(NamedTuple):
    """A skill that is proposed.

    Attributes:
        label: What it is to be called.
        description: What it does, and when.
        body: How it is done.
    """

    label: str
    description: str
    body: str


def draft_text(draft: SkillDraft) -> str:
    r"""Return a draft as a text.

    >>> draft_text(SkillDraft("charts", "Make charts", "1. Plot.\n"))
    'Skill `charts`: Make charts\n\n1. Plot.'
    """
    does = " ".join(draft.description.split())
    return f"Skill `{draft.label}`: {does}\n\n{draft.body.strip()}".rstrip()


def read_draft(text: str) -> SkillDraft:
    r"""Return the draft that a text is.

    Raises:
        InvalidSkillError: If it is none; the error says what is allowed.

    >>> read_draft("Skill `charts`: Make\ncharts\n\n1. Plot.\n")
    SkillDraft(label='charts', description='Make charts', body='1. Plot.\n')
    """
    found = _FORM.match(text)
    if found is None:
        raise InvalidSkillError("draft", f"is no skill; {_HOW}")
    label, does, body = found.groups()
    body = check_text("body", (body or "").strip("\n").rstrip())
    description = check_description(" ".join(does.split()))
    return SkillDraft(check_label(label.strip()), description, f"{body}\n" if body else "")

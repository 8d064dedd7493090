"""The proposals in ``pending.md``, and what happens when a person decides on one.

A proposal is a task-list line that any editor can tick. Accepting it writes the memory and removes
the line in one step. A decision about a proposal that was changed or decided on meanwhile is
refused. A declined proposal leaves a tombstone, so that it is not proposed again, not even
reworded. A line that cannot be understood is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, get_args

from engramdown import errors
from engramdown.clock import today
from engramdown.consolidation import plan
from engramdown.engram import Engram, Scope, slug
from engramdown.gate import keyed_values, pending
from engramdown.gate.gate import kind_of, without_secrets
from engramdown.gate.pending import Operation, Order, Outcome, Pending, Tick, always
from engramdown.hippocampus import changeset
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.entry import Entry, Written, address, entry_id
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import ARCHIVE, PENDING, kind_in_scope, title_of
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import KEPT, OPERATIONS, Metadata, sort_ids
from engramdown.secrets.redaction import redact
from engramdown.skills.store import SkillStore
from engramdown.skills.validation import check_description, check_label, check_text

_OPERATIONS: Final[dict[str, Operation]] = {each: each for each in get_args(Operation)}
_NAMES: Final[dict[str, plan.Name]] = {each: each for each in get_args(plan.Name)}
_TICKS: Final[dict[str, Tick]] = {"x": "x", "-": "-"}

_Done = changeset.Filed | Outcome


class FileQueue:
    """The proposals of one scope in its ``pending.md``."""

    def __init__(self, store: Hippocampus) -> None:
        """Use the files of ``store``."""
        self._store = store
        self._known: tuple[Document, list[tuple[Placed, Pending]]] = (Document(), [])
        self.file = str(store.memory / PENDING)

    def pending(self) -> list[Pending]:
        """Return the proposals, in file order."""
        return [item for _, item in self._read_all(self._store.files.document(PENDING))]

    def add(self, items: Sequence[Pending]) -> list[Pending]:
        """Append new proposals; one that waits already is returned as it is."""

        def edit(draft: changeset.Draft) -> list[Pending]:
            read = self._read_all(draft.get(PENDING))
            waiting = {pending.identity(item): item for _, item in reversed(read)}
            new = [each for each in items if each.put and pending.identity(each) not in waiting]
            self._remove_untouched(draft, {keyed_values.key_of(each.put) for each in new})
            for item in items:
                if waiting.setdefault(pending.identity(item), item) is item:
                    line = f"[ ] {item.engram.text}"
                    document = draft.get(PENDING).add(line, _metadata(item), "", title_of(PENDING))
                    draft.put(PENDING, document)
            return [waiting[pending.identity(item)] for item in items]

        added = self._store.files.change(changeset.Act("propose", items[0].engram.source), edit)
        now = {item.id: item for item in self.pending()}
        # A proposal that is gone by now was decided on by another process.
        return [now.get(item.id, item) for item in added]

    def withdraw(self, keys: Collection[tuple[str, str]]) -> None:
        """Remove values that a program put under keys, unless a person ticked or changed them."""
        if any(item.put and keyed_values.key_of(item.put) in keys for item in self.pending()):
            act = changeset.Act("propose", "llm", "took back what it had put")
            self._store.files.change(act, lambda draft: self._remove_untouched(draft, keys))

    def decide(self, orders: Sequence[Order], go_on: Callable[[], bool] = always) -> list[Outcome]:
        """Carry out decisions in one step.

        An accepted proposal is written with the engram of its order; a declined one leaves a
        tombstone.

        Args:
            orders: The decisions: all of them accept, or all of them decline.
            go_on: Called before each but the first: whether there is time for it.

        Returns:
            The outcome of each, in order, as far as there was time: what was written, ``None`` if
            nothing new was, or the error that left it waiting; :class:`EntryNotFoundError` if it
            was decided on or changed meanwhile.

        Raises:
            StoreError: If nothing could be written; all of them still wait.
        """

        def edit(draft: changeset.Draft) -> list[_Done]:
            waiting = self._by_id(draft.get(PENDING))
            standing = _Standing(draft, self._store.files.names())
            done: list[_Done] = []
            blocks: dict[int, Block] = {}
            for at, order in enumerate(orders):
                if done and not go_on():
                    break
                try:
                    with draft.whole():
                        placed = self._take(waiting, order.item)
                        done.append(self._carry_out(draft, standing, placed, order))
                        blocks[at] = placed.block
                except errors.EngramdownError as error:
                    done.append(error)
            self._settle(draft, orders, done)
            carried_out = [
                blocks[at]
                for at, each in enumerate(done)
                if not isinstance(each, errors.EngramdownError)
            ]
            draft.put(PENDING, draft.get(PENDING).without(carried_out))
            return done

        done = self._store.files.change(lambda done: _act(orders, done), edit)
        written = iter(
            self._store.read_back([each for each in done if isinstance(each, changeset.Filed)])
        )
        return [next(written) if isinstance(each, changeset.Filed) else each for each in done]

    def confirm(self, engram: Engram) -> Written:
        """Write a memory that a person accepted in the queue of the other scope."""
        act = changeset.Act("accept", "user", "accepted in the other scope")
        return self._store.written(
            self._store.files.change(act, lambda draft: _write(draft, engram))
        )

    def drop(self, item: Pending) -> None:
        """Remove a proposal that was carried out elsewhere."""

        def edit(draft: changeset.Draft) -> None:
            document = draft.get(PENDING)
            placed = self._take(self._by_id(document), item)
            draft.put(PENDING, document.remove(placed.block))

        act = changeset.Act("accept", "user", f"accepted proposal {item.id} into the other scope")
        self._store.files.change(act, edit)

    def forgot(self, entry: Entry) -> None:
        """Do nothing: the store keeps forgotten memories in ``archive.md``."""

    def answered(self) -> set[tuple[str, str]]:
        """Return the questions about memories that wait or were declined.

        Each is an operation and the ids of its memories.
        """
        found: set[tuple[str, str]] = {
            (item.op, item.of) for item in self.pending() if item.op in OPERATIONS
        }
        for placed in self._store.files.document(ARCHIVE).placed():
            values = placed.block.meta.values() if placed.block.meta else {}
            if values.get("reason") == KEPT:
                found.add((values.get("op", ""), values.get("of", "")))
        return found

    def turned_down(self) -> list[tuple[str, str]]:
        """Return the tombstones in ``archive.md``: each text with its kind."""
        found = placement.tombstones(self._store.files.document(ARCHIVE))
        blocks = (each.block for each in found)
        return [(block.text, block.meta.get("kind") if block.meta else "") for block in blocks]

    def gave_way(self, engram: Engram) -> bool:
        """Whether another memory already took the place of this one."""
        return changeset.standing_for(self._store.files.document, engram) is not None

    def _read_all(self, document: Document) -> list[tuple[Placed, Pending]]:
        """Return the proposals of a document, each with its line; a document is read once."""
        if self._known[0] is not document:
            found = ((placed, self._read(placed)) for placed in document.placed())
            self._known = (document, [(placed, item) for placed, item in found if item])
        return self._known[1]

    def _read(self, placed: Placed) -> Pending | None:
        """Read a task-list line; any other line is a note of the person."""
        tick, text = placement.split_task(placed.block.text)
        if not tick or not text.strip() or placed.block.shape != "item":
            return None
        entry = placement.as_entry(PENDING, self._store.scope, placed)._replace(text=text)
        values = placed.block.meta.values() if placed.block.meta else {}
        if not {"id", "kind"} & values.keys():
            # The person wrote this line: in a project their tick counts for the project only.
            entry = entry._replace(kind=kind_in_scope(kind_of(text), self._store.scope))
        try:
            engram, problem = entry.engram(), ""
        except errors.InvalidEngramError as error:
            readable = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            problem = str(error) if readable == text else "text: holds bytes that are not UTF-8"
            engram = Engram(readable, entry.kind, entry.scope, entry.confidence, "", entry.source)
        reason = values.get("reason", "")
        is_plain = not any(values.get(key) for key in ("reason", "hold", "op"))
        if is_plain and values.keys() >= {"id", "kind", "scope"}:
            reason = "confidence"  # We wrote it without a reason: it is not certain.
        return Pending(
            id=values.get("id") or address(text),
            engram=engram,
            hold=values.get("hold", ""),
            reason=reason,
            op=_OPERATIONS.get(values.get("op", ""), "encode"),
            of=values.get("of", ""),
            tick=_TICKS.get(tick, ""),
            ts=entry.ts,
            line=placed.line,
            problem=problem,
            stays=values.get("replaced", ""),
            seen=values.get("seen", ""),
            put=keyed_values.proposed(values),
            comments=entry.comments,
        )

    def _remove_untouched(self, draft: changeset.Draft, keys: Collection[tuple[str, str]]) -> None:
        """Remove earlier values under the same keys that nobody ticked or changed."""
        for placed, old in self._read_all(draft.get(PENDING)) if keys else ():
            is_untouched = not old.tick and old.seen == keyed_values.digest_of(old.engram.text)
            if old.put and keyed_values.key_of(old.put) in keys and is_untouched:
                draft.put(PENDING, draft.get(PENDING).remove(placed.block))

    def _by_id(self, document: Document) -> dict[str, list[tuple[Placed, Pending]]]:
        found: dict[str, list[tuple[Placed, Pending]]] = {}
        for placed, item in self._read_all(document):
            found.setdefault(item.id, []).append((placed, item))
        return found

    def _take(self, waiting: dict[str, list[tuple[Placed, Pending]]], item: Pending) -> Placed:
        """Take the line of a proposal out of ``waiting``, if it did not change since."""
        same = waiting.get(item.id, [])
        for at, (placed, fresh) in enumerate(same):
            # It may be on another line now, and ticked.
            expected = replace(fresh, line=item.line, tick=item.tick)
            if item.tick in ("", fresh.tick) and expected == item:
                del same[at]
                return placed
        raise errors.EntryNotFoundError(item.id, f"{self.file} as it was when it was decided on")

    def _carry_out(
        self, draft: changeset.Draft, standing: _Standing, placed: Placed, order: Order
    ) -> changeset.Filed | Written | None:
        """Write an accepted proposal or archive a declined one; its line stays for now."""
        item, engram = order.item, order.engram
        order.check()
        if engram is None:
            if item.op != "forget":
                _archive_declined(draft, placed, item, order.by)
            return None
        if item.problem:
            where = f"{self.file}:{item.line}"
            raise errors.StoreError(
                f"{where}: {item.problem}; mend the line in an editor, or decline it"
            )
        if item.op == "skill":
            return write_skill(self._store.root, item, engram, dry=self._store.is_dry)
        if item.op in OPERATIONS:
            return None  # These are settled together.
        place = None
        if item.put and item.op != "forget":
            place = keyed_values.proposed_place(item.put, engram, self._store.scope)
        made = keyed_values.first_made(draft, place) if place else ""
        if item.op != "encode" and item.of:
            self._retire(draft, standing, order, engram)
        if item.op == "forget":
            return None
        if place:
            return keyed_values.accepted(draft, item.put, place, engram, made)
        return _write(draft, engram, order.by)

    def _retire(
        self, draft: changeset.Draft, standing: _Standing, order: Order, engram: Engram
    ) -> None:
        """Move the memory of a proposal to the archive, from every file that has it."""
        item = order.item
        lines = standing.lines(item.of)
        if item.op == "forget" and not lines:
            retired = draft.get(ARCHIVE).placed()
            if not any(item.of in (entry_id(it), address(it.block.text)) for it in retired):
                raise errors.StoreError(
                    f"{self.file}:{item.line}: no memory with id {item.of!r} is there, so none is "
                    f"forgotten; decline {item.id}, or take the line out"
                )
        archived: set[str] = set()
        for name, placed in lines:
            entry = placement.as_entry(name, self._store.scope, placed)
            if item.op == "replace" and (entry.kind, entry.fold) == pending.kind_and_fold(engram):
                continue  # The person changed the proposal back into the memory it would replace.
            if entry.fold not in archived:  # Else it is the copy under a topic.
                reason = "forgotten" if item.op == "forget" else "replaced"
                changeset.retire(draft, placed, name, reason, order.by)
                archived.add(entry.fold)
            draft.put(name, draft.get(name).remove(placed.block))

    def _settle(self, draft: changeset.Draft, orders: Sequence[Order], done: list[_Done]) -> None:
        """Carry out accepted operations of plans, and set their outcomes in ``done``."""
        accepted = {
            at: (order.item, order.engram.text)
            for at, (order, outcome) in enumerate(zip(orders, done, strict=False))
            if outcome is None and order.item.op in OPERATIONS and order.engram
        }
        if not accepted:
            return
        names, by = self._store.files.names(), orders[0].by
        outcomes: Sequence[_Done]
        try:
            with draft.whole():
                outcomes = settle(draft, [*accepted.values()], self._store.scope, names, by)
        except errors.EngramdownError as error:
            outcomes = [error] * len(accepted)
        for at, outcome in zip(accepted, outcomes, strict=True):
            done[at] = outcome


class _Standing:
    """The lines of all memories of a draft, read once for all decisions."""

    def __init__(self, draft: changeset.Draft, names: Sequence[str]) -> None:
        self._draft = draft
        self._names = names
        self._found: changeset.Lines | None = None

    def lines(self, memory_id: str) -> list[tuple[str, Placed]]:
        """Return the lines of a memory that is about to go, each with its file."""
        known = self._read() if self._found is None else self._found
        found = known.pop(memory_id, [])
        if all(placed.block in self._draft.get(name).blocks for name, placed in found):
            return found
        # An earlier decision changed the line.
        return self._read().pop(memory_id, [])

    def _read(self) -> changeset.Lines:
        self._found = changeset.lines_in(self._draft, self._names)
        return self._found


def _act(orders: Sequence[Order], done: Sequence[_Done]) -> changeset.Act:
    """Return the words for the journal about the proposals that were carried out."""
    both = zip(orders, done, strict=False)
    ids = [order.item.id for order, each in both if not isinstance(each, errors.EngramdownError)]
    what = f"proposal {ids[0]}" if len(ids) == 1 else f"{len(ids)} proposals"
    by = orders[0].by
    if not orders[0].is_accepted:
        return changeset.Act("decline", by, f"declined {what}")
    did = "carried out a tick that came with git on" if by == "git" else "accepted"
    return changeset.Act("accept", by, f"{did} {what}")


def _archive_declined(draft: changeset.Draft, placed: Placed, item: Pending, by: str) -> None:
    """Archive a declined proposal, without secrets that the person typed into it."""
    # The words of a question about existing memories are not turned down.
    is_question = item.op in OPERATIONS
    aside = {"hold": "", "seen": "", "replaced": ""}
    if not is_question:
        aside |= {"op": "", "of": ""}
    meta = (placed.block.meta or Metadata()).update(aside)
    (archived,) = Document().add(redact(placed.block.text), meta).placed()
    reason = KEPT if is_question else "declined"
    changeset.retire(draft, archived, PENDING, reason, by, kind=item.engram.kind)


def _metadata(item: Pending) -> Metadata:
    # A reason that follows from the rest of the line is not written.
    is_plain = item.op not in OPERATIONS and (bool(item.hold) or item.reason == "confidence")
    more = {
        "kind": item.engram.kind,
        "scope": item.engram.scope,
        "hold": item.hold,
        "op": "" if item.op == "encode" else item.op,
        "of": item.of,
        "seen": item.seen,
        "reason": "" if is_plain else item.reason,
        "replaced": item.stays,
        **dict(item.put),
    }
    return Metadata().update(placement.fields(item.engram, item.id, today().isoformat()) | more)


def _write(draft: changeset.Draft, engram: Engram, by: str = "user") -> changeset.Filed:
    """Write an accepted memory; the word of a person verifies it."""
    if by != "user":
        return changeset.file_engram(draft, engram)
    filed = changeset.file_engram(draft, replace(engram, basis="verified"))
    if filed.added:
        return filed  # A new line says so from the beginning.

    def find_line(document: Document) -> Block | None:
        # The memory that took its place may say something else.
        blocks = [*document.same(engram.text), *(each.block for each in document.placed())]
        mine = (each for each in blocks if each.meta and each.meta.get("id") == filed.id)
        return next(mine, None)

    block = find_line(draft.get(filed.file))
    copies = placement.copies_of(filed.file, block.meta) if block and block.meta else []
    for name in (filed.file, *copies):
        line = find_line(draft.get(name))
        if line is not None and line.meta is not None:
            meta = line.meta.update({"basis": "verified"})
            draft.put(name, draft.get(name).note(line, meta))
    return filed


# ---- questions about existing memories ----
#
# Operations of a plan that wait for a person. An accepted one is carried out only if the memories
# still read as they did when it was proposed; a declined one is remembered by its memories, and its
# words may still be learned.

# The reason that the archive gives for each operation.
REASONS: Final = {
    "drop": "duplicate", "merge": "merged", "supersede": "replaced", "expire": "expired", "move": ""
}  # fmt: skip

_QUESTIONS: Final = {
    "drop": "Remove, as `{stays}` says the same",
    "supersede": "Remove, as `{stays}` replaces it",
    "expire": "Remove, as it expired on {expires}",
    "move": "Move to the topic ",
}


def question(operation: plan.Operation, known: Mapping[str, Entry], why: str, hold: str) -> Pending:
    """Return the line of ``pending.md`` that asks a person whether to do ``operation``.

    Args:
        operation: An operation of a plan.
        known: The memories of its scope by id.
        why: Why a person must decide.
        hold: The code of why nobody is prompted about it, or ``""``.
    """
    taken = [known[each] for each in operation.ids]
    first, topic = taken[0], operation.topic
    if operation.name == "merge":
        words = operation.text
    else:
        does = _QUESTIONS[operation.name].format(stays=operation.stays, expires=first.expires)
        words = f"{does}{slug(topic) if topic else ''}: {first.text}"
    engram = Engram(
        words, first.kind, first.scope, "medium", topic, "consolidation", origin=plan.origins(taken)
    )
    return Pending(
        changeset.new_id(),
        without_secrets(engram),
        hold=hold,
        reason=redact(why),
        op=operation.name,
        of=",".join(sort_ids(operation.ids)),
        ts=today().isoformat(),
        stays=operation.stays,
        seen=_digest(taken),
    )


def revision(operation: plan.Operation, known: Mapping[str, Entry]) -> changeset.Revision:
    """Return what ``operation`` means for the store.

    Args:
        operation: An operation of a plan.
        known: The memories of its scope by id.
    """
    taken = tuple(known[each] for each in operation.ids)
    reason = REASONS[operation.name]
    if operation.name == "merge":
        return changeset.Revision(taken, reason, comes=plan.merged_memory(taken, operation.text))
    if operation.name == "move":
        return changeset.Revision(stays=taken[0], topic=slug(operation.topic))
    stays = known[operation.stays] if operation.stays else None
    learned = plan.origins(taken) if stays and not stays.by_person else ""
    return changeset.Revision(taken, reason, stays, learned=learned)


def settle(
    folder: changeset.Draft,
    asked: Sequence[tuple[Pending, str]],
    scope: Scope,
    names: Sequence[str],
    by: str,
) -> list[changeset.Filed | errors.StoreError | None]:
    """Carry out accepted operations; each file is read once for all of them.

    Args:
        folder: The memory files.
        asked: The proposals, each with the text that the person wants for a merged memory.
        scope: The scope of the files.
        names: The names of the memory files.
        by: Who accepted it, for the archive.

    Returns:
        For each the memory that is there now, ``None`` if one was retired, or the error if its
        memories changed since it was proposed.

    Raises:
        StoreError: If a memory would be lost; nothing may be written then.
    """
    standing = _Standing(folder, names)
    ids = {each for item, _ in asked for each in (*item.of.split(","), item.stays)}
    # The line of a lesson in lessons.md counts; it comes before the copy under a topic.
    lines = {each: found[0] for each in ids if (found := standing.lines(each))}
    known = {each: placement.as_entry(name, scope, it) for each, (name, it) in lines.items()}
    outcomes: list[changeset.Filed | errors.StoreError | None] = [None] * len(asked)
    wanted: dict[int, changeset.Revision] = {}
    for at, (item, text) in enumerate(asked):
        of = item.of.split(",")
        is_there = all(each in known for each in of)
        if not is_there or _digest([known[each] for each in of]) != item.seen:
            outcomes[at] = _stale(item, "the memories that it is about were changed since")
        elif item.stays and item.stays not in known:
            outcomes[at] = _stale(item, f"{item.stays}, which was to stay, is not there any more")
        else:
            wanted[at] = _accepted_revision(item, text, known, by)
    revised = changeset.revise(folder, wanted.values(), names, by)
    for at, done in zip(wanted, revised, strict=True):
        item, part = asked[at][0], wanted[at]
        stands = part.comes or (part.stays if item.op == "move" else None)
        if done.problem:
            outcomes[at] = _stale(item, done.problem)
        elif stands:
            outcomes[at] = changeset.Filed(done.id, stands.file, added=True, said=stands)
    return outcomes


def _accepted_revision(
    item: Pending, text: str, known: Mapping[str, Entry], by: str
) -> changeset.Revision:
    name, ids = _NAMES[item.op], item.of.split(",")
    asked = plan.operation_of(name, ids, item.stays, text, item.engram.topic)
    wanted = revision(asked, known)
    if wanted.comes is None:
        return wanted
    # A person has read these words: the one here, or somebody who ticked them elsewhere.
    comes = wanted.comes._replace(basis="verified" if by == "user" else "observed")
    return changeset.Revision(wanted.taken, wanted.reason, comes=comes)


def _digest(taken: Iterable[Entry]) -> str:
    texts = {memory.id: memory.text for memory in taken}
    return address("\n".join(texts[each] for each in sort_ids(texts)))[1:]


def _stale(item: Pending, why: str) -> errors.StoreError:
    return errors.StoreError(f"{item.id} is not carried out: {why}; decline it")


# ---- proposed skills ----
#
# A proposed skill is the text of a line of ``pending.md`` and of the lines below it. A person may
# change every word of it before they tick it. Writing it twice, as after a crash, makes one skill;
# an existing skill is never replaced.

_FORM: Final = re.compile(r"\s*Skill\s+`([^`\n]*)`\s*:(.*?)(?:\n[ \t]*\n(.*))?\Z", re.DOTALL)
_HOW: Final = "write `Skill `, the label in backquotes, a colon and what it does"

# The key in ``metadata`` that says where a skill was learned.
NOTE = "learned-from"


class SkillDraft(NamedTuple):
    """A skill that is proposed.

    Attributes:
        label: Its label.
        description: What it does, and when.
        body: The procedure.
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
    r"""Return the draft that a text holds.

    Raises:
        InvalidSkillError: If it holds none; the error says what is allowed.

    >>> read_draft("Skill `charts`: Make\ncharts\n\n1. Plot.\n")
    SkillDraft(label='charts', description='Make charts', body='1. Plot.\n')
    """
    found = _FORM.match(text)
    if found is None:
        raise errors.InvalidSkillError("draft", f"is no skill; {_HOW}")
    label, does, body = found.groups()
    body = check_text("body", (body or "").strip("\n").rstrip())
    description = check_description(" ".join(does.split()))
    return SkillDraft(check_label(label.strip()), description, f"{body}\n" if body else "")


def skill_question(draft: SkillDraft, scope: Scope, *, of: str, origin: str, why: str) -> Pending:
    """Return the line of ``pending.md`` that asks a person whether to keep a skill.

    Args:
        draft: The skill.
        scope: Its scope.
        of: The key of the procedure, so that it is not proposed again.
        origin: Where it was learned.
        why: Why it is proposed.
    """
    engram = Engram(
        draft_text(draft), "lesson", scope, source="consolidation", basis="observed", origin=origin
    )
    # A held proposal prompts nobody, and its hold is shown to a person as it is.
    ts = today().isoformat()
    return Pending(changeset.new_id(), without_secrets(engram), hold=why, op="skill", of=of, ts=ts)


def write_skill(root: Path, item: Pending, engram: Engram, *, dry: bool = False) -> Written:
    """Write a skill that a person accepted, and return its place.

    Args:
        root: The folder of the scope.
        item: The proposal.
        engram: Its words as the person wants them.
        dry: Whether to check only, and write nothing.

    Raises:
        InvalidSkillError: If its text is not a skill any more.
        SkillRefusedError: If it holds a secret.
        SkillExistsError: If another skill has that label.
        StoreError: If it could not be written.
    """
    from engramdown.skills.library import Skills

    draft, store = read_draft(engram.text), SkillStore(root, engram.scope)
    page = Skills([store]).drafted(draft.label, draft.description, draft.body)
    if engram.origin:
        page = page.with_mapping("metadata", {NOTE: engram.origin})
    try:
        if not dry:
            store.create(draft.label, page)
    except errors.SkillExistsError:
        # A crash may have come between the skill and its proposal.
        if store.read(draft.label).page.render() != page.render():
            raise
    path = store.folder / draft.label / "SKILL.md"
    file = path.relative_to(root).as_posix()
    return Written("encoded", Entry(item.id, engram.text, "lesson", engram.scope, file=file))

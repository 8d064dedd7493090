"""One step on the memory files before it is written: the draft, and every change made to it.

Nothing here reads or writes a file. A draft sees the files as the step leaves them; adding,
retiring, restoring and carrying out a plan are functions over a draft:

- Adding what is known adds no line; it may strengthen the metadata, never up to *verified*.
- What is retired is in ``archive.md`` first, with the reason, who did it and what replaces it.
- A memory that is not as a plan saw it is left as it is, with its part of the plan, and reported.
- What comes back is there once, where it was.

What a step did to each entry follows from the documents, at a cost that grows with what changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from engramdown import engram as words
from engramdown import kinds
from engramdown.clock import moment, today
from engramdown.engram import RULE_KINDS, Engram, Kind, Scope, fact_key, fold, pointers, slug
from engramdown.errors import InvalidEngramError, StoreError
from engramdown.hippocampus import entry as entries
from engramdown.hippocampus.entry import Entry, address, as_entry, entry_id, raw_entries
from engramdown.hippocampus.history import Change, Part, Step, common
from engramdown.kinds import ARCHIVE, LESSONS, PROFILE, file_of, is_of_lessons, topic_file, topic_of
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import KEPT, Metadata, is_address


def new_id() -> str:
    """Return a random id: eight characters of Crockford base32."""
    return "".join(entries.CROCKFORD[byte & 31] for byte in os.urandom(8))


class Act(NamedTuple):
    """Who does what, and why: the words for the journal.

    Attributes:
        op: ``encode``, ``forget``, ``update``, …
        by: ``user``, ``llm``, ``consolidation``, ``person`` or ``engramdown``.
        why: The reason in words; may be empty.
        of: The step that is undone, or ``""``.
    """

    op: str
    by: str
    why: str = ""
    of: str = ""


class FileChange(NamedTuple):
    """What a step of a dry run would do to a file.

    Attributes:
        path: The file.
        before: Its text now.
        after: Its text then.
    """

    path: Path
    before: str
    after: str


class OutOfStepError(Exception):
    """A file is not as the journal says: a person saved it.

    Attributes:
        name: The file.
    """

    def __init__(self, name: str) -> None:
        """Name the file."""
        super().__init__(name)
        self.name = name


class Slot:
    """One file in a draft.

    Attributes:
        before: The text that the step starts from, or ``None`` if the file is missing.
        disk: What the disk holds; usually the bytes of ``before``.
        document: ``before``, read.
        after: What the step makes of it.
        unmarked: What the disk holds if ``before`` marks as verified what a person changed;
            ``None`` if it marks nothing.
        marks: What is yet to be marked after the step.
    """

    def __init__(self, before: str | None, disk: bytes | None, document: Document) -> None:
        """Begin with no change."""
        self.before = before
        self.disk = disk
        self.document = self.after = document
        self.unmarked: Document | None = None
        self.marks: tuple[str, ...] = ()

    def marked(self, marks: tuple[str, ...]) -> Slot:
        """Return a slot that starts from this one with ``marks`` in it, as far as they fit."""
        document, left = verify(self.document, marks)
        slot = self
        if document is not self.document:
            slot = Slot(document.render(), self.disk, document)
            slot.unmarked = self.document
        slot.marks = left
        return slot

    def copy(self) -> Slot:
        """Return a slot that can change without this one."""
        other = Slot(self.before, self.disk, self.document)
        other.after = self.after
        return other

    @property
    def is_dirty(self) -> bool:
        """Whether the disk is to hold something else."""
        text = None if self.before is None else self.before.encode("utf-8", "surrogateescape")
        return self.after is not self.document or text != self.disk


class Draft:
    """The memory files as one step sees and changes them; nothing is written until it is done.

    Attributes:
        new_id: Returns the id of a new line.
        day: The date of the step, ``YYYY-MM-DD``.
    """

    def __init__(
        self, load: Callable[[str], Slot], new_id: Callable[[], str] = new_id, day: str = ""
    ) -> None:
        """Read files through ``load`` when they are asked for; the day is today unless given."""
        self.new_id = new_id
        self.day = day or today().isoformat()
        self._load = load
        self._slots: dict[str, Slot] = {}
        # The files that changed, in the order of first change.
        self._order: dict[str, None] = {}
        self._before: dict[str, Document] | None = None

    def get(self, name: str) -> Document:
        """Return the document called ``name`` as it is in this step."""
        return self._slot(name).after

    def put(self, name: str, document: Document) -> None:
        """Set the document called ``name``; files are written in the order of first change."""
        slot = self._slot(name)
        if document is not slot.after:
            self._order.setdefault(name)
            if self._before is not None:
                self._before.setdefault(name, slot.after)
        slot.after = document

    def add(self, name: str, text: str, meta: Metadata, section: str = "") -> None:
        """Add an entry to the document called ``name``, which gets its title if it is new."""
        self.put(name, self.get(name).add(text, meta, section, kinds.title_of(name)))

    def remove(self, name: str, block: Block) -> None:
        """Take an entry out of the document called ``name``."""
        self.put(name, self.get(name).remove(block))

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Take back what a block changed if it raises: of several acts one may fail alone."""
        self._before = {}
        known = len(self._order)
        try:
            yield
        except BaseException:
            for name, document in self._before.items():
                self._slots[name].after = document
            self._order = dict.fromkeys(list(self._order)[:known])
            raise
        finally:
            self._before = None

    def preset(self, name: str, slot: Slot) -> None:
        """Set what ``name`` reads as and what the disk holds instead."""
        self._slots[name] = slot
        self._order.setdefault(name)

    def marks(self, name: str) -> tuple[str, ...]:
        """Return what is yet to be marked as verified in the file called ``name``."""
        return self._slot(name).marks

    def changed(self) -> list[tuple[str, Slot]]:
        """Return the files that the disk is to hold otherwise, in the order of writing."""
        slots = ((name, self._slots[name]) for name in self._order)
        return [(name, slot) for name, slot in slots if slot.is_dirty]

    def _slot(self, name: str) -> Slot:
        if name not in self._slots:
            self._slots[name] = self._load(name)
        return self._slots[name]


def verified_by(marks: Collection[str], entry_id: str, text: str) -> bool:
    """Whether one of ``marks`` says that a person made an entry say ``text``."""
    return bool(marks) and entry_id + address(text) in marks


def verify(document: Document, marks: Sequence[str]) -> tuple[Document, tuple[str, ...]]:
    """Return a document in which what a person changed is marked as verified, and what is left.

    What is not there, or says something else, is left: git may bring it back.
    """
    wanted = set(marks)
    for placed in document.placed() if wanted else ():
        mark = entry_id(placed) + address(placed.text)
        meta = placed.block.meta
        if mark in wanted and meta is not None:
            wanted.discard(mark)
            if meta.get("basis") != "verified":
                document = document.note(placed.block, meta.update({"basis": "verified"}))
    return document, tuple(mark for mark in marks if mark in wanted)


def entry_changes(file: str, before: Document, after: Document) -> Iterator[Change]:
    """Yield what happened to each entry; blocks that both documents share are skipped unread."""
    # Imported here, as in all that is loaded to read: only a step that is written compares.
    from engramdown.markdown.merge import compare

    old, new = before.blocks, after.blocks
    # Blocks are equal only to themselves.
    start = common(old, new)
    end = common(old[start:][::-1], new[start:][::-1])
    changes = compare(Document(old[start : len(old) - end]), Document(new[start : len(new) - end]))
    for a, b in changes.kept:
        if a.block.raw != b.block.raw:
            yield Change(entry_id(b), file, a.block.raw, b.block.raw)
    standing = before.placed() if changes.removed else []
    sections = {id(placed.block): placed.kind or placed.heading for placed in standing}
    for placed in changes.removed:
        section = sections[id(placed.block)]
        yield Change(entry_id(placed), file, placed.block.raw, None, section)
    for placed in changes.added:
        yield Change(entry_id(placed), file, None, placed.block.raw)


def new_step(act: Act, parts: tuple[Part, ...], changes: tuple[Change, ...]) -> Step:
    """Return the step that ``act`` names, as of now."""
    why = act.why.encode("utf-8", "replace").decode()
    return Step(new_id(), moment(), act.by, act.op, why, parts, changes, act.of)


class Filed(NamedTuple):
    """Where an engram went.

    Attributes:
        id: The id of the entry, or the address of one that a person wrote.
        file: The file that holds it.
        added: Whether a line was added; otherwise it was known.
        said: What was filed.
    """

    id: str
    file: str
    added: bool
    said: Engram | Entry


def retire(
    draft: Draft, placed: Placed, was: str, reason: str, by: str, *, kind: str = "", heir: str = ""
) -> None:
    """Copy an entry to ``archive.md``.

    Args:
        draft: The memory files.
        placed: The entry.
        was: The file that it was in.
        reason: Why it is retired.
        by: Who retires it.
        kind: Its kind, if that is not the one that its place says.
        heir: The id of the memory that replaces it, if any.
    """
    from engramdown.secrets.redaction import redact

    is_proposal = was == kinds.PENDING
    # Under the headings of the format, its kind says where it was.
    own = "" if placed.kind or is_proposal else redact(placed.heading)
    kind = kind or kinds.kind_in(was, placed.kind, placed.metadata.get("kind"))
    values = {"kind": kind, "was": was, "reason": reason, "by": by, "section": own}
    values |= {"archived": draft.day, **({"replaced": heir} if heir else {})}
    if not placed.id:
        # Written by a person: the archive needs a name for it, and remembers that it had none.
        values |= {"id": draft.new_id(), "hand": "yes"}
    text = entries.split_task(placed.text)[1] if is_proposal else placed.text
    # The archive is for git, and a secret that a person took out of a file is not.
    draft.add(ARCHIVE, redact(text), placed.metadata.update(values))


def older_fact(draft: Draft, text: str) -> Placed | None:
    """Return the fact in the profile that has the key of ``text``, if it has one."""
    key = fact_key(text)
    document = draft.get(PROFILE)
    for block in document.blocks if key else ():
        if block.shape in ("item", "paragraph") and fact_key(block.text) == key:
            # The place is worked out for this fact alone, not for all of them.
            return document.at(block)
    return None


def make_way(draft: Draft, text: str, by: str) -> None:
    """Move the fact that has the key of ``text`` to ``archive.md``, if there is one."""
    older = older_fact(draft, text)
    if older is not None:
        retire(draft, older, PROFILE, "replaced", by)
        draft.remove(PROFILE, older.block)


def lift_tombstones(draft: Draft, text: str, kind: str) -> None:
    """What is remembered again after all, as the same kind, is not kept out any longer."""
    graves = entries.tombstones_of(draft.get(ARCHIVE), text)
    same = [grave for grave in graves if grave.value("kind") in (kind, "")]
    draft.put(ARCHIVE, draft.get(ARCHIVE).without(same))


def twin(draft: Draft, file: str, text: str, kind: Kind) -> Placed | None:
    """Return the memory of one file that says the same, under the same rule kind."""
    document = draft.get(file)
    for block in document.same(text):
        placed = document.at(block)
        same_kind = file != kinds.RULES or (placed.kind or "always") == kind
        if same_kind and entries.is_memory(file, placed):
            return placed
    return None


def file_engram(draft: Draft, engram: Engram) -> Filed:
    """Write a memory into the file of its kind, and into the one of its topic."""
    for file in _files(engram):
        known = twin(draft, file, engram.text, engram.kind)
        if known is not None:
            filed = _strengthen(draft, file, known, engram)
            break
    else:
        stands = standing_for(draft.get, engram)
        if stands is not None:
            # It gave way to this before, which gains nothing by it: these are not its words.
            name, placed = stands
            return Filed(entry_id(placed), name, added=False, said=engram)
        filed = _add(draft, engram)
    lift_tombstones(draft, engram.text, engram.kind)
    return filed


def drop_questions(draft: Draft, engrams: Iterable[Engram]) -> None:
    """Remove proposals of the same words that nobody ticked: whether to write them is answered."""
    for engram in engrams:
        # A fact with a key has just taken the place of the one that the proposal would replace.
        is_fact = engram.kind == "profile" and fact_key(engram.text)
        for block in draft.get(kinds.PENDING).same(f"[ ] {engram.text}"):
            values = block.meta.values() if block.meta else {}
            is_plain = values.get("op", "") in ("", "replace" if is_fact else "")
            if values.get("kind") == engram.kind and is_plain and "key" not in values:
                draft.put(kinds.PENDING, draft.get(kinds.PENDING).remove(block))


def _add(draft: Draft, engram: Engram) -> Filed:
    file, entry_id = file_of(engram.kind), draft.new_id()
    meta = Metadata().update(entries.fields(engram, entry_id, draft.day))
    replaced = older_fact(draft, engram.text) if file == PROFILE else None
    if replaced is not None:
        retire(draft, replaced, PROFILE, "replaced", engram.source, heir=entry_id)
        draft.put(file, draft.get(file).replace(replaced.block, engram.text, meta))
    else:
        draft.add(file, engram.text, meta, engram.kind if engram.kind in RULE_KINDS else "")
    _file_topic(draft, file, engram, meta)
    return Filed(entry_id, file, added=True, said=engram)


def standing_for(get: Callable[[str], Document], engram: Engram) -> tuple[str, Placed] | None:
    """Return what took the place of a memory that comes again without news, and its file.

    Args:
        get: Returns the document of a name.
        engram: The memory that comes again.
    """
    key = fact_key(engram.text) if engram.kind == "profile" else ""
    for memory_id in entries.successors(get(ARCHIVE), engram):
        for name in _files(engram):
            for placed in raw_entries(name, get(name)):
                has_key = key and fact_key(placed.text) == key
                if has_key or (memory_id and entry_id(placed) == memory_id):
                    return name, placed
    return None


def _files(engram: Engram) -> list[str]:
    """Return the files in which a memory may stand."""
    file = file_of(engram.kind)
    return [file, topic_file(engram.topic)] if file == LESSONS and engram.topic else [file]


def _strengthen(draft: Draft, file: str, placed: Placed, engram: Engram) -> Filed:
    """Let what is known already gain from hearing it again: better source, never *verified*."""
    if not placed.id:
        return Filed(address(placed.text), file, added=False, said=engram)
    entry, values = as_entry(file, engram.scope, placed), dict[str, str]()
    sources, confidences = words.SOURCES.index, words.CONFIDENCES.index
    if sources(engram.source) < sources(entry.source):
        values["source"] = engram.source
        if engram.source == "user" and entry.basis in ("inferred", "observed"):
            values["basis"] = "" if engram.basis in ("told", "verified") else engram.basis
    if confidences(engram.confidence) < confidences(entry.confidence):
        values["confidence"] = engram.confidence
    if engram.topic and not entry.topic:
        values["topic"] = slug(engram.topic)
    if engram.cites:
        values["cites"] = engram.cites  # Somebody looked again.
    better = placed.metadata.update(values)
    if values:
        draft.put(file, draft.get(file).note(placed.block, better))
    _file_topic(draft, file, engram, better)
    return Filed(entry.id, file, added=False, said=engram)


def _file_topic(draft: Draft, file: str, memory: Engram | Entry, meta: Metadata) -> None:
    """File a lesson under its topic too, with the same id."""
    name = topic_file(memory.topic) if file == LESSONS and memory.topic else ""
    if name and not draft.get(name).same(memory.text):
        draft.add(name, memory.text, meta)


class Revision(NamedTuple):
    """One part of a plan.

    Attributes:
        taken: The memories that go, as the plan saw them.
        reason: The word for the archive: ``duplicate``, ``merged``, ``replaced`` or ``expired``.
        stays: The memory that stays for them, or that moves, as the plan saw it; or ``None``.
        comes: The memory that comes in the place of the first that goes, no id yet; or ``None``.
        learned: Pointers that the memory that stays gets in addition, with commas between.
        topic: The slug of the topic to which the memory that stays moves, or ``""``.
    """

    taken: tuple[Entry, ...] = ()
    reason: str = ""
    stays: Entry | None = None
    comes: Entry | None = None
    learned: str = ""
    topic: str = ""

    @property
    def named(self) -> tuple[Entry, ...]:
        """The memories that it is about, as the plan saw them."""
        return (*self.taken, self.stays) if self.stays else self.taken


class Revised(NamedTuple):
    """What became of one part of a plan.

    Attributes:
        revision: The part.
        id: The memory that replaces what went, or that moved; or ``""``.
        problem: Why it was passed over, or ``""`` if it was carried out.
    """

    revision: Revision
    id: str = ""
    problem: str = ""


# The lines of memories by their ids, each with its file.
Lines = dict[str, list[tuple[str, Placed]]]


def revise(
    draft: Draft, revisions: Iterable[Revision], names: Sequence[str], by: str
) -> list[Revised]:
    """Carry out what still fits, in order, and say what does not and why.

    Args:
        draft: The memory files.
        revisions: The parts of the plan.
        names: The names of the memory files.
        by: Who does it, for the archive.

    Raises:
        StoreError: If a memory would be gone; nothing may be written then.
    """
    # Imported here, as in :func:`retire`: it is not needed to read.
    from engramdown.secrets.redaction import redact

    parts, before = list(revisions), lines_in(draft, names)
    # All are looked at before any is carried out, and what stays is noted behind all that goes:
    # so a memory can stay for several.
    problems = [_problem(draft, each, before, by) for each in parts]
    done: list[Revised] = []
    gone: dict[str, Entry] = {}
    needed: set[str] = set()
    for each, problem in zip(parts, problems, strict=True):
        taken = {entry.id: entry for entry in each.taken}
        named = {entry.id for entry in each.named}
        if not problem and (gone.keys() & named or needed & taken.keys()):
            problem = "another part of the plan took it, or needs it"  # noqa: PLW2901 - the first reason counts
        if problem:
            done.append(Revised(each, problem=problem))
            continue
        done.append(Revised(each, _replace(draft, each, before, by)))
        gone |= taken
        needed |= named
    _note_what_stays(draft, [each.revision for each in done if not each.problem], before)
    # Everything is where it was, or in the archive.
    archived = {fold(placed.text) for placed in raw_entries(ARCHIVE, draft.get(ARCHIVE))}
    kept = {each.id for each in gone.values() if fold(redact(each.text)) in archived}
    lost = sorted(before.keys() - lines_in(draft, names).keys() - kept)
    if lost:
        raise StoreError(f"a plan would lose {', '.join(lost)}; nothing was written")
    return done


def lines_in(draft: Draft, names: Iterable[str]) -> Lines:
    """Return the lines of all memories by id."""
    lines: Lines = {}
    for name in names:
        for placed in raw_entries(name, draft.get(name)) if name not in kinds.ASIDE else ():
            lines.setdefault(entry_id(placed), []).append((name, placed))
    return lines


def _lines_of(entry: Entry, lines: Lines) -> list[tuple[str, Placed]]:
    """Return the lines that hold a memory: in its file, and its copies under topics.

    A person's own line has no copies.
    """
    has_copies = is_of_lessons(entry.file) and not is_address(entry.id)
    return [
        (file, placed)
        for file, placed in lines.get(entry.id, ())
        if file == entry.file or (has_copies and is_of_lessons(file))
    ]


def _problem(draft: Draft, revision: Revision, lines: Lines, by: str) -> str:
    """Return why a part of a plan no longer fits, or ``""``."""
    problems = (_changed(_lines_of(seen, lines), seen) for seen in revision.named)
    problem, comes = next(filter(None, problems), ""), revision.comes
    if problem or comes is None:
        return problem
    # Only who wrote them, or reads them now, may bring words back that were turned down.
    if by != "user" and entries.tombstones_of(draft.get(ARCHIVE), comes.text):
        return "its words were turned down"
    try:
        comes.engram()
    except InvalidEngramError as error:
        return str(error)
    known = twin(draft, comes.file, comes.text, comes.kind)
    is_news = known is None or entry_id(known) in {each.id for each in revision.taken}
    return "" if known is None or is_news else f"{entry_id(known)} says it by now"


def _changed(lines: Sequence[tuple[str, Placed]], seen: Entry) -> str:
    """Return in what a memory is not as it was seen: gone, other words, other metadata."""
    here = [placed for file, placed in lines if file == seen.file]
    if not here:
        return f"{seen.id} is not there any more"
    if len(here) > 1:
        return f"{seen.id} is there twice in {seen.file}"
    # Where it is in its file does not matter.
    now = as_entry(seen.file, seen.scope, here[0]._replace(line=seen.line))
    now = now._replace(spelled=seen.spelled)  # USER.md is profile.md, whoever looked.
    is_same = now == seen and all(placed.text == seen.text for _, placed in lines)
    return "" if is_same else f"{seen.id} was changed meanwhile"


def _replace(draft: Draft, revision: Revision, lines: Lines, by: str) -> str:
    """Retire memories and write another one; return the id of the one that replaces them."""
    comes, stays = revision.comes, revision.stays
    new = draft.new_id() if comes else stays.id if stays else ""
    gone: list[tuple[str, Placed]] = []
    for entry in revision.taken:
        own_lines = _lines_of(entry, lines)
        (own,) = (placed for file, placed in own_lines if file == entry.file)
        retire(draft, own, entry.file, revision.reason, by, heir=new)
        gone += own_lines
    if not comes:
        for file, placed in gone:
            draft.remove(file, placed.block)
        return new
    # It comes in the place of the first line that goes, in its file and its topic's.
    values = entries.fields(comes.engram(), new, comes.ts or draft.day)
    meta = Metadata().update(values | ({"pin": "yes"} if comes.pin else {}))
    under = topic_file(comes.topic) if comes.topic and is_of_lessons(comes.file) else comes.file
    for name in dict.fromkeys(file for file, _ in gone):
        blocks = [placed.block for file, placed in gone if file == name]
        first = min(blocks, key=draft.get(name).blocks.index)
        for block in blocks:
            if block is not first:
                draft.remove(name, block)
        if name in (comes.file, under):
            draft.put(name, draft.get(name).replace(first, comes.text, meta))
        else:
            draft.remove(name, first)
    if comes.file == LESSONS and not draft.get(under).same(comes.text):
        draft.add(under, comes.text, meta)
    return new


def _note_what_stays(draft: Draft, parts: Sequence[Revision], lines: Lines) -> None:
    """Let what stays keep the pointers of what went, and stand under its new topic."""
    notes: dict[str, tuple[Entry, str, str]] = {}
    for each in parts:
        if each.stays:
            _, learned, topic = notes.get(each.stays.id, (each.stays, "", ""))
            learned = pointers(learned, each.learned)
            notes[each.stays.id] = each.stays, learned, each.topic or topic
    for stays, learned, topic in notes.values():
        own_lines = _lines_of(stays, lines)
        for file, placed in own_lines:
            better = _noted(placed.metadata, learned, topic)
            if topic and topic_of(file):
                draft.remove(file, placed.block)
            elif better != placed.metadata:
                draft.put(file, draft.get(file).note(placed.block, better))
        if topic and not is_address(stays.id):
            better = _noted(own_lines[0][1].metadata, learned, topic)
            _file_topic(draft, LESSONS, stays._replace(topic=topic), better)


def _noted(meta: Metadata, learned: str, topic: str) -> Metadata:
    """Return the metadata of what stays for others; a person's own line gets no pointers."""
    values = {"topic": topic} if topic else {}
    if learned and meta.get("id"):
        values["from"] = pointers(meta.get("from"), learned)
    return meta.update(values)


# What an entry says only while it is in the archive.
_RECORD: Final = ("kind", "scope", "was", "section", "reason", "by", "replaced", "archived", "hand")


def retired(archive: Document, scope: Scope) -> list[entries.Archived]:
    """Return what was retired, the oldest first."""
    records = []
    for placed in _memories(archive):
        values = placed.metadata.values()
        record = (values.get(key, "") for key in ("was", "reason", "by", "archived", "replaced"))
        records.append(entries.Archived(as_entry(ARCHIVE, scope, placed), *record))
    return records


def pick(archive: Document, scope: Scope, prefix: str) -> Placed:
    """Return the retired memory whose id begins with ``prefix``.

    Raises:
        EntryNotFoundError: If there is none.
        AmbiguousIdError: If there are several.
    """
    placed = _memories(archive)
    candidates = [as_entry(ARCHIVE, scope, each) for each in placed]
    # Of a memory that was retired more than once, the last time counts.
    name = entries.retired_name(prefix, candidates)
    latest = list({name(entry): entry for entry in candidates}.values())
    return placed[candidates.index(entries.by_prefix(prefix, latest, name, "archive.md"))]


def _memories(archive: Document) -> list[Placed]:
    """Return the entries of the archive but for questions that a person answered with no."""
    found = raw_entries(ARCHIVE, archive)
    return [placed for placed in found if placed.metadata.get("reason") != KEPT]


def unretire(draft: Draft, placed: Placed) -> Filed:
    """Bring an entry of ``archive.md`` back to the file that it was in."""
    gone, record = as_entry(ARCHIVE, "project", placed), placed.metadata.get
    was = record("was")
    file = was if topic_of(was) and kinds.is_name(was) else file_of(gone.kind)
    out = dict.fromkeys((*_RECORD, "id") if record("hand") else _RECORD, "")
    clean = placed.metadata.update(out)
    standing = twin(draft, file, gone.text, gone.kind)
    # A duplicate that a plan took was beside what replaced it, and is so again.
    beside = standing is not None and entry_id(standing) == record("replaced")
    standing = None if beside else standing
    older = older_fact(draft, gone.text) if file == PROFILE and standing is None else None
    if older is not None:
        draft.put(file, draft.get(file).replace(older.block, gone.text, clean))
    for name in (file, *(entries.copies_of(file, clean) if file == LESSONS else ())):
        if (beside and older is None) or twin(draft, name, gone.text, gone.kind) is None:
            # A section of a person's own, if it is still there: a rule in it is an *always* rule.
            own = record("section") if gone.kind not in ("never", "when") else ""
            kind = gone.kind if gone.kind in RULE_KINDS else ""
            section = own if own and draft.get(name).has_section(own) else kind
            draft.add(name, gone.text, clean, section)
    # Before anything is added to the archive: a last line without an end would be another one then.
    draft.remove(ARCHIVE, placed.block)
    if older is not None:
        retire(draft, older, PROFILE, "replaced", "user")
    if standing:
        entry = as_entry(file, "project", standing)
        return Filed(entry_id(standing), file, added=False, said=entry)
    return Filed(clean.get("id") or address(gone.text), file, added=True, said=gone)

"""One scope's memory: :class:`Hippocampus` in markdown files, :class:`Store` in any other place.

What a method acknowledged is on the disk and is found by the next read, from any
process; reading takes no lock; a store writes what it is told and never judges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar, runtime_checkable

from engramdown import kinds
from engramdown.engram import (
    KINDS,
    RULE_KINDS,
    SCOPES,
    Confidence,
    Engram,
    Kind,
    Scope,
    Source,
    fact_key,
)
from engramdown.errors import ChangedError, InvalidEngramError, StoreError
from engramdown.hippocampus import changeset, undo
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.changeset import Act, Draft, FileChange, Filed, Revised, revise
from engramdown.hippocampus.entry import (
    Archived,
    Entry,
    Written,
    address,
    as_entry,
    entry_id,
    raw_entries,
)
from engramdown.hippocampus.files import MemoryFiles
from engramdown.hippocampus.history import Change, Step, versions
from engramdown.hippocampus.undo import Candidate
from engramdown.kinds import ARCHIVE, ASIDE, FILES, LESSONS, PROFILE, RULES, SOUL, topic_of
from engramdown.markdown.blocks import Block, entry_block
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.metadata import current_id, is_address
from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import Disk
from engramdown.tokens import estimate_tokens

# What a line costs in a prompt beyond its text: the bullet and the line end.
_LINE_TOKENS = 1


_Read = tuple[Document, str, Sequence[str], dict[Block, Entry]]


class Store:
    """One scope's memory over any :class:`engramdown.hippocampus.store.Files`.

    Attributes:
        scope: ``project`` or ``global``.
        files: What it reads and changes.
        is_dry: Whether nothing is written from now on.
    """

    def __init__(self, files: Files, scope: Scope = "project") -> None:
        """Keep memory in ``files``; ``scope`` is what the entries say about where they hold."""
        if scope not in SCOPES:
            raise InvalidEngramError.not_one_of("scope", scope, SCOPES)
        self.scope: Scope = scope
        self.files = files
        self.is_dry = False
        # What was read of each file, as long as it is the same.
        self._read: dict[str, _Read] = {}

    def recall_identity(self) -> list[Entry]:
        """Return the facts about the user, in file order."""
        return self._entries_of(PROFILE)

    def recall_rules(self) -> list[Entry]:
        """Return the *always*, *never* and *when* rules, in file order."""
        return self._entries_of(RULES)

    def recall_lessons(self, token_budget: int | None = None) -> list[Entry]:
        """Return the newest lessons that fit, in file order; one that does not hides none."""
        lessons = self._entries_of(LESSONS)
        if token_budget is None:
            return lessons
        fitting, left = [], token_budget
        for lesson in reversed(lessons):
            cost = estimate_tokens(lesson.text) + _LINE_TOKENS
            if cost <= left:
                fitting.append(lesson)
                left -= cost
        return fitting[::-1]

    def recall_topic(self, slug: str) -> list[Entry]:
        """Return the lessons of one topic, in file order; any words that have this slug will do.

        Raises:
            InvalidEngramError: If ``slug`` is a path or otherwise no topic.
        """
        name = kinds.topic_file(slug)
        entries = self._entries_of(name)
        known = {entry.id for entry in entries} | {entry.fold for entry in entries}
        wanted = topic_of(name)
        for entry in self._entries_of(LESSONS):
            if entry.topic == wanted and known.isdisjoint((entry.id, entry.fold)):
                entries.append(entry)
        return entries

    def recall_scratchpad_wisdom(self) -> list[Entry]:
        """Return the *when* rules and lessons that are about scratchpads."""
        rules = [entry for entry in self.recall_rules() if entry.kind == "when"]
        entries = [*rules, *self.recall_lessons()]
        return [each for each in entries if "scratchpad" in f"{each.topic} {each.text}".casefold()]

    def encode_rule(
        self, text: str, kind: Kind, confidence: Confidence = "medium", source: Source = "llm"
    ) -> Entry:
        """Write a rule and return it as it is in the store.

        Raises:
            InvalidEngramError: If a value is not allowed.
            StoreError: If it could not be written; memory is as it was before.
        """
        if kind not in RULE_KINDS:
            raise InvalidEngramError.not_one_of("kind", kind, RULE_KINDS)
        engram = Engram(text, kind, self.scope, confidence, source=source)
        return self.encode([engram])[0].entry

    def encode_lesson(self, text: str, topic: str = "", source: Source = "llm") -> Entry:
        """Write a lesson, and file it under its topic if it has one.

        Raises:
            InvalidEngramError: If a value is not allowed.
            StoreError: If it could not be written; memory is as it was before.
        """
        engram = Engram(text, "lesson", self.scope, "medium", topic, source)
        return self.encode([engram])[0].entry

    def rewrite_identity(self, entries: Iterable[str]) -> list[Entry]:
        """Write facts about the user; ``Key: value`` replaces the older fact of that key.

        The older fact moves to ``archive.md``. Facts that are not named stay.
        """
        facts = [entries] if isinstance(entries, str) else map(str, entries)
        engrams = [Engram(each, "profile", self.scope, "high", source="user") for each in facts]
        return [written.entry for written in self.encode(engrams)]

    def encode(self, engrams: Iterable[Engram]) -> list[Written]:
        """Write any memories as one step, in order; see :class:`HippocampusProtocol`."""
        batch = list(engrams)
        if not batch:
            return []

        def edit(draft: Draft) -> list[Filed]:
            filed = [changeset.file_engram(draft, engram) for engram in batch]
            changeset.drop_questions(draft, batch)
            return filed

        by = batch[0].source
        why = f"{len(batch)} memories" if len(batch) > 1 else ""
        return self.read_back(self.files.change(Act("encode", by, why), edit))

    def entries(self, pass_over: Callable[[StoreError], object] | None = None) -> list[Entry]:
        """Return every memory once, in file order: rules, lessons, profile, then topics.

        Args:
            pass_over: Is called with the error of each file that cannot be read.

        Raises:
            StoreError: If a file cannot be read, and ``pass_over`` is not given.
        """
        entries: dict[str, Entry] = {}
        names: list[str] = []
        with passing_over(pass_over):
            names = [name for name in self.files.names() if name not in ASIDE]
            if pass_over is not None:
                for reason in self.files.obstacles():
                    pass_over(StoreError(reason))
        for name in names:
            with passing_over(pass_over):
                for entry in self._entries_of(name):
                    if entry.id not in entries:
                        entries[entry.id] = entry
                    elif not topic_of(entry.file):
                        entries[f"{entry.id} {entry.file} {entry.line}"] = entry
        return list(entries.values())

    def find(self, prefix: str) -> Entry:
        """Return the memory whose id begins with ``prefix``.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
        """
        return placement.by_prefix(
            prefix, self.entries(), lambda entry: entry.id, str(self.files.folder)
        )

    def forget(
        self,
        entry_id: str,
        why: str = "",
        reason: str = "forgotten",
        by: Source = "user",
        *,
        seen: Entry | None = None,
        version: str = "",
    ) -> Entry:
        """Retire the memory with this id or unique prefix; it waits in ``archive.md``.

        Args:
            entry_id: Its id or a unique prefix.
            why: The words for the journal.
            reason: The word for the archive; only what was ``forgotten`` is not learned again.
            by: Whose doing it is.
            seen: What was decided on; if a person changed it since, it stays.
            version: See :meth:`update`.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
            ChangedError: If it has another version.
            StoreError: If it could not be written, or is another than was ``seen``.
        """

        def edit(draft: Draft) -> Entry:
            entry, lines = self._sought(draft, entry_id, version)
            if seen is not None and any(each.block.text != seen.text for _, each in lines):
                raise StoreError(f"{entry.id} was changed meanwhile, so it stays")
            for index, (name, placed) in enumerate(lines):
                if index == 0:
                    changeset.retire(draft, placed, entry.file, reason, by)
                draft.remove(name, placed.block)
            return entry

        return self.files.change(Act("forget", by, why), edit)

    def restore(self, entry_id: str) -> Entry:
        """Bring back a retired memory to where it was; a fact of its key is retired for it.

        Raises:
            EntryNotFoundError: If the archive has none with this id.
            AmbiguousIdError: If it has several.
        """

        def edit(draft: Draft) -> Filed:
            back = changeset.pick(draft.get(ARCHIVE), self.scope, entry_id)
            return changeset.unretire(draft, back)

        return self.written(self.files.change(Act("restore", "user"), edit)).entry

    def update(self, entry_id: str, text: str, *, version: str = "") -> Entry:
        """Change the text of a memory wherever it is; its id and metadata stay.

        A line that a person wrote without metadata stays one, so its address changes with it. A
        fact that gets the key of another one takes its place, and the other one is retired.

        Args:
            entry_id: Its id or a unique prefix.
            text: What it says from now on.
            version: The :func:`engramdown.hippocampus.entry.version` that was seen; if it has
                another one by now, it stays as it is. ``""`` for any.

        Raises:
            EntryNotFoundError: If there is none.
            InvalidEngramError: If ``text`` is empty or cannot be kept.
            ChangedError: If it has another version.
        """
        Engram(text, "lesson", self.scope)

        def edit(draft: Draft) -> Filed:
            entry, lines = self._sought(draft, entry_id, version)
            if entry.kind == "profile" and fact_key(text) != fact_key(entry.text):
                changeset.make_way(draft, text, "user")
            for name, placed in lines:
                document = draft.get(name).replace(placed.block, text, placed.block.meta)
                draft.put(name, document)
            at = address(text) if is_address(entry.id) else entry.id
            return Filed(at, entry.file, added=True, said=entry._replace(text=text))

        return self.written(self.files.change(Act("update", "user"), edit)).entry

    def verify(self, entry_id: str, *, version: str = "") -> Entry:
        """Note that a person confirms a memory; a line of their own needs no note.

        Arguments and errors are those of :meth:`update`.
        """
        return self._note(entry_id, "verified", {"basis": "verified"}, version)

    def pin(self, entry_id: str, *, pinned: bool = True, version: str = "") -> Entry:
        """Pin a memory, so that no automatic job touches it, or take the pin out.

        Arguments and errors are those of :meth:`update`.
        """
        why, pin = ("pinned", "yes") if pinned else ("no longer pinned", "")
        return self._note(entry_id, why, {"pin": pin}, version)

    def _note(self, entry_id: str, why: str, values: dict[str, str], version: str) -> Entry:
        """Change the metadata of a memory wherever it is."""

        def edit(draft: Draft) -> Filed:
            entry, lines = self._sought(draft, entry_id, version)
            for name, placed in lines:
                meta = placed.metadata.update(values)
                if meta != placed.metadata and not ("basis" in values and is_address(entry.id)):
                    draft.put(name, draft.get(name).note(placed.block, meta))
            return Filed(entry.id, entry.file, added=True, said=entry)

        return self.written(self.files.change(Act("update", "user", why), edit)).entry

    def seen_as(self, entry_id: str, version: str) -> Seen | None:
        """Return a memory as it was in an earlier version, if the journal has it.

        Args:
            entry_id: Its id, or the address that it had then.
            version: What :func:`engramdown.hippocampus.entry.version` returned then.
        """
        wanted = current_id(entry_id)
        for entry in self.entries():
            # Whoever moves a line to another section changes its kind, and no journal says so.
            if entry.id == wanted and (was := _as_version([entry], version)):
                return Seen(was, wanted)
        changes = [
            (step, change)
            for step in self.history()
            for change in step.changes
            if change.before and (change.id == wanted or is_address(wanted))
        ]
        for at in reversed(range(len(changes))):
            file, raw = changes[at][1].file, changes[at][1].before or ""
            was = as_entry(file, self.scope, Placed(entry_block(raw), 0, 0, "", ""))
            # What was yet to be marked as verified is not in the journal.
            known = _as_version([was, was._replace(basis="verified")], version)
            if known is not None:
                for step, change in changes[at:]:
                    if (change.file, change.before) == (file, raw):
                        raw = _heir(step, change)
                return Seen(known, _name_of(raw) if raw else "")
        return None

    def apply(
        self, revisions: Sequence[changeset.Revision], by: str = "consolidation", why: str = ""
    ) -> list[Revised]:
        """Carry out a plan as one step; what no longer fits is passed over, with the reason.

        Raises:
            StoreError: If it could not be written; memory is as it was before.
        """

        def edit(draft: Draft) -> list[Revised]:
            return revise(draft, revisions, self.files.names(), by)

        return self.files.change(Act("compact", by, why), edit)

    def archived(self) -> list[Archived]:
        """Return what was retired, the oldest first."""
        return changeset.retired(self.files.document(ARCHIVE), self.scope)

    def history(self) -> list[Step]:
        """Return every step of the journal, the oldest first."""
        return self.files.steps()

    def versions(self, file: str) -> Iterator[tuple[Step, str | None, str | None]]:
        """Yield the steps that changed a file, the newest first, with its text before and after.

        Args:
            file: Its name, relative to the memory folder: ``rules.md``.

        Yields:
            A step, the text before it and the text after it; ``None`` means no file. It ends
            where too much of the journal is gone.
        """
        return versions(self.history(), file)

    def why(self, entry_id: str) -> list[Step]:
        """Return the steps that touched a memory, the oldest first; a full id is needed."""
        wanted = current_id(entry_id)
        steps = self.history()
        return [step for step in steps if any(change.id == wanted for change in step.changes)]

    def undoable(self) -> list[Candidate]:
        """Return the steps that an undo without a name comes to, the newest first."""
        documents = {name: self.files.document(name) for name in self.files.names()}
        return undo.candidates(self.history(), documents)

    def undo(self, step_id: str = "") -> Step:
        """Reverse a step: the one that is named, or the last of which anything is left.

        Raises:
            EntryNotFoundError: If there is no such step, or none left to undo.
            UndoRefusedError: If a person changed since what the step wrote.
        """
        step = undo.pick(self.history(), step_id) if step_id else undo.last(self.undoable())
        act = Act("undo", "user", f"undo of {step.op} {step.id}", of=step.id)
        self.files.change(act, lambda draft: undo.reverse(draft, step, self.history()))
        return step

    def rewrite(self, name: str, edit: Callable[[str], str], why: str) -> bool:
        """Run a text edit of one file through the write protocol; return whether it changed it."""

        def change(draft: Draft) -> bool:
            before = draft.get(name).render()
            after = edit(before)
            if after != before:
                draft.put(name, parse(after))
            return after != before

        return self.files.change(Act("rewrite", "user", why), change)

    def notice(self, *, wait: bool = True) -> bool:
        """Take in what a person changed by hand; return whether there was anything.

        Args:
            wait: Whether to wait for another writer; who only reads need not.
        """
        return self.files.notice(wait=wait)

    def dry_run(self) -> None:
        """From now on write nothing; :meth:`planned_changes` returns what would change."""
        self.files.dry_run()
        self.is_dry = True

    def planned_changes(self) -> list[FileChange]:
        """Return what the steps of the dry run would change."""
        return self.files.planned_changes()

    def soul(self) -> str:
        """Return ``soul.md``, which says who the assistant is, in any spelling, or ``""``."""
        return self.files.text(f"memory/{SOUL}")

    def template(self, name: str, folder: str = "templates") -> str:
        """Return a scope's own version of a template, or of one in ``prompts``, or ``""``."""
        return self.files.text(f"{folder}/{name}")

    def unless_changed(self, entry_id: str, version: str, act: Callable[[], T]) -> T:
        """Return what ``act`` returns, which is called while nobody can change a memory.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
            ChangedError: If it has another version.
            StoreError: If a file cannot be read, or somebody else holds the lock too long.
        """

        def edit(draft: Draft) -> T:
            self._sought(draft, entry_id, version)
            return act()

        return self.files.change(Act("erase", "user"), edit)

    def _sought(
        self, draft: Draft, prefix: str, version: str = ""
    ) -> tuple[Entry, list[tuple[str, Placed]]]:
        """Return a memory and every line that holds it, the one it was found at first.

        Raises:
            ChangedError: If it has another version than ``version``.
        """
        names = {name: draft.get(name) for name in self.files.names()}  # Saves are waited for.
        entry = self.find(prefix)
        lines: list[tuple[str, Placed]] = []
        copies = () if is_address(entry.id) else names.keys() - {*ASIDE, entry.file}
        for name in (entry.file, *sorted(copies)):
            placed = raw_entries(name, draft.get(name))
            lines += [(name, each) for each in placed if entry_id(each) == entry.id]
        now = as_entry(entry.file, self.scope, lines[0][1]) if lines else entry
        if version and placement.version(now) != version:
            raise ChangedError(str(self.files.place(entry.file)))
        return entry, lines

    def written(self, filed: Filed) -> Written:
        """Read an acknowledged memory back from the disk.

        One that somebody has changed or replaced already is returned as it was written.
        """
        return self.read_back([filed])[0]

    def read_back(self, batch: Sequence[Filed]) -> list[Written]:
        """Read acknowledged memories back, each file once."""
        lines: dict[str, dict[str, Placed]] = {}
        for name in {filed.file for filed in batch}:
            ids = {filed.id for filed in batch if filed.file == name}
            lines[name] = placement.find_lines(self.files.document(name), ids)
        written = []
        for filed in batch:
            file, placed = filed.file, lines[filed.file].get(filed.id)
            if placed is not None:
                entry = self._entry(file, placed, self.files.marks(file), self._spelled(file))
            else:
                memory = Entry.of(filed.said) if isinstance(filed.said, Engram) else filed.said
                entry = memory._replace(id=filed.id, scope=self.scope, file=file, line=0)
            written.append(Written("encoded" if filed.added else "merged", entry))
        return written

    def _entries_of(self, name: str) -> list[Entry]:
        """Return the memories of a file, in file order; what did not change is not read again.

        Raises:
            StoreError: If it cannot be read.
        """
        document = self.files.document(name)
        spelled, marks = self._spelled(name), self.files.marks(name)
        known = self._read.get(name)
        if known is None or known[0] is not document or known[1:3] != (spelled, marks):
            before = known[3] if known and known[1:3] == (spelled, marks) else {}
            entries = {}
            for placed in raw_entries(name, document):
                entry = before.get(placed.block)
                # An entry is a snapshot of its line: one that did not move is as it was.
                if entry is None or (entry.line, entry.heading) != (placed.line, placed.heading):
                    entry = self._entry(name, placed, marks, spelled)
                entries[placed.block] = entry
            known = self._read[name] = (document, spelled, marks, entries)
        return list(known[3].values())

    def _entry(self, name: str, placed: Placed, marks: Sequence[str], spelled: str) -> Entry:
        """Return an entry, verified also if its file does not say so yet."""
        entry = placement.as_entry(name, self.scope, placed)._replace(spelled=spelled)
        verified = changeset.verified_by(marks, entry.id, entry.text)
        return entry._replace(basis="verified") if verified else entry

    def _spelled(self, name: str) -> str:
        """Return how a file is spelled, ``""`` if that is its name."""
        spelled = self.files.place(name).name if name in FILES and FILES[name].aliases else name
        return spelled if spelled != name else ""


class Seen(NamedTuple):
    """A memory as somebody saw it.

    Attributes:
        entry: What it said.
        id: The id or address that it has now, or ``""`` if it is gone.
    """

    entry: Entry
    id: str


def _as_version(known: Sequence[Entry], version: str) -> Entry | None:
    """Return what has a version, of whatever kind it was then."""
    ways = (way._replace(kind=kind) for way in known for kind in (way.kind, *KINDS))
    return next((way for way in ways if placement.version(way) == version), None)


def _heir(step: Step, change: Change) -> str:
    """Return what the lines of a memory say after a step, or ``""`` if they are gone.

    Another text of a line without an id is another line; if it is the only one, it is this one.
    """
    if change.after is not None or not is_address(change.id):
        return change.after or ""
    by_hand = [it for it in step.changes if it.file == change.file and is_address(it.id)]
    new = [each.after for each in by_hand if each.before is None]
    return (new[0] or "") if len(new) == len(by_hand) - len(new) == 1 else ""


def _name_of(raw: str) -> str:
    return entry_id(Placed(entry_block(raw), 0, 0, "", ""))


@contextmanager
def passing_over(pass_over: Callable[[StoreError], object] | None) -> Iterator[None]:
    """Call ``pass_over`` with the error of a ``with`` block, if it is given.

    Raises:
        StoreError: If it is not given.
    """
    try:
        yield
    except StoreError as error:
        if pass_over is None:
            raise
        pass_over(error)


class Hippocampus(Store):
    r"""The store of one scope in a folder of markdown files.

    Attributes:
        root: The folder of the scope, an ``.engramdown`` folder.
        files: Its memory files.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Hippocampus(folder, scope="project")
    ...     entry = store.encode_rule("Use uv, never pip", kind="always", source="user")
    ...     [str(rule) for rule in store.recall_rules()]
    ['Use uv, never pip']
    """

    files: MemoryFiles

    def __init__(
        self,
        root: Path | str,
        scope: Scope = "project",
        *,
        disk: Disk | None = None,
        lock_timeout: float = LOCK_TIMEOUT,
    ) -> None:
        """Open a scope; nothing is created before the first write.

        Args:
            root: The ``.engramdown`` folder of the scope.
            scope: What the entries say about where they hold.
            disk: The system calls; durable, 16 MB a file, unless given.
            lock_timeout: How long to wait for other writers, in seconds.
        """
        self.root = Path(root)
        super().__init__(MemoryFiles(self.root, disk or Disk(), lock_timeout), scope)

    @property
    def memory(self) -> Path:
        """The folder that holds the memory files."""
        return self.files.folder

    def check_folder(self) -> None:
        """Refuse to take something else in the place of the scope's folder for an empty scope.

        Raises:
            StoreError: If it is a file, or a link that leads nowhere.
        """
        if os.path.lexists(self.root) and not self.root.is_dir():
            raise StoreError(f"{self.root}: is not a folder; move it away")

    def start(self) -> list[Path]:
        """Create the folder with starter files; files that exist are left alone.

        Returns:
            What was created.
        """
        return self.files.start(kinds.starter_files(self.scope))


# The name of the file by which somebody refuses a memory for all projects, in the project's.
REFUSAL: Final = "no-global"

# Why nothing is written to the global scope then.
REFUSED: Final = (
    "a memory for all projects was refused here; `engramdown init --global` sets one up"
)


def is_refused(home: Path, project: Path) -> bool:
    """Whether somebody who works in a project refused a memory for all projects.

    Where there is one by now, it is used. A refusal that git knows may be a stranger's.
    """
    mark = project / REFUSAL
    if os.path.lexists(home) or not mark.is_file():
        return False
    # Imported here: most people have a memory for all projects.
    from engramdown.hippocampus.git_state import known_to_git

    return not known_to_git([mark], Disk(durable=False))


# The seams for other stores.
#
# Whatever satisfies :class:`HippocampusProtocol` can stand in for the file store in a
# :class:`engramdown.Cortex`; it says nothing about files, history or undo. Whatever satisfies
# :class:`Files` gets all of that from :class:`engramdown.hippocampus.store.Store`: history, undo,
# why, the archive and what follows from a hand edit. A store reads and writes; it never judges.

T = TypeVar("T")


@runtime_checkable
class HippocampusProtocol(Protocol):
    """One scope's store of memories.

    Every method that writes returns only when the memory is safe. What was acknowledged is found
    by the next read, from any process.
    """

    def recall_identity(self) -> list[Entry]:
        """Return the facts about the user, in file order."""

    def recall_rules(self) -> list[Entry]:
        """Return the *always*, *never* and *when* rules, in file order."""

    def recall_lessons(self, token_budget: int | None = None) -> list[Entry]:
        """Return the newest lessons that fit into ``token_budget`` tokens, in file order."""

    def recall_topic(self, slug: str) -> list[Entry]:
        """Return the lessons of one topic, in file order."""

    def recall_scratchpad_wisdom(self) -> list[Entry]:
        """Return the *when* rules and lessons that are about scratchpads."""

    def encode_rule(
        self, text: str, kind: Kind, confidence: Confidence = "medium", source: Source = "llm"
    ) -> Entry:
        """Write a rule and return it as it is in the store."""

    def encode_lesson(self, text: str, topic: str = "", source: Source = "llm") -> Entry:
        """Write a lesson and return it as it is in the store."""

    def rewrite_identity(self, entries: Iterable[str]) -> list[Entry]:
        """Write facts about the user; ``Key: value`` replaces the older fact of that key."""

    def entries(self) -> list[Entry]:
        """Return every memory once, in file order."""

    def forget(self, entry_id: str) -> Entry:
        """Retire the memory with this id or unique prefix; it can be restored."""

    def restore(self, entry_id: str) -> Entry:
        """Bring back a retired memory."""

    def update(self, entry_id: str, text: str) -> Entry:
        """Change the text of a memory; its id stays."""


@runtime_checkable
class BatchProtocol(Protocol):
    """What a store may offer besides: to write many memories of any kind as one step."""

    def encode(self, engrams: Iterable[Engram]) -> list[Written]:
        """Write any memories as one step, in order."""


class Files(Protocol):
    """The documents of one scope, changed in journalled steps: what a store has to give.

    :mod:`engramdown.kinds` says which documents there are and what each of them holds.
    """

    @property
    def folder(self) -> Path:
        """Where a person finds them."""

    def names(self) -> list[str]:
        """Return the names of the documents that exist, in a fixed order."""

    def place(self, name: str) -> Path:
        """Return where a person finds one of them."""

    def obstacles(self) -> list[str]:
        """Say of each document that cannot be read why not."""

    def document(self, name: str) -> Document:
        """Read a document; one that does not exist is empty. Takes no lock."""

    def text(self, name: str) -> str:
        """Return a page that only a person writes, relative to the scope, or ``""``."""

    def marks(self, name: str) -> Sequence[str]:
        """Return which entries a person changed that the document does not mark as verified yet."""

    def steps(self) -> list[Step]:
        """Return every step of the journal, the oldest first."""

    def change(self, act: Act | Callable[[T], Act], edit: Callable[[Draft], T]) -> T:
        """Carry out one step and return what ``edit`` returned.

        It is written down as a step (:func:`engramdown.hippocampus.changeset.new_step`) with what
        it did to each document and entry. ``edit`` may be called again from the beginning.
        """

    def notice(self, *, wait: bool = True) -> bool:
        """Take in what a person changed since the last step; return whether there was anything."""

    def dry_run(self) -> None:
        """From now on write nothing; steps pile up in memory."""

    def planned_changes(self) -> list[FileChange]:
        """Return what the steps of the dry run would change."""

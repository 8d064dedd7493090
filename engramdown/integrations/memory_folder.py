"""Memory as the folder ``/memories``, which a model views and edits by six commands.

Whatever a model passes, it gets an answer that it can act on, never an exception. Nothing is opened
but memory files and notes, by names that are known, and nothing is told that git brought and nobody
approved, where that is set. Every change goes through the gate, the journal and the write protocol,
as one step. What a person wrote or confirmed is only asked about; what somebody changed meanwhile
is left as it is; each memory that did not become what the model wanted gets a sentence. What goes
stands in ``archive.md`` first. In mode off nothing is written.

Notes are pages of text that nothing else reads, below ``working/``: what is replaced is kept, and
what a person wrote there is only added to, in every mode.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown import Hippocampus
from engramdown.clock import today
from engramdown.consolidation import Move
from engramdown.context import flat, known
from engramdown.cortex import Answer
from engramdown.engram import Engram, Kind, Scope
from engramdown.errors import EngramdownError, InvalidEngramError, MemoryCommandError, StoreError
from engramdown.forks import Lock
from engramdown.gate import REASONS, FileQueue, Operation, Pending, harmless, question
from engramdown.hippocampus import Act, Entry, Revision, entry_id, new_id, raw_entries, step_group
from engramdown.integrations.memory_pages import (
    NOTES,
    ROOT,
    TOPICS,
    Command,
    Edits,
    Place,
    Said,
    command_from,
    edits,
    excerpt,
    hint,
    inserted,
    listing,
    place_of,
    rendered,
    replaced,
    shown,
)
from engramdown.journal import normalized
from engramdown.kinds import LESSONS, PENDING, PROFILE, RULES, SOUL, kind_in, topic_of
from engramdown.language import bullet, inert, paragraphs
from engramdown.markdown import Document, Placed
from engramdown.storage import Disk, one_call
from engramdown.transcripts import is_session_id

if TYPE_CHECKING:
    from engramdown import Cortex, Session
    from engramdown.journal import WorkingNotes

Reach = Literal["project", "global", "both"]
"""Which memory the folder shows: that of one scope, or of both, each in a folder of its name."""

TOOL: Final[Mapping[str, str]] = MappingProxyType({"type": "memory_20250818", "name": "memory"})
"""What a model is told of the tool: its provider knows the rest."""

_REACHES: Final[Mapping[str, tuple[Scope, ...]]] = {
    "project": ("project",),
    "global": ("global",),
    "both": ("global", "project"),
}
_EDITED: Final = (
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
)
_FIXED: Final = (RULES, LESSONS, PROFILE)
_HOW: Final = "One memory is one list item; indent code, tables, quotations by two spaces below it."
_READ_ONLY: Final[Mapping[str, str]] = {
    "page": "{path} is written by the user alone. Nothing was changed.",
    "queue": "{path} holds what waits for the user, who alone decides. Nothing was changed.",
    "root": "{path} is a directory. Name a file, such as {path}/" + LESSONS + ".",
    "folder": "{path} is a directory. Name a file in it, such as {path}/name.md.",
}
_HELD: Final = "(came from outside and reads like an order; only the user sees it)"
_ASKS: Final = "an assistant asks for it"
_THEIRS: Final = "contradiction"  # What a person wrote would not stand any more.
_WAITS: Final = "Waits for the user's yes in pending.md, and is not in memory yet"
_SHOWN: Final = 100


class _Page(NamedTuple):
    """A memory file as it stands.

    Attributes:
        text: As the model sees it.
        entries: Its memories, in order.
    """

    text: str
    entries: tuple[Entry, ...]


class MemoryFolder:
    """Memory as a folder, for one model at a time."""

    def __init__(
        self, cortex: Cortex, reach: Reach = "project", session: Session | None = None
    ) -> None:
        """Show the memory of ``cortex``.

        Args:
            cortex: Gates and keeps it.
            reach: ``project`` or ``global``, whose folder is ``/memories`` then; or ``both``, which
                has ``/memories/project`` and ``/memories/global``.
            session: The running conversation, which records each call and its result.

        Raises:
            InvalidEngramError: If ``reach`` is none of the three.
            StoreError: If a store has no files.
        """
        if reach not in _REACHES:
            raise InvalidEngramError.not_one_of("reach", reach, _REACHES)
        self._cortex = cortex
        self._scopes = _REACHES[reach]
        self._session = session
        self._lock = Lock()
        self._stores: dict[Scope, Hippocampus] = {}
        for scope in self._scopes:
            store = cortex.scopes.global_hc if scope == "global" else cortex.scopes.project_hc
            if not isinstance(store, Hippocampus):
                raise StoreError(f"{type(store).__name__}: has no files that a model could edit")
            self._stores[scope] = store
        self._recalled: list[str] = []
        self._pages: dict[tuple[Scope, str], tuple[tuple[Document, Document], _Page]] = {}
        self._notes = _Notes(cortex)

    @one_call()
    def run(self, arguments: object, call: str = "") -> Answer:
        """Return the answer to a command, whatever was passed.

        Args:
            arguments: What the model passed: an object with ``command``, or one in JSON.
            call: The id that the call has, for the session.
        """
        with self._lock:
            self._recalled = []
            if self._session is None:
                return self._answer(arguments)
            call = self._session.tool_call(TOOL["name"], arguments, call)
            answer = self._answer(arguments)
            self._session.tool_result(
                TOOL["name"], answer.text, call, error=answer.is_error, recalled=answer.recalled
            )
            return answer

    def _answer(self, arguments: object) -> Answer:
        try:
            command = command_from(arguments)
            text = self._commands[command.command](self, command)
        except MemoryCommandError as error:
            return Answer(inert(str(error)), is_error=True)
        except (EngramdownError, OSError) as error:
            return Answer(f"memory failed: {inert(str(error))}", is_error=True)
        return Answer(text, tuple(dict.fromkeys(self._recalled)))

    # ---- the commands ----

    def _view(self, command: Command) -> str:
        place = self._place(command.path)
        if place.sort in ("root", "folder"):
            files = list(self._files(place))
            told = listing(place.path, files)
            if place.sort == "root" and not _size(files):
                base = place.path if len(self._scopes) == 1 else f"{ROOT}/{place.scope}"
                return f"{told}\n\nNothing is remembered yet. {hint(base)}"
            return told
        text = shown(place.path, self._text(place), command.view_range)
        # Also where no line of a transcript taught it: what is shown is nothing new.
        self._recalled.append(place.path)
        return text

    def _create(self, command: Command) -> str:
        place = self._writable(command.path)
        if place.sort == "note":
            hidden = self._notes.create(place.name, place.path, command.new)
            return f"File created successfully at: {place.path}{hidden}"
        page = self._page(place)
        if page.entries:
            raise MemoryCommandError(
                f"File {place.path} already exists. Use str_replace or insert to change it."
            )
        outcome = self._rewrite(place, page, command.new, command)
        return _told(place, f"File created successfully at: {place.path}", outcome)

    def _str_replace(self, command: Command) -> str:
        place = self._existing(command.path)
        change = partial(replaced, place.path, old=command.old, new=command.new)
        return self._changed(place, change, command, snippet=True)

    def _insert(self, command: Command) -> str:
        change = partial(inserted, line=command.line, new=command.new)
        return self._changed(self._existing(command.path), change, command, snippet=False)

    def _delete(self, command: Command) -> str:
        place = self._place(command.path)
        if place.sort == "root":
            raise MemoryCommandError(f"Cannot delete the {place.path} directory itself")
        place = self._existing(command.path)
        if place.sort == "note":
            self._notes.delete(place.name)
            return f"Successfully deleted {place.path}"
        page = self._page(place)
        everything = Edits(removed=tuple(range(len(page.entries))))
        outcome = self._edit(place, command).apply(page.entries, everything)
        return _told(place, f"Successfully deleted {place.path}", outcome)

    def _rename(self, command: Command) -> str:
        if self._place(command.path).sort == "root":
            raise MemoryCommandError(f"Cannot rename the {command.path} directory itself")
        old, new = self._existing(command.path), self._writable(command.new_path)
        if self._exists(new):
            raise MemoryCommandError(f"The destination {new.path} already exists")
        done = f"Successfully renamed {old.path} to {new.path}"
        topics = all(each.name.startswith(f"{TOPICS}/") for each in (old, new))
        if old.sort == new.sort == "note":
            self._notes.rename(old.name, new.name)
            return done
        if not topics or old.scope != new.scope:
            raise MemoryCommandError(
                f"Cannot rename {old.path} to {new.path}: only a file of topics to another topic "
                f"of the same memory, and notes to notes. Delete it there, and create it here."
            )
        outcome = self._edit(old, command).move(self._page(old).entries, topic_of(new.name))
        return _told(old, done, outcome)

    _commands: Final[Mapping[str, Callable[[MemoryFolder, Command], str]]] = {
        "view": _view,
        "create": _create,
        "str_replace": _str_replace,
        "insert": _insert,
        "delete": _delete,
        "rename": _rename,
    }

    # ---- files ----

    def _place(self, path: str, *, wait: bool = False) -> Place:
        place = place_of(path, self._scopes)
        for store in self._stores.values():
            # What a person saved is theirs before anything else happens.
            with contextlib.suppress(StoreError):
                store.notice(wait=wait)
        return place

    def _writable(self, path: str) -> Place:
        """Return what ``path`` names, if a model may write it."""
        place = self._place(path, wait=True)
        if place.sort in _READ_ONLY:
            raise MemoryCommandError(_READ_ONLY[place.sort].format(path=place.path))
        if self._cortex.mode == "off":
            raise MemoryCommandError(f"Nothing was written: {REASONS['off']}. Reading still works.")
        return place

    def _existing(self, path: str) -> Place:
        place = self._writable(path)
        if not self._exists(place):
            raise _missing(place)
        return place

    def _exists(self, place: Place) -> bool:
        if place.sort == "note":
            return bool(self._notes.text(place.name))
        if place.name in _FIXED and place.name in self._stores[place.scope].files.names():
            return True
        return bool(self._page(place).entries)

    def _text(self, place: Place) -> str:
        """Return what a model sees of a file."""
        text = ""
        if place.sort == "note":
            text = inert(self._notes.text(place.name))
        elif place.sort == "page":
            store = self._stores[place.scope]
            page = self._cortex.scopes.usable_page(store, f"memory/{SOUL}", store.soul())
            # Without private notes.
            text = "".join(f"{each}\n\n" for _, each in paragraphs(page)).rstrip("\n")
        elif place.sort == "queue":
            text = "".join(f"{row}\n" for row in self._queue(place.scope))
        elif self._exists(place):
            found = self._page(place)
            pointers = (each for entry in found.entries for each in entry.origin.split(","))
            self._recalled += filter(None, pointers)
            return found.text
        if not text:
            raise _missing(place)
        return text

    def _files(self, place: Place) -> Iterator[tuple[str, int]]:
        """Yield the files and folders below a folder, with their sizes."""
        if place.path == ROOT and len(self._scopes) > 1:
            for scope in reversed(self._scopes):
                below = list(self._files(Place(f"{ROOT}/{scope}", "root", scope)))
                yield f"{scope}/", _size(below)
                yield from ((f"{scope}/{name}", size) for name, size in below)
            return
        for name, text in self._texts(place.scope):
            if place.sort == "root":
                yield name, len(text.encode("utf-8", "surrogateescape"))
            elif name.startswith(f"{place.name}/") and not name.endswith("/"):
                yield name.removeprefix(f"{place.name}/"), len(text.encode())

    def _texts(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """Yield each file of a scope and what a model sees of it, in a fixed order."""
        names = [*_FIXED, SOUL, PENDING, *self._stores[scope].files.names()]
        topics = [each for each in names if each.startswith(f"{TOPICS}/")]
        notes = [f"{NOTES}/{each}.md" for each in self._notes.names() if scope == self._scopes[-1]]
        fixed = [each for each in names if not each.startswith(f"{TOPICS}/")]
        for folder, group in (("", dict.fromkeys(fixed)), (TOPICS, topics), (NOTES, notes)):
            found = list(self._readable(scope, group))
            if folder and found:
                yield f"{folder}/", "".join(text for _, text in found)
            yield from found

    def _readable(self, scope: Scope, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        base = f"{ROOT}/{scope}" if len(self._scopes) > 1 else ROOT
        for name in names:
            with contextlib.suppress(MemoryCommandError):
                try:
                    yield name, self._text(place_of(f"{base}/{name}", self._scopes))
                except StoreError:
                    if not name.startswith(f"{NOTES}/"):
                        raise
                    # Anybody puts files there; who views it is told what is wrong with it.
                    yield name, ""

    def _queue(self, scope: Scope) -> Iterator[str]:
        """Yield what waits for a person, as lines to tick; not an order from outside."""
        for each in self._cortex.pending(for_model=True):
            if each.engram.scope == scope:
                is_held = each.hold == REASONS["instruction"]
                yield bullet(f"[ ] {_HELD if is_held else each.engram.text}")

    def _page(self, place: Place) -> _Page:
        """Return a memory file as it stands: what may reach a model."""
        store, name = self._stores[place.scope], place.name
        # What a page holds follows from these two, unless there is more to ask about than files.
        documents = (store.files.document(name), store.files.document(LESSONS))
        known = self._pages.get((place.scope, name))
        if (
            known is None
            or known[0] != documents
            or self._cortex.scopes.settings.pulled == "review"
        ):
            known = (documents, self._read(store, name, documents[0]))
            self._pages[place.scope, name] = known
        return known[1]

    def _read(self, store: Hippocampus, name: str, document: Document) -> _Page:
        found: dict[str, list[Entry]] = {}
        for each in self._cortex.scopes.usable(store):
            if each.file in (name, LESSONS):
                plain = each._replace(spelled="") if each.spelled else each
                found.setdefault(each.id, []).append(plain)
        shown = [
            (placed, entry)
            for placed in raw_entries(name, document)
            if (entry := _memory_of(found.get(entry_id(placed), ()), name, placed))
        ]
        text = rendered(document, [placed for placed, _ in shown])
        return _Page(text, tuple(entry for _, entry in shown))

    # ---- changes ----

    def _changed(
        self, place: Place, change: Callable[[str], str], command: Command, *, snippet: bool
    ) -> str:
        """Carry out a change of the text of a file, and tell what became of it."""
        if place.sort == "note":
            before, after, hidden = self._notes.change(place.name, change)
            return _done(place, inert(before), inert(after), snippet=snippet) + hidden
        page = self._page(place)
        outcome = self._rewrite(place, page, change(page.text), command)
        after = self._page(place).text
        return _told(place, _done(place, page.text, after, snippet=snippet), outcome)

    def _rewrite(self, place: Place, page: _Page, text: str, command: Command) -> _Outcome:
        found = edits(place.name, page.text, text)
        if found.others:
            raise MemoryCommandError(
                f"No change was made in {place.path}: {found.others[0][:80]!r} is no memory. {_HOW}"
            )
        return self._edit(place, command).apply(page.entries, found)

    def _edit(self, place: Place, command: Command) -> _Edit:
        why = f"{command.command} {place.path}"
        return _Edit(self._cortex, self._stores[place.scope], place.name, why, self._session)


def _told(place: Place, done: str, outcome: _Outcome) -> str:
    """Return the answer to a change.

    Raises:
        MemoryCommandError: If nothing came of it.
    """
    if outcome.changed:
        return "\n".join([done, *outcome.notes])
    if outcome.queued:
        return "\n".join([f"Nothing is changed in {place.path} yet.", *outcome.notes])
    notes = outcome.notes or ("What it would hold is what it holds.",)
    raise MemoryCommandError("\n".join([f"No change was made in {place.path}.", *notes]))


def _done(place: Place, before: str, after: str, *, snippet: bool) -> str:
    if snippet:
        return "\n".join([_EDITED, *excerpt(before, after)])
    return f"The file {place.path} has been edited."


def _missing(place: Place) -> MemoryCommandError:
    return MemoryCommandError(f"The path {place.path} does not exist. Please provide a valid path.")


def _size(files: Iterable[tuple[str, int]]) -> int:
    return sum(size for name, size in files if not name.endswith("/"))


def _memory_of(entries: Iterable[Entry], file: str, placed: Placed) -> Entry | None:
    """Return which memory with its id an entry is; a topic's as it stands among lessons."""
    for entry in entries:
        is_here = entry.file == file and entry.line == placed.line
        is_copy = entry.file == LESSONS and entry.text == placed.block.text
        if is_here or (is_copy and file.startswith(f"{TOPICS}/")):
            return entry
    return None


# ---- one change of one file ----


class _Outcome(NamedTuple):
    """What became of a change.

    Attributes:
        changed: How many memories stand in the files as the model wanted.
        queued: How many wait for a person.
        notes: A sentence about each that did not become what was asked for.
    """

    changed: int
    queued: int
    notes: tuple[str, ...]


class _Edit:
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
        self._asked: list[tuple[Pending, str]] = []
        self._notes: list[str] = []

    def apply(self, entries: Sequence[Entry], found: Edits) -> _Outcome:
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
        return _Outcome(changed, queued, tuple(self._notes))

    def move(self, entries: Iterable[Entry], topic: str) -> _Outcome:
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
                self._asked.append((asked, f"{words!r} under {topic} ({_why_not(entry)})"))
        changed, queued = self._settled()
        return _Outcome(changed, queued, tuple(self._notes))

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
            code = _THEIRS if entry.by_person else decision.code
            why = _why_not(entry) if decision.action == "encode" else decision.reason
            safe = flat(harmless(engram).text, _SHOWN)
            self._asked.append((self._pending(engram, "replace", entry, code), f"{safe!r} ({why})"))

    def _remove(self, entry: Entry) -> None:
        words = flat(entry.text, _SHOWN)
        if self._may_touch(entry):
            self._revisions.append((Revision((entry,), "removed"), words))
            return
        engram = Engram(f"Delete: {entry.text}", entry.kind, entry.scope, source="llm")
        item = self._pending(engram, "forget", entry, _ASKS)
        self._asked.append((item, f"to delete {words!r} ({_why_not(entry)})"))

    def _may_touch(self, entry: Entry) -> bool:
        """Whether a memory is a model's own to change."""
        return not entry.by_person and self._cortex.mode == "autopilot"

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
            with step_group(Act("update", "llm", self._why)):
                done = self._store.apply([each for each, _ in self._revisions], by="llm")
            for result, (_, words) in zip(done, self._revisions, strict=True):
                changed += not result.problem
                if result.problem:
                    self._notes.append(f"Left as it was: {words!r} ({result.problem})")
        if self._asked:
            FileQueue(self._store).add([item for item, _ in self._asked])
            self._notes += [f"{_WAITS}: {what}" for _, what in self._asked]
        return changed, len(self._asked)

    def _engram(self, said: Said) -> Iterator[Engram]:
        """Yield what is to be remembered, or note why it cannot be."""
        kind = kind_in(self._file, said.section)
        try:
            yield self._learned(said.text, kind, topic_of(self._file))
        except InvalidEngramError as error:
            self._notes.append(f"Not written: {flat(said.text, _SHOWN)!r} ({error})")


def _why_not(entry: Entry) -> str:
    return "the user wrote or confirmed it" if entry.by_person else "the user wants to be asked"


# ---- notes ----


class _Notes:
    """The free notes of a cortex."""

    def __init__(self, cortex: Cortex) -> None:
        """Keep notes where ``cortex`` keeps those on conversations."""
        self._cortex = cortex

    def names(self) -> list[str]:
        """Return what there are notes on, sorted."""
        folder = self._cortex.conversations.notes("any").path.parent
        found = []
        for name in Disk().names(folder):
            stem = name.removesuffix(".md")
            if name.endswith(".md") and is_session_id(stem) and not self._why_not(stem):
                found.append(stem)
        return found

    def text(self, name: str) -> str:
        """Return the notes, with a line end, or ``""``."""
        text = self._notes(name).read().text
        return f"{text}\n" if text else ""

    def create(self, name: str, path: str, text: str) -> str:
        """Begin notes; return a sentence about what was hidden, or ``""``."""
        notes = self._notes(name)
        note = notes.read()
        if note.text:
            raise MemoryCommandError(
                f"File {path} already exists. Use str_replace or insert to change it."
            )
        if not text.strip():
            raise MemoryCommandError("`file_text` is empty; say what is to be kept.")
        return _hidden(notes.write(text, expected=note.digest, own=True).hidden)

    def change(self, name: str, change: Callable[[str], str]) -> tuple[str, str, str]:
        """Change notes; return them before and after, and what :meth:`create` returns."""
        notes = self._notes(name)
        note = notes.read()
        before = f"{note.text}\n"
        after = change(before)
        if not note.own and not _only_adds(note.text, normalized(after)):
            raise _theirs(name, "changes or deletes lines of theirs")
        written = notes.write(after, expected=note.digest, own=note.own)
        return before, f"{written.text}\n", _hidden(written.hidden)

    def delete(self, name: str) -> None:
        """Take notes away; they can be brought back."""
        self._own(name, "deletes them").delete()

    def rename(self, old: str, new: str) -> None:
        """Let notes be called otherwise: the new ones are there before the old ones go."""
        self._own(old, "renames them").move(self._notes(new))

    def _own(self, name: str, does: str) -> WorkingNotes:
        """Return notes, if they are a model's own."""
        notes = self._notes(name)
        if not notes.read().own:
            raise _theirs(name, does)
        return notes

    def _notes(self, name: str) -> WorkingNotes:
        why_not = self._why_not(name)
        if why_not:
            raise MemoryCommandError(f"The notes {name!r} {why_not}; choose another name.")
        return self._cortex.conversations.notes(name)

    def _why_not(self, name: str) -> str:
        """Return why some notes are none of a model's, or ``""``."""
        notes = self._cortex.conversations.notes(name)
        if Disk().exists(notes.root / "episodes" / f"{notes.session}.jsonl"):
            return "are on a conversation that is recorded"
        if self._cortex.scopes.settings.pulled == "review" and known([notes.path]):
            return "came with git, and only the user reads them"
        return ""


def _theirs(name: str, does: str) -> MemoryCommandError:
    return MemoryCommandError(
        f"Nothing was changed: the user wrote or changed the notes {name!r}, and nobody else "
        f"{does}. Add to them with insert, keep notes of your own under another name, or ask the "
        f"user to do it."
    )


def _only_adds(before: str, after: str) -> bool:
    """Whether every line stays, in its order."""
    left = iter(after.split("\n"))
    return all(line in left for line in before.split("\n"))


def _hidden(kinds: tuple[str, ...]) -> str:
    return f"\nA secret in it was hidden, and is kept nowhere: {', '.join(kinds)}." if kinds else ""

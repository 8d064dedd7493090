"""Memory as the folder ``/memories``, which a model views and edits by six commands.

Promises: whatever a model passes, it gets an answer that it can act on, never an exception; nothing
is opened but memory files and notes, by names that are known; every change goes through the gate,
the journal and the write protocol, and what a person wrote waits for that person. In mode off
nothing is written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from engramdown.cortex.gate import REASONS
from engramdown.cortex.memory_folder.changing import Changing, Outcome
from engramdown.cortex.memory_folder.notes import FreeNotes
from engramdown.cortex.memory_folder.reading import Page, Reading
from engramdown.cortex.tools import Answer
from engramdown.engram import Scope
from engramdown.errors import EngramdownError, InvalidEngramError, MemoryCommandError, StoreError
from engramdown.forks import Lock
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import LESSONS, PENDING, PROFILE, RULES
from engramdown.hippocampus.spelling import SOUL
from engramdown.hippocampus.store import Hippocampus
from engramdown.integrations import memory_pages
from engramdown.integrations.memory_pages import (
    NOTES,
    ROOT,
    TOPICS,
    Command,
    Edits,
    Place,
    command_from,
    edits,
    hint,
    place_of,
)
from engramdown.language.untrusted import inert
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.turns import Session

__all__ = ["TOOL", "MemoryFolder", "Reach"]

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
        stores = {"global": cortex.global_hc, "project": cortex.project_hc}
        self._stores: dict[Scope, Hippocampus] = {}
        for scope in self._scopes:
            store = stores[scope]
            if not isinstance(store, Hippocampus):
                raise StoreError(f"{type(store).__name__}: has no files that a model could edit")
            self._stores[scope] = store
        self._recalled: list[str] = []
        self._reading = Reading(cortex, self._stores)

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
            listing = memory_pages.listing(place.path, files)
            if place.sort == "root" and not _size(files):
                base = place.path if len(self._scopes) == 1 else f"{ROOT}/{place.scope}"
                return f"{listing}\n\nNothing is remembered yet. {hint(base)}"
            return listing
        text = memory_pages.shown(place.path, self._text(place), command.view_range)
        # Also where no line of a transcript taught it: what is shown is nothing new.
        self._recalled.append(place.path)
        return text

    def _create(self, command: Command) -> str:
        place = self._writable(command.path)
        if place.sort == "note":
            hidden = self._notes.create(place.name, place.path, command.new)
            return f"File created successfully at: {place.path}{hidden}"
        page = self._reading.page(place.scope, place.name)
        if page.entries:
            raise MemoryCommandError(
                f"File {place.path} already exists. Use str_replace or insert to change it."
            )
        outcome = self._edit(place, page, command.new, command)
        return _told(place, f"File created successfully at: {place.path}", outcome)

    def _str_replace(self, command: Command) -> str:
        place = self._existing(command.path)

        def change(text: str) -> str:
            return memory_pages.replaced(place.path, text, command.old, command.new)

        return self._changed(place, change, command, snippet=True)

    def _insert(self, command: Command) -> str:
        place = self._existing(command.path)

        def change(text: str) -> str:
            return memory_pages.inserted(text, command.line, command.new)

        return self._changed(place, change, command, snippet=False)

    def _delete(self, command: Command) -> str:
        place = self._place(command.path)
        if place.sort == "root":
            raise MemoryCommandError(f"Cannot delete the {place.path} directory itself")
        place = self._existing(command.path)
        if place.sort == "note":
            self._notes.delete(place.name)
            return f"Successfully deleted {place.path}"
        page = self._reading.page(place.scope, place.name)
        everything = Edits(removed=tuple(range(len(page.entries))))
        outcome = self._changing(place, command).edit(page.entries, everything)
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
        topic = new.name.removeprefix(f"{TOPICS}/").removesuffix(".md")
        outcome = self._changing(old, command).move(
            self._reading.page(old.scope, old.name).entries, topic
        )
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

    @property
    def _notes(self) -> FreeNotes:
        return FreeNotes(self._cortex)

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
        return bool(self._reading.page(place.scope, place.name).entries)

    def _text(self, place: Place) -> str:
        """Return what a model sees of a file."""
        text = ""
        if place.sort == "note":
            text = inert(self._notes.text(place.name))
        elif place.sort == "page":
            text = self._reading.soul(place.scope)
        elif place.sort == "queue":
            text = "".join(f"{row}\n" for row in self._reading.queue(place.scope))
        elif self._exists(place):
            page = self._reading.page(place.scope, place.name)
            self._recalled += [each for entry in page.entries for each in _pointers(entry)]
            return page.text
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

    # ---- changes ----

    def _changed(
        self, place: Place, change: Callable[[str], str], command: Command, *, snippet: bool
    ) -> str:
        """Carry out a change of the text of a file, and tell what became of it."""
        if place.sort == "note":
            before, after, hidden = self._notes.change(place.name, change)
            return _done(place, inert(before), inert(after), snippet=snippet) + hidden
        page = self._reading.page(place.scope, place.name)
        outcome = self._edit(place, page, change(page.text), command)
        after = self._reading.page(place.scope, place.name).text
        return _told(place, _done(place, page.text, after, snippet=snippet), outcome)

    def _edit(self, place: Place, page: Page, text: str, command: Command) -> Outcome:
        found = edits(place.name, page.text, text)
        if found.others:
            raise MemoryCommandError(
                f"No change was made in {place.path}: {found.others[0][:80]!r} is no memory. {_HOW}"
            )
        return self._changing(place, command).edit(page.entries, found)

    def _changing(self, place: Place, command: Command) -> Changing:
        why = f"{command.command} {place.path}"
        store = self._stores[place.scope]
        return Changing(self._cortex, store, place.name, why, self._session)


def _told(place: Place, done: str, outcome: Outcome) -> str:
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
        return "\n".join([_EDITED, *memory_pages.excerpt(before, after)])
    return f"The file {place.path} has been edited."


def _missing(place: Place) -> MemoryCommandError:
    return MemoryCommandError(f"The path {place.path} does not exist. Please provide a valid path.")


def _pointers(entry: Entry) -> list[str]:
    return [pointer for pointer in entry.origin.split(",") if pointer]


def _size(files: Iterable[tuple[str, int]]) -> int:
    return sum(size for name, size in files if not name.endswith("/"))

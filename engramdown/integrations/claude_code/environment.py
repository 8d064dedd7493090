"""Where a hook finds memory, and the notes that the hooks of one conversation leave each other.

Each hook is a process of its own. Nothing is created where nobody set memory up, and a hook waits
only a moment for a locked scope, less than a person would. A note for the next hook is a file that
appears complete, so that any number of tool calls may end at once, and a killed hook leaves no
partial one. Notes are in ``cache/hooks``, readable for the user alone, and may be deleted at any
moment; files that others can read, such as those of a clone, are not notes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.clock import moment, nanoseconds
from engramdown.errors import StoreError
from engramdown.settings import Settings, find_project, global_home, load_or_strictest
from engramdown.storage import HOOKS, Disk
from engramdown.transcripts import is_session_id

if TYPE_CHECKING:
    from engramdown import Cortex, EpisodicMemory

# The longest wait of a hook for a lock, in seconds.
PATIENCE: Final = 0.5

# The source of imported transcripts of Claude Code.
SOURCE: Final = "claude-code"
# The folder of the ledger, whose module a hook loads only if it exists.
_IMPORTS: Final = "imports"
_CLOSED: Final = "no project memory here; a hook does not create one"


class HookPlace(NamedTuple):
    """Where memory is for an agent.

    Attributes:
        home: The folder of the global scope; it need not exist.
        project: The ``.engramdown`` of the project, or ``None``.
        start: The folder that the agent works in.
        settings: The settings.
        trouble: Why the settings of the project could not be read, or ``""``; then the strictest
            ones apply.
    """

    home: Path
    project: Path | None
    start: Path
    settings: Settings
    trouble: str = ""

    @property
    def root(self) -> Path:
        """The folder of the scope that holds the notes of hooks."""
        return self.project or self.home

    def cortex(self, settings: Settings | None = None) -> Cortex:
        """Open memory.

        Args:
            settings: Replaces the configured settings.
        """
        # Imported here: most tool calls need no memory.
        from engramdown import Cortex
        from engramdown.gate import open_store
        from engramdown.hippocampus import REFUSED, is_refused

        chosen, root = settings or self.settings, self.project or self.start / ".engramdown"
        refused = self.project is not None and is_refused(self.home, self.project)
        everywhere = open_store(self.home, "global", chosen, REFUSED if refused else "", PATIENCE)
        here = open_store(root, "project", chosen, "" if self.project else _CLOSED, PATIENCE)
        return Cortex(everywhere, here, chosen.mode, settings=chosen)

    def episodes(self) -> EpisodicMemory | None:
        """Return the transcripts of the project, or ``None`` without a project."""
        if self.project is None:
            return None
        from engramdown import EpisodicMemory

        return EpisodicMemory(self.project, self.settings.episodes)


def find_place(start: Path, home: Path | None = None, mode: str | None = None) -> HookPlace | None:
    """Return where memory is for an agent that works in ``start``, or ``None`` if nowhere.

    Args:
        start: The folder.
        home: The folder of the global scope, if not the usual one.
        mode: The mode given as an argument.

    Raises:
        SettingsError: If a global setting is wrong.
    """
    place = home or global_home()
    project = find_project(start, place)
    if project is None and not place.is_dir():
        return None
    # Broken settings of a project must not hide global memory from a model.
    settings = load_or_strictest(place, project, mode)
    return HookPlace(place, project, start, settings, settings.trouble)


def imported_session(episodes: EpisodicMemory, session: str) -> str:
    """Return the id of an imported conversation of Claude Code, or ``""``."""
    if not session or not (episodes.folder / _IMPORTS).is_dir():
        return ""
    from engramdown.importers import Ledger

    return Ledger(episodes.folder, Disk(), durable=False).session_of(SOURCE, session)


# ---- notes between hooks ----

_GIVEN: Final = "given.json"
_LOCK: Final = ".lock"
_NOTE: Final = re.compile(r"[0-9]{19}-[0-9]+\.json")
_SAFE: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_MOST_NOTES: Final = 5_000
_PATIENCE: Final = 0.3


class Given(NamedTuple):
    """What the model of a conversation has been given.

    Attributes:
        start: A digest of the context at the start of the session, or ``""``.
        ids: The memories that it saw.
        learned: The number of the last line from which lessons were learned.
    """

    start: str = ""
    ids: tuple[str, ...] = ()
    learned: int = -1


class HookState:
    """The notes of the hooks of one conversation.

    Attributes:
        session: The id of the conversation as a safe file name, in lower case.
    """

    def __init__(self, root: Path, session: str, disk: Disk | None = None) -> None:
        """Keep notes in the scope's folder ``root``; nothing is created yet."""
        self.session = _safe(session)
        self._cache = root / "cache"
        self._folder = root / HOOKS / self.session
        self._disk = disk or Disk()

    # ---- notes ----

    def note(self, notes: Iterable[Mapping[str, Any]]) -> None:
        """Keep a note that will become lines of the transcript.

        Raises:
            OSError: If it cannot be written.
            StoreError: If a link is in the way.
        """
        lines = [{**each, "at": moment()} for each in notes]
        if lines:
            name = f"{nanoseconds():019d}-{self._disk.process()}.json"
            self._write(name, json.dumps(lines).encode(), replace=False)

    def notes(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the name and the lines of each note, oldest first."""
        names = [name for name in self._disk.files(self._folder) if _NOTE.fullmatch(name)]
        return [(name, self._read_note(name)) for name in names[:_MOST_NOTES]]

    def drop(self, names: Iterable[str]) -> None:
        """Remove notes that became lines."""
        for name in names:
            self._disk.unlink(self._folder / name)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold off other hooks that process these notes.

        Raises:
            LockTimeoutError: If one is processing them.
        """
        from engramdown.storage import FolderLock

        self._prepare()
        lock = FolderLock(self._folder / _LOCK, self._disk, _PATIENCE)
        with contextlib.closing(lock), lock.hold():
            self._disk.remove_unfinished(self._folder)
            yield

    # ---- what the model has been given ----

    def given(self) -> Given:
        """Return what the model has been given, as far as it is known."""
        try:
            data = json.loads(self._disk.load_own(self._folder / _GIVEN) or b"{}")
            ids = tuple(each for each in data["ids"] if isinstance(each, str))
            return Given(str(data["start"]), ids, int(data["learned"]))
        except (OSError, StoreError, ValueError, TypeError, KeyError, RecursionError):
            return Given()

    def give(self, given: Given) -> None:
        """Remember what the model has been given.

        Raises:
            OSError: If it cannot be written.
            StoreError: If a link is in the way.
        """
        self._write(_GIVEN, json.dumps(given._asdict()).encode(), replace=True)

    def forget_after(self, before: float) -> None:
        """Remove the folder of a conversation that is unchanged since ``before``."""
        try:
            if self._folder.stat().st_mtime >= before or self.notes():
                return
            for name in self._disk.files(self._folder):
                self._disk.unlink(self._folder / name)
            self._folder.rmdir()
        except OSError:  # Another hook uses it again.
            return

    def _read_note(self, name: str) -> list[dict[str, Any]]:
        try:
            lines = json.loads(self._disk.load_own(self._folder / name) or b"[]")
        except (ValueError, RecursionError):
            return []
        return [each for each in lines if isinstance(each, dict)] if isinstance(lines, list) else []

    def _write(self, name: str, data: bytes, *, replace: bool) -> None:
        self._prepare()
        self._disk.save(self._folder / name, data, durable=False, replace=replace)

    def _prepare(self) -> None:
        for folder in (self._cache, self._folder.parent, self._folder):
            # A link would lead notes out of the scope.
            if folder.is_symlink():
                raise StoreError(f"{folder}: is a link instead of a folder; remove it.")
        self._disk.make_plain_folder(self._folder, durable=False)


def abandoned(root: Path, session: str, before: float, most: int) -> list[HookState]:
    """Return the notes of other conversations that are unchanged since ``before``.

    Args:
        root: The folder of the scope.
        session: The current conversation, which is left out.
        before: In seconds since 1970.
        most: The largest number to return.
    """
    states: list[HookState] = []
    folder = root / HOOKS
    if folder.is_symlink():
        return []
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as places:
        for place in places:
            mine = place.name == session or not place.is_dir(follow_symlinks=False)
            if not mine and place.stat(follow_symlinks=False).st_mtime < before:
                states.append(HookState(root, place.name))
    return sorted(states, key=lambda state: state.session)[:most]


def _safe(session: str) -> str:
    """Return a safe file name for a session of an agent: its own id, if that is safe."""
    name = session.lower()
    if _SAFE.fullmatch(name) and is_session_id(name):
        return name
    import hashlib

    return f"agent-{hashlib.sha256(session.encode('utf-8', 'replace')).hexdigest()[:16]}"

"""Inspects the files in the folder of a scope.

It only reads, holds no lock and follows no link out of the scope. A file that cannot be read
becomes a finding, never an error. :mod:`engramdown.doctor.checks` checks the contents.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from engramdown.doctor.findings import Finding, find
from engramdown.doctor.recordings import inspect_transcripts
from engramdown.engram import slug
from engramdown.errors import InvalidEngramError, SettingsError, StoreError
from engramdown.gate.arrivals import Approvals
from engramdown.git.driver import is_unregistered
from engramdown.hippocampus.git_state import is_versioned, known_to_git
from engramdown.hippocampus.history import ROOM, read_line
from engramdown.hippocampus.provenance import page_key
from engramdown.hippocampus.snapshot import has_aliases, meant, named, spelled
from engramdown.hippocampus.store import is_refused
from engramdown.kinds import SOUL, is_name
from engramdown.settings import CONFIG, SETTINGS, Settings, config_text, load, strictest
from engramdown.settings import named as names_of
from engramdown.storage.disk import Disk, megabytes
from engramdown.storage.locks import ScopeLock
from engramdown.storage.safe_open import open_regular, what_instead

# The codes of files that could not be read.
UNREADABLE: Final = frozenset({"cannot-read", "link", "not-a-file", "too-large"})

_LIMIT: Final = 16 * 1024 * 1024
# A temporary file that is older, in seconds, was left by a crash.
_FINISHED_AFTER: Final = 60.0
# How long a lock may be held before it is reported, in seconds: a step takes milliseconds.
_WRITTEN_AFTER: Final = 0.5
_POLL: Final = 0.01
# The lock of the memory files, in their folder.
LOCK: Final = ".lock"
# Other locks that are held for moments, in the folder of a scope.
LOCKS: Final = ("journal.lock", "skills.lock")
_TOPICS: Final = "topics"
_CONFIG: Final = (f"../{CONFIG}", 0)
_BY: Final = {"home": "the global scope", "environment": "the environment", "argument": "an option"}


def inspect_settings(
    home: Path, project: Path | None, mode: str | None = None
) -> tuple[Settings, dict[Path, list[Finding]]]:
    """Return the settings, and the findings about the ``config.toml`` of each scope.

    Args:
        home: The folder of the global scope.
        project: The folder of the project, or ``None``.
        mode: The mode given as an argument, or ``None``.

    Raises:
        SettingsError: If an argument or an environment variable is wrong.
    """
    approvals = Approvals(project if project and is_refused(home, project) else home)
    found = {root: _from_git(approvals, root) for root in (home, project) if root is not None}
    try:
        settings = load(home, project, mode)
    except SettingsError as error:
        wrong = Path(error.source)
        if wrong.name != CONFIG:
            raise
        found.setdefault(wrong.parent, []).append(find(_CONFIG, "settings", reason=error.problem))
        # If the global file is broken, only the default limits are left.
        settings = Settings() if wrong.parent == home else strictest(home)
    if project is not None:
        found[project] += [
            find(_CONFIG, "overruled", key=key, said=_toml(said), holds=_toml(holds), by=_BY[by])
            for key, said, holds, by in settings.overruled
        ]
        found[project] += [
            find(_CONFIG, "switched-off", what=SETTINGS[key].does, key=key, said=_toml(said))
            for key, said in settings.switched_off
        ]
    return settings, found


def _from_git(approvals: Approvals, root: Path) -> list[Finding]:
    """Return a finding if the settings of a scope came with git and nobody here wrote them."""
    path = root / CONFIG
    text, keys = "unread", "nothing, as it is broken"
    with suppress(SettingsError):
        text = config_text(path)
        keys = ", ".join(names_of(root)) or "nothing"
    disk = Disk(durable=False)
    if not (text and is_versioned(root, disk) and known_to_git([path], disk)):
        return []
    try:
        own = page_key(CONFIG, text) in approvals.of(root).approved
    except StoreError:
        own = False
    return [] if own else [find(_CONFIG, "settings-from-git", keys=keys)]


def _toml(value: Any) -> str:  # noqa: ANN401 - whatever a setting can be
    """Return a value as a ``config.toml`` writes it.

    >>> _toml(True), _toml(("cron-*",)), _toml(None)
    ('true', '["cron-*"]', 'the default')
    """
    return "the default" if value is None else json.dumps(value, ensure_ascii=False)


class Inspection:
    """The files in a scope's folder, an ``.engramdown``, which need not exist.

    Attributes:
        files: The texts of the memory files by name, as it is spelled and as the store reads them.
        findings: What is wrong with the files.
    """

    def __init__(self, root: Path, limit: int = _LIMIT) -> None:
        """Read the scope at ``root``, except files with more than ``limit`` bytes."""
        self.files: dict[str, str] = {}
        self.findings: list[Finding] = []
        self._root = root
        self._memory = root / "memory"
        self._limit = limit
        self._disk = Disk(durable=False, limit=limit)
        self._is_held = False
        if os.path.lexists(root) and self._is_folder(root, ".."):
            self._inspect()

    def _inspect(self) -> None:
        """Inspect the folders from the outside in."""
        if os.path.lexists(self._memory) and self._is_folder(self._memory, "."):
            # Before the files: whoever holds the lock may be finishing while we look.
            self._is_held = self._lock(self._memory / LOCK, LOCK)
            self._folder(self._memory, "")
        for lock in LOCKS:
            self._lock(self._root / lock, f"../{lock}")
        for name in self._disk.names(self._root):
            if has_aliases(meant(name)):
                self._add(f"../{name}", "wrong-folder")
        self._history(self._root / "history.jsonl", "../history.jsonl")
        if is_unregistered(self._root):
            self._add("..", "no-merge-driver")
        self.findings += inspect_transcripts(self._root)

    def _add(self, name: str, code: str, line: int = 0, **fields: object) -> None:
        self.findings.append(find((name, line), code, fixable=False, **fields))

    def _lock(self, path: Path, name: str) -> bool:
        """Report a lock that is held for longer than a write takes; return whether it is."""
        lock, until = ScopeLock(path, 0), time.monotonic() + _WRITTEN_AFTER
        while (holder := lock.holder()) is not None and time.monotonic() < until:
            time.sleep(_POLL)
        if holder is not None:
            self._add(name, "held", holder=holder or "another process")
        return holder is not None

    def _folder(self, folder: Path, prefix: str) -> None:
        paths = sorted(folder.iterdir())
        files = [path.name for path in paths if not path.is_dir()]
        names = {} if prefix else named(files)
        for path in paths:
            name = prefix + path.name
            meant_by = names.get(name, name)
            if path.name == LOCK:
                self._is_file(path.lstat().st_mode, name, "the lock")
            elif path.name.startswith("."):
                # Temporary files of ours; other hidden files do not matter. If the lock is held,
                # the holder may still need them.
                is_ours = path.name.endswith((".tmp", ".tmp.old")) and not self._is_held
                if is_ours and time.time() - path.lstat().st_mtime > _FINISHED_AFTER:
                    self._add(name, "leftover")
            elif name == _TOPICS:
                if self._is_folder(path, name):
                    self._folder(path, f"{_TOPICS}/")
            elif meant_by == SOUL or is_name(meant_by):
                self._file(path, name)
            elif name in names and meant(name) != name:
                self._add(name, "not-used", other=spelled(meant(name), files))
            elif prefix and name.endswith(".md") and path.is_file():
                self._topic(path.stem, name)
            else:
                self._add(name, "unknown-file")

    def _topic(self, topic: str, name: str) -> None:
        """Report the wrong name of a file in the folder of topics."""
        try:
            reason, more = "is not read", f"this topic is {slug(topic)}.md"
        except InvalidEngramError as error:
            reason, more = error.reason, "give it a plain name"
        self._add(name, "topic-name", reason=reason, next=more)

    def _is_folder(self, path: Path, name: str) -> bool:
        if not self._is_inside(path, name):
            return False
        try:
            mode = path.stat().st_mode
        except OSError as error:  # a link that leads to itself
            self._add(name, "cannot-read", reason=error.strerror)
            return False
        if not stat.S_ISDIR(mode):
            self._add(name, "not-a-file", what=what_instead(mode) or "a file", wanted="a folder")
            return False
        self._permissions(path, name)
        is_readable = os.access(path, os.R_OK | os.X_OK)
        if not is_readable:
            self._add(name, "cannot-read", reason="its permissions do not allow it")
        return is_readable

    def _is_inside(self, path: Path, name: str) -> bool:
        """Whether a path is not a link, or one to something in the scope."""
        if not path.is_symlink() or path == self._root:
            return True
        # resolve() raises for a link to itself.
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._root))
        if not inside or not path.exists():
            self._add(name, "link", target=path.readlink())
            return False
        return True

    def _file(self, path: Path, name: str) -> None:
        if self._is_inside(path, name) and self._is_sound(path.resolve(), name, self._limit):
            try:
                data = self._disk.read(path.resolve())
            except (OSError, StoreError) as error:
                self._unread(name, error)
            else:
                if data is not None:
                    self.files[name] = data.decode("utf-8", "surrogateescape")

    def _history(self, path: Path, name: str) -> None:
        if path.is_symlink():
            # Unlike for a memory file, no link is followed at all.
            self._add(name, "link", target=path.readlink())
        elif os.path.lexists(path) and self._is_sound(path, name, ROOM * self._limit):
            try:
                with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
                    for number, line in enumerate(file, 1):
                        if read_line(line) is None:
                            self._add(name, "history-line", number)
            except (OSError, StoreError) as error:
                self._unread(name, error)

    def _is_sound(self, path: Path, name: str, limit: int) -> bool:
        """Whether it is a file within the limit of size."""
        found = path.lstat()
        if not self._is_file(found.st_mode, name):
            return False
        if found.st_size > limit:
            has, most = megabytes(found.st_size, limit)
            self._add(name, "too-large", size=has, limit=most)
            return False
        self._permissions(path, name)
        return True

    def _is_file(self, mode: int, name: str, wanted: str = "a file") -> bool:
        what = what_instead(mode)
        if what:
            self._add(name, "not-a-file", what=what, wanted=wanted)
        return not what

    def _permissions(self, path: Path, name: str) -> None:
        mode = path.stat().st_mode
        if not mode & 0o222 or not os.access(path, os.W_OK):
            self._add(name, "cannot-write")
        if mode & stat.S_IWOTH and sys.platform != "win32":
            self._add(name, "open-to-all")

    def _unread(self, name: str, error: OSError | StoreError) -> None:
        reason = error.strerror or "" if isinstance(error, OSError) else str(error)
        self._add(name, "cannot-read", reason=reason)

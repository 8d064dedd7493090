"""The write protocol with one part of it taken away, each to be seen by the experiments.

Promises: a mutant differs from the real thing in what its name says and in nothing else; so if an
experiment finds nothing wrong with one, it is the experiment that is blind.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final
from unittest import mock

from engramdown.hippocampus.history import History
from engramdown.hippocampus.transaction import Recovery, Staging
from engramdown.storage.disk import Disk
from engramdown.storage.locks import Held, ScopeLock
from engramdown.storage.safe_open import FILE_MODE


class _Forgetful(Disk):
    """A disk that leaves the syncs of some calls out."""

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        before, self.durable = self.durable, False
        try:
            yield
        finally:
            self.durable = before


class UnsyncedFiles(_Forgetful):
    """A disk that does not sync new files."""

    def create(
        self, path: Path, data: bytes, *, like: Path | None = None, mode: int = FILE_MODE
    ) -> None:
        with self._forgetting():
            super().create(path, data, like=like, mode=mode)


class UnsyncedLines(Disk):
    """A disk that does not sync what is written."""

    def sync_open(self, descriptor: int) -> None:
        """Do nothing."""


class UnsyncedFolders(Disk):
    """A disk that does not sync names."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing."""


class _UnsyncedJournal(_Forgetful):
    def append(self, path: Path, data: bytes) -> int:
        with self._forgetting():
            return super().append(path, data)


class _UnsyncedFolder(Disk):
    def sync_folder(self, path: Path) -> None:
        if path.name not in ("memory", "topics"):
            super().sync_folder(path)


class _UnsyncedParent(Disk):
    def sync_folder(self, path: Path) -> None:
        if path.name in (".engramdown", "memory", "topics"):
            super().sync_folder(path)


class _WritesBeforeJournal(Disk):
    """Writes the line of the journal when the files are in their places."""

    _late: tuple[Path, bytes] | None = None

    def append(self, path: Path, data: bytes) -> int:
        self._late = path, data
        return self.identity(path)[0]

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        if self._late:
            super().append(*self._late)
            self._late = None


class _WritesInPlace(Disk):
    """Writes the new text into the file that is there."""

    def exchange(self, new: Path, path: Path) -> None:
        displaced, data = self.read(path) or b"", self.read(new) or b""
        for name, text in ((path, data), (new, displaced)):
            descriptor = os.open(name, os.O_WRONLY | os.O_TRUNC)
            os.write(descriptor, text)
            os.fsync(descriptor)
            os.close(descriptor)


class Swaps(Disk):
    """The real disk; somebody else comes in right before the names are exchanged."""

    def __init__(self, window: Callable[[], None]) -> None:
        """Call ``window`` once, at the first exchange."""
        super().__init__()
        self._windows = [window]

    def exchange(self, new: Path, path: Path) -> None:
        while self._windows:
            self._windows.pop()()
        super().exchange(new, path)


class Overwrites(Swaps):
    """Renames over the file instead of exchanging it, and believes that it is as it was read."""

    def exchange(self, new: Path, path: Path) -> None:
        before = self.read(path) or b""
        while self._windows:
            self._windows.pop()()
        new.replace(path)
        self.create(new, before)


DISKS: Final[dict[str, type[Disk]]] = {
    "the temporary file is not synced": UnsyncedFiles,
    "the journal is not synced": _UnsyncedJournal,
    "the folder is not synced": _UnsyncedFolder,
    "the parent of a new folder is not synced": _UnsyncedParent,
    "files are written before the journal": _WritesBeforeJournal,
    "files are written in place": _WritesInPlace,
}
"""What a power cut shows, by what is left out."""


def _nothing(*_: object) -> None:
    """Do nothing."""


PATCHES: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {
    "no step is carried out again": lambda: mock.patch.object(Recovery, "carry_out", _nothing),
    "half a hand edit is taken for a whole one": lambda: mock.patch.object(
        History, "take_back_saves", _nothing
    ),
    "the note of a new lock is not synced": lambda: mock.patch.object(Held, "sync", _nothing),
}
"""The same, for what no disk can leave out."""


class _Noteless(Held):
    """A lock that says nothing about who holds it."""

    def __init__(self) -> None:
        self.finished = None

    def _write(self, pid: int | None) -> None:
        del pid


class _LockOnData(ScopeLock):
    """Locks the file that is to be replaced."""

    @contextmanager
    def hold(self, *, wait: bool = True) -> Iterator[Held]:
        del wait
        with _flocked(self.path.with_name("lessons.md")):
            yield _Noteless()


class _UnlinkedLock(ScopeLock):
    """Removes its file when it is done."""

    @contextmanager
    def hold(self, *, wait: bool = True) -> Iterator[Held]:
        del wait
        with _flocked(self.path):
            try:
                yield _Noteless()
            finally:
                self.path.unlink(missing_ok=True)


LOCKS: Final[dict[str, type[ScopeLock]]] = {
    "the data file is locked": _LockOnData,
    "the lock is removed after use": _UnlinkedLock,
}
"""What a race shows."""


def with_lock(kind: type[ScopeLock]) -> AbstractContextManager[object]:
    """Let every store that is opened in a ``with`` block lock in another way."""
    return mock.patch("engramdown.hippocampus.files.ScopeLock", kind)


def without_look() -> AbstractContextManager[object]:
    """Let nobody look at what was displaced."""
    return mock.patch.object(Staging, "_is_conflict", return_value=False)


@contextmanager
def _flocked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

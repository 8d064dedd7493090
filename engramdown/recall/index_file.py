"""Where the index of transcripts is kept, and what is used instead when it cannot be.

:meth:`IndexFile.ask` gets the same answer from the file ``cache/index.sqlite`` and, where nothing
can be kept, from an index in memory. Where no transcript can be read, nothing is found. A file that
is missing, of another version, cut short or changed by anybody but us is made anew, and replaced
whole. Several processes and threads may ask at once.

Damage that SQLite does not see is found by size and time: changes move from the log of SQLite into
the file only under the lock here, and its size and time are then noted in ``index.seal``.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from engramdown.errors import NO_SEARCH, EngramdownError, LockTimeoutError, StoreError
from engramdown.forks import RLock, in_child, unforked
from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock, one_call

if TYPE_CHECKING:
    import sqlite3

    from engramdown.recall.index import Index

FILE: Final = "index.sqlite"
LOCK: Final = "index.lock"
SEAL: Final = "index.seal"
_PART: Final = ".part"
# Seconds to wait for the lock when closing the file, to note how it is left.
_CLOSING: Final = 0.25
_LONG_LOG: Final = 4 * 1024 * 1024

_Answer = TypeVar("_Answer")

# Connections of the process that this one was forked from; to close them would end its locks.
_OTHERS: Final[list[Index | None]] = []


class IndexFile:
    """The index of one folder of transcripts, wherever it may be."""

    def __init__(self, folder: Path, cache: Path, disk: Disk) -> None:
        """Keep the index of the transcripts in ``folder`` in ``cache``; nothing is read yet."""
        self.folder, self.cache, self._disk = folder, cache, disk
        self._threads = RLock()
        self._lock = FolderLock(cache / LOCK, disk, LOCK_TIMEOUT)
        self._index: Index | None = None
        self._seal: tuple[int, ...] = ()
        self._kept = True
        self._closing: weakref.finalize[..., IndexFile] | None = None
        in_child(self, IndexFile._abandon)

    @one_call()
    def ask(self, question: Callable[[Index], _Answer]) -> _Answer:
        """Return the answer of ``question``, which is given the index.

        Raises:
            StoreError: If this Python has no SQLite, or one without FTS5.
        """
        with self._threads, unforked():
            try:
                from engramdown.recall.index import FAILURES
            except ImportError as error:  # a Python may be built without SQLite
                raise StoreError(NO_SEARCH) from error
            # Where there is no folder, none is made.
            is_there = self._disk.find(self.folder) is not None
            for place in (self._stored, self._anew, self._in_memory) if is_there else ():
                with contextlib.suppress(OSError, EngramdownError, *FAILURES):
                    index = place() if self._kept else self._in_memory()
                    with index.reading():
                        answer = question(index)
                    self._tidy(index)
                    return answer
                self._leave()
            return self._without_transcripts(question)

    def is_made(self) -> bool:
        """Whether the next question finds the file as it was left, or has no transcript to read."""
        return self._disk.find(self.folder) is None or self._is_noted(self._state())

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        with self._threads, unforked():
            self._leave()

    def _without_transcripts(self, question: Callable[[Index], _Answer]) -> _Answer:
        """Return the answer of an index without a line."""
        from engramdown.recall.index import FAILURES, fresh

        try:
            index = fresh(None, Path(os.devnull), self._disk)
        except FAILURES as error:  # no such module: fts5
            raise StoreError(NO_SEARCH) from error
        with contextlib.closing(index.connection):
            return question(index)

    # ---- the file ----

    def _stored(self) -> Index:
        """Return the index of the file, opened or made if need be."""
        if self._index is not None and self._state() == self._seal:
            return self._index
        self._disk.make_plain_folder(self.cache, durable=False)
        with contextlib.ExitStack() as stack:
            now = self._state()
            try:
                # A file that is as noted can be read without the lock.
                stack.enter_context(self._lock.hold(0.0 if self._is_noted(now) else None))
            except LockTimeoutError:
                if not self._is_noted(now):
                    raise
                self._drop()
                return self._open(now)
            now = self._state()
            is_noted = self._is_noted(now)
            if self._index is not None and is_noted and now[:1] == self._seal[:1]:
                self._seal = now
                return self._index
            self._drop()
            if not is_noted:
                return self._make()
            self._sweep()
            return self._open(now)

    def _is_noted(self, now: tuple[int, ...]) -> bool:
        """Whether the state ``now`` of the file is the one in which it was left."""
        return bool(now) and now == _noted(self.cache, self._disk)

    def _anew(self) -> Index:
        self._disk.make_plain_folder(self.cache, durable=False)
        with self._lock.hold():
            return self._make()

    def _make(self) -> Index:
        """Make the index under another name, then give it its own; the lock is held."""
        from engramdown.recall.index import fresh

        self._sweep()
        part = self.cache / f"{FILE}.{os.urandom(4).hex()}{_PART}"
        try:
            fresh(part, self.folder, self._disk)
            # What others still read keeps its own log; a log that is left would be taken for ours.
            for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):
                self._disk.unlink(self.cache / name)
            part.replace(self.cache / FILE)
        finally:
            self._disk.unlink(part)
        note_state(self.cache, self._disk)
        return self._open(self._state())

    def _sweep(self) -> None:
        """Remove what processes that died were making; the lock is held, so nobody makes it now."""
        for name in self._disk.files(self.cache):
            if name.startswith((FILE, SEAL)) and _PART in name:
                self._disk.unlink(self.cache / name)

    def _open(self, now: tuple[int, ...]) -> Index:
        from engramdown.recall.index import stored

        index = stored(self.cache / FILE, self.folder, self.cache, self._disk)
        kept = (self.cache, self._lock, self._disk)
        self._closing = weakref.finalize(self, _let_go, index.connection, *kept)
        self._index, self._seal = index, now
        return index

    def _in_memory(self) -> Index:
        """Return an index that is kept nowhere, because it cannot be."""
        from engramdown.recall.index import fresh

        self._kept = False
        if self._index is None:
            self._index = fresh(None, self.folder, self._disk)
            self._closing = weakref.finalize(self, unforked()(self._index.connection.close))
        return self._index

    def _state(self) -> tuple[int, ...]:
        return _state(self.cache, self._disk)

    def _tidy(self, index: Index) -> None:
        """Move what SQLite has in its log into the file, if that has become much."""
        if not self._kept or not index.wrote:
            return
        index.wrote = False
        log = self._disk.find(self.cache / f"{FILE}-wal")
        if log is not None and log.st_size > _LONG_LOG:
            with contextlib.suppress(OSError, EngramdownError), self._lock.hold():
                _check_in(index.connection, self.cache, self._disk)
                self._seal = self._state()

    def _leave(self) -> None:
        if self._closing is not None:
            self._closing()
        self._detach()

    def _drop(self) -> None:
        """Close an outdated index; the lock is held, which :func:`_let_go` would take."""
        if index := self._detach():
            index.connection.close()

    def _abandon(self) -> None:
        """Leave the connection to the parent process; a child must not even close it."""
        _OTHERS.append(self._detach())

    def _detach(self) -> Index | None:
        """Return the index and forget it, without closing it."""
        if self._closing is not None:
            self._closing.detach()
        index, self._index, self._closing, self._seal = self._index, None, None, ()
        return index


def _state(cache: Path, disk: Disk) -> tuple[int, ...]:
    """Return what identifies the state of the file; empty if there is no file."""
    found = disk.find(cache / FILE)
    return () if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)


def _noted(cache: Path, disk: Disk) -> tuple[int, ...]:
    """Return the state in which the file was left, as :func:`_state` has it."""
    parts = (disk.load(cache / SEAL) or b"").split()
    return tuple(int(part) for part in parts if part.isdigit())


def note_state(cache: Path, disk: Disk) -> None:
    """Note how the file is left; the lock is held."""
    line = " ".join(map(str, _state(cache, disk))).encode()
    disk.save(cache / SEAL, line, durable=False, replace=True)


def _check_in(connection: sqlite3.Connection, cache: Path, disk: Disk) -> None:
    """Move the log of SQLite into the file and note how the file is then; the lock is held."""
    from engramdown.recall.index import FAILURES

    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    # Whoever reads meanwhile may be this thread: a garbage collection closes one file in the midst
    # of a question to another. What is not moved now moves later.
    connection.execute("PRAGMA busy_timeout = 0")
    with contextlib.suppress(*FAILURES):
        # What FTS5 has merged leaves a third of the file empty. As a script, because each of its
        # steps frees one page, and there are no rows to ask for the next.
        connection.executescript("PRAGMA incremental_vacuum")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute(f"PRAGMA busy_timeout = {patience}")
    note_state(cache, disk)


@unforked()
def _let_go(connection: sqlite3.Connection, cache: Path, lock: FolderLock, disk: Disk) -> None:
    """Close the file; the last who does makes SQLite write to it, which must be noted."""
    from engramdown.recall.index import FAILURES

    with contextlib.suppress(OSError, EngramdownError, *FAILURES), lock.hold(_CLOSING):
        log = disk.find(cache / f"{FILE}-wal")
        # Most connections have only read, and leave the file as noted.
        ours = log and log.st_size and _state(cache, disk) == _noted(cache, disk)
        if ours:
            with contextlib.suppress(*FAILURES):
                _check_in(connection, cache, disk)
        connection.close()
    connection.close()
    lock.close()

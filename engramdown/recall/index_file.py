"""Where the index is kept, and what is asked instead when it cannot be.

Promises: :meth:`Shelf.ask` always gets an answer from somewhere, and the same one: from the file
``cache/index.sqlite``; from an index in memory where nothing can be kept; from a scan of the
transcripts where there is no FTS5 or no SQLite. A file that is missing, of another version, cut
short or changed by anybody but us is made anew, and replaced whole. Several processes and threads
may ask at once.

How a file is known that was damaged in a way that SQLite does not see: whoever moves changes from
the log of SQLite into the file, which nobody does but under the lock here, notes its size and time
in ``index.seal`` afterwards.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from zlib import crc32

from engramdown.errors import EngramdownError, LockTimeoutError, StoreError
from engramdown.forks import RLock, in_child, unforked
from engramdown.language.terms import folded, speaking, spelt
from engramdown.recall.index import FAILURES, Index
from engramdown.recall.intake import WORDLESS, Known
from engramdown.recall.lines import Line, read_lines
from engramdown.recall.source import CHUNK, PAGE, Chunk, Source, Unusable
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock, one_call
from engramdown.transcripts import changes
from engramdown.transcripts.episode import ROLES

if TYPE_CHECKING:
    from engramdown.recall.scan import Scan

__all__ = ["FILE", "LOCK", "PART", "PATIENCE", "SEAL", "Shelf", "look", "note", "noted", "removal"]

FILE: Final = "index.sqlite"
SEAL: Final = "index.seal"
LOCK: Final = "index.lock"
PART: Final = ".part"
PATIENCE: Final = 10.0
"""Seconds to wait while somebody else makes the index anew."""
# How long who lets go of the file waits to note how it is left, in seconds.
_CLOSING: Final = 0.25
_LONG_LOG: Final = 4 * 1024 * 1024

_Answer = TypeVar("_Answer")


class Shelf:
    """The index of one folder of transcripts, wherever it may be."""

    def __init__(self, folder: Path, cache: Path, disk: EpisodeDisk) -> None:
        """Keep the index of the transcripts in ``folder`` in ``cache``; nothing is read yet."""
        self.folder = folder
        self.cache = cache
        self._disk = disk
        self._threads = RLock()
        self._lock = FolderLock(cache / LOCK, disk, PATIENCE)
        self._index: Index | None = None
        self._scan: Scan | None = None
        self._seal: tuple[int, ...] = ()
        self._kept = True
        self._closing: weakref.finalize[..., Shelf] | None = None
        in_child(self, Shelf._abandon)

    @one_call()
    def ask(self, question: Callable[[Source], _Answer]) -> _Answer:
        """Return the answer of ``question``, which is given what knows the transcripts."""
        with self._threads, unforked():
            try:
                import sqlite3  # noqa: F401 - a Python may be built without it

                from engramdown.recall.index import FAILURES
            except ImportError:
                return self._scanned(question)
            if self._disk.find(self.folder) is None:
                return self._scanned(question)  # which is nothing, and makes no folder
            for place in (self._stored, self._anew, self._in_memory):
                with contextlib.suppress(OSError, EngramdownError, *FAILURES):
                    index = place()
                    with index.reading():
                        answer = question(index)
                    self._tidy(index)
                    return answer
                self._leave()
            return self._scanned(question)

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        with self._threads, unforked():
            self._leave()

    def _scanned(self, question: Callable[[Source], _Answer]) -> _Answer:
        if self._scan is None:
            from engramdown.recall.scan import Scan

            self._scan = Scan(self.folder, self._disk)
        with self._scan.reading():
            return question(self._scan)

    # ---- the file ----

    def _stored(self) -> Index:
        """Return the index of the file, opened or made if need be."""
        if not self._kept:
            return self._in_memory()
        if self._index is not None and self._now() == self._seal:
            return self._index
        self._disk.make_folder(self.cache, durable=False)
        with contextlib.ExitStack() as stack:
            now = self._now()
            try:
                # One that stands as it is noted can be read, whoever has the lock.
                stack.enter_context(self._lock.hold(0.0 if now and now == self._noted() else None))
            except LockTimeoutError:
                if not now or now != self._noted():
                    raise
                self._drop()
                return self._open(now)
            now = self._now()
            if self._index is not None and now == self._noted() and now[:1] == self._seal[:1]:
                self._seal = now
                return self._index
            self._drop()
            if not now or now != self._noted():
                return self._make()
            self._sweep()
            return self._open(now)

    def _anew(self) -> Index:
        if not self._kept:
            return self._in_memory()
        self._disk.make_folder(self.cache, durable=False)
        with self._lock.hold():
            return self._make()

    def _make(self) -> Index:
        """Make the index under another name, then give it its own; the lock is held."""
        from engramdown.recall.index import fresh

        self._sweep()
        part = self.cache / f"{FILE}.{os.urandom(4).hex()}{PART}"
        try:
            fresh(part, self.folder, self._disk)
            # What others still read keeps its own log; a log that is left would be taken for ours.
            for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):
                self._disk.remove(self.cache / name)
            part.replace(self.cache / FILE)
        finally:
            self._disk.remove(part)
        self._note()
        return self._open(self._now())

    def _sweep(self) -> None:
        """Remove what processes that died were making; the lock is held, so nobody makes it now."""
        for name in self._disk.names(self.cache):
            if name.startswith((FILE, SEAL)) and PART in name:
                self._disk.remove(self.cache / name)

    def _open(self, now: tuple[int, ...]) -> Index:
        from engramdown.recall.index import stored

        self._index = stored(self.cache / FILE, self.folder, self.cache, self._disk)
        self._seal = now
        self._closing = weakref.finalize(
            self, _let_go, self._index.connection, self.cache, self._lock, self._disk
        )
        return self._index

    def _in_memory(self) -> Index:
        """Return an index that is kept nowhere, because it cannot be."""
        from engramdown.recall.index import fresh

        self._kept = False
        if self._index is None:
            self._index = fresh(None, self.folder, self._disk)
            self._closing = weakref.finalize(self, _close, self._index.connection)
        return self._index

    def _now(self) -> tuple[int, ...]:
        return look(self.cache / FILE, self._disk)

    def _noted(self) -> tuple[int, ...]:
        return noted(self.cache, self._disk)

    def _note(self) -> None:
        note(self.cache, self._disk)

    def _tidy(self, index: Index) -> None:
        """Move what SQLite has in its log into the file, if that has become much."""
        if not self._kept or not index.upkeep.wrote:
            return
        index.upkeep.wrote = False
        log = self._disk.find(self.cache / f"{FILE}-wal")
        if log is not None and log.st_size > _LONG_LOG:
            with contextlib.suppress(OSError, EngramdownError), self._lock.hold():
                _check_in(index.connection, self.cache, self._disk)
                self._seal = self._now()

    def _leave(self) -> None:
        if self._closing is not None:
            self._closing()
        elif self._index is not None:
            self._index.connection.close()
        self._index, self._closing, self._seal = None, None, ()

    def _drop(self) -> None:
        """Close what is no longer the index; the lock is held, which :func:`_let_go` would take."""
        if self._closing is not None and self._index is not None:
            self._closing.detach()
            self._index.connection.close()
        self._index, self._closing, self._seal = None, None, ()

    def _abandon(self) -> None:
        """Leave to the parent what is its own; a connection must not even be closed in a child."""
        if self._closing is not None:
            self._closing.detach()
            _OTHERS.append(self._index)
        self._index, self._closing, self._seal = None, None, ()


_OTHERS: Final[list[Index | None]] = []
"""Connections of the process that this one was forked from; to close them would end its locks."""


def look(path: Path, disk: EpisodeDisk) -> tuple[int, ...]:
    """Return what tells whether a file is as it was left; empty if there is none."""
    found = disk.find(path)
    return () if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)


def noted(cache: Path, disk: EpisodeDisk) -> tuple[int, ...]:
    """Return how the index in ``cache`` was left, as :func:`look` tells it."""
    parts = (disk.load(cache / SEAL) or b"").split()
    return tuple(int(part) for part in parts if part.isdigit())


def note(cache: Path, disk: EpisodeDisk) -> None:
    """Note how the index in ``cache`` is left; the lock is held."""
    line = " ".join(str(part) for part in look(cache / FILE, disk)).encode()
    disk.publish(cache / SEAL, line, durable=False, replace=True)


@unforked()
def _close(connection: sqlite3.Connection) -> None:
    connection.close()


def _check_in(connection: sqlite3.Connection, cache: Path, disk: EpisodeDisk) -> None:
    """Move the log of SQLite into the file and note how the file is then; the lock is held."""
    from engramdown.recall.index import FAILURES

    with contextlib.suppress(*FAILURES):
        # What FTS5 has merged leaves a third of the file empty. As a script, because each of its
        # steps frees one page, and there are no rows to ask for the next.
        connection.executescript("PRAGMA incremental_vacuum")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    note(cache, disk)


@unforked()
def _let_go(
    connection: sqlite3.Connection, cache: Path, lock: FolderLock, disk: EpisodeDisk
) -> None:
    """Close the file; the last who does makes SQLite write to it, which must be noted."""
    from engramdown.recall.index import FAILURES

    with contextlib.suppress(OSError, EngramdownError, *FAILURES), lock.hold(_CLOSING):
        log = disk.find(cache / f"{FILE}-wal")
        # Most who close it have only read, and leave the file as it is noted.
        ours = log and log.st_size and look(cache / FILE, disk) == noted(cache, disk)
        with contextlib.suppress(*FAILURES):
            if ours:
                _check_in(connection, cache, disk)
        connection.close()
    connection.close()
    lock.close()


# Taking sessions out of the index with every word of theirs, while the rest of it stays.
#
# Promises: what stood in these sessions alone is in no byte of the index afterwards; every answer
# is that of an index which never knew them. Of an index for which that cannot be done nothing is
# left: the next question makes it anew. Nobody waits for this but those who make an index.
#
# FTS5 keeps no texts, so a word is taken out by saying it again: the lines are read once more, and
# where they are not what was taken in, nothing is known of the words. Taken out, a word still
# stands in the older pieces of the index until they are merged, so all are, and what is freed is
# erased. All that happens in a copy, which then gets the name: who has the index open finds another
# file.

_RECALLED: Final = ROLES.index("memory_read")
_SPEAKERS: Final = frozenset({ROLES.index("user"), ROLES.index("assistant")})
_CAPPED: Final = 0xFFFF
_DELETE: Final = "INSERT INTO {0}({0}, rowid, text) VALUES ('delete', ?, ?)"
_HAS: Final = "SELECT 1 FROM {0} WHERE {0} MATCH ? AND rowid = ?"


@contextlib.contextmanager
def removal(
    folder: Path, cache: Path, sessions: Iterable[str], disk: EpisodeDisk
) -> Iterator[Callable[[], None]]:
    """Prepare an index without ``sessions``; what is yielded lets it take the place of the other.

    It is called while the transcripts are as they were, and nobody writes to them.

    Args:
        folder: Where the transcripts are.
        cache: Where the index is.
        sessions: The ids of the sessions.
        disk: To read and remove files.
    """
    if disk.find(cache) is None:
        yield lambda: None
        return
    part = cache / f"{FILE}.{os.urandom(4).hex()}{PART}"
    lock = FolderLock(cache / LOCK, disk, PATIENCE)
    with contextlib.ExitStack() as stack:
        stack.callback(lock.close)
        stack.callback(disk.remove, part)
        # Somebody who makes an index for so long may put it there; the next question sees to it.
        with contextlib.suppress(LockTimeoutError, OSError):
            stack.enter_context(lock.hold())
            _prepare(cache, part, folder, sessions, disk)
        yield lambda: _apply(cache, part, disk)


def _apply(cache: Path, part: Path, disk: EpisodeDisk) -> None:
    """Put ``part`` in the place of the index, or nothing if it was not made or that is gone."""
    there = disk.find(cache / FILE) is not None
    for name in disk.names(cache):
        if name.startswith((FILE, SEAL)) and name != part.name:
            disk.remove(cache / name)
    if there and disk.find(part) is not None:
        part.replace(cache / FILE)
        note(cache, disk)


@unforked()
def _prepare(
    cache: Path, part: Path, folder: Path, sessions: Iterable[str], disk: EpisodeDisk
) -> None:
    """Make ``part`` from the index; there is none if that cannot be done."""
    now = look(cache / FILE, disk)
    if not now or now != noted(cache, disk):
        return
    try:
        _copy(cache / FILE, part, disk)
        connection = _connect(part, "rw")
        with contextlib.closing(connection):
            for pragma in ("journal_mode = OFF", "synchronous = OFF", "secure_delete = ON"):
                connection.execute(f"PRAGMA {pragma}")
            Index(connection, folder, None, disk)  # which refuses what is of another version
            connection.execute("BEGIN IMMEDIATE")
            _Removing(connection).remove(folder, sessions, disk)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
    except (*FAILURES, OSError, StoreError):
        disk.remove(part)


def _copy(index: Path, part: Path, disk: EpisodeDisk) -> None:
    # For the user alone, as the transcripts are.
    disk.close(disk.open(part, write=True, new=True))
    # Read only: to close it must not move the log into the file.
    with contextlib.closing(_connect(index, "ro")) as connection:
        connection.execute("VACUUM INTO ?", (str(part),))


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
    )


class _Removing:
    """Takes sessions out of an index that nobody else has open."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self._connection = connection
        self._counts = {"total": 0, "recalled": 0, "latest": 0}
        self._chunks: list[int] = []

    def remove(self, folder: Path, sessions: Iterable[str], disk: EpisodeDisk) -> None:
        """Take them out.

        Raises:
            Unusable: If a transcript is not what was taken in.
        """
        for name in sessions:
            known = Known.find(self._connection, name)
            if known.number:
                self._remove(known, _lines_of(folder, known, disk))
        for table in ("words", "latest"):
            self._run(f"INSERT INTO {table}({table}) VALUES ('optimize')")  # noqa: S608 - our own names
        self._shorten_lists()
        self._forget_freshness()
        self._forget_names()
        for fact, count in self._counts.items():
            self._run("UPDATE facts SET value = value - ? WHERE name = ?", (count, fact))
        # Until the names of the files are looked at, a session that comes back is not missed.
        self._run("UPDATE facts SET value = 0 WHERE name = 'listed'")

    def _remove(self, known: Known, lines: list[Line]) -> None:
        found = self._run("SELECT place, number FROM chunks WHERE session = ?", (known.number,))
        chunks = dict(found.fetchall())
        for at, line in enumerate(lines):
            if line.role not in WORDLESS:
                self._unsay(chunks[at // CHUNK] * CHUNK + at % CHUNK, line)
        self._chunks += chunks.values()
        known.forget(self._connection)

    def _unsay(self, key: int, line: Line) -> None:
        words = folded(line.text)
        if line.name and line.role in _SPEAKERS and self._has("words", key, speaking(line.name)):
            words += f" {speaking(line.name)}"
        self._run(_DELETE.format("words"), (key, words))
        self._counts["total"] += 1
        self._counts["recalled"] += line.role == _RECALLED
        first = next(iter(spelt(words)), "")
        if first and self._has("latest", key, first):
            self._run(_DELETE.format("latest"), (key, words))
            self._counts["latest"] += 1

    def _has(self, table: str, key: int, word: str) -> bool:
        return self._run(_HAS.format(table), (f'"{word}"', key)).fetchone() is not None

    def _shorten_lists(self) -> None:
        gone = sorted(self._chunks)
        for word, data in self._run("SELECT word, keys FROM lists").fetchall():
            keys = array("I", data)
            for number in reversed(gone):
                first = bisect_left(keys, number * CHUNK)
                del keys[first : bisect_left(keys, (number + 1) * CHUNK, first)]
            if not keys:
                self._run("DELETE FROM lists WHERE word = ?", (word,))
            elif len(keys) * keys.itemsize < len(data):
                self._run("UPDATE lists SET keys = ? WHERE word = ?", (keys.tobytes(), word))

    def _forget_freshness(self) -> None:
        for page in {number // PAGE for number in self._chunks}:
            (data,) = self._run("SELECT numbers FROM freshness WHERE page = ?", (page,)).fetchone()
            numbers = array("q", data)
            for number in self._chunks:
                if number // PAGE == page:
                    numbers[number % PAGE] = 0
            self._run("UPDATE freshness SET numbers = ? WHERE page = ?", (numbers.tobytes(), page))

    def _forget_names(self) -> None:
        """Drop the names that no line has any more; see who still speaks.

        Raises:
            Unusable: If there are more names than can be told apart.
        """
        left: set[tuple[int, int]] = set()
        for row in self._run("SELECT * FROM chunks"):
            left |= Chunk(*row[1:]).speakers()
        speaks: dict[int, bool] = {}
        for role, name in left:
            speaks[name] = speaks.get(name, False) or role in _SPEAKERS
        if max(speaks, default=0) >= _CAPPED:
            raise Unusable
        for number, spoke in self._run("SELECT number, speaks FROM names").fetchall():
            if number not in speaks:
                self._run("DELETE FROM names WHERE number = ?", (number,))
            elif bool(spoke) != speaks[number]:
                self._run("UPDATE names SET speaks = 0 WHERE number = ?", (number,))


def _lines_of(folder: Path, known: Known, disk: EpisodeDisk) -> list[Line]:
    """Return the lines that were taken in.

    Raises:
        Unusable: If they are others now.
    """
    file = disk.open(folder / f"{known.name}{changes.SUFFIX}")
    try:
        data = disk.read(file, 0, known.taken)
    finally:
        disk.close(file)
    if len(data) != known.taken or crc32(data) != known.digest:
        raise Unusable
    return list(read_lines(data))

"""Taking sessions out of the index with every word of theirs, while the rest of it stays.

Promises: what stood in these sessions alone is in no byte of the index afterwards; every answer is
that of an index which never knew them. Of an index for which that cannot be done nothing is left:
the next question makes it anew. Nobody waits for this but those who make an index.

FTS5 keeps no texts, so a word is taken out by saying it again: the lines are read once more, and
where they are not what was taken in, nothing is known of the words. Taken out, a word still stands
in the older pieces of the index until they are merged, so all are, and what is freed is erased.
All that happens in a copy, which then gets the name: who has the index open finds another file.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final
from zlib import crc32

from engramdown.episodes import watch
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import ROLES
from engramdown.episodes.index.lines import Line, read_lines
from engramdown.episodes.index.rows import CHUNK, PAGE, Chunk
from engramdown.episodes.index.shelf import FILE, LOCK, PART, PATIENCE, SEAL, look, note, noted
from engramdown.episodes.index.source import Unusable
from engramdown.episodes.lock import FolderLock
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.forks import unforked
from engramdown.language.terms import folded, speaking, spelt
from engramdown.recall.index import FAILURES, Index
from engramdown.recall.intake import WORDLESS, Known

__all__ = ["removal"]

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
    file = disk.open(folder / f"{known.name}{watch.SUFFIX}")
    try:
        data = disk.read(file, 0, known.taken)
    finally:
        disk.close(file)
    if len(data) != known.taken or crc32(data) != known.digest:
        raise Unusable
    return list(read_lines(data))

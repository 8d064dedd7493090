"""The index of all transcripts: SQLite, disposable, never ahead of the files and never behind.

Promises: before every question it takes in what was appended since, by whomever; it is never the
only place of anything. What it says of a word is what a scan of the files says. A file that was
replaced, cut short or removed, an index of another version and one that SQLite calls damaged are
:class:`Unusable`: whoever opened it makes a new one.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.index.rows import PAGE, Chunk
from engramdown.episodes.index.schema import VERSION, create, tune
from engramdown.episodes.index.source import Unusable
from engramdown.episodes.index.upkeep import FACTS, Upkeep
from engramdown.language.terms import stem

__all__ = ["FAILURES", "Index", "fresh", "stored"]

_PATIENCE: Final = 30.0
"""Seconds to wait while another process writes to the index."""
_KEPT: Final = 4_096
"""Chunks that are kept in mind, about a kilobyte each."""
_AT_ONCE: Final = 500
FAILURES: Final = (sqlite3.Error, Unusable)
"""What may go wrong with an index; another one helps."""


class Index:
    """One connection to the index of a folder of transcripts.

    Attributes:
        connection: To SQLite.
        upkeep: What keeps it up with the files.
    """

    def __init__(
        self, connection: sqlite3.Connection, folder: Path, cache: Path | None, disk: EpisodeDisk
    ) -> None:
        """Use ``connection`` for the transcripts in ``folder``; ``cache`` is where writers say so.

        Raises:
            Unusable: If it is of another version.
            sqlite3.Error: If it cannot be read.
        """
        self.connection = connection
        self.upkeep = Upkeep(connection, folder, cache, disk)
        self._run = connection.execute
        self._names: dict[int, str] = {}
        self._speakers: dict[int, str] = {}
        if self._run("PRAGMA user_version").fetchone()[0] != VERSION or not self._is_sane():
            raise Unusable

    def _is_sane(self) -> bool:
        """Whether nothing is missing; words are looked for in FTS5's own table, not counted."""
        facts = dict(self._run("SELECT name, value FROM facts"))
        words = self._run("SELECT 1 FROM words_idx LIMIT 1").fetchone()
        # None at all is what an index has before it is filled.
        return not facts or (set(facts) == set(FACTS) and bool(words or not facts["total"]))

    # ---- what it knows ----

    @property
    def total(self) -> int:
        """How many lines have words."""
        return self.upkeep.facts["total"]

    def keys(self, word: str) -> Sequence[int]:
        """Return the keys of the lines that hold a word, ascending.

        Args:
            word: As :func:`engramdown.language.terms.spelt` returns it.
        """
        row = self._run("SELECT keys FROM lists WHERE word = ?", (stem(word),)).fetchone()
        if row is None:
            return self._matching("words", word)
        keys = array("I", row[0])
        latest = self._matching("latest", word)
        if latest and keys and latest[0] < keys[-1]:
            return array("I", sorted([*keys, *latest]))
        return keys + latest

    def freshness(self) -> Sequence[int]:
        """Return a number per chunk, by the chunk's number: the larger, the later."""
        numbers = self.upkeep.freshness
        if numbers is None:
            numbers = self.upkeep.freshness = array("q")
            for page, more in self._run("SELECT page, numbers FROM freshness ORDER BY page"):
                numbers.extend([0] * (page * PAGE - len(numbers)))
                numbers.frombytes(more)
        return numbers

    def chunk(self, number: int) -> Chunk:
        """Return the chunk with this number."""
        return self.fetch((number,))[number]

    def fetch(self, numbers: Collection[int]) -> Mapping[int, Chunk]:
        """Return the chunks with these numbers, and perhaps others, by number."""
        known = self.upkeep.chunks
        missing = sorted(number for number in numbers if number not in known)
        if missing and len(known) > _KEPT:
            known.clear()
            missing = sorted(numbers)
        for at in range(0, len(missing), _AT_ONCE):
            part = missing[at : at + _AT_ONCE]
            marks = ",".join("?" * len(part))
            asked = f"SELECT * FROM chunks WHERE number IN ({marks})"  # noqa: S608 - only marks
            known.update((row[0], Chunk._make(row[1:])) for row in self._run(asked, part))
        return known

    def find(self, session: int, place: int) -> int | None:
        """Return the number of a session's chunk."""
        row = self._run(
            "SELECT number FROM chunks WHERE session = ? AND place = ?", (session, place)
        ).fetchone()
        return row[0] if row else None

    def chunks(self, session: int) -> Iterable[int]:
        """Return the numbers of the chunks of a session."""
        rows = self._run("SELECT number FROM chunks WHERE session = ?", (session,))
        return (row[0] for row in rows)

    def name(self, session: int) -> str:
        """Return the id of a session."""
        if session not in self._names:
            row = self._run("SELECT name FROM sessions WHERE number = ?", (session,)).fetchone()
            self._names[session] = row[0]
        return self._names[session]

    def number(self, session: str) -> int | None:
        """Return the number of a session."""
        row = self._run("SELECT number FROM sessions WHERE name = ?", (session,)).fetchone()
        return row[0] if row else None

    def speaker(self, name: int) -> str:
        """Return the name of a speaker or a tool."""
        if name and name not in self._speakers:
            row = self._run("SELECT name FROM names WHERE number = ?", (name,)).fetchone()
            self._speakers[name] = row[0] if row else ""
        return self._speakers.get(name, "")

    def speakers(self) -> Iterable[str]:
        """Return the names of those who speak."""
        return [row[0] for row in self._run("SELECT name FROM names WHERE speaks")]

    def is_plain(self) -> bool:
        """Whether every line that has words may be recalled when nothing else is said."""
        known = self.upkeep
        return not (known.facts["recalled"] or known.hidden or known.excluded)

    def is_excluded(self, session: int, seq: int) -> bool:
        """Whether a line is kept out of recall."""
        return session in self.upkeep.hidden or (session, seq) in self.upkeep.excluded

    def running(self, first: int, last: int) -> Iterable[int]:
        """Return the numbers of the sessions that may have a line between two times."""
        rows = self._run(
            "SELECT number FROM sessions WHERE newest >= ? AND oldest <= ?", (first, last)
        )
        return [row[0] for row in rows]

    def sessions(self) -> Iterator[tuple[str, int]]:
        """Yield each session with the time of its newest line, the newest first."""
        yield from self._run("SELECT name, newest FROM sessions ORDER BY newest DESC, name")

    def broken(self) -> int:
        """Return how many lines are no episodes."""
        return int(self._run("SELECT coalesce(sum(broken), 0) FROM sessions").fetchone()[0])

    def _matching(self, table: str, word: str) -> array[int]:
        rows = self._run(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ?",  # noqa: S608 - one of two names
            (f'"{word}"',),
        )
        return array("I", [key for (key,) in rows])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take in what is new, and see one state of the index for the length of a block.

        Raises:
            Unusable: If a transcript is not what it was.
            sqlite3.Error: If the index is damaged, or somebody else writes to it for too long.
        """
        self.upkeep.keep_up()
        self._run("BEGIN")
        try:
            self.upkeep.reload()
            yield
        finally:
            if self.connection.in_transaction:
                self._run("COMMIT")


def fresh(path: Path | None, folder: Path, disk: EpisodeDisk) -> Index:
    """Make the index of the transcripts in ``folder``.

    Args:
        path: A file that is not there yet, which is closed again; ``None`` for one in memory.
        folder: Where the transcripts are.
        disk: To read them.

    Raises:
        sqlite3.Error: If it cannot be made; without FTS5 it cannot.
    """
    if path is not None:
        # For the user alone, as the transcripts are.
        disk.close(disk.open(path, write=True, new=True))
    connection = _connect(
        "file::memory:" if path is None else f"{path.absolute().as_uri()}?mode=rw"
    )
    try:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        create(connection)
        index = Index(connection, folder, None, disk)
        index.upkeep.fill()
        if path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    if path is not None:
        connection.close()
    return index


def stored(path: Path, folder: Path, cache: Path, disk: EpisodeDisk) -> Index:
    """Open the index in a file.

    Raises:
        Unusable: If it is of another version.
        sqlite3.Error: If it cannot be read.
    """
    connection = _connect(f"{path.absolute().as_uri()}?mode=rw")
    try:
        # Only whoever notes how the file is then may move the log into it: see shelf.py.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        tune(connection)
        return Index(connection, folder, cache, disk)
    except BaseException:
        connection.close()
        raise


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(
        uri, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )

"""The tables of the index.

Promises: nothing in them is needed: what they hold is read from the transcripts again whenever
they are missing, of another version, or not as they were left.

The words of each line stand in a contentless FTS5 table with its key and nothing else: no text,
no places, no counts. That is an eighth of the transcripts' size. A word that stands in very many
lines has its keys in ``lists`` too, since a hundred thousand rows come slowly out of any table;
``latest`` holds the words of the lines that came after those lists were made.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.language.terms import stem
from engramdown.recall.source import PAGE, Chunk, Unusable
from engramdown.storage.disk import EpisodeDisk

if TYPE_CHECKING:
    import os

    from engramdown.recall.intake import Intake, Known
    from engramdown.transcripts import changes

__all__ = [
    "FACTS",
    "FAILURES",
    "LISTED",
    "VERSION",
    "Index",
    "Upkeep",
    "create",
    "fresh",
    "stored",
    "tune",
]

VERSION: Final = 4

_WORDS: Final = (
    "CREATE VIRTUAL TABLE {} USING fts5"
    "(text, content='', columnsize=0, detail='none', tokenize='porter ascii')"
)
_TABLES: Final = (
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID",
    """CREATE TABLE sessions(
        number INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given again: others may remember it
        name TEXT NOT NULL UNIQUE,
        inode INTEGER NOT NULL,
        changed INTEGER NOT NULL,  -- of the file, nanoseconds
        size INTEGER NOT NULL,     -- of the file, bytes
        taken INTEGER NOT NULL,    -- bytes that are in the index
        digest INTEGER NOT NULL,   -- of these bytes
        mark INTEGER NOT NULL,     -- of the last of them
        lines INTEGER NOT NULL,
        broken INTEGER NOT NULL,   -- lines that are no episode
        oldest INTEGER NOT NULL,   -- episode, microseconds
        newest INTEGER NOT NULL,
        excluded INTEGER NOT NULL
    )""",
    "CREATE INDEX sessions_by_age ON sessions(newest, oldest)",
    # These two are read by every process that asks: they hold all that it wants to know.
    "CREATE INDEX sessions_by_change ON sessions(changed, name, inode, size)",
    "CREATE INDEX sessions_taken_out ON sessions(number) WHERE excluded",
    """CREATE TABLE chunks(
        number INTEGER PRIMARY KEY,
        session INTEGER NOT NULL, place INTEGER NOT NULL,
        start INTEGER NOT NULL, end INTEGER NOT NULL,
        facts BLOB NOT NULL
    )""",
    "CREATE INDEX chunks_by_session ON chunks(session, place)",
    "CREATE TABLE freshness(page INTEGER PRIMARY KEY, numbers BLOB NOT NULL)",
    """CREATE TABLE names(
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, speaks INTEGER NOT NULL
    )""",
    "CREATE TABLE excluded(session INTEGER, seq INTEGER, PRIMARY KEY(session, seq)) WITHOUT ROWID",
    "CREATE TABLE lists(word TEXT PRIMARY KEY, keys BLOB NOT NULL) WITHOUT ROWID",
    _WORDS.format("words"),
    _WORDS.format("latest"),
    "CREATE VIRTUAL TABLE counts USING fts5vocab(words, 'row')",
    "CREATE VIRTUAL TABLE places USING fts5vocab(words, 'instance')",
    # Fewer and larger pieces while much is taken in at once.
    "INSERT INTO words(words, rank) VALUES ('hashsize', 33554432)",
)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file.

    Raises:
        sqlite3.Error: If that cannot be done; without FTS5 it cannot.
    """
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def tune(connection: sqlite3.Connection) -> None:
    """Set what holds for one connection only."""
    # No mmap: a file that somebody cuts short would end the whole program.
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")


# Keeping the index of transcripts up with the files.
#
# Promises: after :meth:`Upkeep.keep_up` everything is in the index that a look at the files shows;
# of what several processes do at once nothing is taken in twice; a transcript that is no longer
# what was taken in makes the index :class:`engramdown.recall.source.Unusable`.

_BATCH: Final = 50_000
_BLOCK: Final = 4 * 1024 * 1024
LISTED: Final = 2_000
"""In how many lines a word must stand to get a list of its own."""
_RARE: Final = 200
"""One line in so many with a word is few: a list would be larger than it is worth."""
FACTS: Final = ("total", "latest", "recalled", "lists", "listed", "looked", "cost", "touched")


class Upkeep:
    """What one connection knows of the index as a whole.

    Attributes:
        facts: Numbers by name: how many lines there are in all, and what was last looked at.
        freshness: A number per chunk; ``None`` until somebody asks for it.
        chunks: Those that somebody asked for since something was last written.
        excluded: The lines that are out of recall, by session and number.
        hidden: The sessions that are.
        wrote: Whether something was taken in since somebody last asked.
    """

    def __init__(
        self, connection: sqlite3.Connection, folder: Path, cache: Path | None, disk: EpisodeDisk
    ) -> None:
        """Keep up with the transcripts in ``folder``; in ``cache`` writers name theirs."""
        self.facts: dict[str, int] = {}
        self.freshness: array[int] | None = None
        self.chunks: dict[int, Chunk] = {}
        self.excluded: frozenset[tuple[int, int]] = frozenset()
        self.hidden: frozenset[int] = frozenset()
        self.wrote = False
        self._connection = connection
        self._run = connection.execute
        self._folder = folder
        self._cache = cache
        self._disk = disk
        self._version = -1
        self._watched: dict[str, changes.Seen] = {}
        self._all = True

    def fill(self) -> None:
        """Take in everything, into an index that is new and that nobody else knows."""
        import time

        from engramdown.transcripts import changes

        self._run("BEGIN IMMEDIATE")
        for name in FACTS:
            self._remember(name, 0)
        started = time.time()
        # Before they are read: of one that cannot be, it is taken back.
        self._remember("listed", changes.settled(changes.moment_of(self._folder)))
        self._take(sorted(changes.listing(self._folder)))
        self._remember("looked", int(started))
        self._list_words()
        self._run("COMMIT")
        self.reload()

    def keep_up(self) -> None:
        """Take in what is new.

        Raises:
            Unusable: If a transcript is not what it was.
            sqlite3.Error: If the index is damaged, or somebody else writes to it for too long.
        """
        from engramdown.transcripts import changes

        self.reload()
        moment = changes.moment_of(self._folder)
        if not moment or moment != self.facts["listed"]:
            self._list(moment)
        else:
            self._take_changed(self._watched)
        if self._is_due():
            self._look_at_all()
        self._follow_writers()
        if self.facts["latest"] > max(4 * LISTED, self.facts["total"] // 10):
            self._write(self._list_words)

    def reload(self) -> None:
        """Read again what another process may have changed."""
        from engramdown.transcripts import changes

        version = self._run("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return
        self._version = version
        self.freshness = None
        self.chunks.clear()
        self.facts = dict(self._run("SELECT name, value FROM facts"))
        self.excluded = frozenset(self._run("SELECT session, seq FROM excluded"))
        hidden = self._run("SELECT number FROM sessions WHERE excluded")
        self.hidden = frozenset(row[0] for row in hidden)
        beyond = self._run("SELECT 1 FROM sessions LIMIT 1 OFFSET ?", (changes.MANY,)).fetchone()
        self._all = beyond is None
        limit = changes.MANY if self._all else changes.RECENT
        recent = self._run(
            "SELECT name, inode, size, changed FROM sessions ORDER BY changed DESC LIMIT ?",
            (limit,),
        )
        self._watched = {row[0]: changes.Seen(*row[1:]) for row in recent}

    def _is_due(self) -> bool:
        from engramdown.transcripts import changes

        cost = self.facts["cost"] / 1000
        return not self._all and changes.is_due(self.facts["looked"], cost)

    def _list(self, moment: int) -> None:
        """Compare the names in the folder with those that are known."""
        from engramdown.transcripts import changes

        found = changes.listing(self._folder)
        known = dict(self._run("SELECT name, inode FROM sessions"))
        gone = known.keys() - found.keys()
        if gone:
            self._write(lambda: self._forget_silent(gone))
        names = [name for name, inode in found.items() if known.get(name) != inode]
        kept = changes.settled(moment)

        def take() -> None:
            self._remember("listed", kept)
            self._take(sorted({*names, *self._changed(self._watched)}))

        if names or kept:
            self._write(take)
        else:
            self._take_changed(self._watched)

    def _forget_silent(self, names: Iterable[str]) -> None:
        """Forget sessions that were removed because nothing was said in them.

        Raises:
            Unusable: If something was: its words cannot be told from others.
        """
        from engramdown.recall.intake import WORDLESS, Known

        for name in names:
            known = Known.find(self._connection, name)
            rows = self._run("SELECT * FROM chunks WHERE session = ?", (known.number,))
            if any(role not in WORDLESS for row in rows for role, _ in Chunk(*row[1:]).speakers()):
                raise Unusable
            known.forget(self._connection)
            self._watched.pop(name, None)
        self._version = -1

    def _look_at_all(self) -> None:
        import time

        from engramdown.transcripts import changes

        started = time.time()
        rows = self._run("SELECT name, inode, size, changed FROM sessions")
        names = self._changed({row[0]: changes.Seen(*row[1:]) for row in rows})

        def take() -> None:
            self._take(names)
            self._remember("looked", int(started))
            self._remember("cost", int((time.time() - started) * 1000))

        self._write(take)

    def _follow_writers(self) -> None:
        from engramdown.transcripts import changes

        if self._cache is None or self._all:
            return
        start = self.facts["touched"]
        end, names = changes.touched(self._cache, start)
        if end == start:
            return

        def take() -> None:
            self._take([name for name in names if changes.look(self._folder, name)])
            self._remember("touched", end)

        self._write(take)

    def _take_changed(self, sessions: dict[str, changes.Seen]) -> None:
        names = self._changed(sessions)
        if names:
            self._write(lambda: self._take(names))

    def _changed(self, sessions: dict[str, changes.Seen]) -> list[str]:
        from engramdown.transcripts import changes

        return changes.changed(self._folder, sessions)

    # ---- taking in ----

    def _write(self, change: Callable[[], None]) -> None:
        self._run("BEGIN IMMEDIATE")
        try:
            change()
        except BaseException:
            self._run("ROLLBACK")
            self._version = -1
            raise
        self._run("COMMIT")
        self.wrote = True
        self.chunks.clear()
        self.facts = dict(self._run("SELECT name, value FROM facts"))

    def _take(self, names: Sequence[str]) -> None:
        """Take in what the files of these sessions have more than is known."""
        from engramdown.transcripts import changes

        if not names:
            return
        # Imported here: most questions find nothing new, and so need nothing that reads lines.
        from engramdown.recall.intake import Intake, Known

        intake = Intake(self._connection, listed=bool(self.facts.get("lists")))
        for name in names:
            known = Known.find(self._connection, name)
            if self._take_session(intake, known):
                self._watched[name] = changes.Seen(known.inode, known.size, known.changed)
            elif known.number:
                raise Unusable
            else:
                self._remember("listed", 0)
        intake.flush()
        if intake.marked:
            self._version = -1
        if self.freshness is not None:
            freshness = self.freshness
            freshness.extend([0] * (max(intake.fresh, default=0) + 1 - len(freshness)))
            for number, value in intake.fresh.items():
                freshness[number] = value

    def _take_session(self, intake: Intake, known: Known) -> bool:
        """Take in one session; ``False`` if it cannot be read."""
        from engramdown.errors import StoreError
        from engramdown.transcripts import changes

        try:
            file = self._disk.open(self._folder / f"{known.name}{changes.SUFFIX}")
        except (OSError, StoreError):
            return False
        try:
            found = self._disk.look(file)
            self._check(file, known, found)
            known.inode, known.size = found.st_ino, found.st_size
            known.changed = found.st_mtime_ns
            self._read(file, intake, known)
        finally:
            self._disk.close(file)
        intake.keep(known)
        return True

    def _check(self, file: int, known: Known, found: os.stat_result) -> None:
        """See that what was taken in stands there as it did.

        Raises:
            Unusable: If not.
        """
        from zlib import crc32

        grown = found.st_ino == known.inode and found.st_size > known.size
        mark, length = divmod(known.mark, 1 << 16)
        start = known.taken - length if grown else 0
        digest = crc32(self._disk.read(file, start, known.taken))
        if found.st_size < known.taken or digest != (mark if grown else known.digest):
            raise Unusable

    def _read(self, file: int, intake: Intake, known: Known) -> None:
        length = _BLOCK
        while known.taken < known.size:
            block = self._disk.read(file, known.taken, min(known.size, known.taken + length))
            if b"\n" in block:
                intake.take(known, block)
            elif known.taken + length >= known.size:
                break
            else:
                length *= 2
            if intake.waiting >= _BATCH:
                intake.flush()
        if not known.number:
            intake.take(known, b"")

    def _remember(self, name: str, value: int) -> None:
        self._run("REPLACE INTO facts VALUES (?, ?)", (name, value))

    def _list_words(self) -> None:
        """Write down the keys of the words that stand in many lines."""
        from engramdown.language.words import STOP_WORDS

        self._run("DELETE FROM lists")
        total = self._run("SELECT value FROM facts WHERE name = 'total'").fetchone()[0]
        limit = max(LISTED, total // _RARE)
        unasked = {stem(word) for word in STOP_WORDS}
        many = self._run("SELECT term FROM counts WHERE doc >= ?", (limit,)).fetchall()
        for (word,) in many:
            if word not in unasked:
                # Not asked for by MATCH, which would stem what is a stem already.
                # In one string: most of the time goes into handing rows over.
                row = self._run("SELECT group_concat(doc) FROM places WHERE term = ?", (word,))
                keys = array("I", map(int, row.fetchone()[0].split(",")))
                self._run("INSERT INTO lists VALUES (?, ?)", (word, keys.tobytes()))
        self._run("INSERT INTO latest(latest) VALUES ('delete-all')")
        self._remember("latest", 0)
        self._remember("lists", 1)


# The index of all transcripts: SQLite, disposable, never ahead of the files and never behind.
#
# Promises: before every question it takes in what was appended since, by whomever; it is never the
# only place of anything. What it says of a word is what a scan of the files says. A file that was
# replaced, cut short or removed, an index of another version and one that SQLite calls damaged are
# :class:`Unusable`: whoever opened it makes a new one.

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

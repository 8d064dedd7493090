"""The index of all transcripts: a SQLite file that can be rebuilt at any time, and its queries.

Before every question it takes in what was appended since, by any process, and nothing twice. It
holds nothing that is not in the transcripts, and is built again from them whenever it is missing,
of another version, or not as it was left. If a transcript was replaced, cut short or removed, or
the index is of another version or damaged, it is :class:`Unusable`, and its user makes a new one.

The words of each line are in a contentless FTS5 table with its key and nothing else: no text,
no places, no counts. That is an eighth of the transcripts' size. A word that is in very many
lines has its keys in ``lists`` too, since a hundred thousand rows come slowly out of any table;
``latest`` holds the words of the lines that came after those lists were made.

A line is taken in once it is complete. A line that is not an episode has a place and no words. What
an ``exclude`` takes out of recall and an ``include`` brings back is kept up to date.
"""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from engramdown.errors import StoreError
from engramdown.language.terms import folded, speaking, stem
from engramdown.language.words import STOP_WORDS
from engramdown.recall import lines
from engramdown.recall.lines import BROKEN, CHUNK, PAGE, SPEAKERS, WORDLESS, Chunk, Line, Unusable
from engramdown.storage.disk import Disk
from engramdown.transcripts import changes
from engramdown.transcripts.episode import ROLES, Episode
from engramdown.transcripts.visibility import read_mark

VERSION: Final = 5
# What may go wrong with an index; another one helps.
FAILURES: Final = (sqlite3.Error, Unusable)
# In how many lines a word must stand to get a list of its own.
LISTED: Final = 2_000

# One line in so many with a word is few: a list would be larger than it is worth.
_RARE: Final = 200
_FACTS: Final = ("total", "latest", "recalled", "lists", "listed", "looked", "cost", "touched")
# Lines that are handed to SQLite at once, and bytes of a transcript that are read at once.
_BATCH: Final = 50_000
_BLOCK: Final = 4 * 1024 * 1024
# Seconds to wait while another process writes to the index.
_PATIENCE: Final = 30.0
# Chunks that are kept in mind, about a kilobyte each, and those that are asked for at once.
_KEPT: Final = 4_096
_AT_ONCE: Final = 500
_RECALLED: Final = ROLES.index("memory_read")
# How many of the last bytes are looked at to see that a file has only grown.
_MARK: Final = 256
_TABLES: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
# Only whoever notes how the file is then may move the log into it: see index_file.py.
# No mmap: a file that somebody cuts short would end the whole program.
_OPENED: Final = """
PRAGMA wal_autocheckpoint = 0;
PRAGMA cache_size = -16384;
PRAGMA synchronous = NORMAL;
PRAGMA temp_store = MEMORY;
"""
_NAME: Final = (
    "INSERT INTO names(name, speaks) VALUES (?, ?) "
    "ON CONFLICT DO UPDATE SET speaks = speaks OR excluded.speaks RETURNING number"
)


class Index:
    """One connection to the index of a folder of transcripts.

    Attributes:
        connection: To SQLite.
        wrote: Whether something was taken in since somebody last asked.
    """

    def __init__(
        self, connection: sqlite3.Connection, folder: Path, cache: Path | None, disk: Disk
    ) -> None:
        """Use ``connection`` for the transcripts in ``folder``; in ``cache`` writers name theirs.

        Raises:
            Unusable: If it is of another version.
            sqlite3.Error: If it cannot be read.
        """
        self.connection, self._run = connection, connection.execute
        self.wrote = False
        self._folder, self._cache, self._disk = folder, cache, disk
        # What is cached of the file, as long as nobody writes to it.
        self._version = -1
        self._facts: dict[str, int] = {}
        self._freshness: array[int] | None = None
        self._chunks: dict[int, Chunk] = {}
        self._excluded: frozenset[tuple[int, int]] = frozenset()
        self._hidden: frozenset[int] = frozenset()
        self._watched: dict[str, changes.FileState] = {}
        self._all = True
        self._names: dict[int, str] = {}
        self._speakers: dict[int, str] = {}
        if self._one("PRAGMA user_version") != VERSION:
            raise Unusable
        # Words are looked for in FTS5's own table, not counted.
        facts = dict(self._run("SELECT name, value FROM facts"))
        words = self._one("SELECT 1 FROM words_idx LIMIT 1")
        # None at all is what an index has before it is filled.
        if facts and (set(facts) != set(_FACTS) or (facts["total"] and not words)):
            raise Unusable

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take in what is new, and see one state of the index for the length of a block.

        Raises:
            Unusable: If a transcript is not what it was.
            sqlite3.Error: If the index is damaged, or somebody else writes to it for too long.
        """
        self._keep_up()
        self._run("BEGIN")
        try:
            self._reload()
            yield
        finally:
            if self.connection.in_transaction:
                self._run("COMMIT")

    # ---- what it knows ----

    @property
    def total(self) -> int:
        """How many lines have words."""
        return self._facts["total"]

    def keys(self, word: str) -> Sequence[int]:
        """Return the keys of the lines that hold a word, ascending.

        Args:
            word: As :func:`engramdown.language.terms.spelt` returns it.
        """
        listed = self._one("SELECT keys FROM lists WHERE word = ?", stem(word))
        if listed is None:
            return self._matching("words", word)
        keys, latest = array("I", listed), self._matching("latest", word)
        if latest and keys and latest[0] < keys[-1]:
            return array("I", sorted([*keys, *latest]))
        return keys + latest

    def _matching(self, table: str, word: str) -> array[int]:
        asked = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608 - one of two names
        return array("I", [key for (key,) in self._run(asked, (f'"{word}"',))])

    def freshness(self) -> Sequence[int]:
        """Return a number per chunk, by the chunk's number: the larger, the later."""
        if self._freshness is None:
            self._freshness = array("q")
            for page, numbers in self._run("SELECT page, numbers FROM freshness ORDER BY page"):
                self._freshness.extend([0] * (page * PAGE - len(self._freshness)))
                self._freshness.frombytes(numbers)
        return self._freshness

    def fetch(self, numbers: Collection[int]) -> Mapping[int, Chunk]:
        """Return the chunks with these numbers, and perhaps others, by number."""
        known = self._chunks
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
        asked = "SELECT number FROM chunks WHERE session = ? AND place = ?"
        number: int | None = self._one(asked, session, place)
        return number

    def chunks(self, session: int) -> Iterable[int]:
        """Return the numbers of the chunks of a session."""
        return [
            row[0] for row in self._run("SELECT number FROM chunks WHERE session = ?", (session,))
        ]

    def name(self, session: int) -> str:
        """Return the id of a session."""
        if session not in self._names:
            self._names[session] = self._one("SELECT name FROM sessions WHERE number = ?", session)
        return self._names[session]

    def number(self, session: str) -> int | None:
        """Return the number of a session."""
        asked = "SELECT number FROM sessions WHERE name = ?"
        number: int | None = self._one(asked, session)
        return number

    def speaker(self, name: int) -> str:
        """Return the name of a speaker or a tool."""
        if name and name not in self._speakers:
            self._speakers[name] = self._one("SELECT name FROM names WHERE number = ?", name) or ""
        return self._speakers.get(name, "")

    def speakers(self) -> Iterable[str]:
        """Return the names of those who speak."""
        return [row[0] for row in self._run("SELECT name FROM names WHERE speaks")]

    def is_plain(self) -> bool:
        """Whether every line that has words may be recalled when nothing else is said."""
        return not (self._facts["recalled"] or self._hidden or self._excluded)

    def is_excluded(self, session: int, seq: int) -> bool:
        """Whether a line is kept out of recall."""
        return session in self._hidden or (session, seq) in self._excluded

    def running(self, first: int, last: int) -> Sequence[tuple[int, int]]:
        """Return the sessions that may have a line between two times, the newest first.

        Each is a number with the time of its newest line. All times are in microseconds since 1970,
        and both belong to what is between them.
        """
        asked = (
            "SELECT number, newest FROM sessions WHERE newest >= ? AND oldest <= ? "
            "ORDER BY newest DESC"
        )
        return self._run(asked, (first, last)).fetchall()

    def sessions(self) -> Iterable[tuple[str, int]]:
        """Yield each session with the time of its newest line, the newest first."""
        yield from self._run("SELECT name, newest FROM sessions ORDER BY newest DESC, name")

    def _one(self, asked: str, *values: int | str) -> Any:  # noqa: ANN401 - what a column holds
        row = self._run(asked, values).fetchone()
        return row[0] if row else None

    # ---- keeping up with the files ----

    def fill(self) -> None:
        """Take in everything, into an index that is new and that nobody else knows."""
        self._run("BEGIN IMMEDIATE")
        for name in _FACTS:
            self._remember(name, 0)
        started = time.time()
        # Before the files are read: if one cannot be, this is reset.
        self._remember("listed", changes.settled(changes.moment_of(self._folder)))
        self._take(sorted(changes.listing(self._folder)))
        self._remember("looked", int(started))
        self._list_words()
        self._run("COMMIT")
        self._reload()

    def _keep_up(self) -> None:
        """Take in what is new."""
        self._reload()
        moment = changes.moment_of(self._folder)
        if not moment or moment != self._facts["listed"]:
            self._list(moment)
        elif names := changes.changed(self._folder, self._watched):
            with self._writing():
                self._take(names)
        if not self._all:
            if changes.is_due(self._facts["looked"], self._facts["cost"] / 1000):
                self._look_at_all()
            if self._cache is not None:
                self._follow_writers(self._cache)
        if self._facts["latest"] > max(4 * LISTED, self._facts["total"] // 10):
            with self._writing():
                self._list_words()

    def _reload(self) -> None:
        """Read again what another process may have changed."""
        version = self._one("PRAGMA data_version")
        if version == self._version:
            return
        self._version = version
        self._freshness = None
        self._chunks.clear()
        self._facts = dict(self._run("SELECT name, value FROM facts"))
        self._excluded = frozenset(self._run("SELECT session, seq FROM excluded"))
        hidden = self._run("SELECT number FROM sessions WHERE excluded")
        self._hidden = frozenset(row[0] for row in hidden)
        self._all = self._one("SELECT 1 FROM sessions LIMIT 1 OFFSET ?", changes.MANY) is None
        self._watched = self._states(
            "ORDER BY changed DESC LIMIT ?", changes.MANY if self._all else changes.RECENT
        )

    def _states(self, which: str = "", *values: int) -> dict[str, changes.FileState]:
        """Return what the files of sessions were when they were read, by session."""
        asked = f"SELECT name, inode, size, changed FROM sessions {which}"  # noqa: S608 - our own
        return {row[0]: changes.FileState(*row[1:]) for row in self._run(asked, values)}

    def _list(self, moment: int) -> None:
        """Compare the names in the folder with those that are known."""
        found = changes.listing(self._folder)
        known = dict(self._run("SELECT name, inode FROM sessions"))
        if gone := known.keys() - found.keys():
            with self._writing():
                self._forget_silent(gone)
        names = {name for name, inode in found.items() if known.get(name) != inode}
        names.update(changes.changed(self._folder, self._watched))
        kept = changes.settled(moment)
        if names or kept:
            with self._writing():
                self._remember("listed", kept)
                self._take(sorted(names))

    def _forget_silent(self, names: Iterable[str]) -> None:
        """Forget sessions that were removed because nothing was said in them.

        Raises:
            Unusable: If something was: its words cannot be told from others.
        """
        for name in names:
            number = self.number(name)
            chunks = self._run("SELECT * FROM chunks WHERE session = ?", (number,))
            if not all(Chunk(*row[1:]).roles() <= WORDLESS for row in chunks):
                raise Unusable
            for rows in ("chunks WHERE session", "excluded WHERE session", "sessions WHERE number"):
                self._run(f"DELETE FROM {rows} = ?", (number,))  # noqa: S608 - our own names
            self._watched.pop(name, None)
        self._version = -1

    def _look_at_all(self) -> None:
        started = time.time()
        names = changes.changed(self._folder, self._states())
        with self._writing():
            self._take(names)
            self._remember("looked", int(started))
            self._remember("cost", int((time.time() - started) * 1000))

    def _follow_writers(self, cache: Path) -> None:
        end, names = changes.touched(cache, self._facts["touched"])
        if end != self._facts["touched"]:
            with self._writing():
                self._take([name for name in names if changes.file_state(self._folder, name)])
                self._remember("touched", end)

    # ---- taking in ----

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold a transaction, which leaves everything as it was if anything fails."""
        self._run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._run("ROLLBACK")
            self._version = -1
            raise
        self._run("COMMIT")
        self.wrote = True
        self._chunks.clear()
        self._facts = dict(self._run("SELECT name, value FROM facts"))

    def _take(self, names: Sequence[str]) -> None:
        """Take in what the files of these sessions have more than is known."""
        if not names:
            return
        intake = _Intake(self.connection, listed=bool(self._facts.get("lists")))
        for name in names:
            row = self._run("SELECT * FROM sessions WHERE name = ?", (name,)).fetchone()
            known = _Known(name, row)
            if self._take_session(intake, known):
                self._watched[name] = changes.FileState(known.inode, known.size, known.changed)
            elif known.number:
                raise Unusable
            else:
                self._remember("listed", 0)
        intake.flush()
        if intake.marked:
            self._version = -1
        if self._freshness is not None:
            new = max(intake.fresh, default=0) + 1 - len(self._freshness)
            self._freshness.extend([0] * new)
            for number, value in intake.fresh.items():
                self._freshness[number] = value

    def _take_session(self, intake: _Intake, known: _Known) -> bool:
        """Take in one session; return ``False`` if it cannot be read.

        Raises:
            Unusable: If what was taken in has changed in the file.
        """
        path = self._folder / f"{known.name}{changes.SUFFIX}"
        try:
            with self._disk.opened(path) as file:
                found = self._disk.look(file)
                grown = found.st_ino == known.inode and found.st_size > known.size
                mark, length = divmod(known.mark, 1 << 16)
                start = known.taken - length if grown else 0
                digest = crc32(self._disk.read_at(file, start, known.taken))
                if found.st_size < known.taken or digest != (mark if grown else known.digest):
                    raise Unusable
                state = found.st_ino, found.st_size, found.st_mtime_ns
                known.inode, known.size, known.changed = state
                self._read(file, intake, known)
        except (OSError, StoreError):
            return False
        intake.keep(known)
        return True

    def _read(self, file: int, intake: _Intake, known: _Known) -> None:
        length = _BLOCK
        while known.taken < known.size:
            try:
                block = self._disk.read_at(file, known.taken, min(known.size, known.taken + length))
            except OSError:
                if not known.taken:
                    raise
                known.changed = 0  # The rest is tried again by the next question.
                break
            if b"\n" in block:
                intake.take(known, block)
            elif known.taken + length >= known.size:
                break
            else:
                length *= 2
            if len(intake.words) >= _BATCH:
                intake.flush()
        if not known.number:
            intake.take(known, b"")

    def _remember(self, name: str, value: int) -> None:
        self._run("REPLACE INTO facts VALUES (?, ?)", (name, value))

    def _list_words(self) -> None:
        """Write down the keys of the words that are in many lines."""
        self._run("DELETE FROM lists")
        limit = max(LISTED, self._one("SELECT value FROM facts WHERE name = 'total'") // _RARE)
        unasked = {stem(word) for word in STOP_WORDS}
        for (word,) in self._run("SELECT term FROM counts WHERE doc >= ?", (limit,)).fetchall():
            if word not in unasked:
                # Not asked for by MATCH, which would stem what is a stem already.
                # In one string: most of the time goes into handing rows over.
                found = self._one("SELECT group_concat(doc) FROM places WHERE term = ?", word)
                keys = array("I", map(int, found.split(",")))
                self._run("INSERT INTO lists VALUES (?, ?)", (word, keys.tobytes()))
        self._run("INSERT INTO latest(latest) VALUES ('delete-all')")
        self._remember("latest", 0)
        self._remember("lists", 1)


class _Known:
    """What the index knows of a session: a row of its table, whose columns are the attributes."""

    number = inode = changed = size = taken = digest = mark = lines = excluded = 0
    oldest, newest = (1 << 63) - 1, -(1 << 63)

    def __init__(self, name: str, row: Sequence[Any] | None) -> None:
        self.name = name
        vars(self).update(zip(_COLUMNS, row or (), strict=False))


_COLUMNS: Final = (
    *("number", "name", "inode", "changed", "size", "taken", "digest", "mark", "lines"),
    *("oldest", "newest", "excluded"),
)
_CHANGES: Final = ", ".join(f"{name} = ?" for name in _COLUMNS[2:])


class _Intake:
    """One transaction's worth of new lines.

    Attributes:
        words: The words of the lines that wait for :meth:`flush`, by their keys.
        fresh: The freshness of the chunks that were begun, by their numbers.
        marked: Whether anything was taken out of recall or brought back.
    """

    def __init__(self, connection: sqlite3.Connection, *, listed: bool) -> None:
        """Take in through ``connection``; ``listed`` says whether there are lists to add to."""
        self._connection = connection
        self._listed = listed
        self.words: list[tuple[int, str]] = []
        self._chunks: dict[tuple[int, int], tuple[int, Chunk]] = {}
        self.fresh: dict[int, int] = {}
        self._new: dict[int, int] = {}
        self._names: dict[tuple[str, bool], int] = {}
        last = connection.execute("SELECT coalesce(max(number), 0) FROM chunks").fetchone()[0]
        self._next = last + 1
        self._recalled = 0
        self.marked = False

    def take(self, session: _Known, block: bytes) -> None:
        """Take in the whole lines of ``block``, which follow what is known of ``session``."""
        if not session.number:
            new = "INSERT INTO sessions VALUES (NULL, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
            session.number = self._connection.execute(new, (session.name,)).lastrowid or 0
        found = list(lines.read_lines(block))
        if not found:
            return
        end = block.rfind(b"\n") + 1
        self._place(session, found, end)
        for line in found:
            if line.event is not None:
                self._mark(session, line.event)
        times = [line.ts for line in found if line.role != BROKEN]
        session.oldest = min([session.oldest, *times])
        session.newest = max([session.newest, *times])
        session.digest = crc32(block[:end], session.digest)
        tail = block[max(end - _MARK, 0) : end]
        session.mark = crc32(tail) << 16 | len(tail)
        session.lines += len(found)
        session.taken += end

    def keep(self, session: _Known) -> None:
        """Write down what is known of a session now."""
        values = [getattr(session, name) for name in _COLUMNS]
        change = f"UPDATE sessions SET {_CHANGES} WHERE number = ?"  # noqa: S608 - our own names
        self._connection.execute(change, (*values[2:], session.number))

    def flush(self) -> None:
        """Hand everything to SQLite."""
        run = self._connection.executemany
        # In their order: FTS5 would begin a new piece of its index at each step back.
        self.words.sort()
        run("INSERT INTO words(rowid, text) VALUES (?, ?)", self.words)
        if self._listed:
            run("INSERT INTO latest(rowid, text) VALUES (?, ?)", self.words)
        chunks = ((number, *chunk) for number, chunk in self._chunks.values())
        run("REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?)", chunks)
        self._write_freshness()
        add = "UPDATE facts SET value = value + ? WHERE name = ?"
        count = len(self.words)
        run(add, ((count, "total"), (count, "latest"), (self._recalled, "recalled")))
        self.words, self._chunks, self._recalled = [], {}, 0

    def _place(self, session: _Known, found: Sequence[Line], end: int) -> None:
        """Put lines into the chunks of their session, the first into what is left of its last."""
        done = 0
        while done < len(found):
            place, used = divmod(session.lines + done, CHUNK)
            part = found[done : done + CHUNK - used]
            done += len(part)
            number, before = self._open(session, place, part[0], new=not used)
            key, offset = number * CHUNK + used, session.taken - before.start
            noted: set[str] = set()
            facts = [self._fact(line, key + at, offset, noted) for at, line in enumerate(part)]
            stop = session.taken + (found[done].start if done < len(found) else end)
            after = before._replace(end=stop, facts=before.facts + lines.pack(facts))
            self._chunks[session.number, place] = (number, after)

    def _open(self, session: _Known, place: int, line: Line, *, new: bool) -> tuple[int, Chunk]:
        """Return the number of a chunk and what it holds so far; ``line`` is the next in it."""
        if new:
            number, self._next = self._next, self._next + 1
            self._new[number] = lines.freshness(line.ts, session.name, place)
            start = session.taken + line.start
            return number, Chunk(session.number, place, start, start, b"")
        at = (session.number, place)
        if at in self._chunks:
            return self._chunks[at]
        asked = "SELECT * FROM chunks WHERE session = ? AND place = ?"
        row = self._connection.execute(asked, at).fetchone()
        return row[0], Chunk(*row[1:])

    def _fact(self, line: Line, key: int, offset: int, noted: set[str]) -> lines.Facts:
        """Return what is kept of a line; note its words, and its speaker if not ``noted``."""
        start, seq, ts, role, name, text, _ = line
        if role not in WORDLESS:
            words = folded(text)
            if name and name not in noted and role in SPEAKERS:
                noted.add(name)
                words += f" {speaking(name)}"
            self.words.append((key, words))
            self._recalled += role == _RECALLED
        number, speaks = 0, role in SPEAKERS
        if name and not (number := self._names.get((name, speaks), 0)):
            # SQLite takes no half surrogate pairs.
            known = name.encode("utf-8", "replace").decode()
            number = int(self._connection.execute(_NAME, (known, speaks)).fetchone()[0])
            self._names[name, speaks] = number
        return offset + start, seq, ts, lines.length_of(text), role, number

    def _mark(self, session: _Known, event: Episode) -> None:
        away, seqs = read_mark(event)
        if away is None:
            return
        self.marked = True
        run = self._connection.execute
        change = "DELETE FROM excluded WHERE session = ? AND seq = ?"
        if away:
            change = "INSERT OR IGNORE INTO excluded VALUES (?, ?)"
        for seq in seqs or ():
            run(change, (session.number, seq))
        if seqs is None:
            session.excluded = int(away)
            if not away:
                run("DELETE FROM excluded WHERE session = ?", (session.number,))

    def _write_freshness(self) -> None:
        run = self._connection.execute
        for page, group in groupby(sorted(self._new), lambda number: number // PAGE):
            new = list(group)
            row = run("SELECT numbers FROM freshness WHERE page = ?", (page,)).fetchone()
            numbers = array("q", row[0] if row else b"")
            numbers.extend([0] * (new[-1] % PAGE + 1 - len(numbers)))
            for number in new:
                numbers[number % PAGE] = self._new[number]
            run("REPLACE INTO freshness VALUES (?, ?)", (page, numbers.tobytes()))
        self.fresh |= self._new
        self._new = {}


def fresh(path: Path | None, folder: Path, disk: Disk) -> Index:
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
    connection = _connect(path)
    try:
        connection.executescript(f"{_TABLES}PRAGMA user_version = {VERSION};")
        index = Index(connection, folder, None, disk)
        index.fill()
        if path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    if path is not None:
        connection.close()
    return index


def stored(path: Path, folder: Path, cache: Path, disk: Disk) -> Index:
    """Open the index in a file.

    Raises:
        Unusable: If it is of another version.
        sqlite3.Error: If it cannot be read.
    """
    connection = _connect(path)
    try:
        connection.executescript(_OPENED)
        return Index(connection, folder, cache, disk)
    except BaseException:
        connection.close()
        raise


def _connect(path: Path | None) -> sqlite3.Connection:
    uri = "file::memory:" if path is None else f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(
        uri, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )

r"""Taking the lines of a transcript into the index.

A line is taken in once, when its ``\n`` is there; one that is no episode has its place and no
words; what an ``exclude`` takes out of recall and an ``include`` brings back is kept up to date.
Whoever calls holds the transaction.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Final
from zlib import crc32

from engramdown.language.terms import folded, speaking
from engramdown.recall.lines import (
    BROKEN,
    CHUNK,
    PAGE,
    SPEAKERS,
    WORDLESS,
    Chunk,
    Facts,
    Line,
    freshness,
    length_of,
    pack,
    read_lines,
)
from engramdown.transcripts.episode import ROLES, Episode
from engramdown.transcripts.visibility import read_mark

_MARK: Final = 256
"""How many of the last bytes are looked at to see that a file has only grown."""
_EXCLUDE: Final = "INSERT OR IGNORE INTO excluded VALUES (?, ?)"
_INCLUDE: Final = "DELETE FROM excluded WHERE session = ? AND seq = ?"
_NAME: Final = (
    "INSERT INTO names(name, speaks) VALUES (?, ?) "
    "ON CONFLICT DO UPDATE SET speaks = speaks OR excluded.speaks RETURNING number"
)
_RECALLED: Final = ROLES.index("memory_read")


@dataclass(slots=True)
class Known:
    """What the index knows of a session.

    Attributes:
        number: Its number, 0 if it is new.
        name: Its id.
        inode: Which file it is.
        changed: When the file was last written, in nanoseconds.
        size: Of the file, in bytes.
        taken: How many bytes of it are in the index.
        digest: Of these bytes.
        mark: The digest and, in the lowest 16 bits, the number of the last of these bytes.
        lines: How many there are.
        oldest: The time of its oldest episode, in microseconds.
        newest: And of its newest.
        excluded: Whether the whole session is out of recall.
    """

    number: int
    name: str
    inode: int = 0
    changed: int = 0
    size: int = 0
    taken: int = 0
    digest: int = 0
    mark: int = 0
    lines: int = 0
    oldest: int = (1 << 63) - 1
    newest: int = -(1 << 63)
    excluded: int = 0

    @classmethod
    def find(cls, connection: sqlite3.Connection, name: str) -> Known:
        """Return what is known of a session."""
        row = connection.execute("SELECT * FROM sessions WHERE name = ?", (name,)).fetchone()
        return cls(*row) if row else cls(0, name)


_COLUMNS: Final = tuple(item.name for item in fields(Known))
_CHANGES: Final = ", ".join(f"{name} = ?" for name in _COLUMNS[2:])
_CHANGE: Final = f"UPDATE sessions SET {_CHANGES} WHERE number = ?"  # noqa: S608 - our own names


class Intake:
    """One transaction's worth of new lines.

    Attributes:
        fresh: The freshness of the chunks that were begun, by their numbers.
        marked: Whether anything was taken out of recall or brought back.
    """

    def __init__(self, connection: sqlite3.Connection, *, listed: bool) -> None:
        """Take in through ``connection``; ``listed`` says whether there are lists to add to."""
        self._connection = connection
        self._listed = listed
        self._words: list[tuple[int, str]] = []
        self._chunks: dict[tuple[int, int], tuple[int, Chunk]] = {}
        self.fresh: dict[int, int] = {}
        self._new: dict[int, int] = {}
        self._names: dict[tuple[str, bool], int] = {}
        last = connection.execute("SELECT coalesce(max(number), 0) FROM chunks").fetchone()[0]
        self._next = last + 1
        self._recalled = 0
        self.marked = False

    def take(self, session: Known, block: bytes) -> None:
        """Take in the whole lines of ``block``, which follow what is known of ``session``."""
        if not session.number:
            new = "INSERT INTO sessions VALUES (NULL, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
            session.number = self._connection.execute(new, (session.name,)).lastrowid or 0
        lines = list(read_lines(block))
        if not lines:
            return
        end = block.rfind(b"\n") + 1
        self._place(session, lines, end)
        for line in lines:
            if line.event is not None:
                self._mark(session, line.event)
        times = [line.ts for line in lines if line.role != BROKEN]
        session.oldest = min([session.oldest, *times])
        session.newest = max([session.newest, *times])
        session.digest = crc32(block[:end], session.digest)
        tail = block[max(end - _MARK, 0) : end]
        session.mark = crc32(tail) << 16 | len(tail)
        session.lines += len(lines)
        session.taken += end

    def keep(self, session: Known) -> None:
        """Write down what is known of a session now."""
        _, _, *values = (getattr(session, name) for name in _COLUMNS)
        self._connection.execute(_CHANGE, (*values, session.number))

    def flush(self) -> None:
        """Hand everything to SQLite."""
        run = self._connection.executemany
        # In their order: FTS5 would begin a new piece of its index at each step back.
        self._words.sort()
        run("INSERT INTO words(rowid, text) VALUES (?, ?)", self._words)
        if self._listed:
            run("INSERT INTO latest(rowid, text) VALUES (?, ?)", self._words)
        chunks = ((number, *chunk) for number, chunk in self._chunks.values())
        run("REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?)", chunks)
        self._write_freshness()
        add = "UPDATE facts SET value = value + ? WHERE name = ?"
        count = len(self._words)
        run(add, ((count, "total"), (count, "latest"), (self._recalled, "recalled")))
        self._words, self._chunks, self._recalled = [], {}, 0

    @property
    def waiting(self) -> int:
        """How many lines wait for :meth:`flush`."""
        return len(self._words)

    def _place(self, session: Known, lines: Sequence[Line], end: int) -> None:
        """Put lines into the chunks of their session, the first into what is left of its last."""
        done = 0
        while done < len(lines):
            place, used = divmod(session.lines + done, CHUNK)
            part = lines[done : done + CHUNK - used]
            done += len(part)
            number, before = self._open(session, place, part[0], new=not used)
            key, offset = number * CHUNK + used, session.taken - before.start
            noted: set[str] = set()
            facts = pack(
                [self._fact(line, key + at, offset, noted) for at, line in enumerate(part)]
            )
            stop = session.taken + (lines[done].start if done < len(lines) else end)
            after = before._replace(end=stop, facts=before.facts + facts)
            self._chunks[session.number, place] = (number, after)

    def _open(self, session: Known, place: int, line: Line, *, new: bool) -> tuple[int, Chunk]:
        """Return the number of a chunk and what it holds so far; ``line`` is the next in it."""
        if new:
            number, self._next = self._next, self._next + 1
            self._new[number] = freshness(line.ts, session.name, place)
            start = session.taken + line.start
            return number, Chunk(session.number, place, start, start, b"")
        waiting = self._chunks.get((session.number, place))
        if waiting:
            return waiting
        row = self._connection.execute(
            "SELECT * FROM chunks WHERE session = ? AND place = ?", (session.number, place)
        ).fetchone()
        return row[0], Chunk(*row[1:])

    def _fact(self, line: Line, key: int, offset: int, noted: set[str]) -> Facts:
        """Return what is kept of a line; note its words, and its speaker if not ``noted``."""
        start, seq, ts, role, name, text, _ = line
        if role not in WORDLESS:
            words = folded(text)
            if name and name not in noted and role in SPEAKERS:
                noted.add(name)
                words += f" {speaking(name)}"
            self._words.append((key, words))
            self._recalled += role == _RECALLED
        number = self._name(name, role) if name else 0
        return offset + start, seq, ts, length_of(text), role, number

    def _name(self, name: str, role: int) -> int:
        speaks = role in SPEAKERS
        number = self._names.get((name, speaks))
        if number is None:
            # SQLite takes no half surrogate pairs.
            known = name.encode("utf-8", "replace").decode()
            number = int(self._connection.execute(_NAME, (known, speaks)).fetchone()[0])
            self._names[name, speaks] = number
        return number

    def _mark(self, session: Known, event: Episode) -> None:
        away, seqs = read_mark(event)
        if away is None:
            return
        self.marked = True
        run = self._connection.execute
        for seq in seqs or ():
            change = _EXCLUDE if away else _INCLUDE
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

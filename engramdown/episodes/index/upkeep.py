"""Keeping the index of transcripts up with the files.

Promises: after :meth:`Upkeep.keep_up` everything is in the index that a look at the files shows;
of what several processes do at once nothing is taken in twice; a transcript that is no longer what
was taken in makes the index :class:`engramdown.episodes.index.source.Unusable`.
"""

from __future__ import annotations

import os
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

from engramdown.episodes import watch
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.index.rows import Chunk
from engramdown.episodes.index.source import Unusable
from engramdown.errors import StoreError
from engramdown.language.terms import stem
from engramdown.language.words import STOP_WORDS

if TYPE_CHECKING:
    from engramdown.episodes.index.intake import Intake, Known

__all__ = ["FACTS", "LISTED", "Upkeep"]

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
        self._watched: dict[str, watch.Seen] = {}
        self._all = True

    def fill(self) -> None:
        """Take in everything, into an index that is new and that nobody else knows."""
        self._run("BEGIN IMMEDIATE")
        for name in FACTS:
            self._remember(name, 0)
        started = time.time()
        # Before they are read: of one that cannot be, it is taken back.
        self._remember("listed", watch.settled(watch.moment_of(self._folder)))
        self._take(sorted(watch.listing(self._folder)))
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
        self.reload()
        moment = watch.moment_of(self._folder)
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
        beyond = self._run("SELECT 1 FROM sessions LIMIT 1 OFFSET ?", (watch.MANY,)).fetchone()
        self._all = beyond is None
        limit = watch.MANY if self._all else watch.RECENT
        recent = self._run(
            "SELECT name, inode, size, changed FROM sessions ORDER BY changed DESC LIMIT ?",
            (limit,),
        )
        self._watched = {row[0]: watch.Seen(*row[1:]) for row in recent}

    def _is_due(self) -> bool:
        cost = self.facts["cost"] / 1000
        return not self._all and watch.is_due(self.facts["looked"], cost)

    def _list(self, moment: int) -> None:
        """Compare the names in the folder with those that are known."""
        found = watch.listing(self._folder)
        known = dict(self._run("SELECT name, inode FROM sessions"))
        gone = known.keys() - found.keys()
        if gone:
            self._write(lambda: self._forget_silent(gone))
        names = [name for name, inode in found.items() if known.get(name) != inode]
        kept = watch.settled(moment)

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
        from engramdown.episodes.index.intake import WORDLESS, Known

        for name in names:
            known = Known.find(self._connection, name)
            rows = self._run("SELECT * FROM chunks WHERE session = ?", (known.number,))
            if any(role not in WORDLESS for row in rows for role, _ in Chunk(*row[1:]).speakers()):
                raise Unusable
            known.forget(self._connection)
            self._watched.pop(name, None)
        self._version = -1

    def _look_at_all(self) -> None:
        started = time.time()
        rows = self._run("SELECT name, inode, size, changed FROM sessions")
        names = self._changed({row[0]: watch.Seen(*row[1:]) for row in rows})

        def take() -> None:
            self._take(names)
            self._remember("looked", int(started))
            self._remember("cost", int((time.time() - started) * 1000))

        self._write(take)

    def _follow_writers(self) -> None:
        if self._cache is None or self._all:
            return
        start = self.facts["touched"]
        end, names = watch.touched(self._cache, start)
        if end == start:
            return

        def take() -> None:
            self._take([name for name in names if watch.look(self._folder, name)])
            self._remember("touched", end)

        self._write(take)

    def _take_changed(self, sessions: dict[str, watch.Seen]) -> None:
        names = self._changed(sessions)
        if names:
            self._write(lambda: self._take(names))

    def _changed(self, sessions: dict[str, watch.Seen]) -> list[str]:
        return watch.changed(self._folder, sessions)

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
        if not names:
            return
        # Imported here: most questions find nothing new, and so need nothing that reads lines.
        from engramdown.episodes.index.intake import Intake, Known

        intake = Intake(self._connection, listed=bool(self.facts.get("lists")))
        for name in names:
            known = Known.find(self._connection, name)
            if self._take_session(intake, known):
                self._watched[name] = watch.Seen(known.inode, known.size, known.changed)
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
        try:
            file = self._disk.open(self._folder / f"{known.name}{watch.SUFFIX}")
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

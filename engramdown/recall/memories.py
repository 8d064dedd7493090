"""How well a memory answers a question, without a model.

Any string is a valid query; the same entries, query and day always give the same order;
equal scores keep the order of the entries; no file is read or written.

The score is BM25 over words with English stemming (Porter's, from SQLite's FTS5, held in memory),
times two mild factors: what is recent, and what is sure, counts a little more.
"""

from __future__ import annotations

import re
import unicodedata
import weakref
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.engram import Confidence
from engramdown.errors import NO_SEARCH, StoreError
from engramdown.forks import Lock, in_child, unforked
from engramdown.hippocampus.entry import Entry
from engramdown.language.words import STOP_WORDS, spaced

if TYPE_CHECKING:
    import sqlite3

# Days after which a memory has lost half of what being new is worth. What projects agree on holds
# for quarters rather than weeks; a shorter one would rank by date, a longer one not at all.
HALF_LIFE: Final = 180

# At most: of two memories that answer equally well, the better known comes first, but neither
# factor lifts one above another that matches clearly better.
_WORTH_OF_NEW: Final = 0.2
_WORTH_OF_SURE: Final[dict[Confidence, float]] = {"high": 1.0, "medium": 0.9, "low": 0.75}
# A pasted log has thousands of words; what is asked is at its beginning or its end.
_QUERY_WORDS: Final = 128
# Shorter ones begin too many words.
_LEAST_BEGINNING: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
_TABLE: Final = (
    "CREATE VIRTUAL TABLE memory USING fts5"
    "(said, content='', tokenize='porter unicode61 remove_diacritics 2')"
)
_FIND: Final = "SELECT rowid, -bm25(memory) FROM memory WHERE memory MATCH ?"
# Connections of the process that this one was forked from.
_OTHERS: Final[list[object]] = []


class Hit(NamedTuple):
    """An entry that answers a query.

    Attributes:
        entry: The entry.
        score: How well it answers; higher is better, above 0, comparable within one search only.
        position: Its place among the entries of the index, from 0.
    """

    entry: Entry
    score: float
    position: int


class MemoryIndex:
    """Entries, ready to be searched; build it once and keep it while the entries stay the same.

    It may be shared between threads.

    >>> from engramdown.hippocampus.entry import Entry
    >>> texts = ["Deploys happen on Mondays", "Use uv"]
    >>> index = MemoryIndex([Entry(id="", text=t, kind="lesson", scope="project") for t in texts])
    >>> [hit.entry.text for hit in index.search("when do we deploy?", date(2026, 3, 1))]
    ['Deploys happen on Mondays']
    """

    __slots__ = ("__weakref__", "_closing", "_connection", "_lock", "entries")

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Read the texts, topics and headings of ``entries``.

        Raises:
            StoreError: If this Python has no SQLite, or one without FTS5.
        """
        self.entries: tuple[Entry, ...] = tuple(entries)
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = self._filled()
        in_child(self, MemoryIndex._leave_to_parent)

    def scores(self, query: str) -> dict[int, float]:
        """Return the BM25 score of each entry that holds a word of ``query``, by position."""
        # A quoted word is a string to FTS5 and never an operator; a word holds no quote.
        words = " OR ".join(f'"{word}"' for word in _query_words(query))
        if not words or not self.entries:
            return {}
        with self._lock, unforked():
            if self._connection is None:
                self._connection = self._filled()
            return dict(self._connection.execute(_FIND, (words,)).fetchall())

    @unforked()
    def _filled(self) -> sqlite3.Connection:
        """Return a connection to a table in memory that holds the words of the entries."""
        try:
            import sqlite3
        except ImportError as error:  # a Python may be built without it
            raise StoreError(NO_SEARCH) from error
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._closing = weakref.finalize(self, unforked()(connection.close))
        try:
            connection.execute(_TABLE)
        except sqlite3.OperationalError as error:  # no such module: fts5
            raise StoreError(NO_SEARCH) from error
        connection.execute("BEGIN")
        insert = "INSERT INTO memory(rowid, said) VALUES (?, ?)"
        connection.executemany(insert, enumerate(map(_said, self.entries)))
        connection.execute("COMMIT")
        return connection

    def _leave_to_parent(self) -> None:
        """Leave a connection to the process that opened it: it must not even be closed in a child.

        Another thread may have been in the middle of a search.
        """
        self._closing.detach()
        _OTHERS.append(self._connection)
        self._connection = None

    def weighed(self, query: str, today: date) -> dict[int, float]:
        """Return the scores, weighed by age as of ``today`` and by confidence, by position."""
        ages: dict[str, float] = {}
        return {
            position: score * _weight(self.entries[position], today, ages)
            for position, score in self.scores(query).items()
        }

    def search(self, query: str, today: date) -> list[Hit]:
        """Return what answers ``query``, the best first; nothing for a query without words.

        If no entry holds a word of it in any form, those that hold a longer word are the answer:
        *lint* finds the linter.
        """
        weighed = self.weighed(query, today) or self._begun(query, today)
        ranked = sorted(weighed.items(), key=lambda item: (-item[1], item[0]))
        return [Hit(self.entries[position], score, position) for position, score in ranked]

    def _begun(self, query: str, today: date) -> dict[int, float]:
        """Return how many words of ``query`` begin a word of each entry, weighed, by position."""
        words = {_bare(word) for word in _query_words(query) if len(word) >= _LEAST_BEGINNING}
        ages: dict[str, float] = {}
        found = {}
        for position, entry in enumerate(self.entries):
            said = f" {' '.join(_WORD.findall(_bare(_said(entry))))}"
            count = sum(f" {word}" in said for word in words)
            if count:
                found[position] = count * _weight(entry, today, ages)
        return found


def _said(entry: Entry) -> str:
    said = entry.text
    if entry.topic or entry.heading:
        said = f"{said}\n{entry.topic} {entry.heading}"
    if said.isascii():
        return said
    # SQLite takes no half of a surrogate pair, which a hand-edited file may hold.
    return spaced(said.encode("utf-8", "replace").decode("utf-8"))


def _query_words(query: str) -> list[str]:
    """Return the distinct words that are looked for, in order."""
    plain = spaced(unicodedata.normalize("NFC", query))
    words = list({word.casefold(): word for word in _WORD.findall(plain)}.values())
    telling = [word for word in words if word.casefold() not in STOP_WORDS] or words
    if len(telling) <= _QUERY_WORDS:
        return telling
    return telling[: _QUERY_WORDS // 2] + telling[-_QUERY_WORDS // 2 :]


def _bare(text: str) -> str:
    """Return ``text`` folded and without accents, as unicode61 sees it."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def _weight(entry: Entry, today: date, ages: dict[str, float]) -> float:
    """Return what a memory is worth for being sure, and new: half of that every half life."""
    if entry.ts not in ages:
        ages[entry.ts] = 1.0
        with suppress(ValueError):  # no day, or one that a person mistyped
            age = (today - date.fromisoformat(entry.ts)).days
            ages[entry.ts] += _WORTH_OF_NEW * 2 ** (-max(age, 0) / HALF_LIFE)
    return ages[entry.ts] * _WORTH_OF_SURE[entry.confidence]

"""How well a memory answers a question, without a model.

Any string is a valid query; the same entries, query and day always give the same order;
equal scores keep the order of the entries; no file is read or written.

The score is BM25 over words with English stemming (Porter's, from SQLite's FTS5, held in memory),
times two mild factors: what is recent, and what is sure, counts a little more. Where SQLite comes
without FTS5, the same formula and the same stems are computed here.
"""

from __future__ import annotations

import re
import unicodedata
import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from math import log
from typing import Final, NamedTuple

from engramdown.engram import Confidence
from engramdown.forks import Lock, in_child, unforked
from engramdown.hippocampus.entry import Entry
from engramdown.language.words import STOP_WORDS, spaced

# Days after which a memory has lost half of what being new is worth. What projects agree on holds
# for quarters rather than weeks; a shorter one would rank by date, a longer one not at all.
HALF_LIFE: Final = 180

# At most: of two memories that answer equally well, the better known comes first, but neither
# factor lifts one above another that matches clearly better.
_WORTH_OF_NEW: Final = 0.2
_WORTH_OF_SURE: Final[dict[Confidence, float]] = {"high": 1.0, "medium": 0.9, "low": 0.75}
# A pasted log has thousands of words; what is asked stands at its beginning or its end.
_QUERY_WORDS: Final = 128
# Shorter ones begin too many words.
_LEAST_BEGINNING: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
_TABLE: Final = (
    "CREATE VIRTUAL TABLE memory USING fts5"
    "(said, content='', tokenize='porter unicode61 remove_diacritics 2')"
)
_FIND: Final = "SELECT rowid, -bm25(memory) FROM memory WHERE memory MATCH ?"
# BM25 as FTS5 computes it: sqlite.org/fts5.html, "The bm25() function".
_K1: Final = 1.2
_B: Final = 0.75
_LEAST_IDF: Final = 1e-6
# Connections of the process that this one was forked from.
_OTHERS: Final[list[object]] = []


class Hit(NamedTuple):
    """An entry that answers a query.

    Attributes:
        entry: The entry.
        score: How well it answers; higher is better, above 0, comparable within one search only.
        position: Where it stands among the entries of the index, from 0.
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

    __slots__ = ("__weakref__", "_scorer", "entries")

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Read the texts, topics and headings of ``entries``."""
        self.entries: tuple[Entry, ...] = tuple(entries)
        self._scorer: _FullText | _Plain | None = _scorer(map(_said, self.entries))
        in_child(self, MemoryIndex._leave_to_parent)

    def scores(self, query: str) -> dict[int, float]:
        """Return the BM25 score of each entry that holds a word of ``query``, by position."""
        if self._scorer is None:
            self._scorer = _scorer(map(_said, self.entries))
        return self._scorer.scores(_query_words(query)) if self.entries else {}

    def _leave_to_parent(self) -> None:
        """Leave a connection to the process that opened it: it must not even be closed in a child.

        Another thread may have been in the middle of a search.
        """
        if isinstance(self._scorer, _FullText):
            _OTHERS.append(self._scorer.detach())
            self._scorer = None

    def weighed(self, query: str, today: date) -> dict[int, float]:
        """Return the scores times what is recent and sure as of ``today``, by position."""
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


class _FullText:
    """Texts in a table in memory that SQLite searches."""

    __slots__ = ("__weakref__", "_closing", "_connection", "_lock")

    @unforked()
    def __init__(self, texts: Iterable[str]) -> None:
        import sqlite3

        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._closing = weakref.finalize(self, unforked()(self._connection.close))
        self._lock = Lock()
        self._connection.execute(_TABLE)
        self._connection.execute("BEGIN")
        insert = "INSERT INTO memory(rowid, said) VALUES (?, ?)"
        self._connection.executemany(insert, enumerate(texts))
        self._connection.execute("COMMIT")

    def scores(self, words: Sequence[str]) -> dict[int, float]:
        # A quoted word is a string to FTS5 and never an operator; a word holds no quote.
        query = " OR ".join(f'"{word}"' for word in words)
        if not query:
            return {}
        with self._lock, unforked():
            return dict(self._connection.execute(_FIND, (query,)).fetchall())

    def detach(self) -> object:
        """Return the connection, which nobody closes from now on."""
        self._closing.detach()
        return self._connection


class _Plain:
    """The same, computed here."""

    __slots__ = ("_counts", "_usual")

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = [Counter(_stems(text)) for text in texts]
        self._usual = sum(map(Counter.total, self._counts)) / max(len(self._counts), 1)

    def scores(self, words: Sequence[str]) -> dict[int, float]:
        found: dict[int, float] = {}
        for word in (each for said in words for each in _stems(said)):
            often = {at: count[word] for at, count in enumerate(self._counts) if word in count}
            rare = log((len(self._counts) - len(often) + 0.5) / (len(often) + 0.5))
            for at, count in often.items():
                length = _K1 * (1 - _B + _B * self._counts[at].total() / self._usual)
                score = max(rare, _LEAST_IDF) * count * (_K1 + 1) / (count + length)
                found[at] = found.get(at, 0.0) + score
        return found


def _stems(text: str) -> list[str]:
    # Imported here: nearly every Python has FTS5, which needs none of it.
    from engramdown.language.terms import stem

    return [stem(word) for word in _WORD.findall(_bare(text))]


def _scorer(texts: Iterable[str]) -> _FullText | _Plain:
    kept = list(texts)
    with suppress(ImportError):  # Python can be built without SQLite
        import sqlite3

        with suppress(sqlite3.OperationalError):  # no such module: fts5
            return _FullText(kept)
    return _Plain(kept)


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

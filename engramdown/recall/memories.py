"""How well a memory answers a question, without a model.

Any string is a valid query; the same entries, query and day always give the same order;
equal scores keep the order of the entries; no file is written.

A question is read, its words are weighed, and its best answers are read again as in
:mod:`engramdown.recall.ranking`, with two differences. A memory has no neighbours; instead a word
of the question is also found by its kindred (*install* finds *uv*), which are worth less than
itself. And what is recent, and what is sure, counts a little more. The words are in SQLite's FTS5,
held in memory.
"""

from __future__ import annotations

import weakref
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.engram import Confidence
from engramdown.errors import NO_SEARCH, StoreError
from engramdown.forks import Lock, in_child, unforked
from engramdown.hippocampus.entry import Entry
from engramdown.language.kindred import kindred
from engramdown.language.terms import Term, folded, spelt, stem
from engramdown.language.updates import newer_first
from engramdown.recall.lines import length_of
from engramdown.recall.query import Query, read_query
from engramdown.recall.ranking import REREAD, WEIGHTS, Mark, Ranked, idf, lists_of, reread

if TYPE_CHECKING:
    import sqlite3

# Days after which a memory has lost half of what being new is worth. What projects agree on holds
# for quarters rather than weeks; a shorter one would rank by date, a longer one not at all.
HALF_LIFE: Final = 180

# At most: of two memories that answer equally well, the better known comes first, but neither
# factor lifts one above another that matches clearly better.
_WORTH_OF_NEW: Final = 0.2
_WORTH_OF_SURE: Final[dict[Confidence, float]] = {"high": 1.0, "medium": 0.9, "low": 0.75}
# What each further word counts that stands for the same word of the question.
_FURTHER: Final = 0.3
# A memory is a line: at so many words each of them counts half. What kind of answer it holds says
# less than in a transcript, and that it is an order nothing. In a small store it is not known how
# rare a word is.
_WEIGHTS: Final = WEIGHTS._replace(
    long=60, small=1_000, time=0.1, number=0.06, name=0.1, wish=0.12, kin=0.12, order=0.0
)
# Of the best score: what says no word of the question must be better than that.
_CLEAR: Final = 0.25
# Shorter ones begin too many words.
_LEAST_BEGINNING: Final = 3
_TABLE: Final = """
CREATE VIRTUAL TABLE memory USING fts5(said, content='', detail='none', tokenize='porter ascii');
CREATE VIRTUAL TABLE words USING fts5vocab(memory, 'row');
"""
# Connections of the process that this one was forked from.
_OTHERS: Final[list[object]] = []


class Hit(NamedTuple):
    """An entry that answers a query.

    Attributes:
        entry: The entry.
        score: How well it answers; higher is better, above 0, comparable within one search only.
        position: Its place among the entries of the index, from 0.
        newer: The id of the memory that says it with another value by now, or ``""``.
    """

    entry: Entry
    score: float
    position: int
    newer: str = ""


class MemoryIndex:
    """Entries, ready to be searched; build it once and keep it while the entries stay the same.

    It may be shared between threads.

    >>> from engramdown.hippocampus.entry import Entry
    >>> texts = ["Deploys happen on Mondays", "Use uv"]
    >>> index = MemoryIndex([Entry(id="", text=t, kind="lesson", scope="project") for t in texts])
    >>> [hit.entry.text for hit in index.search("when do we deploy?", date(2026, 3, 1))]
    ['Deploys happen on Mondays']
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Read the texts, topics and headings of ``entries``.

        Raises:
            StoreError: If this Python has no SQLite, or one without FTS5.
        """
        self.entries: tuple[Entry, ...] = tuple(entries)
        self._lengths = [length_of(entry.text) for entry in self.entries]
        self._total = max(len(self.entries), _WEIGHTS.small)
        self._lock = Lock()
        self._words: list[str] = []
        self._holders: dict[str, int] = {}
        self._connection: sqlite3.Connection | None = self._filled()
        in_child(self, MemoryIndex._leave_to_parent)

    def scores(self, query: str) -> dict[int, float]:
        """Return how well each entry answers ``query``, by position; above 0, the best first.

        If no entry holds a word of it in any form, nor a kindred one, those that hold a longer word
        are the answer: *lint* finds the linter.
        """
        asked = read_query(query)
        if not asked.terms or not self.entries:
            return {}
        with self._lock, unforked():
            found = self._covered(asked, self._stand_ins) or self._covered(asked, self._longer)
        best = max(found.values(), default=1.0)
        order = sorted(found, key=lambda at: (-found[at], at))
        first = [Ranked(at, found[at] / best, self._mark(at)) for at in order[:REREAD]]
        texts = {one.key: self.entries[one.key].text for one in first}
        scores = {one.key: one.score for one in reread(asked, first, texts, _WEIGHTS)}
        return scores | {at: found[at] / best for at in order[REREAD:]}

    def _covered(
        self, query: Query, stand_ins: Callable[[Term], Mapping[str, float]]
    ) -> dict[int, float]:
        """Return how much of the question each entry covers, by position.

        Args:
            query: The question.
            stand_ins: Returns what a term is looked for by, and what each of these words is worth.
        """
        covered: defaultdict[int, float] = defaultdict(float)
        clear: set[int] = set()
        for term in query.terms:
            found: defaultdict[int, list[float]] = defaultdict(list)
            worths = stand_ins(term)
            held = {word: {*chain(*lists_of(self, [word]))} for word in worths}
            own = len(set().union(*(held.get(word, ()) for word in term.words)))
            for word, worth in worths.items():
                keys = held[word]
                # A word that stands for another is no better a sign than that itself.
                weight = term.weight * worth * idf(max(len(keys), own), self._total)
                for key in keys:
                    found[key].append(weight)
                clear |= keys if worth == 1 else set()
            for key, weights in found.items():
                best = max(weights)
                covered[key] += best + _FURTHER * (sum(weights) - best)
        for key in covered:
            covered[key] /= 1 + self._lengths[key] / _WEIGHTS.long
        least = _CLEAR * max(covered.values(), default=0.0)
        return {key: value for key, value in covered.items() if value >= least or key in clear}

    def _stand_ins(self, term: Term) -> dict[str, float]:
        """Return the words of a term, and those kindred to it that are in the index."""
        words = dict.fromkeys(term.words, 1.0)
        known = set(term.stems)
        for form in term.stems:
            for word, worth in kindred(form).items():
                if (root := stem(word)) not in known and root in self._holders:
                    known.add(root)
                    words[word] = worth
        return words

    def _longer(self, term: Term) -> dict[str, float]:
        """Return the words of the index that begin with a word of a term."""
        found: dict[str, float] = {}
        for word in term.words:
            for part in spelt(word) if len(word) >= _LEAST_BEGINNING else ():
                at = bisect_left(self._words, part)
                while at < len(self._words) and self._words[at].startswith(part):
                    found[self._words[at]] = 1.0
                    at += 1
        return found

    def keys(self, word: str) -> list[int]:
        """Return the positions of the entries with a form of ``word``, in their order."""
        if self._connection is None:
            self._connection = self._filled()
        asked = "SELECT rowid FROM memory WHERE memory MATCH ?"
        return [key for (key,) in self._connection.execute(asked, (f'"{word}"',))]

    def _mark(self, at: int) -> Mark:
        return Mark(0.0, "user", own=True, length=self._lengths[at])

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
            connection.executescript(_TABLE)
        except sqlite3.OperationalError as error:  # no such module: fts5
            raise StoreError(NO_SEARCH) from error
        connection.execute("BEGIN")
        insert = "INSERT INTO memory(rowid, said) VALUES (?, ?)"
        connection.executemany(insert, enumerate(map(_said, self.entries)))
        connection.execute("COMMIT")
        self._holders = dict(connection.execute("SELECT term, doc FROM words"))
        self._words = list(self._holders)
        return connection

    def _leave_to_parent(self) -> None:
        """Leave a connection to the process that opened it: it must not even be closed in a child.

        Another thread may have been in the middle of a search.
        """
        self._closing.detach()
        _OTHERS.append(self._connection)
        self._connection = None

    def weighed(self, query: str, today: date) -> dict[int, float]:
        """Return the scores, weighed by age as of ``today`` and by confidence, the best first."""
        ages: dict[str, float] = {}
        weighed = {
            position: score * _weight(self.entries[position], today, ages)
            for position, score in self.scores(query).items()
        }
        return dict(sorted(weighed.items(), key=lambda each: (-each[1], each[0])))

    def search(self, query: str, today: date) -> list[Hit]:
        """Return what answers ``query``, the best first; nothing for a query without words.

        What says that another one is outdated comes before that.
        """
        weighed = self.weighed(query, today)
        return self.hits([*weighed], weighed, query)

    def hits(self, ranked: Sequence[int], scored: Mapping[int, float], query: str) -> list[Hit]:
        """Return the entries at the places ``ranked``, what is newer before what it outdates.

        Args:
            ranked: The places, the best first.
            scored: The score of each place; 0 if it has none.
            query: What they answer.
        """
        said = [(self.entries[at].ts, self.entries[at].text) for at in ranked]
        order, replaced = newer_first(said, query)
        scores = sorted((scored.get(at, 0.0) for at in ranked), reverse=True)
        ids = {place: self.entries[ranked[place]].id for place in replaced.values()}
        return [
            Hit(self.entries[at], score, at, ids.get(replaced.get(place, -1), ""))
            for place, score in zip(order, scores, strict=True)
            for at in ranked[place : place + 1]
        ]


def _said(entry: Entry) -> str:
    return folded(f"{entry.text}\n{entry.topic} {entry.heading}")


def _weight(entry: Entry, today: date, ages: dict[str, float]) -> float:
    """Return what a memory is worth for being sure, and new: half of that every half life."""
    if entry.ts not in ages:
        ages[entry.ts] = 1.0
        with suppress(ValueError):  # no day, or one that a person mistyped
            age = (today - date.fromisoformat(entry.ts)).days
            ages[entry.ts] += _WORTH_OF_NEW * 2 ** (-max(age, 0) / HALF_LIFE)
    return ages[entry.ts] * _WORTH_OF_SURE[entry.confidence]

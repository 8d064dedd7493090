"""How well an episode answers a question: the formula of recall.

Promises: the same evidence gives the same order; equal scores stand newest first, then by key; an
episode for which nothing speaks never comes; no text is kept, no clock is read, no file.

Ranking has two steps, because an index knows quickly *which* episodes hold a word, and reading
texts costs more. :func:`rank` orders a few hundred candidates by presence alone: each term of the
question counts by its idf and by the shortest turn near the candidate that holds it. A neighbour
helps, since an answer seldom repeats the question, and helps short turns most; so does a session
that answers well elsewhere. :func:`reread` looks at the texts of the best and orders these again:
in these very words, in kindred ones, after a question, with what kind of answer.

An episode's key is ``session_no << 24 | seq``, so that the neighbours of a turn are its key ± 1 to
:data:`REACH`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from math import log
from typing import Final, NamedTuple

from engramdown.episodes.episode import ROLES
from engramdown.episodes.words.cues import (
    asks,
    says_i,
    says_name,
    says_number,
    says_reason,
    says_time,
    says_wish,
    told,
)
from engramdown.episodes.words.dates import Dates
from engramdown.episodes.words.query import Query
from engramdown.episodes.words.stems import stem
from engramdown.episodes.words.terms import Term, words

__all__ = [
    "BESIDE",
    "REACH",
    "REREAD",
    "WEIGHTS",
    "Evidence",
    "Mark",
    "Ranked",
    "Weights",
    "idf",
    "rank",
    "reread",
    "worths",
]

REACH: Final = 3
"""How many neighbours on each side of a turn count for it."""
BESIDE: Final = 100
"""How many candidates bring the turns right before and after them along."""
REREAD: Final = 50
"""How many of the best are worth reading again."""
_SESSION: Final = 24  # bits of a key that are no session
_READ: Final = 4000  # characters of a text that are read again
_SMALL: Final = 10_000  # episodes that every store is taken to have
_WORD: Final = 40  # characters of which the first word is looked at
_ALIKE: Final = 5  # letters with which kindred words begin; a stem of one less will do


class Mark(NamedTuple):
    """What the index knows of an episode besides its words.

    Attributes:
        at: When, in seconds since 1970.
        speaker: Who: the name in a chat of several people, else the role; in lower case.
        own: Whether a person says it to an assistant: the role is user and there is no name.
        length: Of the text, in words.
    """

    at: float
    speaker: str
    own: bool
    length: float


class Evidence(NamedTuple):
    """What an index or a scan found for a query.

    Attributes:
        keys: For each term of the query, in order, the keys of the episodes that hold it: at
            least of those that are candidates, or within :data:`REACH` of one.
        holders: For each term, how many episodes of the whole store hold it.
        total: How many episodes the store has.
        marks: By key: of the candidates, and of every neighbour of theirs that holds a term.
    """

    keys: Sequence[Collection[int]]
    holders: Sequence[int]
    total: int
    marks: Mapping[int, Mark]


class Ranked(NamedTuple):
    """An episode and how well it answers; scores are comparable within one query only."""

    key: int
    score: float
    mark: Mark


class Weights(NamedTuple):
    """What counts how much; docs/recall.md says what each brings.

    The bonuses are in units of the best coverage of a query.

    Attributes:
        near: What a neighbour's word is worth, by its distance in turns, the nearest first.
        long: Words at which a turn's own words count half.
        helped: Words at which a turn gets half of its neighbours' help.
        session: How much the best turn of a session lifts the others.
        about: For the speaker whom the question names.
        own: For what a person says to an assistant.
        dated: For a month, a year or a distance of time that the question names.
        day: For the day that it names, or the next, besides.
        time: For an expression of time, when the question asks for one.
        number: For a number, when the question asks how many.
        name: For a name, when it asks who, where or which.
        reason: For a reason, when it asks why.
        wish: For a standing wish of the person, when the question asks for advice.
        first: For words in the first person, when the question names a speaker.
        told: For what somebody tells other people, the less the more of it is a question.
        kin: For words that begin like all of the question's, but are no forms of them.
        answer: What follows a question gets, of the question's score, in a chat of people.
        phrase: For the question itself, or what it quotes, word by word.
    """

    near: tuple[tuple[int, float], ...] = (
        *((-1, 0.7), (1, 0.6), (-2, 0.5)),
        *((2, 0.4), (-3, 0.3), (3, 0.2)),
    )
    long: float = 150
    helped: float = 60
    session: float = 1.5
    about: float = 0.3
    own: float = 0.2
    dated: float = 0.5
    day: float = 0.3
    time: float = 0.3
    number: float = 0.2
    name: float = 0.3
    reason: float = 0.1
    wish: float = 0.4
    first: float = 0.1
    told: float = 0.3
    kin: float = 0.5
    answer: float = 0.2
    phrase: float = 4.0


WEIGHTS: Final = Weights()
"""One set for every kind of data."""


def idf(holders: int, total: int) -> float:
    """Return what a term is worth that ``holders`` of ``total`` episodes hold; above 0.

    >>> round(idf(1, 1000), 2), round(idf(1000, 1000), 4)
    (6.5, 0.0005)
    """
    return log(1 + (total - holders + 0.5) / (holders + 0.5))


def rank(
    query: Query, evidence: Evidence, candidates: Iterable[int], weights: Weights = WEIGHTS
) -> list[Ranked]:
    """Return the candidates that answer ``query``, the best first.

    Args:
        query: What was asked.
        evidence: What was found for it.
        candidates: Keys of episodes, each with a mark: a few hundred that hold the terms of most
            worth, and of the first :data:`BESIDE` of these also the turns right before and after,
            because an answer may hold no word of its question.
        weights: What counts how much.
    """
    marks = evidence.marks
    covered = _covered(query, evidence, candidates, weights)
    best = max(covered.values(), default=0.0)
    sessions: dict[int, float] = {}
    for key, coverage in covered.items():
        if coverage > sessions.get(key >> _SESSION, 0.0):
            sessions[key >> _SESSION] = coverage
    ranked = []
    most = 1 + weights.session
    dates = query.dates or None
    for key, coverage in covered.items():
        if coverage:
            lift = 1 + weights.session * sessions[key >> _SESSION] / best
            mark = marks[key]
            bonus = weights.own if mark.own else 0.0
            if mark.speaker in query.names:
                bonus += weights.about
            if dates is not None:
                bonus = _dated(bonus, dates, mark.at, weights)
            ranked.append((-(coverage / best * lift / most + bonus), -mark.at, key, mark))
    ranked.sort()
    return [Ranked(key, -score, mark) for score, _, key, mark in ranked]


def worths(query: Query, holders: Iterable[int], total: int) -> list[float]:
    """Return what each term of ``query`` is worth in a store of ``total`` episodes.

    Args:
        query: What was asked.
        holders: For each of its terms, how many episodes hold it.
        total: How many episodes there are.
    """
    found = zip(query.terms, holders, strict=True)
    # In a small store it says little how many hold a word.
    store = max(total, _SMALL)
    return [term.weight * idf(number, store) for term, number in found]


def _covered(
    query: Query, evidence: Evidence, candidates: Iterable[int], weights: Weights
) -> dict[int, float]:
    """Return how much of the question each candidate covers, with the help of its neighbours."""
    worth = worths(query, evidence.holders, evidence.total)
    marks = evidence.marks
    gains = {key: 1 / (1 + mark.length / weights.long) for key, mark in marks.items()}
    covered = dict.fromkeys(candidates, 0.0)
    helps = {key: 1 / (1 + (marks[key].length / weights.helped) ** 2) for key in covered}
    for each, keys in zip(worth, evidence.keys, strict=True):
        # From where the term stands to whom it helps: most candidates have it nowhere near.
        best: dict[int, float] = {}
        for key in marks.keys() & keys:
            gain = gains[key]
            if key in helps and gain > best.get(key, 0.0):
                best[key] = gain
            for distance, near in weights.near:
                helped = key - distance
                if helped in helps:
                    value = near * helps[helped] * gain
                    if value > best.get(helped, 0.0):
                        best[helped] = value
        for key, value in best.items():
            covered[key] += each * value
    return covered


def _dated(bonus: float, dates: Dates, at: float, weights: Weights) -> float:
    """Return ``bonus`` with what is added for the time of a turn."""
    if dates.is_then(at):
        bonus += weights.dated
        bonus += weights.day if dates.is_that_day(at) else 0.0
    return bonus


def reread(
    query: Query, ranked: Sequence[Ranked], texts: Mapping[int, str], weights: Weights = WEIGHTS
) -> list[Ranked]:
    """Return ``ranked`` in a better order, for what stands in the texts of the first.

    Args:
        query: What was asked.
        ranked: What :func:`rank` returned.
        texts: By key, of the first :data:`REREAD` of ``ranked``; the rest stays as it is.
        weights: What counts how much.
    """
    first = list(takewhile(lambda one: one.key in texts, ranked))
    reader = _Reader(query, {one.mark.speaker for one in first}, weights)
    scores = {one.key: one.score + reader(one.mark, texts[one.key][:_READ]) for one in first}
    again = []
    for key, _, mark in first:
        score = scores[key]
        if key - 1 in scores and _is_person(mark) and asks(texts[key - 1]):
            score += weights.answer * scores[key - 1]
        again.append(Ranked(key, score, mark))
    # No score got smaller, so the rest still stands behind these.
    return [*_ordered(again), *ranked[len(first) :]]


class _Reader:
    """Tells what the words of a text are worth besides those that were asked for."""

    def __init__(self, query: Query, speakers: Iterable[str], weights: Weights) -> None:
        self._query = query
        self._weights = weights
        self._known = frozenset(words(" ".join([query.text, *speakers])))
        self._kin = [(term, begins) for term in query.terms if (begins := _beginnings(term))]
        self._whole = sum(term.weight for term in query.terms)

    def __call__(self, mark: Mark, text: str) -> float:
        weights = self._weights
        folded = text.lower()
        bonus = self._wanted(mark, text)
        if _is_person(mark):
            bonus += weights.told * told(text)
            bonus += weights.first if self._query.names and says_i(text) else 0.0
        if self._kin:
            bonus += weights.kin * self._kindred(f" {folded}")
        if any(phrase in folded for phrase in self._query.phrases):
            bonus += weights.phrase
        return bonus

    def _wanted(self, mark: Mark, text: str) -> float:
        """Return what it is worth that a text looks like the answer that is waited for."""
        wants, weights = self._query.wants, self._weights
        bonus = 0.0
        if "time" in wants and says_time(text):
            bonus += weights.time
        if "number" in wants and says_number(text):
            bonus += weights.number
        if "name" in wants and says_name(text, self._known):
            bonus += weights.name
        if "reason" in wants and says_reason(text):
            bonus += weights.reason
        if "advice" in wants and mark.own and says_wish(text):
            bonus += weights.wish
        return bonus

    def _kindred(self, text: str) -> float:
        """Return what share of the question stands in ``text`` in kindred words only."""
        found = 0.0
        for term, beginnings in self._kin:
            for beginning in beginnings:
                at = text.find(beginning)
                if at >= 0:
                    word = words(text[at : at + _WORD])[0]
                    found += 0.0 if stem(word) in term.stems else term.weight
                    break
        return found / self._whole


def _beginnings(term: Term) -> list[str]:
    return [f" {one[:_ALIKE]}" for one in term.stems if len(one) >= _ALIKE - 1]


def _is_person(mark: Mark) -> bool:
    """Whether this is one of several people, and not a person with an assistant."""
    return mark.speaker not in ROLES


def _ordered(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda one: (-one[1], -one[2][0], one[0]))

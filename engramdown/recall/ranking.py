"""How well an episode answers a question: the formula of recall.

The same evidence gives the same order; equal scores stand newest first, then by key; an
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

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from math import log
from typing import Final, NamedTuple

from engramdown.language.terms import Term, stem, words
from engramdown.recall.query import Query, asks, says, says_name, told
from engramdown.transcripts.episode import ROLES

REACH: Final = 3
"""How many neighbours on each side of a turn count for it."""
BESIDE: Final = 100
"""How many candidates bring the turns right before and after them along."""
REREAD: Final = 50
"""How many of the best are worth reading again."""
_SESSION: Final = 24  # bits of a key that are no session
_SEQ: Final = (1 << _SESSION) - 1
_READ: Final = 2000  # characters of a text that are read again
_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 64  # letters of a word that has a stem
_Kin = tuple[str, tuple[str, ...], float]
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
        small: As how many episodes a store counts at least: of a word that one of 300 holds, it is
            not known how rare it is.
        session: How much the best turn of a session lifts the others.
        about: For the speaker whom the question names.
        own: For what a person says to an assistant.
        dated: For a month, a year or a distance of time that the question names.
        day: For the day that it names, or the next, besides.
        time: For an expression of time, when the question asks for one.
        number: For a number, when the question asks how many.
        name: For a name, when it asks who, where or which.
        wish: For a standing wish of the person, when the question asks for advice.
        first: For words in the first person, when the question names a speaker.
        told: For what somebody tells other people, the less the more of it is a question.
        kin: For words that begin like all of the question's, but are no forms of them.
        opens: For what a session of several people begins with: they tell what is new.
        answer: What follows a question gets, of the question's score, in a chat of people.
        phrase: For the question itself, or what it quotes, word by word.
    """

    near: tuple[tuple[int, float], ...] = (
        *((-1, 0.7), (1, 0.6), (-2, 0.5)),
        *((2, 0.4), (-3, 0.3), (3, 0.2)),
    )
    long: float = 150
    helped: float = 60
    small: int = 10_000
    session: float = 1.5
    about: float = 0.3
    own: float = 0.2
    dated: float = 0.5
    day: float = 0.3
    time: float = 0.3
    number: float = 0.2
    name: float = 0.3
    wish: float = 0.4
    first: float = 0.1
    told: float = 0.3
    kin: float = 0.4
    opens: float = 0.2
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
            if dates is not None and dates.is_then(mark.at):
                bonus += weights.dated
                bonus += weights.day if dates.is_that_day(mark.at) else 0.0
            ranked.append((-(coverage / best * lift / most + bonus), -mark.at, key, mark))
    ranked.sort()
    return [Ranked(key, -score, mark) for score, _, key, mark in ranked]


def worths(
    query: Query, holders: Iterable[int], total: int, weights: Weights = WEIGHTS
) -> list[float]:
    """Return what each term of ``query`` is worth in a store of ``total`` episodes.

    Args:
        query: What was asked.
        holders: For each of its terms, how many episodes hold it.
        total: How many episodes there are.
        weights: What counts how much.
    """
    found = zip(query.terms, holders, strict=True)
    store = max(total, weights.small)
    return [term.weight * idf(number, store) for term, number in found]


def _covered(
    query: Query, evidence: Evidence, candidates: Iterable[int], weights: Weights
) -> dict[int, float]:
    """Return how much of the question each candidate covers, with the help of its neighbours."""
    worth = worths(query, evidence.holders, evidence.total, weights)
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
    said = _reader(query, {one.mark.speaker for one in first}, weights)
    scores = {key: score + said(mark, texts[key][:_READ]) for key, score, mark in first}
    again = []
    for key, _, mark in first:
        score = scores[key]
        if mark.speaker not in ROLES:
            if key - 1 in scores and asks(texts[key - 1]):
                score += weights.answer * scores[key - 1]
            # Line 0 says that a session starts.
            score += weights.opens if key & _SEQ == 1 else 0.0
        again.append((-score, -mark.at, key, mark))
    again.sort()
    # No score got smaller, so the rest still stands behind these.
    return [*(Ranked(key, -score, mark) for score, _, key, mark in again), *ranked[len(first) :]]


def _reader(
    query: Query, speakers: Iterable[str], weights: Weights
) -> Callable[[Mark, str], float]:
    """Return what tells what the words of a text are worth besides those that were asked for."""
    wants = query.wants
    kin = _kin(query.terms)
    whole = sum(term.weight for term in query.terms) or 1.0
    known = frozenset(words(" ".join([query.text, *speakers]))) if "name" in wants else None

    def said(mark: Mark, text: str) -> float:
        bonus = 0.0
        if "time" in wants and says("time", text):
            bonus += weights.time
        if "number" in wants and says("number", text):
            bonus += weights.number
        if known is not None and says_name(text, known):
            bonus += weights.name
        if mark.speaker not in ROLES:
            # One of several people, and not a person with an assistant.
            bonus += weights.told * told(text)
            if query.names and says("first person", text):
                bonus += weights.first
        elif mark.own and "advice" in wants and says("wish", text):
            bonus += weights.wish
        folded = text.lower()
        bonus += weights.kin * _kindred(kin, folded) / whole
        if any(phrase in folded for phrase in query.phrases):
            bonus += weights.phrase
        return bonus

    return said


def _kin(terms: Iterable[Term]) -> list[_Kin]:
    """Return how words begin that are kindred to ``terms``, and what they are worth."""
    return [
        (form[:_ALIKE], term.stems, term.weight)
        for term in terms
        for form in term.stems[-1:]
        if len(form) >= _ALIKE - 1 and form.isalpha()
    ]


def _kindred(kin: Iterable[_Kin], text: str) -> float:
    """Return what is worth how much of the question stands in ``text`` in kindred words only."""
    found = 0.0
    for beginning, stems, weight in kin:
        at = text.find(beginning)
        if at >= 0 and not (at and text[at - 1].isalnum()):
            word = _WORD.findall(text, at, at + _LONGEST)[0]
            # "v12" and "v13" are no kin.
            found += weight if word.isalpha() and stem(word) not in stems else 0.0
    return found

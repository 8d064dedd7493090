"""How well an episode answers a question: the formula of recall.

Promises: the same evidence gives the same order; equal scores stand newest first, then by key; an
episode that no evidence speaks of never comes; no text is read, no clock, no file.

Ranking has two steps, because an index knows quickly *which* episodes hold a word, and reading
texts costs more. :func:`rank` orders a few hundred candidates by presence alone: by the idf of
the terms that a turn or a neighbour of it in the same session holds. :func:`reread` looks at the
texts of the best and orders these again: how often, how close together, what kind of answer.

An episode's key is ``session_no << 24 | seq``, so that the neighbours of a turn are its key ± 1 to
:data:`REACH`. Numbers of sessions must leave a gap of more than that; so do 24 bits of ``seq``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log
from typing import Final, NamedTuple

from engramdown.episodes.query import Query

__all__ = ["REACH", "REREAD", "Evidence", "Mark", "Ranked", "idf", "rank", "reread"]

REACH: Final = 3
"""How many neighbours on each side of a turn count for it."""
REREAD: Final = 50
"""How many of the best are worth reading again."""


class Mark(NamedTuple):
    """What the index knows of an episode besides its words.

    Attributes:
        at: When, in seconds since 1970.
        speaker: Who: the name in a chat of several people, else the role; in lower case.
        own: Whether a person says it to an assistant (the role is user and there is no name).
        length: Of the text, in words; a sixth of its bytes will do, but the same way everywhere.
    """

    at: float
    speaker: str
    own: bool
    length: float


@dataclass(frozen=True, slots=True)
class Evidence:
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
    """An episode and how well it answers; comparable within one query only."""

    key: int
    score: float


def idf(holders: int, total: int) -> float:
    """Return what a term is worth that ``holders`` of ``total`` episodes hold; above 0.

    >>> round(idf(1, 1000), 2), round(idf(1000, 1000), 4)
    (6.5, 0.0005)
    """
    return log(1 + (total - holders + 0.5) / (holders + 0.5))


# What a neighbour's word is worth, by its distance; what was said before counts more.
_NEAR: Final = ((-1, 0.8), (1, 0.7), (-2, 0.6), (2, 0.5), (-3, 0.4), (3, 0.3))
# In words: half as much for a turn of this length; the second is for the help of neighbours.
_LONG: Final = 100
_HELPED: Final = 60
# In units of the best coverage.
_ABOUT: Final = 0.3
_OWN: Final = 0.4
_DATED: Final = 0.8


def rank(query: Query, evidence: Evidence, candidates: Iterable[int]) -> list[Ranked]:
    """Return the candidates that answer ``query``, the best first.

    Args:
        query: What was asked.
        evidence: What was found for it.
        candidates: Keys of episodes, each with a mark.
    """
    weights = [idf(holders, evidence.total) for holders in evidence.holders]
    asked = list(zip(weights, evidence.keys, strict=True))
    covered = {key: _coverage(key, asked, evidence.marks) for key in candidates}
    best = max(covered.values(), default=0.0)
    ranked = [
        Ranked(key, coverage / best + _bonus(query, evidence.marks[key]))
        for key, coverage in covered.items()
        if coverage
    ]
    return _ordered(ranked, evidence.marks)


def _coverage(
    key: int, asked: Iterable[tuple[float, Collection[int]]], marks: Mapping[int, Mark]
) -> float:
    length = marks[key].length
    own = 1 / (1 + length / _LONG)
    help_ = 1 / (1 + (length / _HELPED) ** 2)
    total = 0.0
    for weight, keys in asked:
        worth = own if key in keys else 0.0
        for distance, near in _NEAR:
            if near * help_ <= worth:
                break
            if key + distance in keys:
                other = near * help_ / (1 + marks[key + distance].length / _LONG)
                worth = max(worth, other)
        total += weight * worth
    return total


def _bonus(query: Query, mark: Mark) -> float:
    bonus = _OWN if mark.own else 0.0
    if mark.speaker in query.names:
        bonus += _ABOUT
    if query.months or query.years:
        day = datetime.fromtimestamp(mark.at, UTC)
        month = not query.months or day.month in query.months
        bonus += _DATED if month and (not query.years or day.year in query.years) else 0.0
    return bonus


def _ordered(ranked: Iterable[Ranked], marks: Mapping[int, Mark]) -> list[Ranked]:
    return sorted(ranked, key=lambda one: (-one.score, -marks[one.key].at, one.key))


def reread(query: Query, ranked: Sequence[Ranked], texts: Mapping[int, str]) -> list[Ranked]:
    """Return ``ranked`` with those that have a text in ``texts`` in a better order.

    Args:
        query: What was asked.
        ranked: What :func:`rank` returned.
        texts: By key, of the first :data:`REREAD`; one that is missing keeps its score.
    """
    del query, texts
    return list(ranked)

"""What ranking needs to know of a few hundred lines and their neighbours, and nothing of others.

Promises: the evidence says the same however the index came by the lines: sessions are numbered
here by their names.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from engramdown.episodes.episode import ROLES
from engramdown.episodes.index.rows import CHUNK, Chunk, Fact
from engramdown.episodes.index.source import Source
from engramdown.episodes.search.candidates import Lists, candidates
from engramdown.episodes.search.ranking import BESIDE, REACH, Evidence, Mark, Ranked, rank, worths
from engramdown.episodes.search.surroundings import Limits, Moment
from engramdown.episodes.search.wanted import USUAL, Wanted
from engramdown.episodes.words.folding import speaking, spelt, tokens
from engramdown.episodes.words.query import Query

__all__ = ["Best", "Place", "best", "lists_of", "places_near"]

_SHIFT: Final = 24
_USER: Final = ROLES.index("user")
_MILLION: Final = 1_000_000


class Place(NamedTuple):
    """Where a line stands.

    Attributes:
        chunk: In which chunk.
        at: Where in it.
    """

    chunk: Chunk
    at: int


class Best(NamedTuple):
    """What answers a question, as far as can be told without reading it.

    Attributes:
        ranked: Lines, the best first.
        places: Where each stands, by key.
    """

    ranked: list[Ranked]
    places: dict[int, Place]


def best(source: Source, query: Query, wanted: Wanted) -> Best:
    """Return what answers ``query``."""
    terms = [lists_of(source, term.words) for term in query.terms]
    holders = [min(sum(map(len, lists)), source.total) for lists in terms]
    worth = worths(query, holders, source.total)
    gathering = _Gathering(source, wanted)
    there = {key // CHUNK for name in query.names for key in source.keys(speaking(name))}
    chosen = candidates(terms, worth, source.freshness(), gathering.takes, there)
    chosen += gathering.beside(chosen)
    places = gathering.places(chosen)
    keys = [gathering.near(lists) for lists in terms]
    evidence = Evidence(keys, holders, source.total, gathering.marks(places, keys))
    return Best(rank(query, evidence, places), places)


def lists_of(source: Source, words: Iterable[str]) -> Lists:
    """Return where any of ``words`` stands: one list for each."""
    lists: list[Sequence[int]] = []
    # Words with one stem have one list.
    for word in {tuple(tokens(word)): spelt(word) for word in words}.values():
        parts = [source.keys(part) for part in word]
        lists += [sorted(set(parts[0]).intersection(*parts[1:]))] if parts[1:] else parts
    return [keys for keys in lists if keys]


def places_near(source: Source, ts: int, limits: Limits) -> dict[Moment, Place]:
    """Return what was said within the hours around ``ts``, in whatever session."""
    reach = int(limits.around_hours * 3600 * _MILLION)
    first, last = ts - reach, ts + reach
    found = {}
    for session in source.running(first, last):
        name = source.name(session)
        for number in source.chunks(session):
            chunk = source.chunk(number)
            for at in range(chunk.lines):
                fact = chunk.fact(at)
                if first <= fact.ts <= last and _is_said(source, chunk, fact):
                    found[Moment(fact.ts, name, fact.seq)] = Place(chunk, at)
    return found


def _is_said(source: Source, chunk: Chunk, fact: Fact) -> bool:
    return fact.role in USUAL and not source.is_excluded(chunk.session, fact.seq)


class _Gathering:
    """What was looked up for one question."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self._source = source
        self._wanted = wanted
        self._chunks: dict[int, Chunk] = {}
        self._keys: dict[int, int] = {}
        self._segments: list[tuple[int, int, int]] = []
        self._speakers: dict[tuple[int, int], tuple[str, bool]] = {}
        number = source.number(wanted.session) if wanted.session else None
        self._only = frozenset(source.chunks(number)) if number is not None else None
        self._none = bool(wanted.session) and number is None
        self._all = wanted.takes_all() and source.is_plain()

    def takes(self, key: int) -> bool:
        """Whether a line is wanted."""
        return self._all or self._takes(key)

    def _takes(self, key: int) -> bool:
        number, at = divmod(key, CHUNK)
        if self._none or (self._only is not None and number not in self._only):
            return False
        chunk = self._chunk(number)
        fact = chunk.fact(at)
        return self._wanted.takes(fact.role, fact.ts) and not self._source.is_excluded(
            chunk.session, fact.seq
        )

    def beside(self, chosen: Sequence[int]) -> list[int]:
        """Return the lines right before and after the first that are wanted too."""
        found = dict.fromkeys(key for one in chosen[:BESIDE] for key in self._next_to(one))
        known = frozenset(chosen)
        return [key for key in found if key not in known and self._takes(key)]

    def places(self, chosen: Sequence[int]) -> dict[int, Place]:
        """Return where the candidates stand, by the keys that ranking knows them by."""
        sessions = {self._chunk(key // CHUNK).session for key in chosen}
        order = sorted(sessions, key=self._source.name)
        base = {session: at << _SHIFT for at, session in enumerate(order)}
        places = {}
        for key in chosen:
            number, at = divmod(key, CHUNK)
            chunk = self._chunk(number)
            name = base[chunk.session] + chunk.place * CHUNK + at
            places[name] = Place(chunk, at)
            self._keys[name] = key
            self._segments += self._around(number, at, name - key)
        self._segments = sorted(set(self._segments))
        return places

    def near(self, lists: Lists) -> set[int]:
        """Return the candidates, and neighbours of theirs, that stand in ``lists``."""
        found = set()
        for keys in lists:
            start = 0
            for first, last, shift in self._segments:
                start = bisect_left(keys, first, start)
                at = start
                while at < len(keys) and keys[at] <= last:
                    name = keys[at] + shift
                    found.add(name)
                    self._keys[name] = keys[at]
                    at += 1
        return found

    def marks(self, places: Iterable[int], keys: Iterable[set[int]]) -> dict[int, Mark]:
        """Return what is known of candidates and neighbours beside their words."""
        names = set(places).union(*keys)
        return {name: self._mark(self._keys[name]) for name in names}

    def _mark(self, key: int) -> Mark:
        number, at = divmod(key, CHUNK)
        chunk = self._chunks.get(number) or self._chunk(number)
        _, _, ts, length, role, name = chunk.values(at)
        said_by, own = self._speakers.get((role, name)) or self._speaker(role, name)
        return Mark(ts / _MILLION, said_by, own, length)

    def _speaker(self, role: int, name: int) -> tuple[str, bool]:
        """Return who speaks, and whether it is a person to an assistant."""
        speaker = self._source.speaker(name)
        found = ((speaker or ROLES[role]).lower(), role == _USER and not speaker)
        self._speakers[role, name] = found
        return found

    def _next_to(self, key: int) -> Iterator[int]:
        number, at = divmod(key, CHUNK)
        chunk = self._chunk(number)
        if at:
            yield key - 1
        elif chunk.place:
            before = self._source.find(chunk.session, chunk.place - 1)
            if before is not None:
                yield before * CHUNK + CHUNK - 1
        if at + 1 < chunk.lines:
            yield key + 1
        elif chunk.lines == CHUNK:
            after = self._source.find(chunk.session, chunk.place + 1)
            if after is not None:
                yield after * CHUNK

    def _around(self, number: int, at: int, shift: int) -> Iterator[tuple[int, int, int]]:
        """Yield the keys from :data:`REACH` lines before to as many behind a line.

        Each piece is its first and last key, and what is added to get their names.
        """
        chunk = self._chunk(number)
        begin = number * CHUNK
        yield begin + max(at - REACH, 0), begin + min(at + REACH, CHUNK - 1), shift
        if at < REACH and chunk.place:
            before = self._source.find(chunk.session, chunk.place - 1)
            if before is not None:
                end = before * CHUNK + CHUNK
                yield end - REACH + at, end - 1, shift + (number - before - 1) * CHUNK
        if at + REACH >= CHUNK and chunk.lines == CHUNK:
            after = self._source.find(chunk.session, chunk.place + 1)
            if after is not None:
                last = after * CHUNK + at + REACH - CHUNK
                yield after * CHUNK, last, shift + (number - after + 1) * CHUNK

    def _chunk(self, number: int) -> Chunk:
        chunk = self._chunks.get(number)
        if chunk is None:
            chunk = self._chunks[number] = self._source.chunk(number)
        return chunk

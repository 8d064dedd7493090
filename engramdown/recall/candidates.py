"""Which few hundred of a million lines are worth ranking, and what ranking needs to know of them.

The choice depends on what the transcripts say and on nothing else: not on the order in which they
came into the index, nor on what number a chunk has there.

The candidates are the lines whose own words weigh most, and of equals the newest. The rarest words
of the question say where to look: their lists are gone through whole, as long as that is not too
much; the frequent ones only add to the weight of what was found. Where somebody speaks whom the
question names comes before everything else: the rest is most often about somebody else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.language.terms import speaking, spelt, tokens
from engramdown.recall.lines import CHUNK, SPEAKERS, Chunk
from engramdown.recall.query import Query, Wanted
from engramdown.recall.ranking import BESIDE, REACH, Evidence, Mark, Ranked, rank, worths
from engramdown.transcripts.episode import ROLES

if TYPE_CHECKING:
    from engramdown.recall.index_file import Source

MOST: Final = 200
"""How many candidates are ranked."""
LONGEST_LISTS: Final = 20_000
"""How many lines may be gone through to find them."""
_ABOVE_ALL: Final = 1e6
_SHIFT: Final = 24
_USER: Final = ROLES.index("user")
_MILLION: Final = 1_000_000
# Lines of a list, for each chunk that is reached, that are sooner looked at than looked up.
_SHORT: Final = 16

Lists = Sequence[Sequence[int]]
"""The keys of the lines that hold a term: a list for each way to say it."""


def candidates(
    terms: Sequence[Lists],
    weights: Sequence[float],
    freshness: Sequence[int],
    wanted: Callable[[int], bool],
    speaking: Collection[int] = (),
) -> list[int]:
    """Return the keys of the candidates, those of most worth first.

    Args:
        terms: Where each term stands.
        weights: How much it is worth.
        freshness: A number per chunk, the larger the later.
        wanted: Whether a line may be one.
        speaking: The chunks in which somebody speaks whom the question names.
    """
    by_terms: defaultdict[int, list[int]] = defaultdict(list)
    for key, bits in _found(terms).items():
        by_terms[bits | (key // CHUNK in speaking) << len(terms)].append(key)
    weighted = list(enumerate((*weights, _ABOVE_ALL)))
    heavy = {bits: sum(each for at, each in weighted if bits >> at & 1) for bits in by_terms}
    chosen: list[int] = []
    for bits in sorted(by_terms, key=lambda bits: (-heavy[bits], bits)):
        chosen += _newest(by_terms[bits], MOST - len(chosen), freshness, wanted)
        if len(chosen) >= MOST:
            break
    return chosen


def _found(terms: Sequence[Lists]) -> dict[int, int]:
    """Return by key which of the terms a line holds, as bits; the rarest decide which lines."""
    sizes = [sum(map(len, lists)) for lists in terms]
    found: dict[int, int] = {}
    gone_through = 0
    for number in sorted(range(len(terms)), key=lambda number: (sizes[number], number)):
        bit = 1 << number
        gone_through += sizes[number]
        for keys in terms[number]:
            here = keys if not found or gone_through <= LONGEST_LISTS else found.keys() & keys
            if not found:
                found = dict.fromkeys(here, bit)
                continue
            for key in here:
                found[key] = found.get(key, 0) | bit
    return found


def _newest(
    keys: list[int], need: int, freshness: Sequence[int], wanted: Callable[[int], bool]
) -> list[int]:
    """Return the newest of ``keys`` that are wanted, at most ``need``."""

    def age(key: int) -> int:
        return freshness[key // CHUNK] * CHUNK + key % CHUNK

    if len(keys) > need:
        # Most often all of the first ones are wanted, and sorting a few of many is quick.
        first = nlargest(need, keys, key=age)
        if all(map(wanted, first)):
            return first
    keys.sort(key=age, reverse=True)
    kept: list[int] = []
    for key in keys:
        if len(kept) == need:
            break
        if wanted(key):
            kept.append(key)
    return kept


class Place(NamedTuple):
    """Where a line stands.

    Attributes:
        chunk: In which chunk.
        at: Where in it.
    """

    chunk: Chunk
    at: int


def best(source: Source, query: Query, wanted: Wanted) -> tuple[list[Ranked], dict[int, Place]]:
    """Return the lines that answer ``query``, the best first, and where each stands, by its key.

    That is as far as can be told without reading them. The keys are the same however the index
    came by the lines: sessions are numbered here by their names.
    """
    terms = [lists_of(source, term.words) for term in query.terms]
    holders = [min(sum(map(len, lists)), source.total) for lists in terms]
    worth = worths(query, holders, source.total)
    gathering = _Gathering(source, wanted)
    there = {key // CHUNK for name in query.names for key in source.keys(speaking(name))}
    chosen = candidates(terms, worth, source.freshness(), gathering.takes, there)
    gathering.load(chosen)
    chosen += gathering.beside(chosen)
    places = gathering.places(chosen)
    keys = [gathering.near(lists) for lists in terms]
    evidence = Evidence(keys, holders, source.total, gathering.marks())
    return rank(query, evidence, places), places


def lists_of(source: Source, words: Iterable[str]) -> Lists:
    """Return where any of ``words`` stands: one list for each."""
    lists: list[Sequence[int]] = []
    # Words with one stem have one list.
    for word in {tuple(tokens(word)): spelt(word) for word in words}.values():
        parts = [source.keys(part) for part in word]
        lists += [sorted(set(parts[0]).intersection(*parts[1:]))] if parts[1:] else parts
    return [keys for keys in lists if keys]


class _Gathering:
    """What was looked up for one question."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self._source = source
        self._wanted = wanted
        self._chunks: dict[int, Chunk] = {}
        self._neighbours: dict[tuple[int, int], int | None] = {}
        self._names: dict[int, int] = {}
        self._reached: list[int] = []
        self._held: set[int] = set()
        number = source.number(wanted.session) if wanted.session else None
        only = source.chunks(number) if number is not None else ()
        self._only = frozenset(only) if wanted.session else None
        self._all = wanted.takes_all() and source.is_plain()

    def takes(self, key: int) -> bool:
        """Whether a line is wanted."""
        return self._all or self._takes(key)

    def _takes(self, key: int) -> bool:
        number, at = divmod(key, CHUNK)
        if self._only is not None and number not in self._only:
            return False
        if number not in self._chunks:
            self.load((key,))
        chunk = self._chunks[number]
        if at >= chunk.lines:
            return False
        _, seq, ts, _, role, _ = chunk.line(at)
        return self._wanted.takes(role, ts) and not self._source.is_excluded(chunk.session, seq)

    def load(self, keys: Iterable[int]) -> None:
        """Look up the chunks of lines, all at once."""
        missing = {key // CHUNK for key in keys} - self._chunks.keys()
        self._chunks.update(self._source.fetch(missing))

    def beside(self, chosen: Sequence[int]) -> list[int]:
        """Return the lines right before and after the first that are wanted too."""
        steps = ((one, step) for one in chosen[:BESIDE] for step in (-1, 1))
        found = dict.fromkeys(self._next_to(one, step) for one, step in steps)
        known = frozenset(chosen)
        return [key for key in found if key is not None and key not in known and self._takes(key)]

    def _next_to(self, key: int, step: int) -> int | None:
        """Return the key of the line so many lines behind one, in the next chunk at most."""
        number, at = divmod(key, CHUNK)
        turn, line = divmod(at + step, CHUNK)
        if not turn:
            return key + step
        if (number, turn) not in self._neighbours:
            chunk = self._chunks[number]
            is_last = chunk.lines < CHUNK if turn > 0 else not chunk.place
            found = None if is_last else self._source.find(chunk.session, chunk.place + turn)
            self._neighbours[number, turn] = found
        beside = self._neighbours[number, turn]
        return None if beside is None else beside * CHUNK + line

    def places(self, chosen: Sequence[int]) -> dict[int, Place]:
        """Return where the candidates stand, by the keys that ranking knows them by."""
        chunks, names = self._chunks, self._names
        order = sorted({chunks[key // CHUNK].session for key in chosen}, key=self._source.name)
        base = {session: at << _SHIFT for at, session in enumerate(order)}
        places = {}
        for key in chosen:
            number, at = divmod(key, CHUNK)
            chunk = chunks[number]
            name = base[chunk.session] + chunk.place * CHUNK + at
            places[name] = Place(chunk, at)
            is_inside = REACH <= at < CHUNK - REACH
            for step in range(-REACH, REACH + 1):
                other = key + step if is_inside else self._next_to(key, step)
                if other is not None:
                    names[other] = name + step
        self._reached = sorted({key // CHUNK for key in names})
        self._held = set(chosen)
        return places

    def near(self, lists: Lists) -> set[int]:
        """Return the candidates, and neighbours of theirs, that stand in ``lists``."""
        names = self._names
        found: set[int] = set()
        for keys in lists:
            if len(keys) < _SHORT * len(self._reached):
                found |= names.keys() & keys
                continue
            # Of a long list only what it has in the chunks that are reached.
            end = 0
            for number in self._reached:
                start = bisect_left(keys, number * CHUNK, end)
                end = bisect_left(keys, (number + 1) * CHUNK, start, min(start + CHUNK, len(keys)))
                found |= names.keys() & keys[start:end]
        self._held |= found
        return {names[key] for key in found}

    def marks(self) -> dict[int, Mark]:
        """Return what is known of candidates and neighbours beside their words."""
        self.load(self._held)
        speakers: dict[tuple[int, int], tuple[str, bool]] = {}
        marks = {}
        for key in self._held:
            _, _, ts, length, role, name = self._chunks[key // CHUNK].line(key % CHUNK)
            if (role, name) not in speakers:
                # The name of a tool is nobody's who speaks.
                speaker = self._source.speaker(name) if role in SPEAKERS else ""
                own = role == _USER and not speaker
                speakers[role, name] = ((speaker or ROLES[role]).lower(), own)
            marks[self._names[key]] = Mark(ts / _MILLION, *speakers[role, name], length)
        return marks

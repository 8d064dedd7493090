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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
# Bits for the lines that a candidate reaches: bit REACH is the first line of its own chunk.
_WIDE: Final = (1 << 2 * REACH + 1) - 1
_BEFORE: Final = (1 << REACH) - 1
_WHOLE: Final = (1 << CHUNK) - 1
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
    chosen: list[int] = []
    for level in _levels(_found(terms), weights, speaking):
        need = MOST - len(chosen)
        chosen += _newest(level, need, freshness, wanted)
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


def _levels(
    found: dict[int, int], weights: Sequence[float], speaking: Collection[int]
) -> Iterator[list[int]]:
    """Yield the lines that hold the same weight, the heaviest first."""
    there = 1 << len(weights) if speaking else 0
    by_mask: defaultdict[int, list[int]] = defaultdict(list)
    for key, mask in found.items():
        whole = mask | there if there and key // CHUNK in speaking else mask
        by_mask[whole].append(key)
    heavy = {mask: _weight(mask, (*weights, _ABOVE_ALL)) for mask in by_mask}
    for mask in sorted(by_mask, key=lambda mask: (-heavy[mask], mask)):
        yield by_mask[mask]


def _weight(mask: int, weights: Iterable[float]) -> float:
    return sum(weight for bit, weight in enumerate(weights) if mask >> bit & 1)


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
        self._names: dict[int, int] = {}
        self._reached: list[int] = []
        self._held: set[int] = set()
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
        _, seq, ts, _, role, _ = chunk.line(at)
        return self._wanted.takes(role, ts) and not self._source.is_excluded(chunk.session, seq)

    def load(self, keys: Iterable[int]) -> None:
        """Look up the chunks of lines, all at once."""
        missing = {key // CHUNK for key in keys} - self._chunks.keys()
        self._chunks.update(self._source.fetch(missing))

    def beside(self, chosen: Sequence[int]) -> list[int]:
        """Return the lines right before and after the first that are wanted too."""
        found = dict.fromkeys(key for one in chosen[:BESIDE] for key in self._next_to(one))
        known = frozenset(chosen)
        return [key for key in found if key not in known and self._takes(key)]

    def places(self, chosen: Sequence[int]) -> dict[int, Place]:
        """Return where the candidates stand, by the keys that ranking knows them by."""
        chunks = self._chunks
        reach: dict[int, int] = {}
        for key in chosen:
            number, at = divmod(key, CHUNK)
            reach[number] = reach.get(number, 0) | _WIDE << at
        sessions = {chunks[number].session for number in reach}
        order = sorted(sessions, key=self._source.name)
        base = {session: at << _SHIFT for at, session in enumerate(order)}
        for number, bits in reach.items():
            chunk = chunks[number]
            self._reach(number, bits >> REACH & _WHOLE, base[chunk.session] + chunk.place * CHUNK)
            self._reach_out(number, bits, base[chunk.session])
        self._reached = sorted({key // CHUNK for key in self._names})
        self._held = set(chosen)
        names = self._names
        return {names[key]: Place(chunks[key // CHUNK], key % CHUNK) for key in chosen}

    def _reach(self, number: int, bits: int, first: int) -> None:
        """Name the lines of a chunk whose bits are set; ``first`` is the name of its first."""
        begin = number * CHUNK
        self._names |= {begin + at: first + at for at in _places_of(bits)}

    def _reach_out(self, number: int, bits: int, base: int) -> None:
        """Name the lines that are reached in the chunks before and after one."""
        chunk = self._chunks[number]
        for step, lines in (
            (-1, (bits & _BEFORE) << (CHUNK - REACH)),
            (1, bits >> (CHUNK + REACH)),
        ):
            beside = self._beside(chunk, step) if lines else None
            if beside is not None:
                self._reach(beside, lines, base + (chunk.place + step) * CHUNK)

    def _beside(self, chunk: Chunk, step: int) -> int | None:
        """Return the number of the chunk before or after one, if there is one."""
        ends = chunk.lines < CHUNK if step > 0 else not chunk.place
        return None if ends else self._source.find(chunk.session, chunk.place + step)

    def near(self, lists: Lists) -> set[int]:
        """Return the candidates, and neighbours of theirs, that stand in ``lists``."""
        names = self._names
        found: set[int] = set()
        for keys in lists:
            short = len(keys) < _SHORT * len(self._reached)
            found |= names.keys() & (keys if short else self._pieces(keys))
        self._held |= found
        return {names[key] for key in found}

    def _pieces(self, keys: Sequence[int]) -> list[int]:
        """Return what a long list has in the chunks that are reached."""
        pieces: list[int] = []
        end = 0
        for number in self._reached:
            start = bisect_left(keys, number * CHUNK, end)
            end = bisect_left(keys, (number + 1) * CHUNK, start, min(start + CHUNK, len(keys)))
            pieces += keys[start:end]
        return pieces

    def marks(self) -> dict[int, Mark]:
        """Return what is known of candidates and neighbours beside their words."""
        self.load(self._held)
        chunks, names, speakers = self._chunks, self._names, self._speakers
        marks = {}
        for key in self._held:
            _, _, ts, length, role, name = chunks[key // CHUNK].line(key % CHUNK)
            said_by, own = speakers.get((role, name)) or self._speaker(role, name)
            marks[names[key]] = Mark(ts / _MILLION, said_by, own, length)
        return marks

    def _speaker(self, role: int, name: int) -> tuple[str, bool]:
        """Return who speaks, and whether it is a person to an assistant."""
        # The name of a tool is nobody's who speaks.
        speaker = self._source.speaker(name) if role in SPEAKERS else ""
        found = ((speaker or ROLES[role]).lower(), role == _USER and not speaker)
        self._speakers[role, name] = found
        return found

    def _next_to(self, key: int) -> Iterator[int]:
        number, at = divmod(key, CHUNK)
        chunk = self._chunks[number]
        if at:
            yield key - 1
        elif (before := self._beside(chunk, -1)) is not None:
            yield before * CHUNK + CHUNK - 1
        if at + 1 < chunk.lines:
            yield key + 1
        elif (after := self._beside(chunk, 1)) is not None:
            yield after * CHUNK

    def _chunk(self, number: int) -> Chunk:
        chunk = self._chunks.get(number)
        if chunk is None:
            chunk = self._chunks[number] = self._source.fetch((number,))[number]
        return chunk


def _places_of(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while bits:
        last = bits & -bits
        yield last.bit_length() - 1
        bits ^= last

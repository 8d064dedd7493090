"""Which lines are worth ranking for a question, and how well each answers it: recall's formula.

The choice depends only on what the transcripts say, not on the order in which they came into the
index, nor on the numbers of chunks there.

The candidates are the lines whose own words weigh most, and of equals the newest. The rarest words
of the question say where to look: their lists are read whole, up to a limit; frequent words only
add to the weight of what was found. Chunks in which a speaker whom the question names speaks come
before everything else, since the rest is most often about somebody else.

The same evidence gives the same order. Of equal scores the newest comes first, then the lower key.
An episode with a score of 0 is left out. Nothing here keeps a text or reads a clock or a file.

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
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from heapq import nlargest
from itertools import takewhile
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from engramdown.language.dates import Dates
from engramdown.language.kindred import kindred
from engramdown.language.terms import speaking, spelt, stem, tokens, words
from engramdown.recall.lines import CHUNK, SPEAKERS, Chunk, second_of
from engramdown.recall.query import Query, Wanted, asks, says, says_name, statement_share
from engramdown.transcripts.episode import ROLES

if TYPE_CHECKING:
    from engramdown.recall.index import Index

# How many neighbours on each side of a turn count for it.
REACH: Final = 3
STEPS: Final = tuple(step for far in range(1, REACH + 1) for step in (-far, far))
# How many candidates bring the turns near them along.
BESIDE: Final = 40
# How many of the best are worth reading again.
REREAD: Final = 50
_SESSION: Final = 24  # bits of a key that number the line
_SEQ: Final = (1 << _SESSION) - 1
_READ: Final = 2000  # characters of a text that are read again
_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 64  # letters of a word that has a stem
_ORDERS: Final = 2  # that are lifted
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
    """What the index found for a query.

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
        reply: For what the assistant said, when the question asks for that, or for a summary.
        order: For an order of the person that stands and shares a word with the question.
        first: For words in the first person, when the question names a speaker.
        told: For what somebody tells other people, the less the more of it is a question.
        kin: For words that begin like all of the question's, but are not forms of them.
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
    reply: float = 0.5
    order: float = 0.15
    first: float = 0.1
    told: float = 0.3
    kin: float = 0.4
    opens: float = 0.2
    answer: float = 0.2
    phrase: float = 4.0


# One set for every kind of data.
WEIGHTS: Final = Weights()


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
            worth, and of the first :data:`BESIDE` of these also the turns within :data:`REACH`,
            because an answer may hold no word of its question.
        weights: What counts how much.
    """
    covered = _covered(query, evidence, candidates, weights)
    most_covered = max(covered.values(), default=0.0)
    best = most_covered or 1.0
    sessions: dict[int, float] = {}
    for key, coverage in covered.items():
        sessions[key >> _SESSION] = max(coverage, sessions.get(key >> _SESSION, 0.0))
    ranked = []
    most = 1 + weights.session
    dates = query.dates or None
    reply = weights.reply * (not query.wants.isdisjoint({"reply", "summary"}))
    own = 0.0 if reply else weights.own
    for key, coverage in covered.items():
        mark = evidence.marks[key]
        is_then = dates is not None and dates.is_then(mark.at)
        is_theirs = mark.speaker in query.names
        if coverage or is_then or (is_theirs and not most_covered):
            lift = 1 + weights.session * sessions[key >> _SESSION] / best
            bonus = own * mark.own + weights.about * is_theirs
            bonus += reply * (mark.speaker == "assistant")
            if dates is not None and is_then:
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
        # From where the term is to whom it helps: most candidates have it nowhere near.
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
    """Return ``ranked`` in a better order, for what is in the texts of the first.

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
    stems = {form for term in query.terms for form in term.stems}

    def is_told(text: str) -> bool:
        return says("order", text) and not stems.isdisjoint(tokens(text[:_READ]))

    # A question is seldom about more than two of the orders that stand.
    orders = [one for one in again if one[3].own and is_told(texts[one[2]])][:_ORDERS]
    for score, at, key, mark in orders:
        again.remove((score, at, key, mark))
        again.append((score - weights.order, at, key, mark))
    again.sort()
    # No score got smaller, so the rest still comes after these.
    return [*(Ranked(key, -score, mark) for score, _, key, mark in again), *ranked[len(first) :]]


def _reader(
    query: Query, speakers: Iterable[str], weights: Weights
) -> Callable[[Mark, str], float]:
    """Return a function that rates a text by more than the words that were asked for."""
    wants = query.wants
    whole = sum(term.weight for term in query.terms) or 1.0
    known = frozenset(words(" ".join([query.text, *speakers]))) if "name" in wants else None
    # How words begin that are kindred to those of the question, and what they are worth.
    kin = [
        (form[:_ALIKE], term.stems, term.weight)
        for term in query.terms
        for form in term.stems[-1:]
        if len(form) >= _ALIKE - 1 and form.isalpha()
    ]

    def said(mark: Mark, text: str) -> float:
        bonus = weights.time * ("time" in wants and says("time", text))
        bonus += weights.number * ("number" in wants and says("number", text))
        bonus += weights.name * (known is not None and says_name(text, known))
        if mark.speaker not in ROLES:
            # One of several people, and not a person with an assistant.
            bonus += weights.told * statement_share(text)
            bonus += weights.first * bool(query.names and says("first person", text))
        elif mark.own and "advice" in wants and says("wish", text):
            bonus += weights.wish
        folded = text.lower()
        kindred = 0.0
        for beginning, stems, weight in kin:
            at = folded.find(beginning)
            if at >= 0 and not (at and folded[at - 1].isalnum()):
                word = _WORD.findall(folded, at, at + _LONGEST)[0]
                # "v12" and "v13" are not kin.
                kindred += weight if word.isalpha() and stem(word) not in stems else 0.0
        bonus += weights.kin * kindred / whole
        return bonus + weights.phrase * any(phrase in folded for phrase in query.phrases)

    return said


# ---- which lines are worth ranking ----

# How many candidates are ranked.
MOST: Final = 200
# How many lines may be gone through to find them.
LONGEST_LISTS: Final = 20_000
_ABOVE_ALL: Final = 1e6
_USER: Final = ROLES.index("user")
_MILLION: Final = 1_000_000
# How many chunks a time or a speaker proposes, and to how many seconds their times are looked at.
_PROPOSED: Final = 3
_HOUR: Final = 3600
# Lines of a list, for each chunk that is reached, that are sooner looked at than looked up.
_SHORT: Final = 16

# What a word counts that stands for one that is in no line.
_STANDS_FOR: Final = 0.5

# The keys of the lines that hold a term: a list for each way to say it.
Lists = Sequence[Sequence[int]]


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
    """Where a line is.

    Attributes:
        chunk: In which chunk.
        at: Where in it.
    """

    chunk: Chunk
    at: int


def best(index: Index, query: Query, wanted: Wanted) -> tuple[list[Ranked], dict[int, Place]]:
    """Return the lines that answer ``query``, the best first, and where each is, by its key.

    This is done without reading the lines. The keys are the same however the index
    came by the lines: sessions are numbered here by their names.
    """
    terms = [lists_of(index, term.words) for term in query.terms]
    query = _with_stand_ins(index, query, terms)
    holders = [min(sum(map(len, lists)), index.total) for lists in terms]
    worth = worths(query, holders, index.total)
    gathering = _Gathering(index, wanted)
    there = {key // CHUNK for name in query.names for key in index.keys(speaking(name))}
    chosen = candidates(terms, worth, index.freshness(), gathering.takes, there)
    gathering.load(chosen)
    chosen += gathering.beside(chosen)
    # What was said then, in whatever words; and if nothing else is known, what they said.
    proposed = chunks_of(index.freshness(), query.dates) or (() if chosen else there)
    chosen += gathering.of(proposed, chosen)
    places = gathering.places(chosen)
    keys = [gathering.near(lists) for lists in terms]
    evidence = Evidence(keys, holders, index.total, gathering.marks())
    return rank(query, evidence, places), places


def _with_stand_ins(index: Index, query: Query, found: list[Lists]) -> Query:
    """Return a question with other words where nobody ever said half of its own or more.

    Args:
        index: The index.
        query: The question.
        found: Where each of its terms stands; for those with other words that changes here.
    """
    terms = list(query.terms)
    unsaid = [at for at, lists in enumerate(found) if not lists]
    for at in unsaid if 2 * len(unsaid) >= len(terms) else ():
        if words := dict.fromkeys(word for form in terms[at].stems for word in kindred(form)):
            terms[at] = terms[at]._replace(
                words=tuple(words), weight=terms[at].weight * _STANDS_FOR
            )
            found[at] = lists_of(index, words)
    return query._replace(terms=tuple(terms))


class Keys(Protocol):
    """What knows where words stand."""

    def keys(self, word: str) -> Sequence[int]:
        """Return the keys of the lines that hold a form of ``word``."""
        ...


def lists_of(index: Keys, words: Iterable[str]) -> Lists:
    """Return the keys of the lines with any of ``words``: a list for each word."""
    lists: list[Sequence[int]] = []
    # Words with one stem have one list.
    for word in {tuple(tokens(word)): spelt(word) for word in words}.values():
        parts = [index.keys(part) for part in word]
        lists += [sorted(set(parts[0]).intersection(*parts[1:]))] if parts[1:] else parts
    return [keys for keys in lists if keys]


def chunks_of(freshness: Iterable[int], dates: Dates) -> list[int]:
    """Return the chunks that begin at a time that is named, or on the day if one is."""
    if not dates:
        return []
    has_day = bool(dates.days or dates.latest)

    @cache
    def is_then(hour: int) -> bool:
        at = hour * _HOUR
        return dates.is_then(at) and (not has_day or dates.is_that_day(at))

    hours = ((number, second_of(at) // _HOUR) for number, at in enumerate(freshness))
    return [number for number, hour in hours if is_then(hour)]


class _Gathering:
    """What was looked up for one question."""

    def __init__(self, index: Index, wanted: Wanted) -> None:
        self._index = index
        self._wanted = wanted
        self._chunks: dict[int, Chunk] = {}
        self._neighbours: dict[tuple[int, int], int | None] = {}
        self._near: set[int] = set()
        # What to add to a key of a chunk, for the key that ranking knows the line by.
        self._shift: dict[int, int] = {}
        self._reached: list[int] = []
        self._held: set[int] = set()
        number = index.number(wanted.session) if wanted.session else None
        only = index.chunks(number) if number is not None else ()
        self._only = frozenset(only) if wanted.session else None
        self._all = wanted.takes_all() and index.is_plain()

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
        return self._wanted.takes(role, ts) and not self._index.is_excluded(chunk.session, seq)

    def load(self, keys: Iterable[int]) -> None:
        """Look up the chunks of lines, all at once."""
        missing = {key // CHUNK for key in keys} - self._chunks.keys()
        self._chunks.update(self._index.fetch(missing))

    def beside(self, chosen: Sequence[int]) -> list[int]:
        """Return the lines near the first that are wanted too, the nearest first."""
        steps = ((one, step) for one in chosen[:BESIDE] for step in STEPS)
        found = dict.fromkeys(self._next_to(one, step) for one, step in steps)
        known = frozenset(chosen)
        return [key for key in found if key is not None and key not in known and self._takes(key)]

    def of(self, chunks: Iterable[int], chosen: Sequence[int]) -> list[int]:
        """Return the other lines of the newest of ``chunks`` that are wanted."""
        newest = nlargest(_PROPOSED, chunks, key=self._index.freshness().__getitem__)
        self.load([number * CHUNK for number in newest])
        lines = (range(at := number * CHUNK, at + self._chunks[number].lines) for number in newest)
        known = frozenset(chosen)
        return [key for keys in lines for key in keys if key not in known and self._takes(key)]

    def _next_to(self, key: int, step: int) -> int | None:
        """Return the key of the line so many lines behind one, in the next chunk at most."""
        number, at = divmod(key, CHUNK)
        turn, line = divmod(at + step, CHUNK)
        if not turn:
            return key + step
        if (number, turn) not in self._neighbours:
            chunk = self._chunks[number]
            is_last = chunk.lines < CHUNK if turn > 0 else not chunk.place
            found = None if is_last else self._index.find(chunk.session, chunk.place + turn)
            self._neighbours[number, turn] = found
        beside = self._neighbours[number, turn]
        return None if beside is None else beside * CHUNK + line

    def places(self, chosen: Sequence[int]) -> dict[int, Place]:
        """Return where the candidates are, by the keys that ranking knows them by."""
        chunks = {number: self._chunks[number] for number in {key // CHUNK for key in chosen}}
        order = sorted({chunk.session for chunk in chunks.values()}, key=self._index.name)
        base = {session: at << _SESSION for at, session in enumerate(order)}
        shift = {
            number: base[chunk.session] + (chunk.place - number) * CHUNK
            for number, chunk in chunks.items()
        }
        self._held = set(chosen)
        inside = [key for key in chosen if REACH <= key % CHUNK < CHUNK - REACH]
        self._near = self._held.union(*(map(step.__add__, inside) for step in STEPS))
        for key in self._held.difference(inside):
            for step in STEPS:
                if (other := self._next_to(key, step)) is not None:
                    self._near.add(other)
                    shift[other // CHUNK] = key + shift[key // CHUNK] + step - other
        self._shift, self._reached = shift, sorted(shift)
        return {self._name(key): Place(chunks[key // CHUNK], key % CHUNK) for key in chosen}

    def _name(self, key: int) -> int:
        return key + self._shift[key // CHUNK]

    def near(self, lists: Lists) -> set[int]:
        """Return the candidates, and neighbours of theirs, that are in ``lists``."""
        found: set[int] = set()
        for keys in lists:
            if len(keys) < _SHORT * len(self._reached):
                found |= self._near.intersection(keys)
                continue
            # Of a long list only what it has in the chunks that are reached.
            end = 0
            for number in self._reached:
                start = bisect_left(keys, number * CHUNK, end)
                end = bisect_left(keys, (number + 1) * CHUNK, start, min(start + CHUNK, len(keys)))
                found |= self._near.intersection(keys[start:end])
        self._held |= found
        return set(map(self._name, found))

    def marks(self) -> dict[int, Mark]:
        """Return the marks of candidates and neighbours."""
        self.load(self._held)
        speakers: dict[tuple[int, int], tuple[str, bool]] = {}
        marks = {}
        for key in self._held:
            _, _, ts, length, role, name = self._chunks[key // CHUNK].line(key % CHUNK)
            if (role, name) not in speakers:
                # The name of a tool is nobody's who speaks.
                speaker = self._index.speaker(name) if role in SPEAKERS else ""
                own = role == _USER and not speaker
                speakers[role, name] = ((speaker or ROLES[role]).lower(), own)
            marks[self._name(key)] = Mark(ts / _MILLION, *speakers[role, name], length)
        return marks

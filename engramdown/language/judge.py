"""How two statements stand to each other: the newer replaces, contradicts or repeats the older one.

Or they go together, as most do. A linear model over what the two share, what only one of them says
and of what sort that is, the small words that tell, and whether both answer a question. Its weights
are learned by ``python -m benchmarks.judge`` from pairs under ``tests/corpora``; pure Python, no
network. Any strings may be passed; of a long one the beginning is read.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from engramdown import lazy
from engramdown.language.terms import stem
from engramdown.language.words import NEGATIONS, NUMBERS, STOP_WORDS, word_set

# How two statements may stand to each other, in the order of the weights.
RELATIONS: Final = ("replaces", "contradicts", "together", "same")
# Features are hashed into so many rows, of one signed byte a relation.
ROWS: Final = 1 << 14
# What a byte of one is worth.
STEP: Final = 1 / 32
WEIGHTS: Final = Path(__file__).with_name("judge.weights")

# So many characters and words of a statement are read.
_LONGEST: Final = 400
_MOST_WORDS: Final = 48

_TOKEN: Final = re.compile(r"[^\W_][\w.:/@+#%'-]*|[$£€&]|[.,;:!?()\u2013\u2014=]")
_EDGE: Final = ".:'-/"
_CLOCK: Final = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm|h)|\d{1,2}:\d\d|\d{4}h|noon|midnight")
_WITH_UNIT: Final = re.compile(r"([\d.,]+)[a-z%]+")
_CODE: Final = re.compile(r"[_./@:#]|[^\W\d]-?\d|[a-z][A-Z]")
_NUMBERS: Final = word_set("number clock")
_NAMED: Final = word_set("name code first")

# What tells by itself: whose something is, that it stands beside, that it holds of all, that
# something has changed, and which one of several it is.
_CUES: Final = {
    "kin": word_set(
        "parents parent mother father mum dad mom brother sister daughter son child kid kids wife"
        " husband spouse partner uncle aunt cousin nephew niece grandmother grandfather grandma"
        " grandpa grandchild friend neighbour colleague flatmate roommate dog cat pet his her"
        " their sons daughters boss"
    ),
    "beside": word_set(
        "also too second another other additionally besides except unless only until tomorrow"
        " tonight once while whereas extra plus again both"
    ),
    "all": word_set(
        "all every always any anyone anything each entirely everyone everything everywhere"
        " exclusively full just never no nobody none nothing only solely whole"
    ),
    "change": word_set(
        "now nowadays days longer anymore more since instead moved switched swapped changed"
        " replaced migrated renamed raised lowered dropped scrapped left gone out killed retired"
        " dead archived new took takes over went back as of until finished done quit stopped stop"
        " became merged closed cut sold bought put got handed ripped shut lapsed expired"
    ),
    "which": word_set(
        "staging production prod dev test local internal external public private mobile web"
        " desktop ios android windows linux mac macos main secondary primary legacy backup beta"
        " summer winter spring autumn morning evening night weekend weekdays home work personal"
        " first last old upstairs downstairs junior senior front back left right north south"
        " east west"
    ),
}
_PASSING: Final = word_set("tomorrow tonight")
_OWN: Final = word_set("i my me i'm we our")
_WHEN: Final = word_set("when time day date month year week weekday hour hours days")
_HOW_MUCH: Final = word_set(
    "many much long big large often far high fast heavy cold hot limit number size budget price"
    " cost costs"
)
_DENIES: Final = NEGATIONS | word_set("without instead rather")

# How alike two words are: of one meaning, of one kind, or one the kind of the other.
_SAME: Final = 0.8
_SIBLINGS: Final = 0.5
_KIND: Final = 0.3


class Judgement(NamedTuple):
    """How likely each relation is; together one."""

    replaces: float
    contradicts: float
    together: float
    same: float

    @property
    def differ(self) -> float:
        """How likely they say other values of the same thing."""
        return self.replaces + self.contradicts


@lru_cache(8192)
def judge(older: str, newer: str, question: str = "") -> Judgement:
    """Return how a newer statement stands to an older one.

    Args:
        older: A statement.
        newer: One that was made later, as far as that is known.
        question: What was asked, if both were found as an answer.

    >>> judge("Our CI is Jenkins", "We moved CI from Jenkins to Buildkite").differ > 0.5
    True
    >>> judge("The mail service is in Go", "The mail service is owned by Ann").differ > 0.5
    False
    """
    weights = weights_in(WEIGHTS, len(RELATIONS))
    return Judgement(*chances_of(rows_of(older, newer, question), weights, STEP))


def may_differ(older: str, newer: str) -> bool:
    """Whether two statements share a word, and the newer one says more: others need no judge.

    A question states nothing, and what holds for a day replaces nothing.
    """
    mine, theirs = _read(older), _read(newer)
    return (
        not mine.concepts.isdisjoint(theirs.concepts)
        and (mine.is_denied != theirs.is_denied or not theirs.concepts <= mine.concepts)
        and "?" not in older + newer
        and _PASSING.isdisjoint(theirs.lows)
    )


def share_a_value(one: str, other: str) -> bool:
    """Whether two texts name the same number, time, day or month."""
    mine, theirs = _read(one).sorts, _read(other).sorts
    return any(mine[sort] & theirs.get(sort, set()) for sort in _COUNTED & mine.keys())


@cache
def weights_in(path: Path, classes: int) -> tuple[array[int], ...]:
    """Return the weights of each class of a linear model, by row."""
    weights = array("b", path.read_bytes())
    return tuple(weights[at::classes] for at in range(classes))


def chances_of(
    rows: Iterable[int], weights: Sequence[Sequence[int]], step: float
) -> Iterator[float]:
    """Yield how likely each class of a linear model is; together one.

    Args:
        rows: The rows of the features that are there.
        weights: Those of each class, by row.
        step: What one of them is worth.
    """
    rows = [*rows]
    sums = [sum(map(each.__getitem__, rows)) for each in weights]
    most = max(sums)
    powers = [math.exp((each - most) * step) for each in sums]
    return (each / sum(powers) for each in powers)


def rows_of(older: str, newer: str, question: str = "") -> set[int]:
    """Return the rows of the features of two statements."""
    pair = _Pair(_read(older), _read(newer))
    features = [*pair.features(), *(_answers(_read(question), pair) if question else ())]
    return {crc32(feature.encode(errors="ignore")) % ROWS for feature in features}


# ---- what is known of words ----


@cache
def word_tables() -> Mapping[str, str]:
    """Return the tables of ``meaning.txt`` by their names, each as running text."""
    found = lazy.entries(Path(__file__).with_name("meaning.txt"))
    return {name: " ".join(" ".join(lines).split()) for name, lines in found}


@cache
def _groups() -> Mapping[str, str]:
    """Return the plainest word of the same meaning for each word that has one."""
    groups: dict[str, str] = {}
    for words in word_tables()["GROUPS"].split("; "):
        first, *_ = words.split()
        for word in words.split():
            groups.setdefault(word, first)
    return groups


@cache
def _sorts() -> Mapping[str, str]:
    """Return of which sort each word is that is a value."""
    sorts: dict[str, str] = {}
    for table in word_tables()["VALUES"].split(";"):
        name, _, values = table.partition(": ")
        for value in values.split():
            sorts.setdefault(_groups().get(value, value), name.split()[0])
    return sorts


@cache
def _light() -> tuple[AbstractSet[str], AbstractSet[str]]:
    """Return the words that say little, and with them those that are said of anything."""
    light = word_set(word_tables()["LIGHT"])
    return light, light | word_set(word_tables()["GENERIC"])


@cache
def _lines() -> tuple[Mapping[str, set[int]], ...]:
    """Return the lines of ``kindred.txt`` where a word is one of a kind, of a meaning, a kind."""
    things: dict[str, set[int]] = {}
    meanings: dict[str, set[int]] = {}
    kinds: dict[str, set[int]] = {}
    table = Path(__file__).with_name("kindred.txt").read_text(encoding="utf-8")
    for at, line in enumerate(table.split("\n")):
        if not line.startswith("#"):
            head, _, rest = line.rpartition(":")
            for word in rest.split():
                (things if head else meanings).setdefault(word, set()).add(at)
            for word in head.split():
                kinds.setdefault(word, set()).add(at)
    return things, meanings, kinds


@lru_cache(16_384)
def _lines_of(word: str) -> tuple[AbstractSet[int], ...]:
    return tuple(
        table.get(word, set()) | table.get(word.removesuffix("s"), set()) for table in _lines()
    )


@lru_cache(65_536)
def _alike(one: str, other: str) -> float:
    """Return how alike two words in small letters are."""
    mine, theirs = _lines_of(one), _lines_of(other)
    if mine[1] & theirs[1] or _begin_alike(_concept(one)[0], _concept(other)[0]):
        return _SAME
    if mine[0] & theirs[0]:
        return _SIBLINGS
    return _KIND if mine[2] & theirs[0] or mine[0] & theirs[2] else 0.0


@lru_cache(16_384)
def _concept(low: str) -> tuple[str, str]:
    """Return what a word in small letters means, and of which sort that is."""
    groups, sorts = _groups(), _sorts()
    root = stem(low)
    concept = groups.get(low) or groups.get(root) or groups.get(low.removesuffix("s"))
    concept = concept or (low if low in sorts else root)
    return concept, sorts.get(concept, "")


def _begin_alike(one: str, other: str) -> bool:
    """Whether one of two words is another form of the other, as it seems."""
    most = min(len(one), len(other))
    if most < _STEM or one[:_STEM] != other[:_STEM] or one[0].isdigit():
        return False
    start = next((at for at in range(most) if one[at] != other[at]), most)
    return start > _STEM + 1 or start >= most - 1


# So many letters two forms of a word begin with.
_STEM: Final = 4


# ---- one statement ----


class _Word(NamedTuple):
    """A word: in small letters, what it means, its sort, and the word before it."""

    low: str
    concept: str
    sort: str
    is_content: bool
    before: str
    at: int


class _Said(NamedTuple):
    """A statement."""

    words: Sequence[_Word]
    content: Sequence[_Word]
    lows: AbstractSet[str]
    concepts: AbstractSet[str]
    sorts: Mapping[str, AbstractSet[str]]
    is_denied: bool
    cues: AbstractSet[str]

    def numbers(self) -> Iterator[tuple[_Word, _Word | None]]:
        """Yield each number with the word behind it."""
        for word in self.content:
            if word.sort in _NUMBERS:
                yield word, self.words[word.at + 1] if word.at + 1 < len(self.words) else None


@lru_cache(8192)
def _read(text: str) -> _Said:
    words: list[_Word] = []
    is_denied, is_first, before = False, True, ""
    for raw in _TOKEN.findall(text[:_LONGEST].replace("\u2019", "'"))[:_MOST_WORDS]:
        if not raw[0].isalnum():
            is_first = is_first or raw in ".!?"
            before = raw
            continue
        word = raw.rstrip(_EDGE).removesuffix("'s") or raw
        low = word.casefold()
        denies = low in _DENIES or low.endswith("n't")
        is_denied = is_denied or denies
        concept, sort = _meaning_of(word, low, is_first=is_first)
        is_content = sort in _NUMBERS or not (low in STOP_WORDS or denies)
        words.append(_Word(low, concept, sort, is_content, before, len(words)))
        before, is_first = low, False
    content = [word for word in words if word.is_content]
    sorts: dict[str, set[str]] = {}
    for each in content:
        sorts.setdefault("name" if each.sort == "first" else each.sort, set()).add(each.concept)
    lows = {word.low for word in words}
    cues = {cue for cue, table in _CUES.items() if not table.isdisjoint(lows)}
    concepts = {word.concept for word in content}
    return _Said(words, content, lows, concepts, sorts, is_denied, cues)


def _meaning_of(word: str, low: str, *, is_first: bool) -> tuple[str, str]:
    if low in NUMBERS or low[0].isdigit() or low in ("noon", "midnight"):
        amount = NUMBERS.get(low, low)
        if _CLOCK.fullmatch(low):
            return amount, "clock"
        found = _WITH_UNIT.fullmatch(amount)
        return found[1] if found else amount, "number"
    concept, sort = _concept(low)
    if sort:
        return concept, sort
    if _CODE.search(word):
        return concept, "code"
    is_name = word[0].isupper() and (len(word) > 1 or not is_first)
    return concept, ("first" if is_first else "name") if is_name else ""


# ---- two statements ----


def _level(value: float, *cuts: float) -> int:
    return sum(value > cut for cut in cuts)


class _Pair:
    """Two statements side by side.

    Attributes:
        older: The older one.
        newer: The newer one.
        both: The concepts of both.
        strong: Those that are not said of anything.
        only: The words of each that stand for nothing in the other.
        soft: How many words of one mean what another word of the other does.
        outline: Whether values differ, something has changed, and all but values is said again.
    """

    def __init__(self, older: _Said, newer: _Said) -> None:
        """Compare ``older`` with ``newer``."""
        self.older, self.newer = older, newer
        self.both = older.concepts & newer.concepts
        self.strong = self.both - _light()[1]
        mine = [word for word in older.content if word.concept not in self.both]
        theirs = [word for word in newer.content if word.concept not in self.both]
        self.soft = 0
        for one in tuple(mine):
            other = next((it for it in theirs if _alike(one.low, it.low) == _SAME), None)
            if other is not None:
                mine.remove(one)
                theirs.remove(other)
                self.soft += 1
        self.only = (mine, theirs)
        self.outline = ""

    def features(self) -> Iterator[str]:
        """Yield what tells how the two stand to each other."""
        yield from self.shares()
        yield from self.values()
        yield from self.amounts()
        yield from self.cues()
        yield from self.modifiers()
        yield from self.frames()

    def shares(self) -> Iterator[str]:
        """Yield how much they share."""
        sizes = [len(each.content) or 1 for each in (self.older, self.newer)]
        shares = [
            (sum(word.concept in self.both for word in each.content) + self.soft) / size
            for each, size in zip((self.older, self.newer), sizes, strict=True)
        ]
        least, most = min(shares), max(shares)
        for name, share in zip("ab", shares, strict=True):
            yield f"cov{name}{_level(share, 0, 0.2, 0.34, 0.5, 0.67, 0.8, 0.99)}"
        cuts = (0, 0.2, 0.34, 0.5, 0.67)
        yield f"cov{_level(least, *cuts)}{_level(most, *cuts, 0.99)}"
        strong, (a, b) = len(self.strong), map(len, self.only)
        yield from (f"strong{min(strong, 4)}", f"both{min(len(self.both), 5)}")
        yield from (f"soft{min(self.soft, 3)}", f"oa{min(a, 6)}", f"ob{min(b, 6)}")
        yield f"only{min(a, 3)}{min(b, 3)}"
        yield f"long{_level(sizes[0], 3, 5, 8)}{_level(sizes[1], 3, 5, 8, 12)}"
        denied = f"{self.older.is_denied:d}{self.newer.is_denied:d}"
        yield f"not{denied}"
        yield f"not{denied}strong{min(strong, 2)}"
        yield f"not{denied}cov{_level(least, 0.34, 0.67)}"

    def values(self) -> Iterator[str]:
        """Yield which sorts of values differ, and what stands only on one side."""
        mine, theirs = self.older.sorts, self.newer.sorts
        clashes = False
        for sort in mine.keys() & theirs.keys() - {""}:
            a, b = mine[sort], theirs[sort]
            if sort in _NAMED:
                yield f"{sort}{a > b:d}{bool(a - b):d}{bool(b - a):d}{bool(a & b):d}"
                continue
            group = sort if sort in _NUMBERS or sort in _OF_ITS_OWN else "value"
            if a.isdisjoint(b):
                clashes = True
                yield from (f"clash{group}", f"clash!{sort}")
                yield f"clash{group}{min(len(self.strong), 2)}"
            else:
                yield f"{'agree' if a == b else 'part'}{group}"
        yield f"clashes{clashes:d}"
        # Whether all that the older one says is said again, but for its values.
        is_covered = bool(self.both) and all(word.sort for word in self.only[0])
        self.outline = f"{clashes:d}{'change' in self.newer.cues:d}{is_covered:d}"
        yield f"outline{self.outline}"
        yield f"outline{self.outline}strong{min(len(self.strong), 1)}"
        yield f"outline{self.outline}beside{'beside' in self.newer.cues:d}"
        yield f"outline{self.outline}kin{'kin' in self.older.cues:d}{'kin' in self.newer.cues:d}"
        yield f"outline{self.outline}only{min(len(self.only[0]), 3)}{min(len(self.only[1]), 4)}"
        for name, sorts in (("a", mine.keys() - theirs), ("b", theirs.keys() - mine)):
            for sort in sorts - {""}:
                group = "name" if sort in _NAMED else "number" if sort in _NUMBERS else "value"
                yield f"only{name}{group}"

    def amounts(self) -> Iterator[str]:
        """Yield what tells whether two numbers count the same."""
        numbers = [list(each.numbers()) for each in (self.older, self.newer)]
        sets = [{word.concept for word, _ in each} for each in numbers]
        if not all(sets) or sets[0] == sets[1]:
            return
        units = [{it.concept for _, it in each if it and it.is_content} for each in numbers]
        yield f"unit{bool(units[0] & units[1]):d}{bool(units[0]):d}{bool(units[1]):d}"
        before = [{word.before for word, _ in each} for each in numbers]
        both = sorted(before[0] & before[1])
        yield f"behind{bool(both):d}"
        yield from (f"behind={word}" for word in both[:1])
        sides = zip((self.older, self.newer), numbers, strict=True)
        if all(
            any(word.at and said.words[word.at - 1].is_content for word, _ in each)
            for said, each in sides
        ):
            yield "part of a name"

    def cues(self) -> Iterator[str]:
        """Yield the small words that tell, and how each of them begins."""
        mine, theirs = self.older, self.newer
        for cue, table in _CUES.items():
            both = [cue in mine.cues, cue in theirs.cues]
            yield f"{cue}{both[0]:d}{both[1]:d}{bool(table & mine.lows & theirs.lows):d}"
            yield from (f"{name}{cue}" for name, has in zip("ab", both, strict=True) if has)
            a, b = (table & mine.lows) - theirs.lows, (table & theirs.lows) - mine.lows
            yield f"{cue}:{bool(a):d}{bool(b):d}"
        yield f"own{bool(mine.lows & _OWN):d}{bool(theirs.lows & _OWN):d}"
        begin = [said.words[0].low for said in (mine, theirs) if said.words]
        yield f"word{len(set(begin))}"
        for word in theirs.words:
            if not word.sort and word.concept not in self.both:
                yield f"b={word.low if word.low in STOP_WORDS else '~' + word.concept}"
        yield from (f"a={word}" for word in mine.lows & STOP_WORDS)
        yield from (f"x={word}" for word in (mine.lows ^ theirs.lows) & STOP_WORDS)
        for word in theirs.content:
            if word.concept in mine.concepts:
                near = theirs.words[max(0, word.at - 3) : word.at + 4]
                if any(each.low in _CUES["change"] for each in near):
                    places = [each.concept for each in mine.content]
                    place = places.index(word.concept)
                    yield f"gone{bool(place):d}{place == len(places) - 1:d}"

    def modifiers(self) -> Iterator[str]:
        """Yield whether other words stand before what both speak of: *the mail service*."""
        before: dict[str, list[_Word]] = {}
        for one, word in zip(self.older.words, self.older.words[1:], strict=False):
            if word.concept in self.both and word.is_content:
                before.setdefault(word.concept, []).append(one)
        other = same = 0
        for two, word in zip(self.newer.words, self.newer.words[1:], strict=False):
            for one in before.get(word.concept, ()) if word.is_content else ():
                same += one.low == two.low or one.concept == two.concept
                if one.concept != two.concept and one.low != two.low:
                    other += one.is_content and two.is_content
                    if one.is_content != two.is_content:
                        yield "more of it"
        yield from (f"other{min(other, 2)}", f"same{min(same, 2)}")

    def frames(self) -> Iterator[str]:
        """Yield how far they begin and end with the same words, and how much is between."""
        mine, theirs = (
            [word.concept if word.is_content else word.low for word in said.words]
            for said in (self.older, self.newer)
        )
        most = min(len(mine), len(theirs))
        start = next((at for at in range(most) if mine[at] != theirs[at]), most)
        rest = range(most - start)
        end = next((at for at in rest if mine[-1 - at] != theirs[-1 - at]), len(rest))
        yield from (f"start{min(start, 4)}", f"end{min(end, 3)}")
        yield f"frame{min(start, 3)}{min(end, 2)}"
        cuts = (0, 1, 2, 4)
        gaps = "".join(str(_level(len(each) - start - end, *cuts)) for each in (mine, theirs))
        yield f"gap{gaps}"
        if start + end:
            yield f"gap{gaps}of{min(start, 2)}{min(end, 1)}"
        if self.older.content and self.newer.content:
            one, other = self.older.content[-1], self.newer.content[-1]
            if one.before and one.before == other.before and one.concept != other.concept:
                yield from ("slot", f"slot={one.before}")


_OF_ITS_OWN: Final = word_set("WEEKDAY MONTH CITY CONTINENT")


# ---- two statements and a question ----


def _answers(question: _Said, pair: _Pair) -> Iterator[str]:
    """Yield how far each of two statements answers a question."""
    light, generic = _light()
    asked = [word for word in question.content if word.low not in light]
    a, b = ([_in(word, said) for word in asked] for said in (pair.older, pair.newer))
    found = [(one >= _SAME, other >= _SAME, one, other) for one, other in zip(a, b, strict=True)]
    for name, each in (("a", a), ("b", b)):
        share = sum(alike >= _SAME for alike in each) / (len(asked) or 1)
        yield f"asked{name}{_level(share, 0, 0.34, 0.5, 0.67, 0.99)}"
    both = [one and other for one, other, *_ in found]
    only_a = [one and other < _KIND for one, _, _, other in found]
    only_b = [other and one < _KIND for _, other, one, _ in found]
    yield f"asked{min(sum(both), 2)}{min(sum(only_a), 2)}{min(sum(only_b), 1)}"
    yield from (f"both asked{min(sum(both), 3)}", f"asked of a{min(sum(only_a), 3)}")
    is_strong = [word.concept not in generic for word in asked]
    strong = sum(map(min, both, is_strong)), sum(map(min, only_a, is_strong))
    yield f"strongly{min(strong[0], 2)}{min(strong[1], 2)}"
    yield f"outline{pair.outline}asked{min(strong[0], 1)}{min(strong[1], 1)}"
    yield f"outline{pair.outline}asked{min(sum(both), 2)}{min(sum(only_a), 1)}"
    kinds = [[_KIND <= alike < _SAME for alike in each] for each in (a, b)]
    yield f"kind{any(kinds[0]):d}{any(kinds[1]):d}{any(map(min, *kinds)):d}"
    way = _way(question.lows)
    sorts = [said.sorts.keys() for said in (pair.older, pair.newer)]
    yield f"{way}number{''.join(str(int(not _COUNTED.isdisjoint(each))) for each in sorts)}"
    yield f"{way}name{''.join(str(int(not _NAMED.isdisjoint(each))) for each in sorts)}"
    new = pair.newer.concepts - pair.older.concepts - question.concepts
    yield f"new{min(len(new), 3)}{way}"
    yield f"length{_level(len(pair.newer.content), 4, 7, 11)}"
    rest = pair.older.concepts - question.concepts
    yield f"rest{bool(rest & pair.newer.concepts):d}{min(len(rest), 3)}"


_COUNTED: Final = _NUMBERS | word_set("WEEKDAY MONTH")


def _in(word: _Word, said: _Said) -> float:
    """Return how alike the word of a statement is that is most like another word."""
    if word.concept in said.concepts:
        return 1.0
    return max((_alike(word.low, it.low) for it in said.content), default=0.0)


def _way(words: AbstractSet[str]) -> str:
    """Return what is asked for."""
    if words & {"who", "whom", "whose"}:
        return "who"
    if words & _WHEN:
        return "when"
    if words & _HOW_MUCH:
        return "how much"
    return next((way for way in ("where", "what", "which") if way in words), "whether")

"""Compares what statements govern: whether two say the same, or cannot both hold.

A statement is read as concepts that it asserts or denies: a word in one form for all of one
meaning, without the words that say little. A value is a concept of which one holds at a time: a
number, a name, a tool or a day of the tables in ``meaning.txt``. One statement says another again
if nothing but a little is added or left out. Two contradict each other if they are about the same
thing, and give it other values, or one denies what the other asserts, or turns its order round.

It is looser than :mod:`engramdown.language.similarity`, which decides what may be merged unseen.
Without a model; pure; symmetric but for what is added; linear time in the length of a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import ne
from typing import Final

from engramdown.engram import fold
from engramdown.language.claims import LONGEST, read
from engramdown.language.judge import word_tables
from engramdown.language.similarity import is_rewording, swaps_roles
from engramdown.language.terms import stem
from engramdown.language.words import NEGATIONS, NUMBERS, OPPOSITES, same_word, word_key, word_set

# With so many texts one is compared at most, those that share most of its concepts ...
_COMPARED: Final = 40
# ... in the first so many places where the rarest of these stand.
_LOOKED_AT: Final = 2_000
# Of two that are about the same thing, the one that says less shares so much of it: a third.
_PART: Final = 3

_TOKEN: Final = re.compile(
    r"`(?P<code>[^`\n]+)`|(?P<word>[^\W_](?:[\w.@:/+#'-]*[\w+#])?)|(?P<last>[.!?\n])"
    r"|[,;:()\u2013\u2014]"
)
_ASIDE: Final = re.compile(r"\((?![^)]*\b(?:not|no|never)\b)[^)]*\)", re.IGNORECASE)
_CONTRACTED: Final = re.compile(r"n't\b", re.IGNORECASE)
_CLITIC: Final = re.compile(r"(?<=\w)'(?:s|ve|re|m|d|ll)\b", re.IGNORECASE)
_HALF_DAY: Final = re.compile(r"(?<=\d)[ ]?([ap])\.?m\b", re.IGNORECASE)
# Between a number and its unit, and the two ends of a range.
_AMOUNT: Final = re.compile(r"(?<=\d)(?=(?![ap]m\Z)[a-z%]+\Z)|(?<=\A\d)-(?=\d{1,3}\Z)")
_HYPHENED: Final = re.compile(r"[^\W\d_]{3,}(?:-[^\W\d_]{3,})+")
# A name of a program, which has no other form.
_CODE: Final = re.compile(r"[_./@:#]|[^\W\d]-?\d|[a-z][A-Z]")
_IS: Final = word_set("is are called named by")
_BEGINS: Final = word_set("but when if while because whenever")
# What says something of a subject of one or two words and a number.
_STATES: Final = word_set(
    "is are was were has have had runs needs uses takes says said will must should can may"
)
_SUBJECT: Final = range(3, 6)
_UNLESS: Final = word_set("without unless except")
_BEFORE: Final = word_set("before until then than")
_AFTER: Final = word_set("after once requires require needs")
_PREFERS: Final = word_set("prefer prefers preferred choose chosen")
_SWITCHES: Final = word_set("switch switched moved migrate migrated changed")
# So many words may stand in the middle of a phrase.
_LONGEST_GAP: Final = 6
# So much more may be said by one of two that name different things.
_LITTLE: Final = 2
_NUMBER: Final = "number"
# What a number counts.
_MEASURES: Final = {
    name: re.compile(rf"(?<![\w.]){pattern}(?!\w)", re.IGNORECASE)
    for name, pattern in {
        "span": r"(?:[0-9.,]+ ?(?:ms|s|h)|\w+[ -](?:secs?|seconds?|mins?|minutes?|hours?|days?"
        r"|weeks?|months?|years?))",
        "clock": r"(?:[0-9]{1,2}[:.][0-9]{2}|[0-9]{1,2} ?[ap]m|at (?:[0-9]{1,2}|noon|midnight))",
        "money": r"(?:[$€£] ?[0-9][0-9.,]*|[0-9.,]+k? ?(?:[$€£]|euros?|usd|dollars?|pounds?))",
        "bytes": r"[0-9.,]+ ?[kmgt]i?b",
        "share": r"[0-9.,]+ ?(?:%|percent)",
        "date": r"(?:19|20)[0-9]{2}",
        "heat": r"[0-9.,]+ ?(?:°|degrees)",
    }.items()
}


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """What ``meaning.txt`` says of words.

    Attributes:
        phrases: Phrases by their first word, the longest first, each with what is read instead.
        groups: The concept of each word, or stem, that has others of its meaning.
        light: Words that are left out.
        generic: Concepts that may be added without changing what is governed.
        neutral: Concepts that never make a difference.
        several: Concepts of what may have several values at once.
        kin: Concepts of whose something may be.
        sorts: The sort of each value.
        beside: What may be said beside a value of a sort.
        two: The values of the sorts that have two.
    """

    phrases: dict[str, list[tuple[list[str], list[str]]]]
    groups: dict[str, str]
    light: frozenset[str]
    generic: frozenset[str]
    neutral: frozenset[str]
    several: frozenset[str]
    kin: frozenset[str]
    sorts: dict[str, str]
    beside: dict[str, frozenset[str]]
    two: dict[str, tuple[str, str]]

    def concept(self, word: str) -> str:
        """Return the concept that a folded word stands for."""
        return self.groups.get(word) or self.groups.get(stem(word)) or stem(word)

    def sort(self, concept: str) -> str:
        """Return the sort of a concept that is a value by itself, or ``""``."""
        return _NUMBER if concept[0].isdigit() else self.sorts.get(concept, "")


@cache
def _vocabulary() -> _Vocabulary:
    tables = word_tables()
    groups: dict[str, str] = {}
    for first, *others in (group.split() for group in tables["GROUPS"].split("; ")):
        for word in (first, *others):
            groups.setdefault(word, first)
            groups.setdefault(stem(word), first)
    phrases: dict[str, list[tuple[list[str], list[str]]]] = {}
    for each in sorted(tables["PHRASES"].split(";"), key=len, reverse=True):
        (first, *rest), said = (side.split() for side in each.split("="))
        phrases.setdefault(first, []).append((rest, said))
    light = frozenset(tables["LIGHT"].split())
    words = _Vocabulary(phrases, groups, light, light, light, light, light, {}, {}, {})
    held: dict[str, tuple[str, ...]] = {}
    beside: dict[str, frozenset[str]] = {}
    for name, said, values in re.findall(r"(\w+) \(([^)]*)\): ([^;]+)", tables["VALUES"]):
        held[name] = tuple(map(words.concept, values.split()))
        beside[name] = frozenset(map(words.concept, said.split()))
    sorts = {value: name for name, values in held.items() for value in values}
    for pair in OPPOSITES:
        one, other = map(words.concept, sorted(pair))
        if not pair & light and one not in sorts and other not in sorts:
            sorts |= dict.fromkeys((one, other), f"{one}/{other}")
    return _Vocabulary(
        phrases,
        groups,
        light,
        frozenset(map(words.concept, tables["GENERIC"].split())),
        frozenset(map(words.concept, tables["NEUTRAL"].split())),
        frozenset(map(words.concept, tables["SEVERAL"].split())),
        frozenset(map(words.concept, tables["KIN"].split())),
        sorts,
        beside,
        {name: (two[0], two[1]) for name, two in held.items() if len(two) == len("ab")},
    )


def sort_of(word: str) -> str:
    """Return what sort of value a word is in the tables: a day, a package manager; or ``""``.

    >>> sort_of("Fridays"), sort_of("uv"), sort_of("cheese")
    ('WEEKDAY', 'PACKAGES', '')
    """
    words = _vocabulary()
    return words.sorts.get(words.concept(word.casefold()), "")


@dataclass(slots=True)
class Meaning:
    """What a statement says.

    Attributes:
        asserted: The concepts that it asserts.
        denied: The concepts that it denies.
        names: Those that are names or code, in their order.
        maybe: Those that may be: they begin a sentence, or stand behind *is*.
        earlier: The concepts of what comes first, if it tells an order.
        later: The concepts of what comes after that.
        is_bound: Whether it denies something unless another thing is done.
        concepts: All concepts.
        values: The values that it asserts, by their sort.
        beside: What says nothing more beside these: *day*, and *npm* of *pnpm, not npm*.
        contrasts: Whether it denies a value beside another one of its sort that it asserts.
        modifiers: The concepts right before each concept: which one it is.
        measures: What its numbers count.
    """

    asserted: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    names: dict[str, None] = field(default_factory=dict)
    maybe: set[str] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    is_bound: bool = False
    concepts: set[str] = field(default_factory=set)
    values: dict[str, set[str]] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)
    contrasts: bool = False
    modifiers: dict[str, set[str]] = field(default_factory=dict)
    measures: frozenset[str] = frozenset()


@lru_cache(maxsize=8192)
def read_meaning(text: str) -> Meaning:
    """Return what the first 4,000 characters of ``text`` say; it is shared, do not change it.

    >>> meaning = read_meaning("Never push to main without asking me")
    >>> sorted(meaning.asserted), sorted(meaning.denied)
    (['ask'], ['main', 'push'])
    """
    plain = unicodedata.normalize("NFC", text[:LONGEST]).replace("\u2019", "'").replace("*", "")
    plain = _CLITIC.sub("", _CONTRACTED.sub(" not", plain))
    plain = _HALF_DAY.sub(r"\1m", _ASIDE.sub(" ; ", plain))
    reader = _Reader()
    tokens = list(_TOKEN.finditer(plain))
    said = [found["word"] or "" for found in tokens]
    at = 0
    while at < len(tokens):
        words, length = _phrase_at(said, at)
        for word in words:
            reader.word(word)
        if not length and tokens[at]["code"]:
            for word in tokens[at]["code"].split():
                reader.word(word.strip("/"), is_code=True)
        elif not length:
            reader.end_clause()
            if tokens[at]["last"]:
                reader.end_sentence()
        at += length or 1
    reader.end_clause()
    reader.end_sentence()
    reader.meaning.measures = frozenset(
        name for name, pattern in _MEASURES.items() if pattern.search(plain)
    )
    return reader.finished()


def _phrase_at(words: Sequence[str], at: int) -> tuple[Sequence[str], int]:
    """Return what is read at a place of a text, and how many of its words that takes."""
    for rest, said in _vocabulary().phrases.get(words[at].casefold(), ()):
        gap = rest.index("*") if "*" in rest else len(rest)
        most = _LONGEST_GAP if "*" in rest else 0
        for many in range(1 if most else 0, most + 1):
            pattern = [*rest[:gap], *([""] * many), *rest[gap + 1 :]]
            found = words[at + 1 : at + 1 + len(pattern)]
            if len(found) == len(pattern) and all(
                word and (not wanted or word.casefold() == wanted)
                for word, wanted in zip(found, pattern, strict=True)
            ):
                kept = found[gap : gap + many]
                replaced = [each for word in said for each in (kept if word == "*" else [word])]
                return replaced, 1 + len(pattern)
    return (words[at : at + 1], 1) if words[at] else ((), 0)


@lru_cache(maxsize=8192)
def _concepts_of(word: str, low: str, *, is_code: bool) -> tuple[list[tuple[str, bool]], bool]:
    """Return the concepts of a word, each with whether it is a value, and whether it is code."""
    known = _vocabulary()
    is_known = low in known.groups or bool(known.sort(known.concept(low)))
    is_exact = not is_known and _CODE.search(word) is not None
    parts = ["usa" if word == "US" else low]
    if low[0].isdigit():
        parts = _AMOUNT.sub(" ", low).split()
    elif not is_exact and not is_known and _HYPHENED.fullmatch(low):
        parts = low.split("-")
    plain = stem if is_code else known.concept
    concepts = [
        part if is_exact else plain(part)
        for part in (NUMBERS.get(part, part) for part in parts)
        if part not in known.light and stem(part) not in known.light
    ]
    return [(concept, bool(known.sort(concept))) for concept in concepts], is_exact


class _Reader:
    """The place in a text, and what was read of it so far."""

    def __init__(self) -> None:
        """Begin before the first word."""
        self.meaning = Meaning()
        self.clause: list[str] = []
        self.is_denied = False
        # How many concepts of the clause stand before its negation.
        self.ungoverned = 0
        # The concepts of the sentence before and behind the word that tells an order.
        self.sides: tuple[list[str], list[str]] = ([], [])
        self.order = ""
        self.side = 0
        self.words: list[str] = []
        # The concept of the word before.
        self.last = ""

    def word(self, word: str, *, is_code: bool = False) -> None:
        """Read a word."""
        low = word.casefold()
        before = self.words[-1] if self.words else ""
        self.words.append(low)
        if low in _STATES or low.endswith("ed"):
            self.name_number()
        last, self.last = self.last, ""
        if not low or self.takes_effect(low):
            return
        concepts, is_exact = _concepts_of(word, low, is_code=is_code)
        is_capital = word != low and not self.is_common(low, before)
        is_name = is_code or is_exact or bool(is_capital and before)
        for concept, is_value in concepts:
            if len(concept) == 1 and not (is_value or is_name):
                continue
            self.concept(concept)
            if last:
                self.meaning.modifiers.setdefault(concept, set()).add(last)
            last = self.last = "" if is_value else concept
            if is_name and not is_value:
                self.meaning.names[concept] = None
            elif not is_value and (before in _IS or (is_capital and not before)):
                self.meaning.maybe.add(concept)

    def is_common(self, low: str, before: str) -> bool:
        """Whether a word is no name, whatever its capital letter: a unit, a word of the tables."""
        groups = _vocabulary().groups
        return low in groups or stem(low) in groups or before.isdigit()

    def name_number(self) -> None:
        """Take a number behind the subject for a part of its name: *room 3 is cold*."""
        number = self.words[-2] if len(self.words) in _SUBJECT else ""
        subject = self.clause[-2:]
        # Not of a version: *Postgres 15 is the database*.
        if number.isdigit() and subject[1:] == [number] and not _vocabulary().sort(subject[0]):
            self.clause.pop()
            self.sides[self.side].pop()
            self.meaning.asserted.discard(number)
            self.meaning.denied.discard(number)
            self.concept(f"#{number}")

    def takes_effect(self, word: str) -> bool:
        """Note what a small word does to those behind it, and return whether it is one."""
        if self.is_denied and self.clause and word in _UNLESS | {"until", "before"}:
            # Not this without that: that is asserted, and comes first.
            self.is_denied, self.meaning.is_bound = False, True
            self.turn("after")
        elif word in _UNLESS or word in NEGATIONS or word in ("instead-of", "non"):
            self.deny()
        elif word in _BEFORE or word in _AFTER:
            self.turn("before" if word in _BEFORE else "after")
            self.is_denied = self.is_denied and word != "then"
        elif word in _BEGINS:
            self.settle()
            self.is_denied, self.ungoverned = False, len(self.clause)
        elif word in ("over", "to", "from") and self.clause:
            self.compare(word)
        else:
            return False
        return True

    def compare(self, word: str) -> None:
        """Read "prefer this to that", "switched from that to this" and "from this to that"."""
        has_switched = not _SWITCHES.isdisjoint(self.words)
        if has_switched and word != "over":
            self.is_denied, self.ungoverned = word == "from", len(self.clause)
        elif word != "from" and not _PREFERS.isdisjoint(self.words):
            self.deny()
        elif word == "to" and "from" in self.words:
            self.turn("before")

    def deny(self) -> None:
        """Deny what follows."""
        self.is_denied, self.ungoverned = True, len(self.clause)

    def turn(self, order: str) -> None:
        """Note that the rest of the sentence comes after what stands before, or before it."""
        if not self.order:
            self.order, self.side = order, 1

    def concept(self, concept: str) -> None:
        """Take in a concept."""
        known = _vocabulary()
        two = known.two.get(known.sort(concept))
        if two and self.is_denied and len(self.clause) == self.ungoverned:
            # What is not long is short.
            concept, self.is_denied = two[concept == two[0]], False
        self.clause.append(concept)
        self.sides[self.side].append(concept)
        (self.meaning.denied if self.is_denied else self.meaning.asserted).add(concept)

    def settle(self) -> None:
        """Let a negation that nothing follows be about what stands before: *npm is not used*."""
        if self.is_denied and self.clause and len(self.clause) == self.ungoverned:
            self.meaning.denied.update(self.clause)
            self.meaning.asserted.difference_update(self.clause)

    def end_clause(self) -> None:
        """Take in the end of a clause."""
        self.settle()
        self.is_denied = self.is_denied and not self.clause
        self.clause, self.ungoverned, self.last = [], 0, ""
        if self.side and not self.sides[0]:
            self.side = 0  # Before a commit, lint.
        if self.sides[0] and self.words[-1:] == ["first"]:
            self.turn("before")  # Tests first, then the linter.

    def end_sentence(self) -> None:
        """Take in the end of a sentence."""
        if self.order:
            first, second = self.sides if self.order == "before" else self.sides[::-1]
            self.meaning.earlier.update(first)
            self.meaning.later.update(second)
        self.sides, self.side, self.order = ([], []), 0, ""
        self.words, self.is_denied = [], False

    def finished(self) -> Meaning:
        """Return the meaning, once the text was read to its end."""
        found, known = self.meaning, _vocabulary()
        found.denied -= found.asserted
        found.concepts = found.asserted | found.denied
        for concept in found.asserted:
            if sort := known.sort(concept):
                found.values.setdefault(sort, set()).add(concept)
        found.beside = {each for each in found.denied if known.sort(each) in found.values}
        found.contrasts = bool(found.beside)
        found.beside.update(*(known.beside.get(sort, ()) for sort in found.values))
        return found


class _Pair:
    """Two meanings side by side.

    Attributes:
        shared: The concepts of both.
        sorts: The sorts of which they assert other values.
        topic: What they share besides the values of these.
        all_a: What only the first says.
        all_b: What only the second says.
        more_a: The part of that which is not generic.
        more_b: The same of the second.
    """

    def __init__(self, a: Meaning, b: Meaning) -> None:
        """Compare ``a`` with ``b``."""
        self.a, self.b = a, b
        words, mine, theirs = _vocabulary(), a.values, b.values
        self.shared = a.concepts & b.concepts
        self.sorts = [sort for sort in mine if _clash(sort, mine[sort], theirs.get(sort, set()))]
        if _NUMBER in self.sorts and a.measures and b.measures and not a.measures & b.measures:
            self.sorts.remove(_NUMBER)  # They count other things.
        gone = {value for sort in self.sorts for value in mine[sort] | theirs[sort]}
        self.topic = {it for it in self.shared - gone if not it[0].isdigit()}
        neutral = gone | words.neutral | a.beside | b.beside
        self.all_a, self.all_b = (it.concepts - self.shared - neutral for it in (a, b))
        self.leave_out_alike()
        self.more_a, self.more_b = self.all_a - words.generic, self.all_b - words.generic

    def leave_out_alike(self) -> None:
        """Leave out of what only one says what the other says in another form."""
        for one in sorted(filter(str.isalpha, self.all_a)):
            key = word_key(one)  # Most words have no other form, and the key tells it at once.
            alike = (it for it in self.all_b if word_key(it) == key and it.isalpha())
            if other := min((it for it in alike if same_word(one, it)), default=""):
                self.all_a.discard(one)
                self.all_b.discard(other)

    def contradicts(self) -> bool:
        """Whether both cannot hold."""
        is_several = not self.topic.isdisjoint(_vocabulary().several)
        if "BOUND" in self.sorts:
            return False  # When something begins, and when it ends.
        if self.names_differ():
            return bool(self.topic) and not is_several and not self.is_another()
        is_vague = self.all_a and self.all_b and self.topic <= _vocabulary().generic
        if (self.more_a and self.more_b) or self.is_another() or is_vague:
            return False  # They are about two things.
        more = max(len(self.more_a), len(self.more_b))
        if self.is_doubly_denied():
            return False
        if self.is_opposite() or self.is_turned():
            return len(self.shared) >= max(more, 1)
        # Numbers alone are about nothing.
        return (
            bool(self.sorts)
            and not is_several
            and len(self.topic) >= (max(more - 1, 1) if more else self.sorts == [_NUMBER])
        )

    def says_again(self) -> bool:
        """Whether the first says the second, or most of it, and little else."""
        known = _vocabulary()
        is_other = (self.more_a and self.all_b) or (self.all_a and self.more_b)
        differs = self.sorts or self.is_opposite()
        if is_other or (differs and not self.is_doubly_denied()) or self.is_turned():
            return False
        a, b = self.a.names, self.b.names
        lost = self.b.asserted - self.a.concepts - known.generic - self.a.beside
        return (
            [it for it in a if it in b] == [it for it in b if it in a]
            and not any(
                (known.sort(it) and known.sort(it) not in self.sorts) or it in b for it in lost
            )
            and not any(it[0].isdigit() for it in self.a.concepts ^ self.b.concepts)
            and len(self.more_a) * 3 <= len(self.shared)
            and len(self.more_b) * 2 <= len(self.shared) > 0
        )

    def is_another(self) -> bool:
        """Whether they are about two things of a kind: *the search service*, *the mail service*."""
        if _vocabulary().kin & (self.all_a | self.all_b):
            return True
        for shared in self.topic:
            one = self.a.modifiers.get(shared, set()) & self.all_a
            other = self.b.modifiers.get(shared, set()) & self.all_b
            if one and other:
                return True
        return False

    def names_differ(self) -> bool:
        """Whether each has a name that the other has not, and at most one says a little more."""
        if len({any(map(str.isdigit, "".join(it.names))) for it in (self.a, self.b)}) > 1:
            return False  # A code names something else than a word does.
        named = [it.names.keys() | it.maybe for it in (self.a, self.b)]
        more = (self.more_a, self.more_b)
        rest = [each - names for each, names in zip(more, named, strict=True)]
        return (
            bool(more[0] & self.a.names.keys() or more[1] & self.b.names.keys())
            and all(each & names for each, names in zip(more, named, strict=True))
            and not all(rest)
            and max(map(len, rest)) <= _LITTLE
        )

    def is_opposite(self) -> bool:
        """Whether one denies what the other asserts."""
        a, b = self.a, self.b
        here, there = a.asserted & b.denied, a.denied & b.asserted
        if a.contrasts or b.contrasts:
            # "Never indent with spaces, use tabs" is about these two, not against indenting.
            here, there = ({it for it in each if _vocabulary().sort(it)} for each in (here, there))
        if here and there:
            return True
        # "Ask before a push" and "never push without asking" agree on asking.
        is_bound = (here and b.is_bound) or (there and a.is_bound)
        agrees = a.denied & b.denied or (is_bound and a.asserted & b.asserted)
        return bool(here or there) and not agrees

    def is_doubly_denied(self) -> bool:
        """Whether one denies for a value what the other asserts for its opposite.

        *Do not merge when CI is red* goes with *merge when CI is green*.
        """
        two = _vocabulary().two
        is_two = len(self.sorts) == 1 and (self.sorts[0] in two or "/" in self.sorts[0])
        return is_two and self.is_opposite()

    def is_turned(self) -> bool:
        """Whether what comes first in one comes later in the other."""
        # What comes both earlier and later tells nothing.
        (early, late), (earlier, later) = (
            (it.earlier - it.later, it.later - it.earlier) for it in (self.a, self.b)
        )
        here, there = early & later, late & earlier
        agrees = early & earlier or late & later
        return bool(here and there) or bool((here or there) and not agrees)


def _clash(sort: str, mine: set[str], theirs: set[str]) -> bool:
    """Whether values of one sort cannot be the same thing's."""
    return bool(mine - theirs and theirs - mine) and (sort == _NUMBER or mine.isdisjoint(theirs))


def contradict(a: str, b: str) -> bool:
    """Whether two statements cannot both hold: they say other values of the same thing.

    >>> contradict("Releases go out on Thursdays", "We ship every Friday")
    True
    >>> contradict("Releases go out on Thursdays", "The team meeting is on Fridays")
    False
    """
    main = _main(a), _main(b)
    return _contradict(a, b) or (main != (a, b) and _contradict(*main))


def _contradict(a: str, b: str) -> bool:
    # Two that have nothing in common are about two things.
    return not _keys(a).isdisjoint(_keys(b)) and (
        _Pair(read_meaning(a), read_meaning(b)).contradicts()
    )


def _main(text: str) -> str:
    """Return a statement without the reasons and additions at its end."""
    return _ADDITION.split(text, maxsplit=1)[0]


_ADDITION: Final = re.compile(
    r"(?<=\w)(?:[,;]? because\b|; |, (?:so|keep|even|never|the only|as|since)\b"
    r"|,? and (?:has|have|had|keep|no|never|don't)\b)"
)


@lru_cache(16_384)
def says_again(text: str, known: str) -> bool:
    """Whether ``text`` says what ``known`` says, in other words, or most of it.

    >>> says_again("Ask me before you push to main", "Never push to main without asking me")
    True
    """
    if all(map(ne, _numbers(text), _numbers(known))) and fold(text) != fold(known):
        return False  # Of many that are alike, most have other numbers.
    one, other = read_meaning(text), read_meaning(known)
    if is_rewording(text, known):
        return True
    # Who does it to whom is seen in the order of words only where nothing else tells.
    is_plain = one.concepts == other.concepts and not (one.denied or one.values or one.later)
    is_swapped = is_plain and not (other.denied or other.later) and swaps_roles(text, known)
    return _Pair(one, other).says_again() and not is_swapped


@lru_cache(maxsize=8192)
def _numbers(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers of a text as its concepts have them, and as a rewording has to."""
    concepts = (each for each in read_meaning(text).concepts if each[0].isdigit())
    return frozenset(concepts), frozenset(read(text).marked("number"))


class Statements:
    """Many statements, to find those that another one contradicts or says again.

    >>> known = Statements(["Use tabs", "Releases go out on Thursdays"])
    >>> [*known.contradicted("We ship every Friday")], [*known.said_again("Ship on Thursdays")]
    ([1], [1])
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Take the ``texts``."""
        self._texts = tuple(texts)
        self._places: dict[str, list[int]] = {}
        self._sizes: list[int] = []
        for at, text in enumerate(self._texts):
            keys = _keys(text)
            self._sizes.append(len(keys))
            for key in keys:
                self._places.setdefault(key, []).append(at)

    def contradicted(self, text: str) -> Iterator[int]:
        """Return, in order, the positions of those that ``text`` contradicts."""
        return (at for at in self._near(text) if contradict(text, self._texts[at]))

    def said_again(self, text: str) -> Iterator[int]:
        """Return, in order, the positions of those that ``text`` says again."""
        return (at for at in self._near(text) if says_again(text, self._texts[at]))

    def pairs(self, compare: Callable[[str, str], bool]) -> Iterator[tuple[int, int]]:
        """Yield the positions of every two, ``(earlier, later)``, of which ``compare`` is true."""
        for later, text in enumerate(self._texts):
            near = (at for at in self._near(text) if at < later)
            yield from ((at, later) for at in near if compare(self._texts[at], text))

    def _near(self, text: str) -> list[int]:
        """Return, in order, the positions of the few that share most with ``text``."""
        keys = _keys(text)
        shared: Counter[int] = Counter()
        looked_at = 0
        for holding in sorted((self._places.get(key, []) for key in keys), key=len):
            shared.update(holding[: _LOOKED_AT - looked_at])
            looked_at += len(holding)
            if looked_at >= _LOOKED_AT:
                break
        few = (
            at
            for at, count in shared.most_common(_COMPARED)
            if count * _PART >= min(len(keys), self._sizes[at])
        )
        return sorted(few)


@lru_cache(maxsize=8192)
def _keys(text: str) -> frozenset[str]:
    """Return what a statement may have in common with one that is about the same thing."""
    meaning = read_meaning(text)
    return frozenset(meaning.concepts | meaning.values.keys())

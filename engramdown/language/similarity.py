"""Compares memories: whether two say the same, so that one may be merged into the other.

No model, no I/O, symmetric, linear time in the length of a text; any string may be passed. Two
texts that differ in a number, a name, a path, a version or a negation are never the same, however
alike they look: a new memory that is taken for a known one would be dropped in silence, while one
that is not recognised only leads to one more question. Another order, inflection, filler words,
another negator, a typo and a small addition are recognised; synonyms are not.

Besides words, two texts differ in signs (:func:`signs_apart`): letters that are names, quotations,
numbers in a row. A sign that both have in the same place is not a difference; every other sign is
one, because its meaning is unknown. And they differ in small words that turn a claim
(:func:`turns`): *was* and *is*, *or* and *and*, *his* and *her*. Harmless words are listed; every
other small word counts, because it may be the point.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Final, Literal

from engramdown.engram import fold
from engramdown.language.claims import LONGEST, Claim, read
from engramdown.language.words import (
    OPPOSITES,
    STOP_WORDS,
    is_inflected,
    same_word,
    spaced,
    word_key,
    word_set,
)

# A letter that is a name, with the dash of an option, and the sign of a number.
_LETTER: Final = re.compile(r"(?<![\w'-])(-?[^\W\d_])(?![\w'])")
_SIGNED: Final = re.compile(r"(?<![\w-])-[0-9]\S*")
_NO_NAMES: Final = frozenset("aAiI")
# Numbers in a row: a date, a range, a ratio, a time, a version.
_ROW: Final = re.compile(r"[0-9]+(?:[-/.:,\u2013][0-9]+)+")
# Words that make a number a bound.
_BOUND: Final = re.compile(
    r"\b(at least|at most|up to|more than|less than|fewer than|over|under|above|below|within)"
    r"\s+(?=[0-9])",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(r"\bv[0-9]+\b", re.IGNORECASE)
_HALF_DAY: Final = re.compile(r"(?<=[0-9])[ ]?([ap])\.?m\b", re.IGNORECASE)
_HYPHENED: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_QUOTED: Final = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]+)\"|\u201c([^\u201d\n]+)\u201d|\u00ab([^\u00bb\n]+)\u00bb"
    r"|(?<!\w)'([^'\n]+)'(?!\w)"
)
_WORD: Final = re.compile(r"[^\W_]+")
_BETWEEN: Final = re.compile(r"[,;.!?](?:\s|\Z)|\band\b", re.IGNORECASE)
# Two parts may change places; the order of more may matter.
_SEVERAL: Final = 2
# The claim itself reads "from" and "to"; "must" and "should" are not opposites of "may" here.
_OPPOSED: Final = [pair for pair in OPPOSITES if not pair & {"from", "must", "should"}]
# They only separate words.
_PLAIN: Final = frozenset({"-", "--", "---", "\u2013", "\u2014", "...", "\u2026", "\u00b7"})
_QUOTES: Final = frozenset("`\u00b4")


def signs_apart(a: str, b: str) -> str:
    """Return the signs in which two texts differ so that they may say two things, or ``""``.

    >>> signs_apart("Use option a", "Use option b")
    'a letter or a sign'
    >>> signs_apart("Due 2026-01-02", "Due 2026-02-01")
    'a number (2026-01-02 / 2026-02-01)'
    """
    if found := _told("a number", _ROW.findall(a), _ROW.findall(b)):
        return found
    if _signs(a) != _signs(b):
        return "a letter or a sign"
    # One text says a thing of one and its opposite of another: enable a, disable b.
    words, others = (_WORD.findall(text.casefold()) for text in (a, b))
    held = (set(words), set(others))
    opposed = words != others and any(pair <= each for pair in _OPPOSED for each in held)
    if opposed or _regrouped(_parts_of(a), _parts_of(b)):
        return "an order"
    return (
        _told("a quotation", _quoted(a, b), _quoted(b, a))
        or _told("a name", _parts(a, b), _parts(b, a))
        or _told("a character", _unspaced(a), _unspaced(b))
    )


def _unspaced(text: str) -> set[str]:
    """Return the characters of scripts without spaces, of which no small words are known."""
    return set() if text.isascii() else {char for char in text if spaced(char) != char}


def _signs(text: str) -> tuple[list[str], ...]:
    """Return letters, numbers with a sign, halves of a day, rows and bounds, and symbols.

    The letters are those that are names; each is in its order. Symbols are arrows, currencies,
    operators, pictures, and punctuation on its own.
    """
    letters = [each if each[0] == "-" else each.casefold() for each in _LETTER.findall(text)]
    letters = letters if set(letters) - _NO_NAMES else []
    half_days = [half.casefold() for half in _HALF_DAY.findall(text)]
    rows = [*_ROW.findall(text), *_VERSION.findall(text), *map(_folded, _BOUND.findall(text))]
    tokens = (token for token in text.split() if token not in _PLAIN)
    alone = [token for token in tokens if not any(map(str.isalnum, token))]
    symbols = [*alone, *filter(_is_symbol, text)]
    return letters, sorted(set(_SIGNED.findall(text))), half_days, rows, symbols


def _is_symbol(char: str) -> bool:
    return char not in _QUOTES and unicodedata.category(char)[0] == "S"


def _parts_of(text: str) -> list[frozenset[str]]:
    """Return the words of each part of a text, in order; of a plural its singular."""
    parts = (read(part).every - STOP_WORDS for part in _BETWEEN.split(text))
    return [frozenset(word.removesuffix("s") for word in part) for part in parts if part]


def _regrouped(mine: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]]) -> bool:
    """Whether two texts of as many parts have other words together, or others behind others."""
    if len(mine) != len(theirs) or len(mine) < _SEVERAL:
        return False
    # A word that only one of them has is compared elsewhere.
    both = frozenset().union(*mine) & frozenset().union(*theirs)
    here, there = [part & both for part in mine], [part & both for part in theirs]
    if len(mine) > _SEVERAL:
        return here != there
    # She speaks this and that: a single word is an item of a list.
    return min(map(len, (*here, *there))) > 1 and set(here) != set(there)


def _quoted(text: str, other: str) -> set[str]:
    """Return the quotations of ``text`` that ``other`` does not contain letter by letter."""
    held = _folded(other)
    quoted = ("".join(groups) for groups in _QUOTED.findall(text))
    return {words for each in quoted if (words := _folded(each)) not in held}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _parts(text: str, other: str) -> set[str]:
    """Return the parts of words with a hyphen, small words too, that ``other`` has no form of."""
    parts = {part for word in _HYPHENED.findall(text) for part in word.casefold().split("-")}
    words = read(other).every if parts else set[str]()
    return {part for part in parts if not any(is_inflected(part, word) for word in words)}


def _told(what: str, mine: Iterable[str], theirs: Iterable[str]) -> str:
    here, there = set(mine), set(theirs)
    if here == there:
        return ""
    sides = sorted(", ".join(sorted(side)) or "none" for side in (here - there, there - here))
    return f"{what} ({' / '.join(sides)})"


# Negations are compared by what they govern, and opposites by name.
_COMPARED: Final = word_set("not no never none nothing cannot avoid avoids without only must")
_HARMLESS: Final = word_set(
    "a an the is are am be been being it its there this that these those which who you your i me "
    "my we us our user do does get gets got should please ensure sure ever always also too just "
    "own every all each any so then and as s because use uses used using prefer prefers preferred "
    "preferring choose chooses chosen choosing instead rather than over remember needs to of"
)
# Harmless if one text has them, but not if each has another one.
_WHOSE: Final = word_set("your you i me my we us our user")
# They are interchangeable in too many sentences to be a difference, but may matter.
_LIKE: Final = word_set(
    "in on at for by with per into during within when while if from well now them"
)
_ROLES: Final = _LIKE | {"of"}
# Verbs of doing: to run a test is not to write it. A text without one may mean any of them.
# The forms of such words, each with the plain one.
DOING: Final = {
    word: words.split()[0]
    for words in (
        "run runs running execute executes executed executing",
        "write writes written writing",
        "make makes made making",
        "give gives given giving",
        "keep keeps kept keeping live lives lived living store stores stored storing",
        "need needed require requires required",
        "have has having",
        "allowed",
        "user",
    )
    for word in words.split()
}

_USED_TO: Final = "used to "
# Beside one of these a form in -ed is not the past tense: errors are logged.
_PASSIVE: Final = word_set("is are be been being am get gets was were s")
_AGENTS: Final = ("er", "ers")
_PAST: Final = word_set("made kept")


def turns(a: str, b: str) -> str:
    """Return the small words in which two texts differ so that they may say two things, or ``""``.

    >>> turns("The user was vegan", "The user is vegan")
    'a small word (none / was)'
    >>> turns("Write the tests", "Run the tests"), turns("On a Friday", "on Fridays")
    ('a word (run / write)', '')
    """
    mine, theirs = _apart(a, b)
    turning = [words - _HARMLESS - _LIKE - DOING.keys() for words in (mine, theirs)]
    if any(turning):
        return _told("a small word", *turning)
    if ("by" in mine and theirs & _ROLES) or ("by" in theirs and mine & _ROLES):
        return _told("a small word", mine & _ROLES, theirs & _ROLES)
    doing = mine & DOING.keys(), theirs & DOING.keys()
    if all(doing) and {DOING[each] for each in doing[0]} != {DOING[each] for each in doing[1]}:
        return _told("a word", *doing)
    if done_by := _done_by(a, b) | _done_by(b, a):
        return f"a word ({', '.join(sorted(done_by))})"
    return "what was, and what is" if _is_past(a, b) or _is_past(b, a) else ""


def asks(a: str, b: str) -> bool:
    """Whether a small word or a spelling is a reason to let a person look at two texts.

    >>> asks("Meet in the office", "Meet at the office"), asks("Use a cache", "Use the cache")
    (True, False)
    """
    mine, theirs = _apart(a, b)
    if (mine | theirs) - _HARMLESS or (mine & _WHOSE and theirs & _WHOSE):
        return True
    one, other = set(read(a).words), set(read(b).words)
    pairs = ((one - other, other), (other - one, one))
    # A word in another form than its plural.
    return any(
        not any(is_number(word, each) for each in others)
        for words, others in pairs
        for word in words
    )


def is_number(word: str, other: str) -> bool:
    """Whether one word is the plural, or the third person, of the other.

    >>> is_number("test", "tests"), is_number("test", "tested")
    (True, False)
    """
    longer = max(word, other, key=len)
    return is_inflected(word, other) and longer.endswith("s")


def _apart(a: str, b: str) -> tuple[set[str], set[str]]:
    """Return the small words of each text that have no form in the other."""
    one, other = read(a), read(b)
    mine, theirs = (
        {
            word
            for word in claim.every.difference(claim.words, _COMPARED, *claim.marks.values())
            if not any(is_inflected(word, each) for each in against.every)
        }
        for claim, against in ((one, other), (other, one))
    )
    return mine, theirs


def _is_past(a: str, b: str) -> bool:
    """Whether ``a`` says in the past what ``b`` says in the present."""
    if (_USED_TO in a.casefold()) > (_USED_TO in b.casefold()):
        return True
    mine, theirs = read(a).every, read(b).every
    # "feed" is not a past tense, either.
    ends = {word for word in mine - theirs if word.endswith("ed") and not word.endswith("eed")}
    past = ends | ((mine - theirs) & _PAST)
    if not past or mine & _PASSIVE:
        return False
    return any(
        is_inflected(word, other) or DOING.get(word, word) == DOING.get(other)
        for word in past
        for other in theirs - mine
    )


def _done_by(a: str, b: str) -> set[str]:
    """Return the agents and comparatives in ``a`` of words in ``b``: parser, faster."""
    mine, theirs = read(a).every, read(b).every
    return {
        word
        for word in mine - theirs
        if word.endswith(_AGENTS)
        # An offer is not an agent.
        and any(
            is_inflected(word, each) and not each.startswith(word.removesuffix("s"))
            for each in theirs
            if not each.endswith(_AGENTS)
        )
    }


# A re-wording may add one word to every three that agree: with two, "tests run in CI" would be
# "slow tests run in CI"; with four, hardly any addition is left.
_WORDS_PER_ADDITION: Final = 3
# From so many words on, an order like C D A B comes from moving a phrase, not from turning a claim.
_PHRASES: Final = 4
_MARKS: Final[tuple[Literal["number", "version", "path"], ...]] = ("number", "version", "path")
_NONE: Final[frozenset[str]] = frozenset()

_Difference = tuple[str, set[str] | frozenset[str], set[str] | frozenset[str]]


def is_rewording(a: str, b: str) -> bool:
    """Whether ``a`` and ``b`` are one claim in other words; of long texts, whether they are equal.

    >>> is_rewording("Never use pip", "Don't use pip, ever")
    True
    >>> is_rewording("Never use pip", "Use pip")
    False
    """
    return fold(a) == fold(b) or (max(len(a), len(b)) <= LONGEST and _pair(a, b).is_one_claim())


def differs_in_substance(a: str, b: str) -> str:
    """Return why two texts cannot mean the same, or ``""`` if nothing in them says so.

    >>> differs_in_substance("Retry 3 times", "Retry 5 times")
    'a number (3 / 5)'
    >>> differs_in_substance("Deploy on Fridays", "Never deploy on Fridays")
    'a negation'
    """
    difference = next(_pair(a, b).differences(), None)
    if difference is None:
        return ""
    what, *sides = difference
    left, right = (", ".join(sorted(side)) or "none" for side in sides[:: 1 if a <= b else -1])
    return f"{what} ({left} / {right})" if any(sides) else what


def similarity_of(a: str, b: str) -> float:
    """Return the share of words that two texts have in common, from 0 to 1.

    >>> similarity_of("Deploy on Fridays", "Never deploy on a Friday")
    1.0
    """
    return _pair(a, b).similarity()


def swaps_roles(a: str, b: str) -> bool:
    """Whether the words of two texts are in another order, so that one does it to the other.

    >>> swaps_roles("The frontend calls the backend", "The backend calls the frontend")
    True
    """
    return _pair(a, b).turned()


def in_full(text: str, kind: str) -> str:
    """Return ``text`` with the *never* that its heading says for it, and no *always* before it.

    >>> in_full("use pip", "never"), in_full("Never use pip", "never"), in_full("Always lint", "")
    ('Never use pip', 'Never use pip', 'lint')
    """
    is_allowed = text.casefold().startswith(("you may ", "you can "))
    if kind == "never" and not is_allowed and not read(text).negations:
        return f"Never {text}"
    first, _, rest = text.partition(" ")
    return rest if first.casefold() == "always" and rest.strip() else text


class _Pair:
    """Two claims side by side.

    Attributes:
        same: The words of the second that are in the first too, each with its form there.
        left_a: The words of the first that have no form in the second.
        left_b: The words of the second that have no form in the first.
    """

    __slots__ = ("a", "b", "left_a", "left_b", "same")

    def __init__(self, a: Claim, b: Claim) -> None:
        self.a, self.b = a, b
        self.same = _forms(b, a)
        self.left_a = set(a.words) - _forms(a, b).keys()
        self.left_b = set(b.words) - self.same.keys()

    def agrees(self) -> bool:
        """Whether both are about the same things, except for a small addition on one side."""
        lefts, rights = self.opposites()
        more_a, more_b = self.left_a - lefts, self.left_b - rights
        if not self.same or (more_a and more_b):
            return False
        return (len(more_a) + len(more_b)) * _WORDS_PER_ADDITION <= len(set(self.same.values()))

    def is_one_claim(self) -> bool:
        """Whether nothing keeps the two from meaning the same."""
        return self.agrees() and next(self.differences(), None) is None

    def similarity(self) -> float:
        """Return the share of words in common."""
        numbers = [claim.marked("number") for claim in (self.a, self.b)]
        apart = len(self.left_a) + len(self.left_b) + len(numbers[0] ^ numbers[1])
        shared = 2 * (len(set(self.same.values())) + len(numbers[0] & numbers[1]))
        return shared / (shared + apart) if shared else 0.0

    def differences(self) -> Iterator[_Difference]:
        """Yield the differences in meaning: the kind of each, and the two sides."""
        for kind in _MARKS:
            mine, theirs = (claim.marked(kind) for claim in (self.a, self.b))
            if mine != theirs:
                yield f"a {kind}", mine - theirs, theirs - mine
        yield from self.recounted()
        # Of code another form is another name: get_user and get_users.
        names = self.a.marked("name") & self.left_a | (self.a.code - self.b.every)
        others = self.b.marked("name") & self.left_b | (self.b.code - self.a.every)
        if names or others:
            yield "a name", names, others
        if len(self.a.negations) != len(self.b.negations) or self.swapped("not"):
            yield "a negation", _NONE, _NONE
        if self.a.only != self.b.only:
            yield "a condition", _NONE, _NONE
        lefts, rights = self.opposites()
        if lefts:
            yield "opposites", lefts, rights
        if any(self.swapped(role) for role in self.a.scopes if role != "not") or self.turned():
            yield "an order", _NONE, _NONE

    def recounted(self) -> Iterator[_Difference]:
        """Yield the words behind different numbers, of texts with the same numbers."""
        for word, number in self.b.counts.items():
            mine = self.a.counts.get(self.same.get(word, ""), number)
            if mine != number:
                yield "a number", {mine}, {number}

    def opposites(self) -> tuple[set[str], set[str]]:
        """Return the words of each side whose opposite is on the other."""
        mine, theirs = self.a.every - self.b.every, self.b.every - self.a.every
        return (
            {word for word in mine if not theirs.isdisjoint(_OPPOSITE.get(word, _NONE))},
            {word for word in theirs if not mine.isdisjoint(_OPPOSITE.get(word, _NONE))},
        )

    def swapped(self, role: str) -> bool:
        """Whether a word left the scope of ``role`` and another one came in."""
        mine = self.a.scopes.get(role, _NONE)
        theirs = {self.same.get(word, word) for word in self.b.scopes.get(role, ())}
        # A preposition governs too much: there it counts only for words that stay as they are.
        known = {form for word, form in self.same.items() if role != "of" or form == word}
        # Also for those that add little: the user asks for tests, the tests ask for a user.
        known |= self.a.every & self.b.every
        return not known.isdisjoint(mine - theirs) and not known.isdisjoint(theirs - mine)

    def turned(self) -> bool:
        """Whether words of one clause are in another order, so that B does it to A."""
        places, others = _places(self.a.forms), _places(self.b.forms)
        orders: dict[tuple[int, int], list[int]] = {}
        # With another ending than an s it may be the passive.
        forms = {
            form: word
            for word, form in self.same.items()
            if f"{form}s" == word or f"{word}s" == form
        }
        for word, (clause, _) in places.items():
            other = word if word in others else forms.get(word, word)
            if other in others:
                other_clause, place = others[other]
                orders.setdefault((clause, other_clause), []).append(place)
        return any(map(_shuffled, orders.values())) or self.crossed()

    def crossed(self) -> bool:
        """Whether two clauses have exchanged words: milk in tea, sugar in coffee."""
        places, others = _places(self.a.places), _places(self.b.places)
        went: dict[int, set[int]] = {}
        for word, (clause, _) in others.items():
            form = self.same.get(word, word)
            if form in places:
                went.setdefault(places[form][0], set()).add(clause)
        return any(len(one & other) > 1 for one, other in combinations(went.values(), 2))


def _pair(a: str, b: str) -> _Pair:
    # In one order, so that the result does not depend on the order of the arguments.
    return _Pair(*(read(text) for text in sorted((a, b))))


def _forms(claim: Claim, other: Claim) -> dict[str, str]:
    """Return those words of a claim that are in the other one, each with its form there."""
    forms = {}
    for word in set(claim.words):
        alike = other.by_key.get(word_key(word), ())
        form = word if word in alike else next((w for w in alike if same_word(w, word)), None)
        if form is not None:
            forms[word] = form
    return forms


def _places(words: Sequence[tuple[str, int]]) -> dict[str, tuple[int, int]]:
    """Return clause and place of each word that is once among ``words``."""
    often = Counter(word for word, _ in words)
    return {word: (clause, place) for place, (word, clause) in enumerate(words) if often[word] == 1}


def _shuffled(places: list[int]) -> bool:
    """Whether ``places`` are out of order, and more so than by moving the end to the front."""
    falls = sum(here > after for here, after in pairwise([*places, places[0]]))
    return falls > 1 or (len(places) < _PHRASES and places != sorted(places))


_OPPOSITE: Final = {
    word: frozenset().union(*(pair for pair in OPPOSITES if word in pair)) - {word}
    for word in frozenset().union(*OPPOSITES)
}

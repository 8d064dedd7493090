"""What two texts show besides words: letters that are names, signs, quotations, numbers in a row.

Promises: pure, symmetric, linear time, any string may be passed. A sign that both have in the same
place is no difference; everything else is one, because what a sign means cannot be told from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from engramdown.language.claims import OPPOSITES, read
from engramdown.language.words import STOP_WORDS, is_inflected, spaced

__all__ = ["signs_apart"]

# A letter that is a name, with the dash of an option, and the sign of a number.
_LETTER: Final = re.compile(r"(?<![\w'-])(-?[^\W\d_])(?![\w'])")
_SIGNED: Final = re.compile(r"(?<![\w-])-[0-9]\S*")
_NO_NAMES: Final = frozenset("aAiI")
# Numbers that stand in a row: a date, a range, a ratio, a time, a version.
_ROW: Final = re.compile(r"[0-9]+(?:[-/.:,\u2013][0-9]+)+")
# What a number is the end of.
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
# Two parts may change places; of more it may matter which one comes behind which.
_SEVERAL: Final = 2
# Where from what to what is told by the claim itself, and what must be may be as well.
_OPPOSED: Final = [pair for pair in OPPOSITES if not pair & {"from", "must", "should"}]
# They set words apart, and say nothing.
_PLAIN: Final = frozenset({"-", "--", "---", "\u2013", "\u2014", "...", "\u2026", "\u00b7"})
_QUOTES: Final = frozenset("`\u00b4")


def signs_apart(a: str, b: str) -> str:
    """Return in which signs two texts differ so that they may say two things, or ``""``.

    >>> signs_apart("Use option a", "Use option b")
    'a letter or a sign'
    >>> signs_apart("Due 2026-01-02", "Due 2026-02-01")
    'a number (2026-01-02 / 2026-02-01)'
    """
    if found := _told("a number", _ROW.findall(a), _ROW.findall(b)):
        return found
    if _signs(a) != _signs(b):
        return "a letter or a sign"
    opposed = (_opposed(a) or _opposed(b)) and _words(a) != _words(b)
    if opposed or _regrouped(_parts_of(a), _parts_of(b)):
        return "an order"
    return (
        _told("a quotation", _quoted(a, b), _quoted(b, a))
        or _told("a name", _parts(a, b), _parts(b, a))
        or _told("a character", _unspaced(a), _unspaced(b))
    )


def _signs(text: str) -> tuple[list[str], ...]:
    """Return letters, numbers with a sign, halves of a day, rows and bounds, and symbols.

    The letters are those that are names; each is in its order.
    """
    found = [each if each[0] == "-" else each.casefold() for each in _LETTER.findall(text)]
    letters = found if set(found) - _NO_NAMES else []
    half_days = [half.casefold() for half in _HALF_DAY.findall(text)]
    rows = [*_ROW.findall(text), *_VERSION.findall(text), *map(_folded, _BOUND.findall(text))]
    return letters, sorted(set(_SIGNED.findall(text))), half_days, rows, _symbols(text)


def _symbols(text: str) -> list[str]:
    """Return arrows, currencies, operators, pictures, and punctuation that stands for itself."""
    alone = [
        token
        for token in text.split()
        if token not in _PLAIN and not any(char.isalnum() for char in token)
    ]
    return [*alone, *(char for char in text if _is_symbol(char))]


def _is_symbol(char: str) -> bool:
    return char not in _QUOTES and unicodedata.category(char)[0] == "S"


def _opposed(text: str) -> bool:
    """Whether a text says a thing of one and its opposite of another: enable a, disable b."""
    words = set(_words(text))
    return any(pair <= words for pair in _OPPOSED)


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


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _quoted(text: str, other: str) -> set[str]:
    """Return what ``text`` quotes and ``other`` does not hold letter by letter."""
    held = _folded(other)
    quoted = ("".join(groups) for groups in _QUOTED.findall(text))
    return {words for each in quoted if (words := _folded(each)) not in held}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _parts(text: str, other: str) -> set[str]:
    """Return the parts of words with a hyphen, small words too, that ``other`` has no form of."""
    parts = {part for word in _HYPHENED.findall(text) for part in word.casefold().split("-")}
    said = read(other).every if parts else set[str]()
    return {part for part in parts if not any(is_inflected(part, word) for word in said)}


def _unspaced(text: str) -> set[str]:
    """Return the characters of scripts without spaces, of which no small words are known."""
    return set() if text.isascii() else {char for char in text if spaced(char) != char}


def _told(what: str, mine: Iterable[str], theirs: Iterable[str]) -> str:
    here, there = set(mine), set(theirs)
    if here == there:
        return ""
    sides = sorted(", ".join(sorted(side)) or "none" for side in (here - there, there - here))
    return f"{what} ({' / '.join(sides)})"

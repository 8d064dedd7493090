"""Porter's stemmer for English words: what "planning" and "planned" have in common.

Promises: for every word the same stem as SQLite's FTS5 with ``tokenize = 'porter unicode61'``, so
that a search without SQLite finds what a search with it finds; total; linear time.

The algorithm is M. F. Porter's *An algorithm for suffix stripping* of 1980, with its author's two
later rules (*bli* and *logi*). It speaks of a stem as ``[C](VC)^m[V]``, runs of consonants and
vowels: its *measure* is m.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["stem"]

# In bytes of UTF-8, as FTS5 counts: shorter and longer words stay as they are.
_SHORTEST: Final = 3
_LONGEST: Final = 64
_DOUBLE: Final = re.compile(r"([^aeioulsz])\1\Z")
_CVC: Final = re.compile(r"cvc\Z")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of ``word``, which must be in lower case.

    >>> stem("planning"), stem("planned"), stem("studies"), stem("relational")
    ('plan', 'plan', 'studi', 'relat')
    """
    if not _SHORTEST <= len(word.encode("utf-8", "replace")) <= _LONGEST:
        return word
    for step in (_plural, _past, _final_y):
        word = step(word)
    for table in (_LONG, _MIDDLE):
        word = _replaced(word, table)
    for step in (_ending, _final_e, _final_l):
        word = step(word)
    return word


def _shape(part: str) -> str:
    """Return ``part`` as c for consonants and v for vowels; y is a vowel after a consonant."""
    shape = ""
    for char in part:
        vowel = char in "aeiou" or (char == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(part: str) -> int:
    return _shape(part).count("vc")


def _short(part: str) -> bool:
    """Whether ``part`` ends as *hop* does, which has lost an e, and not as *snow* or *box*."""
    return bool(_CVC.search(_shape(part))) and part[-1] not in "wxy"


def _plural(word: str) -> str:
    if word[1:].endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word[1:].endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        start = word.removesuffix(suffix)
        if start != word:
            return _mended(start) if "v" in _shape(start) else word
    return word


def _mended(start: str) -> str:
    """Return what *-ed* or *-ing* was put behind: conflat-e, hop-(p), fil-e."""
    if start.endswith(("at", "bl", "iz")):
        return start + "e"
    if _DOUBLE.search(start):
        return start[:-1]
    return start + "e" if _measure(start) == 1 and _short(start) else start


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word[-1] == "y" and "v" in _shape(word[:-1]) else word


def _table(lines: str) -> tuple[tuple[str, str], ...]:
    """Return the suffixes of ``lines`` and what becomes of them, the longest first."""
    pairs = [(old, new.strip("-")) for old, new in (line.split() for line in lines.split(","))]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


_LONG: Final = _table(
    "ational ate, tional tion, enci ence, anci ance, izer ize, logi log, bli ble, alli al, "
    "entli ent, eli e, ousli ous, ization ize, ation ate, ator ate, alism al, iveness ive, "
    "fulness ful, ousness ous, aliti al, iviti ive, biliti ble"
)
_MIDDLE: Final = _table("icate ic, ative -, alize al, iciti ic, ical ic, ful -, ness -")
_LAST: Final = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate"),
    *("iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
)


def _replaced(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for old, new in table:
        if word.endswith(old):
            start = word[: -len(old)]
            return start + new if _measure(start) else word
    return word


def _ending(word: str) -> str:
    for suffix in _LAST:
        if word.endswith(suffix):
            start = word[: -len(suffix)]
            cut = _measure(start) > 1 and (suffix != "ion" or start[-1] in "st")
            return start if cut else word
    return word


def _final_e(word: str) -> str:
    start = word.removesuffix("e")
    measure = _measure(start)
    return start if measure > 1 or (measure == 1 and not _short(start)) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word

"""A text as the index takes it: in ASCII, so that FTS5 and a scan cannot differ about a letter.

Promises: what FTS5 makes of a folded text is what :func:`tokens` makes of the text without FTS5;
no text is an error. An ASCII text is its own folded text, which is why this costs most nothing.
Which characters are a word says :mod:`engramdown.episodes.words.terms`; here words of other scripts
are spelt with letters and digits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from zlib import crc32

from engramdown.episodes.words.stems import stem
from engramdown.episodes.words.terms import words

__all__ = ["folded", "speaking", "spelt", "tokens"]

_WORD: Final = re.compile(r"[a-z0-9]+")
_SHORT: Final = 32


def folded(text: str) -> str:
    """Return ``text`` in ASCII: words of other scripts are spelt with letters and digits.

    >>> folded("see a Café"), folded("день")
    ('see a cafe', 'u434u435u43du44c0')
    """
    if text.isascii():
        return text
    return " ".join(part if part.isascii() else _fold(part) for part in text.split(" "))


def tokens(text: str) -> list[str]:
    """Return the words of ``text`` as they stand in the index, stemmed, in their order.

    >>> tokens("Plans for a Café")
    ['plan', 'for', 'a', 'cafe']
    """
    return [stem(word) for word in spelt(text)]


def spelt(text: str) -> list[str]:
    """Return the words of ``text`` as FTS5 is asked for them, which stems them by itself.

    >>> spelt("Plans for a Café")
    ['plans', 'for', 'a', 'cafe']
    """
    return _WORD.findall(folded(text).lower())


def speaking(name: str) -> str:
    """Return the word that stands in the index beside the first line of a speaker in each chunk.

    It tells of a few hundred lines at once who speaks there, and is nobody's word.
    """
    return f"by{crc32(name.lower().encode('utf-8', 'replace')):08x}0"


def _fold(part: str) -> str:
    return _fold_short(part) if len(part) <= _SHORT else _fold_any(part)


def _fold_any(part: str) -> str:
    return " ".join(word if word.isascii() else _spelt(word) for word in words(part.casefold()))


_fold_short = lru_cache(maxsize=4096)(_fold_any)


def _spelt(word: str) -> str:
    """Spell a word in ASCII; the digit at its end keeps English endings from being cut off it."""
    return "".join(char if char.isascii() else f"u{ord(char):x}" for char in word) + "0"

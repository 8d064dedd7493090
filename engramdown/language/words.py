"""The words that every search of ours leaves out or takes apart.

Promises: any string may be passed; linear time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["STOP_WORDS", "UNSPACED", "spaced", "word_set"]


def word_set(words: str) -> frozenset[str]:
    """Return the words of a table that is written as running text, to be read and kept in order."""
    return frozenset(words.split())


STOP_WORDS: Final = word_set(
    "a about ain also am an and any are aren as at be because been being both but by can "
    "cannot could couldn d did didn do does doesn doing don down during each either etc every "
    "few for from had hadn has hasn have haven having he her here hers him his how i if in "
    "into is isn it its just ll m may me might more most much must my no nor not now of off "
    "on once only onto or other our ours out over own please re s same shall she should "
    "shouldn so some such t than that the their theirs them then there these they this those "
    "through to too under until up us ve very was wasn we were weren what when where whether "
    "which while who whom why will with won would wouldn you your yours always never"
)
"""English words that say little about what a text is about; contractions are in parts."""

UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that write no space between words, and Korean, which glues particles to them."""


def spaced(text: str) -> str:
    """Return ``text`` with a space around each character of a script that writes none.

    >>> spaced("use 日本語")
    'use  日  本  語 '
    """
    if text.isascii() or not _maybe_unspaced().search(text):
        return text
    return _unspaced().sub(r" \1 ", text)


@cache
def _maybe_unspaced() -> re.Pattern[str]:
    # No letter of the west, nor a dash or a quotation mark: those are in most texts.
    return re.compile("[^\x00-\u0dff\u1e00-\u2e7f]")


@cache
def _unspaced() -> re.Pattern[str]:
    # So many characters take milliseconds to compile, and most texts have none of them.
    return re.compile(f"([{UNSPACED}])")

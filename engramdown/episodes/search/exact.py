r"""Finding a string as it is, capitals or not: every string, and every line that holds it.

Promises: a line is found exactly if the case-folded text of the episode holds the case-folded
string; the newest come first. Most lines are passed over by looking at their bytes; that is only
done where it is certain that the bytes would show it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engramdown.recall.lines import Line, read_lines

__all__ = ["inner_words", "lines_with", "probe"]

# What JSON may write in another way: the quote, the backslash, the slash and controls.
_AS_IT_IS: Final = re.compile(r"[ !#-.0-\[\]-~]+")
_INNER: Final = re.compile(r"(?<=[\x00-/:-@\[-`{-\x7f])[a-z0-9]+(?=[\x00-/:-@\[-`{-\x7f])")


def probe(needle: str) -> bytes:
    """Return the longest part of ``needle`` that the bytes of an ASCII line must hold as well.

    >>> probe('Say "Hello there"'), probe("größe")
    (b'hello there', b'sse')
    """
    parts = _AS_IT_IS.findall(needle.casefold())
    return max(parts, key=len, default="").encode()


def inner_words(needle: str) -> list[str]:
    """Return the words that every text with ``needle`` has as whole words.

    The first and the last may be pieces of others.

    >>> inner_words("ould you mind that ")
    ['you', 'mind', 'that']
    """
    return _INNER.findall(needle.casefold())


def lines_with(needle: str, block: bytes) -> Iterator[Line]:
    """Yield the lines of ``block`` whose text holds ``needle``, in their order."""
    wanted, sign = needle.casefold(), probe(needle)
    for part in _suspects(block, sign, ascii_only=wanted.isascii()):
        for line in read_lines(part):
            if wanted in line.text.casefold():
                yield line


def _suspects(block: bytes, sign: bytes, *, ascii_only: bool) -> Iterator[bytes]:
    """Yield pieces of ``block``, whole lines each, that may hold what is looked for."""
    plain = block.isascii() and b"\\u" not in block
    if plain and not ascii_only:
        return
    if plain and sign:
        yield from _around(block, sign)
        return
    start, end = 0, block.find(b"\n") + 1
    while end:
        line = block[start:end]
        simple = line.isascii() and b"\\u" not in line
        if not simple or (ascii_only and sign in line.lower()):
            yield line
        start, end = end, block.find(b"\n", end) + 1


def _around(block: bytes, sign: bytes) -> Iterator[bytes]:
    """Yield the lines that hold ``sign``."""
    lower = block.lower()
    at = lower.find(sign)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at) + 1
        if not end:
            return
        yield block[start:end]
        at = lower.find(sign, end)

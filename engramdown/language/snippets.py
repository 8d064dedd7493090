"""Cuts the piece out of a text that shows why it matches.

The match is always in the piece, and no character that a person sees as one is cut in two: not an
emoji of several people, not a letter and its accent, not a flag. Linear time, no I/O.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from engramdown.language.terms import stem, tokens

# Characters of a piece, unless the match itself is longer.
LONGEST: Final = 240

_ELLIPSIS: Final = "…"
_WORD: Final = re.compile(r"[^\W_]+")
_JOINER: Final = "\u200d"
# Variants of a character and skin tones; tags spell flags.
_GLUED: Final = re.compile("[\ufe00-\ufe0f\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAGS: Final = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_SPACES: Final = 24


def find(text: str, needle: str) -> tuple[int, int] | None:
    """Return the span of ``needle`` in ``text``, whatever its case.

    >>> find("Die Straße", "STRASSE"), find("abc", "x")
    ((4, 10), None)
    """
    folded_needle, folded = needle.casefold(), text.casefold()
    at = folded.find(folded_needle)
    if at < 0:
        return None
    if len(folded) == len(text):
        return at, at + len(folded_needle)
    start = end = passed = 0
    for place, char in enumerate(text):
        before, passed = passed, passed + len(char.casefold())
        if before <= at:
            start = place
        if before < at + len(folded_needle):
            end = place + 1
    return start, max(start, end)


def where(text: str, stems: frozenset[str]) -> tuple[int, int]:
    """Return the span with the most of ``stems`` close together, or the beginning without any.

    Args:
        text: Any text.
        stems: As :func:`engramdown.language.terms.tokens` returns them.
    """
    hits = []
    for word in _WORD.finditer(text):
        said = word[0]
        hit = stems & ({stem(said.lower())} if said.isascii() else set(tokens(said)))
        if hit:
            hits.append((word.start(), word.end(), hit))
    best, chosen = 0, (0, 0)
    first = 0
    for last, (_, end, _hit) in enumerate(hits):
        # A word may be longer than a piece: a key, or a picture in base64.
        while first < last and end - hits[first][0] > LONGEST // 2:
            first += 1
        kinds = len(set().union(*(hit for _, _, hit in hits[first : last + 1])))
        if kinds > best:
            start = hits[first][0]
            best, chosen = kinds, (start, min(end, start + LONGEST // 2))
    return chosen


def snippet(text: str, start: int, end: int, longest: int = LONGEST) -> str:
    """Return the piece of ``text`` around ``start`` to ``end``, with ellipses at the cuts.

    >>> snippet("word " * 100 + "needle" + " word" * 100, 500, 506).count("needle")
    1
    """
    if len(text) <= longest:
        return text
    room = max(longest - (end - start), 0) // 2
    first = max(start - room, 0)
    if first:
        # The beginning of a word near it, if there is one before the match.
        first = max(first, text.find(" ", first - 1, min(first + _SPACES, start)) + 1)
    first = whole(text, first)
    last = min(max(end + room, first + longest), len(text))
    while last < len(text) and _inside(text, last):
        last += 1
    before = _ELLIPSIS if first else ""
    return f"{before}{text[first:last]}{_ELLIPSIS if last < len(text) else ''}"


def shortened(text: str, size: int = 2_000) -> tuple[str, bool]:
    """Return as much of ``text`` as ``size`` bytes hold, and whether it was cut.

    At least the first character stays.

    >>> shortened("naïve", 3), shortened("naïve", 0), shortened("naïve", 9)
    (('na', True), ('n', True), ('naïve', False))
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return text, False
    beginning = data[:size]
    while beginning and data[len(beginning)] & 0xC0 == 0x80:  # noqa: PLR2004 - inside a character
        beginning = beginning[:-1]
    shown = beginning.decode("utf-8", "surrogatepass") or text[:1]
    return shown, shown != text


def whole(text: str, at: int) -> int:
    r"""Return the last place up to ``at`` where a character as a person sees it begins.

    >>> whole("e\u0301t\u0301", 3), whole("e\u0301", 1)
    (2, 0)
    """
    while 0 < at < len(text) and _inside(text, at):
        at -= 1
    return at


def _inside(text: str, at: int) -> bool:
    """Whether the code point at ``at`` belongs to the character before it."""
    char, before = text[at], text[at - 1]
    if before == _JOINER or _GLUED.match(char) or unicodedata.category(char)[0] == "M":
        return True
    if before == "\r" and char == "\n":
        return True
    # Of a row of flags, each is two halves.
    return char in _FLAGS and (at - len(text[:at].rstrip(_FLAGS))) % 2 == 1

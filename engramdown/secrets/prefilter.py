"""Finds the places in a long text where a pattern is worth trying, or where what it says stands.

:meth:`LikelyPattern.search` finds the same matches as the pattern alone, and :func:`runs` misses no
run. Pure; the cost grows linearly with the text, and is small if there is nothing to find.

:mod:`re` tries a pattern that begins with many names in any case at every character, which is slow.
So a plainer pattern in small letters is searched first, and the real one is tried only where that
matches.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from engramdown.forks import cached_property
from engramdown.lazy import compiled

# How many characters in front of the likely pattern are searched.
BEFORE: Final = 16


def small(text: str) -> str:
    r"""Return ``text`` in small letters, each at its place.

    >>> small("PASS \u0130D"), len("\u0130".lower())
    ('pass id', 2)
    """
    # The characters that re takes for an i, a k or an s if it ignores case.
    lowered = text.replace("\u0130", "i").lower()
    return lowered.replace("\u0131", "i").replace("\u017f", "s")


class LikelyPattern(NamedTuple):
    """A pattern, and a plainer one for the places where it is worth trying.

    Attributes:
        likely: A pattern that matches, in small letters, wherever the other one does.
        pattern: The pattern to find.
        before: A pattern for the text right before the likely one, in small letters; at most
            :data:`BEFORE` characters.
    """

    likely: str
    pattern: str
    before: str = r"(?!)"

    def search(self, text: str, lowered: str, at: int = 0) -> re.Match[str] | None:
        """Return the first match of the pattern in ``text`` from ``at`` on.

        Args:
            text: Any text.
            lowered: The same text from :func:`small`.
            at: Where to begin.
        """
        likely = compiled(self.likely)
        place = at
        while found := likely.search(lowered, place):
            place = found.start()
            for start in self._starts(lowered, at, place):
                # Compiled here: it takes longer than most texts, and most have nothing likely.
                if match := compiled(self.pattern).match(text, start):
                    return match
            place += 1
        return None

    def _starts(self, lowered: str, at: int, place: int) -> list[int]:
        """Return where the pattern may begin, from ``at`` on, if the likely one is at ``place``."""
        before = compiled(self.before).search(lowered, max(at, place - BEFORE), place)
        # A name may begin with the sign that joins it to the word before.
        return sorted({before.start(), place - 1, place}) if before else [place]

    def finditer(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        """Yield the matches of the pattern, none of which is empty."""
        at = 0
        while match := self.search(text, lowered, at):
            yield match
            at = match.end()


def runs(text: str, signs: str, least: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of ``least`` or more letters, digits and ``signs`` in a row.

    Characters other than ASCII count as letters.

    >>> list(runs("id 0123-4567 x", "-", 8))
    [(3, 12)]
    """
    # With one byte for each character, the search for a run of one byte is quick.
    if len(text) < least:
        return
    marks = text.encode("latin-1", "replace").translate(_table(signs))
    end = 0
    while (found := marks.find(_IN * least, end)) >= 0:
        end = marks.find(b" ", found)
        end = end if end >= 0 else len(marks)
        yield found, end


_IN: Final = b"a"


@cache
def _table(signs: str) -> bytes:
    """Return the marks of all bytes; encoding made question marks of other characters."""
    known = {*signs, "?"}
    every = map(chr, range(256))
    marks = ("a" if one in known or one.isalnum() or not one.isascii() else " " for one in every)
    return "".join(marks).encode()


# ---- texts that read otherwise than they are written ----

# Where the characters of a text begin and end.
Places = tuple[Sequence[int], Sequence[int]]


class Reading:
    """A text as it reads, and where each of its characters is in what was read.

    Attributes:
        text: What it reads as.
    """

    def __init__(self, text: str, places: Callable[[], Places] | None = None) -> None:
        """Hold ``text``; ``places`` returns where its characters are, if that is elsewhere."""
        self.text = text
        self._places = places

    @cached_property
    def places(self) -> Places:
        """Where the characters begin and end."""
        size = len(self.text)
        return self._places() if self._places else (range(size), range(1, size + 1))

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where the characters from ``start`` to ``end`` are in what was read."""
        starts, ends = self.places
        return starts[start], ends[end - 1]

    def decoded(self, pattern: re.Pattern[str], read: Callable[[str], str]) -> Reading:
        """Return it with what ``read`` makes of each match of ``pattern``."""
        text = pattern.sub(lambda match: read(match[0]), self.text)

        def places() -> Places:
            spans = array("q"), array("q")
            at = 0
            for match in pattern.finditer(self.text):
                size = len(read(match[0]))
                place = self.place(*match.span())
                for before, after, edge in zip(self.places, spans, place, strict=True):
                    after.extend(before[at : match.start()])
                    after.extend([edge] * size)
                at = match.end()
            for before, after in zip(self.places, spans, strict=True):
                after.extend(before[at:])
            return spans

        return Reading(text, places)

    def stripped(self) -> Reading:
        """Return it without the spaces at its ends."""
        first = len(self.text) - len(self.text.lstrip())
        text = self.text.strip()

        def places() -> Places:
            starts, ends = self.places
            return starts[first : first + len(text)], ends[first : first + len(text)]

        return Reading(text, places)

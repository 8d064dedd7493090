"""What is kept of every line beside its words: 21 bytes, in chunks of 32 lines of one session.

Promises: the key of a line is a small number, so that lists of keys are short: the number of its
chunk times 32 plus its place there; what is packed comes back. The lines of a session stand in
their chunks by their place in the file, so the chunks of a session are the same however and in
whatever order the index came by them; only the chunks' numbers differ.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol
from zlib import crc32

__all__ = [
    "CHUNK",
    "LENGTH",
    "PAGE",
    "Chunk",
    "Fact",
    "Source",
    "Unusable",
    "Values",
    "freshness",
    "length_of",
    "pack",
]

CHUNK: Final = 32
"""Lines in a chunk."""
LENGTH: Final = 21
"""Bytes of a line."""
PAGE: Final = 512
"""Chunks whose freshness stands in one row."""

_FACT: Final = struct.Struct("<IIqHBH")
_LONGEST: Final = 0xFFFF
_SECOND: Final = 1_000_000
_TICKET: Final = 30


Values = tuple[int, int, int, int, int, int]
"""A :class:`Fact` without names: there are very many."""


class Fact(NamedTuple):
    """What is known of a line without reading it.

    Attributes:
        start: Where it begins, in bytes from the beginning of its chunk.
        seq: Its number in the session, as it says itself.
        ts: When, in microseconds since 1970.
        length: How many words it has.
        role: The place of its role among ``ROLES``, or that of a broken line.
        name: The number of the tool's or speaker's name.
    """

    start: int
    seq: int
    ts: int
    length: int
    role: int
    name: int


class Chunk(NamedTuple):
    """Up to 32 neighbouring lines of one session.

    Attributes:
        session: The number of the session.
        place: Which chunk of the session this is, from 0.
        start: Where its first line begins in the file.
        end: Where its last line ends.
        facts: The packed facts.
    """

    session: int
    place: int
    start: int
    end: int
    facts: bytes

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self.facts) // LENGTH

    def fact(self, place: int) -> Fact:
        """Return what is known of the line at ``place``."""
        return Fact._make(self.values(place))

    def values(self, place: int) -> Values:
        """Return the same, but faster and without names."""
        found: Values = _FACT.unpack_from(self.facts, place * LENGTH)
        return found

    def speakers(self) -> set[tuple[int, int]]:
        """Return the role and the name's number of each line, once."""
        return {fact[-2:] for fact in _FACT.iter_unpack(self.facts)}

    def range(self, place: int) -> tuple[int, int]:
        """Return where the line at ``place`` begins and ends in the file."""
        after = place + 1
        end = self.start + self.values(after)[0] if after < self.lines else self.end
        return self.start + self.values(place)[0], end


def pack(facts: Sequence[Values]) -> bytes:
    """Return facts as bytes; a length or a number that is too large is the largest."""
    try:
        return b"".join([_FACT.pack(*fact) for fact in facts])
    except struct.error:
        return b"".join([_pack(fact) for fact in facts])


def length_of(text: str) -> int:
    """Return how long a text is, in words, as far as that can be told quickly.

    >>> length_of("two words"), length_of("")
    (2, 1)
    """
    return min(text.count(" ") + 1, _LONGEST)


def _pack(fact: Values) -> bytes:
    start, seq, ts, length, role, name = fact
    counts = min(seq, 0xFFFFFFFF), ts, min(length, _LONGEST), role, min(name, _LONGEST)
    return _FACT.pack(start, *counts)


def freshness(ts: int, session: str, at: int) -> int:
    """Return a number that is larger for a later chunk, and differs for two of the same second.

    Args:
        ts: When its first line was written, in microseconds since 1970.
        session: The id of the session.
        at: Which chunk of the session it is.
    """
    ticket = crc32(f"{session}#{at}".encode()) >> (32 - _TICKET)
    second = min(max(ts // _SECOND, 0), (1 << 33) - 1)
    return second << _TICKET | ticket


# What recall asks: an index, or a scan that knows the same.


class Unusable(Exception):  # noqa: N818 - it says what the index is, and no caller of ours sees it
    """What is known of the transcripts is no longer so, and must be gathered anew."""


class Source(Protocol):
    """What is known about the lines of all transcripts without reading their texts.

    Attributes:
        total: How many lines have words.
    """

    @property
    def total(self) -> int:
        """How many lines have words."""
        ...

    def keys(self, word: str) -> Sequence[int]:
        """Return the keys of the lines that hold a word, ascending.

        Args:
            word: As :func:`engramdown.language.terms.spelt` returns it.
        """
        ...

    def freshness(self) -> Sequence[int]:
        """Return a number per chunk, by the chunk's number: the larger, the later."""
        ...

    def chunk(self, number: int) -> Chunk:
        """Return the chunk with this number."""
        ...

    def fetch(self, numbers: Collection[int]) -> Mapping[int, Chunk]:
        """Return the chunks with these numbers, and perhaps others, by number."""
        ...

    def find(self, session: int, place: int) -> int | None:
        """Return the number of a session's chunk."""
        ...

    def chunks(self, session: int) -> Iterable[int]:
        """Return the numbers of the chunks of a session."""
        ...

    def name(self, session: int) -> str:
        """Return the id of a session."""
        ...

    def number(self, session: str) -> int | None:
        """Return the number of a session."""
        ...

    def speaker(self, name: int) -> str:
        """Return the name of a speaker or a tool."""
        ...

    def speakers(self) -> Iterable[str]:
        """Return the names of those who speak."""
        ...

    def is_plain(self) -> bool:
        """Whether every line that has words may be recalled when nothing else is said."""
        ...

    def is_excluded(self, session: int, seq: int) -> bool:
        """Whether a line is kept out of recall."""
        ...

    def broken(self) -> int:
        """Return how many lines are no episodes."""
        ...

    def running(self, first: int, last: int) -> Iterable[int]:
        """Return the numbers of the sessions that may have a line between two times.

        Both are in microseconds since 1970 and belong to it.
        """
        ...

    def sessions(self) -> Iterable[tuple[str, int]]:
        """Yield each session with the time of its newest line, the newest first."""
        ...

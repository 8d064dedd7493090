"""What recall asks: an index, or a scan that knows the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from engramdown.episodes.index.rows import Chunk

__all__ = ["Source", "Unusable"]


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

"""Reads one file: as lines or as one JSON value, from the beginning or from where it was left.

Promises: what was read so far has its length and its digest at every moment; a last line that is
still being written is left for the next time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Protocol

from engramdown.importers.finding import Opened
from engramdown.importers.ledger import HEAD
from engramdown.importers.records import Record, Skipped
from engramdown.importers.splitting import elements, is_document, is_list, parse

__all__ = ["Elements", "Lines", "Reading", "is_one_value", "sample"]

_PIECE: Final = 1 << 20
_HEAD: Final = 1 << 16
_SAMPLED: Final = 50


class Reading(Protocol):
    """The records of one file."""

    offset: int
    lines: int
    unfinished: bool

    @property
    def head(self) -> str:
        """The SHA-256 of the beginning, once there is enough of it."""
        ...

    @property
    def digest(self) -> str:
        """The SHA-256 of what was read."""
        ...

    def __iter__(self) -> Iterator[Record | Skipped]:
        """Yield its records."""
        ...


class _Digested:
    """What was read so far.

    Attributes:
        offset: How many bytes.
        lines: How many lines or elements that were.
        unfinished: Whether the last line is still being written.
    """

    def __init__(self, stream: Opened) -> None:
        """Read ``stream``, which stands at its beginning."""
        self.offset = 0
        self.lines = 0
        self.unfinished = False
        self._stream = stream
        self._beginning = b""
        self._digest = hashlib.sha256()

    @property
    def head(self) -> str:
        """The SHA-256 of the beginning, once there is enough of it."""
        enough = len(self._beginning) == HEAD
        return hashlib.sha256(self._beginning).hexdigest() if enough else ""

    @property
    def digest(self) -> str:
        """The SHA-256 of what was read."""
        return self._digest.hexdigest()

    def _take(self, data: bytes) -> None:
        self._digest.update(data)
        self.offset += len(data)
        if len(self._beginning) < HEAD:
            self._beginning += data[: HEAD - len(self._beginning)]


class Lines(_Digested):
    """A file of one record a line."""

    def __init__(self, stream: Opened, offset: int = 0, lines: int = 0) -> None:
        """Read ``stream``; ``offset`` bytes of it, ``lines`` lines, are known."""
        super().__init__(stream)
        while self.offset < offset and (piece := stream.read(min(offset - self.offset, _PIECE))):
            self._take(piece)
        self.lines = lines

    def __iter__(self) -> Iterator[Record | Skipped]:
        """Yield the records, and what is none."""
        while line := self._stream.readline():
            found = parse(line, self.lines + 1, self.offset)
            if not line.endswith(b"\n") and isinstance(found, Skipped):
                self.unfinished = True
                return
            self._take(line)
            self.lines += 1
            if found is not None:
                yield found


class Elements(_Digested):
    """A file that is one JSON value."""

    def __iter__(self) -> Iterator[Record | Skipped]:
        """Yield the records, and what is none."""
        pieces = self._pieces()
        for found in elements(pieces):
            self.lines = found.line
            yield found
        for _ in pieces:
            pass  # what stands behind the end of the value belongs to the digest, too

    def _pieces(self) -> Iterator[bytes]:
        while piece := self._stream.read(_PIECE):
            self._take(piece)
            yield piece


def is_one_value(stream: Opened) -> bool:
    """Whether a file is one JSON value, not one a line; ``stream`` stands at its beginning."""
    head = stream.read(_HEAD)
    first, line_end, _ = head.partition(b"\n")
    return is_list(head) or (line_end != b"" and is_document(first))


def sample(reading: Reading) -> list[Any]:
    """Return the first values of a file."""
    records = (found.value for found in reading if isinstance(found, Record))
    return list(islice(records, _SAMPLED))

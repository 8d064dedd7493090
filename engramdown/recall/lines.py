r"""The lines of transcripts as the index knows them: read from bytes, and packed in chunks.

:func:`read_lines` takes for an episode what ``read_line`` of :mod:`engramdown.transcripts.episode`
takes for one, with the same fields, and reads most lines four times as fast. Bytes behind the last
``\n`` are left for later; a line that is not an episode has a place, its bytes, and nothing else.

Beside its words the index keeps 21 bytes of each line, in chunks of 32 lines of one session. The
key of a line is the number of its chunk times 32 plus its place there: a small number, so that
lists of keys are short. The lines of a session are in its chunks by their place in the file, so
these are the same in whatever order the index came by them; only the chunks' numbers differ.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from engramdown.lazy import texts
from engramdown.transcripts.episode import ROLES, Episode, read_line, stamp
from engramdown.transcripts.visibility import LOOKS, repeats_memory

# The role of a line that is not an episode.
BROKEN: Final = 127
# The roles of lines that have no words in the index.
WORDLESS: Final = frozenset({ROLES.index("event"), BROKEN})
# The roles whose names are those of somebody who speaks.
SPEAKERS: Final = frozenset({ROLES.index("user"), ROLES.index("assistant")})
# Lines in a chunk.
CHUNK: Final = 32
# Chunks whose freshness is in one row.
PAGE: Final = 512

_ROLE: Final = {role.encode(): code for code, role in enumerate(ROLES)}
_ECHO: Final = _ROLE[b"memory_read"]
_LOOKS: Final = tuple(name.encode() for name in LOOKS)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLION: Final = 1_000_000
_FACTS: Final = struct.Struct("<IIqHBH")
_LARGEST: Final = 0xFFFF
_TICKET: Final = 30

# What the index knows of a line: where it begins, in bytes from the beginning of its chunk; its
# number in the session, as it says itself; when, in microseconds since 1970; how many words it has;
# the place of its role among `ROLES`; the number of the tool's or speaker's name.
Facts = tuple[int, int, int, int, int, int]


class Unusable(Exception):  # noqa: N818 - it says what the index is, and no caller of ours sees it
    """The index does not match the transcripts any more, and must be built again."""


class Line(NamedTuple):
    """One line.

    Attributes:
        start: Where it begins in the block.
        seq: Its number in the session, as it says itself.
        ts: When, in microseconds since 1970.
        role: The place of its role among ``ROLES``, or :data:`BROKEN`; that of ``memory_read``
            if it :func:`repeats_memory <engramdown.transcripts.visibility.repeats_memory>` memory.
        name: The tool or the speaker.
        text: What was said.
        event: The whole episode, if it is an event.
    """

    start: int
    seq: int
    ts: int
    role: int
    name: str
    text: str
    event: Episode | None = None


def read_lines(block: bytes) -> Iterator[Line]:
    r"""Yield every line of ``block`` that ends with its ``\n``."""
    match = _pattern("usual").match
    plain = block.isascii()
    start, last = 0, block.rfind(b"\n") + 1
    while start < last:
        usual = match(block, start)
        line = _usual(usual, start, plain=plain) if usual else None
        end = usual.end() if usual else block.find(b"\n", start) + 1
        yield line or _any(block[start:end], start)
        start = end


def usual(block: bytes, start: int = 0) -> int:
    """Return where the lines end that are episodes beyond doubt; ``block`` is UTF-8.

    Whoever asks only that need not read them. They begin at ``start``, as a line does.
    """
    found = _pattern("good").match(block, start)
    return found.end() if found else start


def microseconds(ts: str) -> int:
    """Return the time of a line as microseconds since 1970.

    >>> microseconds("1970-01-01T00:01:02.000003Z")
    62000003
    """
    passed = datetime.fromisoformat(ts) - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * _MILLION + passed.microseconds


def moment_text(ts: int) -> str:
    """Return microseconds since 1970 as a line has them.

    >>> moment_text(62000003)
    '1970-01-01T00:01:02.000003Z'
    """
    return stamp(_EPOCH + timedelta(microseconds=ts))


@cache
def _pattern(name: str) -> re.Pattern[bytes]:
    # A question for which nothing is new needs none, and to compile one takes a millisecond.
    return re.compile(texts(__file__)[name].encode())


def _usual(found: re.Match[bytes], start: int, *, plain: bool) -> Line | None:
    seq, minute, second, role, text, name = found.groups()
    try:
        if not plain:
            found[0].decode()
        ts = _minute(minute) + int(second.replace(b".", b""))
    except ValueError:
        return None
    said = text.decode()
    if "\\" in said:
        said = json.loads(f'"{said}"')
    if name is not None and name.endswith(_LOOKS):
        return None  # perhaps an echo
    return Line(start, int(seq), ts, _ROLE[role], name.decode() if name else "", said)


@lru_cache(maxsize=64)
def _minute(minute: bytes) -> int:
    return microseconds(f"{minute.decode()}:00.000000Z")


def _any(line: bytes, start: int) -> Line:
    episode = read_line(line)
    if episode is None:
        return Line(start, 0, 0, BROKEN, "", "")
    role = _ECHO if repeats_memory(episode) else _ROLE[episode.role.encode()]
    event = episode if episode.role == "event" else None
    ts = microseconds(episode.ts)
    return Line(start, episode.seq, ts, role, episode.name, episode.text, event)


class Chunk(NamedTuple):
    """Up to 32 neighbouring lines of one session.

    Attributes:
        session: The number of the session.
        place: Which chunk of the session this is, from 0.
        start: Where its first line begins in the file.
        end: Where its last line ends.
        facts: What is known of each line, packed.
    """

    session: int
    place: int
    start: int
    end: int
    facts: bytes

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self.facts) // _FACTS.size

    def line(self, place: int) -> Facts:
        """Return the facts of the line at ``place``."""
        found: Facts = _FACTS.unpack_from(self.facts, place * _FACTS.size)
        return found

    def roles(self) -> set[int]:
        """Return the roles of its lines."""
        return {facts[4] for facts in _FACTS.iter_unpack(self.facts)}

    def range(self, place: int) -> tuple[int, int]:
        """Return where the line at ``place`` begins and ends in the file."""
        after = place + 1
        end = self.start + self.line(after)[0] if after < self.lines else self.end
        return self.start + self.line(place)[0], end


def pack(lines: Sequence[Facts]) -> bytes:
    """Return facts as bytes; a count or a number that is too large is the largest."""
    try:
        return b"".join([_FACTS.pack(*facts) for facts in lines])
    except struct.error:
        most = (0xFFFFFFFF, 0xFFFFFFFF, 1 << 63, _LARGEST, 0xFF, _LARGEST)
        return b"".join([_FACTS.pack(*map(min, facts, most)) for facts in lines])


def length_of(text: str) -> int:
    """Return about how many words a text has; this is quick.

    >>> length_of("two words"), length_of("")
    (2, 1)
    """
    return min(text.count(" ") + 1, _LARGEST)


def freshness(ts: int, session: str, at: int) -> int:
    """Return a number that is larger for a later chunk, and differs for two of the same second.

    Args:
        ts: When its first line was written, in microseconds since 1970.
        session: The id of the session.
        at: Which chunk of the session it is.
    """
    ticket = crc32(f"{session}#{at}".encode()) >> (32 - _TICKET)
    second = min(max(ts // _MILLION, 0), (1 << 33) - 1)
    return second << _TICKET | ticket


def second_of(freshness: int) -> int:
    """Return when a chunk's first line was written, in seconds, from its :func:`freshness`."""
    return freshness >> _TICKET

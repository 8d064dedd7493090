"""The same as the index knows, from reading every transcript: for a Python without SQLite or FTS5.

Promises: every answer is the one that :class:`engramdown.recall.index.Index` gives, but
for the numbers of chunks and sessions, which mean nothing; what was appended since is in it. It
takes a second for some ten thousand lines, and as much again whenever a file has changed.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.language.terms import speaking, stem, tokens
from engramdown.recall.lines import BROKEN, Line, read_lines
from engramdown.recall.source import CHUNK, Chunk, Fact, freshness, length_of, pack
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts import changes
from engramdown.transcripts.episode import ROLES
from engramdown.transcripts.visibility import marked

__all__ = ["Scan"]

_SPEAKERS: Final = frozenset({ROLES.index("user"), ROLES.index("assistant")})


class Scan:
    """Every transcript of a folder, read into memory."""

    def __init__(self, folder: Path, disk: EpisodeDisk) -> None:
        """Read the transcripts in ``folder`` when the first question comes."""
        self._folder = folder
        self._disk = disk
        self._files: dict[str, changes.Seen] = {}
        self._clear()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of the transcripts for the length of a block."""
        found: dict[str, changes.Seen | None] = {}
        # Nobody is asked after this one: where nothing can be read, nothing is found.
        with suppress(OSError):
            found = {
                name: changes.look(self._folder, name) for name in changes.listing(self._folder)
            }
        files = {name: seen for name, seen in sorted(found.items()) if seen is not None}
        if files != self._files:
            self._clear()
            for name in files:
                self._read(name)
            self._files = files
        yield

    @property
    def total(self) -> int:
        """How many lines have words."""
        return self._total

    def keys(self, word: str) -> Sequence[int]:
        """Return the keys of the lines that hold a word, ascending."""
        return self._words.get(stem(word), array("I"))

    def freshness(self) -> Sequence[int]:
        """Return a number per chunk, by the chunk's number: the larger, the later."""
        return self._fresh

    def chunk(self, number: int) -> Chunk:
        """Return the chunk with this number."""
        return self._chunks[number]

    def fetch(self, numbers: Collection[int]) -> Mapping[int, Chunk]:
        """Return the chunks with these numbers."""
        return {number: self._chunks[number] for number in numbers}

    def find(self, session: int, place: int) -> int | None:
        """Return the number of a session's chunk."""
        number = self._firsts[session] + place
        found = number < len(self._chunks) and self._chunks[number].session == session
        return number if found else None

    def chunks(self, session: int) -> Iterable[int]:
        """Return the numbers of the chunks of a session."""
        first = self._firsts[session]
        return (
            first + at for at, chunk in enumerate(self._chunks[first:]) if chunk.session == session
        )

    def name(self, session: int) -> str:
        """Return the id of a session."""
        return self._sessions[session]

    def number(self, session: str) -> int | None:
        """Return the number of a session."""
        return self._sessions.index(session) if session in self._sessions else None

    def speaker(self, name: int) -> str:
        """Return the name of a speaker or a tool."""
        return self._names[name]

    def speakers(self) -> Iterable[str]:
        """Return the names of those who speak."""
        return self._speakers

    def is_plain(self) -> bool:
        """Whether every line that has words may be recalled when nothing else is said."""
        return False

    def is_excluded(self, session: int, seq: int) -> bool:
        """Whether a line is kept out of recall."""
        return session in self._hidden or (session, seq) in self._excluded

    def running(self, first: int, last: int) -> Iterable[int]:  # noqa: ARG002 - see there
        """Return the numbers of the sessions that may have a line between two times."""
        return [number for number, newest in enumerate(self._newest) if newest >= first]

    def broken(self) -> int:
        """Return how many lines are no episodes."""
        return self._broken

    def sessions(self) -> Iterable[tuple[str, int]]:
        """Yield each session with the time of its newest line, the newest first."""
        pairs = zip(self._sessions, self._newest, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def _clear(self) -> None:
        self._total = 0
        self._broken = 0
        self._words: dict[str, array[int]] = {}
        self._fresh: array[int] = array("q")
        self._chunks: list[Chunk] = []
        self._sessions: list[str] = []
        self._newest: list[int] = []
        self._firsts: list[int] = []
        self._names: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}
        self._speakers: set[str] = set()
        self._hidden: set[int] = set()
        self._excluded: set[tuple[int, int]] = set()

    def _read(self, name: str) -> None:
        try:
            data = self._disk.load(self._folder / f"{name}{changes.SUFFIX}")
        except (OSError, StoreError):
            return
        block = data or b""
        session = len(self._sessions)
        lines = list(read_lines(block))
        self._sessions.append(name)
        self._broken += sum(line.role == BROKEN for line in lines)
        self._firsts.append(len(self._chunks))
        self._newest.append(max((line.ts for line in lines if line.role != BROKEN), default=0))
        for at in range(0, len(lines), CHUNK):
            part = lines[at : at + CHUNK]
            end = lines[at + CHUNK].start if at + CHUNK < len(lines) else block.rfind(b"\n") + 1
            self._chunk(session, at // CHUNK, part, end)
        for line in lines:
            if line.event is not None:
                self._mark(session, line)

    def _chunk(self, session: int, place: int, lines: Sequence[Line], end: int) -> None:
        start = lines[0].start
        self._fresh.append(freshness(lines[0].ts, self._sessions[session], place))
        first = len(self._chunks) * CHUNK
        noted: set[str] = set()
        facts = pack([self._fact(line, first + at, start, noted) for at, line in enumerate(lines)])
        self._chunks.append(Chunk(session, place, start, end, facts))

    def _fact(self, line: Line, key: int, start: int, noted: set[str]) -> Fact:
        words = tokens(line.text)
        if line.role in _SPEAKERS and line.name and line.name not in noted:
            noted.add(line.name)
            self._speakers.add(line.name)
            words.append(speaking(line.name))
        if line.event is None and line.role != BROKEN:
            self._total += 1
            for word in dict.fromkeys(words):
                self._words.setdefault(word, array("I")).append(key)
        name = self._numbers.setdefault(line.name, len(self._numbers))
        self._names.extend([line.name] * (name + 1 - len(self._names)))
        length = length_of(line.text)
        return Fact(line.start - start, line.seq, line.ts, length, line.role, name)

    def _mark(self, session: int, line: Line) -> None:
        if line.event is None:
            return
        away, seqs = marked(line.event)
        pairs = {(session, seq) for seq in seqs or ()}
        if away is None:
            return
        if seqs is None:
            (self._hidden.add if away else self._hidden.discard)(session)
            if not away:
                self._excluded = {pair for pair in self._excluded if pair[0] != session}
        elif away:
            self._excluded |= pairs
        else:
            self._excluded -= pairs

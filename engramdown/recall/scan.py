"""What the index knows, from reading every transcript: for a Python without SQLite or FTS5.

Every answer is the one that :class:`engramdown.recall.index.Index` gives, but for the numbers of
chunks and sessions, which mean nothing; what was appended since is in it. It takes a second for
some ten thousand lines, and as much again whenever a file has changed.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from engramdown.errors import StoreError
from engramdown.language.terms import speaking, stem, tokens
from engramdown.recall import lines
from engramdown.recall.lines import BROKEN, CHUNK, SPEAKERS, WORDLESS, Chunk, Line
from engramdown.storage.disk import Disk
from engramdown.transcripts import changes
from engramdown.transcripts.visibility import excluded


class Scan:
    """Every transcript of a folder, read into memory; its methods are those of the index."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        """Read the transcripts in ``folder`` when the first question comes."""
        self._folder = folder
        self._disk = disk
        self._files: dict[str, changes.FileState] = {}
        self._clear()

    def keep_up(self) -> None:
        """Read the transcripts, unless they are as they were."""
        files: dict[str, changes.FileState] = {}
        # Nobody is asked after this one: where nothing can be read, nothing is found.
        with suppress(OSError):
            for name in sorted(changes.listing(self._folder)):
                if (seen := changes.file_state(self._folder, name)) is not None:
                    files[name] = seen
        if files != self._files:
            self._clear()
            for name in files:
                with suppress(OSError, StoreError):
                    self._read(name)
            self._files = files

    def _clear(self) -> None:
        self.total = 0
        self._words: dict[str, array[int]] = {}
        self._fresh = array("q")
        self._chunks: list[Chunk] = []
        self._places: dict[tuple[int, int], int] = {}
        self._sessions: list[str] = []
        self._newest: list[int] = []
        self._names: dict[str, int] = {"": 0}
        self._speakers: set[str] = set()
        self._hidden: set[int] = set()
        self._excluded: set[tuple[int, int]] = set()

    def _read(self, name: str) -> None:
        block = self._disk.load(self._folder / f"{name}{changes.SUFFIX}") or b""
        session, said = len(self._sessions), list(lines.read_lines(block))
        self._sessions.append(name)
        self._newest.append(max((line.ts for line in said if line.role != BROKEN), default=0))
        for at in range(0, len(said), CHUNK):
            part, place = said[at : at + CHUNK], at // CHUNK
            start = part[0].start
            end = said[at + CHUNK].start if at + CHUNK < len(said) else block.rfind(b"\n") + 1
            self._index(part)
            self._fresh.append(lines.freshness(part[0].ts, name, place))
            self._places[session, place] = len(self._chunks)
            facts = lines.pack([self._facts(line, start) for line in part])
            self._chunks.append(Chunk(session, place, start, end, facts))
        whole, seqs = excluded(line.event for line in said if line.event is not None)
        self._hidden |= {session} if whole else set()
        self._excluded |= {(session, seq) for seq in seqs}

    def _facts(self, line: Line, start: int) -> lines.Facts:
        name = self._names.setdefault(line.name, len(self._names))
        length = lines.length_of(line.text)
        return line.start - start, line.seq, line.ts, length, line.role, name

    def _index(self, part: Sequence[Line]) -> None:
        """Take in the words of a chunk that comes next."""
        noted: set[str] = set()
        for key, line in enumerate(part, len(self._chunks) * CHUNK):
            words = dict.fromkeys(tokens(line.text))
            if line.role in SPEAKERS and line.name and line.name not in noted:
                noted.add(line.name)
                words[speaking(line.name)] = None
            if line.role not in WORDLESS:
                self.total += 1
                for word in words:
                    self._words.setdefault(word, array("I")).append(key)
        self._speakers |= noted

    # ---- what it knows ----

    def keys(self, word: str) -> Sequence[int]:
        """Return the keys of the lines that hold a word, ascending."""
        return self._words.get(stem(word), array("I"))

    def freshness(self) -> Sequence[int]:
        """Return a number per chunk, by the chunk's number: the larger, the later."""
        return self._fresh

    def fetch(self, numbers: Collection[int]) -> Mapping[int, Chunk]:
        """Return the chunks with these numbers."""
        return {number: self._chunks[number] for number in numbers}

    def find(self, session: int, place: int) -> int | None:
        """Return the number of a session's chunk."""
        return self._places.get((session, place))

    def chunks(self, session: int) -> Iterable[int]:
        """Return the numbers of the chunks of a session."""
        return [number for (each, _), number in self._places.items() if each == session]

    def name(self, session: int) -> str:
        """Return the id of a session."""
        return self._sessions[session]

    def number(self, session: str) -> int | None:
        """Return the number of a session."""
        return self._sessions.index(session) if session in self._sessions else None

    def speaker(self, name: int) -> str:
        """Return the name of a speaker or a tool."""
        return list(self._names)[name]

    def speakers(self) -> Iterable[str]:
        """Return the names of those who speak."""
        return self._speakers

    def is_plain(self) -> bool:
        """Whether every line that has words may be recalled when nothing else is said."""
        return False

    def is_excluded(self, session: int, seq: int) -> bool:
        """Whether a line is kept out of recall."""
        return session in self._hidden or (session, seq) in self._excluded

    def running(self, first: int, last: int) -> Iterable[int]:  # noqa: ARG002 - the index looks at it
        """Return the numbers of the sessions that may have a line between two times."""
        return [number for number, newest in enumerate(self._newest) if newest >= first]

    def sessions(self) -> Iterable[tuple[str, int]]:
        """Yield each session with the time of its newest line, the newest first."""
        pairs = zip(self._sessions, self._newest, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

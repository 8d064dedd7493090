r"""The journal of a scope: one line of JSON per change to its memory.

Promises: append-only; a step stands here before it is carried out, with what every file held
before and after, so that it can be carried out again after a crash, undone, and explained. Every
state of a file can be made from it, and what cannot be made from it whole is not made at all. A
line that cannot be read is skipped, never an error.

A file's part in a step is one splice: at ``at``, ``old`` was replaced by ``new``, in characters of
the text as UTF-8 with surrogateescape. Now and then a line also holds the ``text`` as a whole, and
what the journal knows of every file, so that nobody has to read all of it to find that out.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from engramdown.hippocampus.disk import Disk
from engramdown.hippocampus.steps import (
    Head,
    Part,
    Step,
    digest,
    make_part,
    read_heads,
    read_line,
    write_line,
)

__all__ = ["History"]

_CHUNK: Final = 64 * 1024
# As much of the last line as tells it from any other: the id of its step and the time.
_MARK: Final = 80
# What is known of all files is written again when the journal has grown by this many bytes, and by
# this many for each file: then it is a tenth of the journal at most.
_KNOWN_EVERY: Final = 64 * 1024
_KNOWN_EVERY_FILE: Final = 1024
_FILE: Final = re.compile(rb'"file": "((?:[^"\\]|\\.)*+)"')


class History:
    """The journal file of one scope.

    What it knows of the file is taken in by :meth:`refresh` and stays until the next one.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        """Name the file; it need not exist."""
        self.path = path
        self._disk = disk
        # Threads may share a store: one looks for hand edits while another one writes.
        self._guard = threading.RLock()
        self.forget()

    def forget(self) -> None:
        """Forget what is known of the file."""
        with self._guard:
            self._heads: dict[str, Head] | None = None
            self._known_at = 0
            self._last = ""
            self._size = 0
            self._inode = 0
            self._mark: tuple[int, bytes] = (0, b"")

    @property
    def size(self) -> int:
        """The size of the file in bytes, without a torn last line."""
        return self._size

    @property
    def last(self) -> str:
        """The id of the last step, or ``""``."""
        with self._guard:
            if not self._last:
                steps = (read_line(line) for line in self._lines_backwards(self._size))
                self._last = next((step.id for step in steps if step is not None), "")
            return self._last

    def refresh(self) -> None:
        """Take in what other processes appended."""
        with self._guard:
            size, inode = self._disk.identity(self.path)
            if inode != self._inode or size < self._size:
                self.forget()
            if size > self._size > 0:
                self._take(size)
            if size > self._size == 0:
                self._open(size)
            self._inode = inode

    def append(self, steps: Sequence[Step]) -> int:
        """Write steps down for good, in one piece, and return the size of the journal before."""
        with self._guard:
            lines = self._lines_of(steps)
            before = self._disk.append(self.path, b"".join(lines))
            if not self._inode:
                self._sync_name(before)
            if before == self._size:
                for step, line in zip(steps, lines, strict=True):
                    self._note(step, line)
            else:
                # Somebody else wrote in between, without the lock: what we know is begun anew.
                self.forget()
                self.refresh()
            return before

    def take_back(self, size: int) -> None:
        """Drop what was appended after ``size``: a step that could not be carried out."""
        with self._guard:
            self.forget()
            self._disk.truncate(self.path, size)
            self.refresh()

    def part(self, file: str, before: str | None, after: str | None) -> Part:
        """Return the part of a step that turns ``before`` into ``after``; ``None`` is no file."""
        heads = self._known()
        whole = heads[file].whole if file in heads else self._size
        others = sum(head.size for name, head in heads.items() if name != file)
        return make_part(file, before, after, journal=self._size, whole=whole, others=others)

    def heads(self) -> dict[str, str]:
        """Return the digest that every file had after its last step; ``""`` for a removed one."""
        return {file: head.target for file, head in self._known().items()}

    def head(self, file: str) -> str | None:
        """Return the digest that ``file`` had after its last step, or ``None`` if it has none."""
        known = self._known().get(file)
        return known.target if known else None

    def last_at(self, file: str) -> str:
        """Return when the last step of ``file`` was made, or ``""``."""
        return next((step.at for step, _ in self._steps_backwards(file)), "")

    def text(self, file: str) -> str | None:
        """Return the text that ``file`` had after its last step, made from the journal alone.

        ``None`` if there was no file, or if too much of the journal is gone to tell.
        """
        later: list[Part] = []
        for _, part in self._steps_backwards(file):
            later.append(part)
            if part.begins is not None:
                text = part.begins
                for following in reversed(later[:-1]):
                    text = following.forward(text)
                return text if digest(text) == later[0].target else None
        return None

    def states(self, file: str, head: str, limit: int, seen: str = "") -> list[str]:
        """Return the texts that an editor may hold, the newest last, and ``head`` behind them.

        What a person saved is what their editor holds, so nothing older than that counts; unless
        it was displaced by our own file, which an editor may have been opened on then.

        Args:
            file: The file.
            head: Its text after the last step.
            limit: The largest number of texts.
            seen: The digest of the newest of them, if it is known.
        """
        texts, now = [], head
        for step, part in self._steps_backwards(file):
            if digest(now) != part.target:
                break
            if seen in ("", part.target):
                seen = ""
                texts.append(now)
                settled = step.by == "person" and step.op != "meanwhile"
                # Before the file was there, no editor can have been opened on it.
                if len(texts) >= limit or settled or not part.source:
                    break
            now = part.backward(now)
        return [*texts[::-1], head] if texts[:1] != [head] else texts[::-1]

    def was(self, file: str, state: str) -> bool:
        """Whether ``file`` once was what has the digest ``state``: then it was taken back to it."""
        key, mark = _key(file), f'"to": "{state}"'.encode()
        lines = self._lines_backwards(self._size)
        steps = (read_line(line) for line in lines if mark in line and key in line)
        parts = (part for step in steps if step is not None for part in step.parts)
        return any((part.file, part.target) == (file, state) for part in parts)

    def since(self, file: str, target: str) -> list[Part]:
        """Return what happened to ``file`` since it became ``target``, the newest first.

        The last one made it so; none if it never was.
        """
        found: list[Part] = []
        for _, part in self._steps_backwards(file):
            found.append(part)
            if part.target == target:
                return found
        return []

    def steps(self) -> list[Step]:
        """Return every step, the oldest first."""
        self.refresh()
        data = self._read(0, self._size) if self._size else b""
        return [step for line in data.split(b"\n") if (step := read_line(line)) is not None]

    def steps_after(self, step_id: str) -> list[Step]:
        """Return the steps after ``step_id``, the oldest first; none if there is no such step.

        All steps are after ``""``.
        """
        found: list[Step] = []
        for line in self._lines_backwards(self._size):
            step = read_line(line)
            if step is not None and step.id == step_id:
                return found[::-1]
            if step is not None:
                found.append(step)
        return [] if step_id else found[::-1]

    def _sync_name(self, before: int) -> None:
        """Make the name of a new journal last; what cannot be made to last is taken back."""
        try:
            self._disk.sync_folder(self.path.parent)
        except OSError:
            self.take_back(before)
            raise
        self._inode = self._disk.identity(self.path)[1]

    def _open(self, size: int) -> None:
        """Begin with a journal of ``size`` bytes: find its last whole line."""
        lines = self._lines_backwards(size)
        self._size = size - len(next(lines))
        line = next(lines, b"")
        self._mark = (max(0, self._size - len(line) - 1), line[:_MARK])

    def _take(self, size: int) -> None:
        """Take in what was appended; if it was not appended to what we know, begin again."""
        start, mark = self._mark
        data = self._read(start, size)
        if not data.startswith(mark) or self._size - start > len(data):
            self.forget()
            return
        for line in data[self._size - start :].split(b"\n")[:-1]:
            self._note(read_line(line), line + b"\n")

    def _note(self, step: Step | None, line: bytes) -> None:
        heads = self._heads
        if heads is not None and read_heads(line, self._size) is not None:
            self._known_at = self._size
        self._mark = (self._size, line[:_MARK])
        self._size += len(line)
        if step is not None:
            self._last = step.id
        if step is not None and heads is not None:
            heads |= {part.file: part.head for part in step.parts}

    def _lines_of(self, steps: Sequence[Step]) -> list[bytes]:
        """Return the lines for ``steps``; the first one tells of every file, if that is due."""
        heads = self._known()
        due = max(_KNOWN_EVERY, _KNOWN_EVERY_FILE * len(heads))
        told = heads if self._size - self._known_at >= due else None
        first = [write_line(step, told, self._size) for step in steps[:1]]
        return first + [write_line(step) for step in steps[1:]]

    def _known(self) -> dict[str, Head]:
        """Return how its last step left every file."""
        with self._guard:
            if self._heads is None:
                self._heads, self._known_at = self._read_known()
            return self._heads

    def _read_known(self) -> tuple[dict[str, Head], int]:
        """Read how every file was left, and where that was last written down for all of them."""
        heads: dict[str, Head] = {}
        seen: set[bytes] = set()
        at = self._size + 1
        for line in self._lines_backwards(self._size):
            at -= len(line) + 1
            # Cheap look first: most lines are about files that were found already.
            names = {*_FILE.findall(line)}
            step = read_line(line) if not names <= seen else None
            if step is not None:
                seen |= names
                found = {part.file: part.head for part in step.parts}
                heads = found | heads
            before = read_heads(line, at)
            if before is not None:
                return before | heads, at
        return heads, 0

    def _steps_backwards(self, file: str) -> Iterator[tuple[Step, Part]]:
        key = _key(file)
        for line in self._lines_backwards(self._size):
            if key in line and (step := read_line(line)) is not None:
                yield from ((step, part) for part in step.parts if part.file == file)

    def _lines_backwards(self, end: int) -> Iterator[bytes]:
        """Yield what stands behind the last line end, then the lines from the last one upwards."""
        rest, chunk = b"", _CHUNK
        while end > 0:
            start = max(0, end - chunk)
            lines = (self._read(start, end) + rest).split(b"\n")
            rest = lines[0]
            yield from reversed(lines[1:])
            end, chunk = start, chunk * 2
        yield rest

    def _read(self, start: int, end: int) -> bytes:
        return self._disk.read_range(self.path, start, end)


def _key(file: str) -> bytes:
    return f'"file": {json.dumps(file, ensure_ascii=False)}'.encode("utf-8", "surrogateescape")

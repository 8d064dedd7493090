r"""The journal of a scope: one line of JSON per change to its memory.

Promises: append-only; a step stands here before it is carried out, with what every file held
before and after, so that it can be carried out again after a crash, undone, and explained. Every
state of a file can be made from it, and what cannot be made from it whole is not made at all. A
line that cannot be read is skipped, never an error.

A file's part in a step is one splice: at ``at``, ``old`` was replaced by ``new``, in characters of
the text as UTF-8 with surrogateescape. Now and then a line also holds the ``text`` as a whole.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from engramdown.hippocampus.disk import Disk
from engramdown.hippocampus.steps import Part, Step, digest, make_part, read_line, write_line

__all__ = ["History"]

_CHUNK: Final = 64 * 1024
# As much of the last line as tells it from any other: the id of its step and the time.
_MARK: Final = 80


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
            self._heads: dict[str, Part | None] = {}
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
            lines = [write_line(step) for step in steps]
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
        known = self._parts((file,))[file]
        return make_part(file, before, after, self._size, known.whole if known else self._size)

    def heads(self, files: Iterable[str]) -> dict[str, str]:
        """Return the digest that each file had after its last step, if it has one."""
        parts = self._parts(tuple(files))
        return {file: part.target for file, part in parts.items() if part is not None}

    def head(self, file: str) -> str | None:
        """Return the digest that ``file`` had after its last step, or ``None`` if it has none."""
        return self.heads((file,)).get(file)

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
        self._mark = (self._size, line[:_MARK])
        self._size += len(line)
        if step is not None:
            self._last = step.id
            self._heads |= {part.file: part for part in step.parts}

    def _parts(self, files: tuple[str, ...]) -> dict[str, Part | None]:
        """Return the last part of each file; ``None`` for one without a step."""
        with self._guard:
            missing = {_key(file): file for file in files if file not in self._heads}
            for line in self._lines_backwards(self._size) if missing else ():
                # Cheap look first: most lines are about one file, and found already.
                if any(key in line for key in missing) and (step := read_line(line)) is not None:
                    for part in step.parts:
                        if missing.pop(_key(part.file), None) is not None:
                            self._heads[part.file] = part
                    if not missing:
                        break
            self._heads |= dict.fromkeys(missing.values())
            return {file: self._heads[file] for file in files}

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

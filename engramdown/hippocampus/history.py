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

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.forks import RLock, in_child
from engramdown.hippocampus.steps import (
    Head,
    How,
    Part,
    Past,
    Step,
    digest,
    make_part,
    read_heads,
    read_line,
    write_line,
)
from engramdown.storage.disk import Disk, megabytes

__all__ = ["ROOM", "History", "known_is_due"]

_CHUNK: Final = 64 * 1024
# As much of the last line as tells it from any other: the id of its step and the time.
_MARK: Final = 80
# What is known of all files is written again when the journal has grown by this many bytes, and by
# this many for each file: then it is a tenth of the journal at most.
_KNOWN_EVERY: Final = 64 * 1024
_KNOWN_EVERY_FILE: Final = 1024
ROOM: Final = 32
"""How often the largest memory file goes into the largest journal that is read."""
_FILE: Final = re.compile(rb'"file": "((?:[^"\\]|\\.)*+)"')


def known_is_due(grown: int, files: int) -> bool:
    """Whether a journal tells of all files again, that has grown by so many bytes since it did."""
    return grown >= max(_KNOWN_EVERY, _KNOWN_EVERY_FILE * files)


class History:
    """The journal file of one scope.

    What it knows of the file is taken in by :meth:`refresh` and stays until the next one.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        """Name the file; it need not exist."""
        self.path = path
        self._disk = disk
        # Threads may share a store: one looks for hand edits while another one writes.
        self._guard = RLock()
        self.forget()
        # What another thread was just taking in, a child process takes in anew.
        in_child(self, History.forget)

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
        """Take in what other processes appended.

        Raises:
            StoreError: If the file is far too large to be a journal.
        """
        with self._guard:
            size, inode = self._disk.identity(self.path)
            self._check(size)
            if inode != self._inode or size < self._size:
                self.forget()
            if size > self._size > 0:
                self._take(size)
            if size > self._size == 0:
                self._open(size)
            self._inode = inode

    def _check(self, size: int) -> None:
        limit = ROOM * self._disk.limit
        if size > limit:
            has, most = megabytes(size, limit)
            raise StoreError(
                f"{self.path}: has {has} MB, more than the limit of {most} MB; "
                "move it away: memory stays, and a new journal begins."
            )

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

    def replace(self, data: bytes) -> None:
        """Let the journal hold ``data``: what a person erased for good is out of it then.

        Whoever knew the file sees that another one has its name.
        """
        with self._guard:
            self.forget()
            self._disk.create(self.path, data, like=self.path)
            self._disk.sync_folder(self.path.parent)
            self.refresh()

    def lines(self) -> list[bytes]:
        """Return every whole line, the oldest first, without its end."""
        self.refresh()
        return self._read(0, self._size).split(b"\n")[:-1] if self._size else []

    def erased(self) -> frozenset[str]:
        """Return the ids of the memories that a person erased for good."""
        steps = (read_line(line) for line in self.lines() if b'"erased": true' in line)
        return frozenset(
            change.id for step in steps if step for change in step.changes if change.erased
        )

    def take_back_saves(self, finished: str) -> None:
        """Drop a person's saves after the step ``finished`` if nothing else was written behind."""
        with self._guard:
            size = self._size
            lines = self._lines_backwards(size)
            for line in itertools.islice(lines, 1, None):
                step = read_line(line)
                if step is None or step.by != "person" or step.id == finished:
                    break
                size -= len(line) + 1
            if size < self._size:
                self.take_back(size)

    def part(self, file: str, before: str | None, after: str | None) -> Part:
        """Return the part of a step that turns ``before`` into ``after``; ``None`` is no file."""
        heads = self._known()
        whole = heads[file].whole if file in heads else self._size
        others = sum(head.size for name, head in heads.items() if name != file)
        return make_part(file, before, after, journal=self._size, whole=whole, others=others)

    def heads(self) -> dict[str, str]:
        """Return the digest that every file had after its last step; ``""`` for a removed one."""
        with self._guard:
            return {file: head.target for file, head in self._known().items()}

    def head(self, file: str) -> str | None:
        """Return the digest that ``file`` had after its last step, or ``None`` if it has none."""
        known = self._known().get(file)
        return known.target if known else None

    def marks(self, file: str) -> tuple[str, ...]:
        """Return what a person changed in ``file`` that is yet to be marked as verified."""
        known = self._known().get(file)
        return known.marks if known else ()

    def last_at(self, file: str) -> str:
        """Return when the last step of ``file`` was made, or ``""``."""
        return next((step.at for step, _ in self._steps_backwards(file)), "")

    def backwards(self, file: str, head: str) -> Iterator[tuple[Step, str, str]]:
        """Yield the steps of a file that holds ``head``, the newest first, as far as they are told.

        Each comes with the text after it and the text before; an absent file reads ``""``.
        """
        text = head
        for step, part in self._steps_backwards(file):
            if digest(text) != part.target:
                return
            before = part.backward(text)
            yield step, text, before
            text = before

    def versions(self, file: str) -> Iterator[tuple[Step, str | None, str | None]]:
        """Yield the steps of a file, the newest first, each with the text before and after it.

        ``None`` is no file. It ends where too much of the journal is gone to tell.
        """
        text = self.text(file)
        for step, part in self._steps_backwards(file):
            if not part.target:
                text = ""
            elif text is None or digest(text) != part.target:
                return
            before = part.backward(text) if part.source else None
            yield step, before, text if part.target else None
            text = before

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

    def past(self, file: str, seen: str) -> Iterator[Past]:
        """Yield how the state ``seen``, a digest, came about, and those before it, as far as known.

        Nothing is yielded if the file never was in that state; nor what was before it was there:
        no editor can have been opened on that.
        """
        wanted, begun = self.head(file), False
        for step, part in self._steps_backwards(file):
            if part.target != wanted:
                return
            begun = begun or part.target == seen
            if begun and part.source:
                yield Past(part, _how(step))
            if not part.source:
                return
            wanted = part.source

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
        told = heads if known_is_due(self._size - self._known_at, len(heads)) else None
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


def _how(step: Step) -> How:
    """Return what a step says about editors: what a person saved is what theirs holds."""
    if step.op == "meanwhile":
        return "displaced"
    if step.op == "late":
        return ""  # Nobody knows before what it was saved.
    if step.op == "checkout":
        return "brought"
    if step.by == "person":
        return "saved"
    return "followed" if step.op == "notice" else ""


def _key(file: str) -> bytes:
    return f'"file": {json.dumps(file, ensure_ascii=False)}'.encode("utf-8", "surrogateescape")

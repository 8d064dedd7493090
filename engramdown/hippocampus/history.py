r"""The journal of a scope: one line of JSON per change to its memory.

Append-only; a step is written here before it is carried out, with what every file held
before and after, so that it can be carried out again after a crash, undone, and explained. Every
state of a file can be made from it, and what cannot be made from it whole is not made at all. A
line that cannot be read is skipped, never an error.

A file's part in a step is one splice: at ``at``, ``old`` was replaced by ``new``, in characters of
the text as UTF-8 with surrogateescape. Now and then a line also holds the ``text`` as a whole, and
what the journal knows of every file, so that nobody has to read all of it to find that out.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from engramdown.errors import StoreError
from engramdown.forks import RLock, in_child
from engramdown.markdown.metadata import current_id
from engramdown.storage.disk import Disk, lines_backwards, megabytes

_CHUNK: Final = 64 * 1024
# As much of the last line as identifies it: the id of its step and the time.
_MARK: Final = 80
# What is known of all files is written again when the journal has grown by this many bytes, and by
# this many for each file: then it is a tenth of the journal at most.
_KNOWN_EVERY: Final = 64 * 1024
_KNOWN_EVERY_FILE: Final = 1024
# How often the largest memory file goes into the largest journal that is read.
ROOM: Final = 32
_FILE: Final = re.compile(rb'"file": "((?:[^"\\]|\\.)*+)"')


def known_is_due(grown: int, files: int) -> bool:
    """Whether the state of all files is due again, so many bytes after the last time."""
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
            self._known_at = self._size = self._inode = 0
            self._last = ""
            self._mark: tuple[int, bytes] = (0, b"")

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
            limit = ROOM * self._disk.limit
            if size > limit:
                has, most = megabytes(size, limit)
                raise StoreError(
                    f"{self.path}: has {has} MB, more than the limit of {most} MB; "
                    "move it away: memory stays, and a new journal begins."
                )
            if inode != self._inode or size < self._size:
                self.forget()
            if size > self._size > 0:
                self._take(size)
            if size > self._size == 0:
                # Begin with the last whole line.
                lines = self._lines_backwards(size)
                self._size = size - len(next(lines))
                line = next(lines, b"")
                self._mark = (max(0, self._size - len(line) - 1), line[:_MARK])
            self._inode = inode

    def append(self, steps: Sequence[Step]) -> int:
        """Write steps down for good, in one piece, and return the size of the journal before."""
        with self._guard:
            heads = self._known()
            # The first one holds the state of every file, if that is due.
            is_due = known_is_due(self._size - self._known_at, len(heads))
            lines = [write_line(step, heads if is_due else None, self._size) for step in steps[:1]]
            lines += [write_line(step) for step in steps[1:]]
            before = self._disk.append(self.path, b"".join(lines))
            if not self._inode:
                # The name of a new journal must last, too.
                try:
                    self._disk.sync_folder(self.path.parent)
                except OSError:
                    self.take_back(before)
                    raise
                self._inode = self._disk.identity(self.path)[1]
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

        A process that knew the file sees that another one has its name.
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
        """Return the part of a step that turns ``before`` into ``after``."""
        return make_part(file, before, after, self._known(), self._size)

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
        """Yield the steps of a file that holds ``head``, the newest first, as far as known.

        Each comes with the text after it and the text before; an absent file reads ``""``.
        """
        text = head
        for step, part in self._steps_backwards(file):
            if digest(text) != part.target:
                return
            before = part.backward(text)
            yield step, text, before
            text = before

    def text(self, file: str) -> str | None:
        """Return the text that ``file`` had after its last step, made from the journal alone.

        ``None`` if there was no file, or if too much of the journal is gone.
        """
        return _text_after(part for _, part in self._steps_backwards(file))

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
        parts: list[Part] = []
        for _, part in self._steps_backwards(file):
            parts.append(part)
            if part.target == target:
                return parts
        return []

    def steps(self) -> list[Step]:
        """Return every step, the oldest first."""
        return [step for line in self.lines() if (step := read_line(line)) is not None]

    def steps_after(self, step_id: str) -> list[Step]:
        """Return the steps after ``step_id``, the oldest first; none if there is no such step.

        All steps are after ``""``.
        """
        steps: list[Step] = []
        for line in self._lines_backwards(self._size):
            step = read_line(line)
            if step is not None and step.id == step_id:
                return steps[::-1]
            if step is not None:
                steps.append(step)
        return [] if step_id else steps[::-1]

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
        if self._heads is not None and read_heads(line, self._size) is not None:
            self._known_at = self._size
        self._mark = (self._size, line[:_MARK])
        self._size += len(line)
        if step is not None:
            self._last = step.id
            if self._heads is not None:
                self._heads |= {part.file: part.head for part in step.parts}

    def _known(self) -> dict[str, Head]:
        """Return how its last step left every file, found out from the end of the journal."""
        with self._guard:
            if self._heads is not None:
                return self._heads
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
                    heads = {part.file: part.head for part in step.parts} | heads
                before = read_heads(line, at)
                if before is not None:
                    self._heads, self._known_at = before | heads, at
                    return self._heads
            self._heads, self._known_at = heads, 0
            return heads

    def _steps_backwards(self, file: str) -> Iterator[tuple[Step, Part]]:
        name = json.dumps(file, ensure_ascii=False)
        key = f'"file": {name}'.encode("utf-8", "surrogateescape")
        for line in self._lines_backwards(self._size):
            if key in line and (step := read_line(line)) is not None:
                yield from ((step, part) for part in step.parts if part.file == file)

    def _lines_backwards(self, end: int) -> Iterator[bytes]:
        return lines_backwards(self._read, end, _CHUNK)

    def _read(self, start: int, end: int) -> bytes:
        return self._disk.read_range(self.path, start, end)


def _how(step: Step) -> How:
    """Return what a step says about editors: what a person saved is what theirs holds."""
    other: How = "saved" if step.by == "person" else "followed" if step.op == "notice" else ""
    return _HOW.get(step.op, other)


# A whole text is written again when the journal has grown by this many times the size of all texts,
# so that a state is found by reading a bounded piece of the journal, which at most grows by a
# quarter, into however many files the same memories are copied.
_WHOLE_EVERY: Final = 4
_WHOLE_AT_LEAST: Final = 256 * 1024


class Change(NamedTuple):
    """What a step did to one memory.

    Attributes:
        id: The id of the memory.
        file: The file, relative to the memory folder.
        before: Its lines before, or ``None`` if the step added it.
        after: Its lines after, or ``None`` if the step took it out.
        section: The section that it was taken out of, or ``""``: a rule kind, or the title of one
            of a person's own.
        erased: Whether a person erased what it said for good: then its lines are ``""``.
    """

    id: str
    file: str
    before: str | None
    after: str | None
    section: str = ""
    erased: bool = False


class Head(NamedTuple):
    """How the last step left a file.

    Attributes:
        target: The digest of its text; ``""`` if it was removed.
        whole: The size of the journal, in bytes, when it last got the whole text.
        size: The length of the text in characters.
        marks: What a person changed in it that is yet to be marked as verified: each the id of an
            entry and the address of its text.
    """

    target: str
    whole: int
    size: int = 0
    marks: tuple[str, ...] = ()


class Part(NamedTuple):
    """What a step did to one file.

    Attributes:
        file: The file, relative to the memory folder.
        source: The digest of the text before; ``""`` if there was no file.
        target: The digest of the text after.
        at: Where ``old`` was replaced by ``new``, in characters.
        old: The characters that were there.
        new: The characters that are there now.
        text: The whole text after, or ``None``.
        whole: The size of the journal, in bytes, when it last got the whole text.
        size: The length of the text after, in characters.
    """

    file: str
    source: str
    target: str
    at: int
    old: str
    new: str
    text: str | None = None
    whole: int = 0
    size: int = 0
    marks: tuple[str, ...] = ()

    @property
    def head(self) -> Head:
        """How this step leaves the file."""
        return Head(self.target, self.whole, self.size, self.marks)

    @property
    def begins(self) -> str | None:
        """The text after, if it can be known without any step before."""
        return self.text if self.source else self.new

    def forward(self, text: str) -> str:
        """Return the text after, given the one before."""
        return text[: self.at] + self.new + text[self.at + len(self.old) :]

    def backward(self, text: str) -> str:
        """Return the text before, given the one after."""
        return text[: self.at] + self.old + text[self.at + len(self.new) :]

    def reversed(self) -> Part:
        """Return the part of a step that takes this one back."""
        return Part(self.file, self.target, self.source, self.at, self.new, self.old)


class Step(NamedTuple):
    """One change to memory.

    Attributes:
        id: Eight characters that name the step.
        at: When, in UTC, ISO 8601 with microseconds.
        by: Who: ``user``, ``llm``, ``consolidation``, ``person`` for a hand edit, or
            ``engramdown`` for what follows from one.
        op: What: ``encode``, ``forget``, ``update``, ``edit`` (by hand), ``undo``, …
        why: The reason, in words; may be empty.
        parts: What happened to each file, in the order in which they are written.
        changes: What happened to each memory.
        of: The step that this one undoes, or ``""``.
    """

    id: str
    at: str
    by: str
    op: str
    why: str
    parts: tuple[Part, ...]
    changes: tuple[Change, ...]
    of: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that it changed."""
        return tuple(part.file for part in self.parts)


# Why of a step that found a file: it came with a clone or a pull, not from a person here.
CLONED: Final = "git had it already"

How = Literal["saved", "followed", "displaced", "brought", ""]


# Of a late one nobody knows before what it was saved.
_HOW: Final[dict[str, How]] = {"meanwhile": "displaced", "late": "", "checkout": "brought"}


class Past(NamedTuple):
    """How a state of a file came about.

    Attributes:
        part: The splice that made it of the state before.
        how: ``saved`` if it is what a person saved, ``followed`` if it follows from such a save,
            ``brought`` if it came with git; ``displaced`` if a person had saved it before the
            state in front of it displaced it.
    """

    part: Part
    how: How = ""


_DIGITS: Final = 16


@lru_cache(maxsize=4)
def digest(text: str | None) -> str:
    """Return the digest of a text, 16 hexadecimal digits; ``""`` for a file that is not there."""
    if text is None:
        return ""
    data = text.encode("utf-8", "surrogateescape")
    # Many processors compute this one themselves, so it costs half of any other.
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def make_part(
    file: str,
    before: str | None,
    after: str | None,
    heads: Mapping[str, Head] = MappingProxyType({}),
    size: int = 0,
) -> Part:
    """Return the part of a step that turns ``before`` into ``after``; ``None`` means no file.

    Args:
        file: The name of the file, relative to the memory folder.
        before: The whole text before.
        after: The whole text after.
        heads: How the last step left every file.
        size: The size of the journal in bytes.
    """
    # The size of the journal when it last got the whole text of the file.
    whole = heads[file].whole if file in heads else size
    others = sum(head.size for name, head in heads.items() if name != file)
    old, new = before or "", after or ""
    start = common(old, new)
    end = common(old[start:][::-1], new[start:][::-1])
    cut, put = old[start : len(old) - end], new[start : len(new) - end]
    period = max(_WHOLE_AT_LEAST, _WHOLE_EVERY * (len(new) + others))
    # A journal that was cut is shorter than it was then.
    due = before is None or not whole <= size < whole + period
    text = new if due and before is not None else None
    since = size if due else whole
    return Part(file, digest(before), digest(after), start, cut, put, text, since, len(new))


# What the fields of a part and of a change are called in a line of the journal, in its order.
_PART_KEYS: Final = {name: name for name in Part._fields} | {"source": "from", "target": "to"}
_CHANGE_KEYS: Final = {name: name for name in Change._fields} | {"file": "in"}
_TEXTS: Final = ("at", "by", "op", "why", "of")
# Fields that are left out if they say nothing.
_UNSAID: Final = (("text", None), ("marks", ()), ("section", ""), ("erased", False))


def write_line(step: Step, heads: Mapping[str, Head] | None = None, at: int = 0) -> bytes:
    """Return a step as one line of JSON, its line end included.

    Args:
        step: The step.
        heads: How the steps before this one left every file, or ``None``.
        at: Where the line will stand, in bytes of the journal.
    """
    record: dict[str, Any] = {
        "step": step.id,
        **{name: getattr(step, name) for name in _TEXTS},
        "files": [_keyed(part, _PART_KEYS) for part in step.parts],
        "entries": [_keyed(change, _CHANGE_KEYS) for change in step.changes],
    }
    if heads is not None:
        files = {
            file: [head.target, head.whole, head.size, *([head.marks] if head.marks else [])]
            for file, head in heads.items()
        }
        record["known"] = {"at": at, "files": files}
    line = json.dumps(record, ensure_ascii=False)
    # A lone surrogate of the file is one of its bytes again; any other cannot come from a file.
    return line.encode("utf-8", "surrogateescape") + b"\n"


def read_line(line: bytes) -> Step | None:
    """Return the step that a line holds, or ``None``."""
    if not line:
        return None
    try:
        record = json.loads(line.decode("utf-8", "surrogateescape"))
        parts = tuple(
            Part(**_fields(item, _PART_KEYS) | {"marks": tuple(item.get("marks", ()))})
            for item in record["files"]
        )
        changes = tuple(
            Change(
                **_fields(item, _CHANGE_KEYS)
                | {"id": current_id(item["id"]), "erased": item.get("erased") is True}
            )
            for item in record["entries"]
        )
        texts = {name: record[name] for name in _TEXTS}
        step = Step(id=record["step"], parts=parts, changes=changes, **texts)
        return step if _is_whole(step) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_whole(step: Step) -> bool:
    """Whether every value is of its kind: JSON says anything, and the line may be a stranger's.

    Raises:
        UnicodeEncodeError: If a text holds what no file can hold.
    """
    texts, optional = [step.id, step.at, step.by, step.op, step.why, step.of], list[str | None]()
    for part in step.parts:
        texts += [part.file, part.source, part.target, part.old, part.new, *part.marks]
        optional.append(part.text)
    for each in step.changes:
        texts += [each.id, each.file, each.section]
        optional += [each.before, each.after]
    texts += [text for text in optional if text is not None]
    # To join them fails where one is not a text.
    "".join(texts).encode("utf-8", "surrogateescape")
    numbers = (number for part in step.parts for number in (part.at, part.whole, part.size))
    return all(type(number) is int and number >= 0 for number in numbers)


def read_heads(line: bytes, at: int) -> dict[str, Head] | None:
    """Return how every file was left before the step of the line at ``at``.

    ``None`` if it does not say so, or was written for another place: then lines came between that
    its writer did not know, or are gone.
    """
    if b'"known": {' not in line:
        return None
    try:
        known = json.loads(line.decode("utf-8", "surrogateescape"))["known"]
        heads = {
            file: Head(str(to), int(whole), int(size), *map(tuple, marks))
            for file, (to, whole, size, *marks) in known["files"].items()
        }
        return heads if known["at"] == at else None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _keyed(value: Part | Change, keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a part or a change as a line holds it, without empty fields."""
    fields = value._asdict().items()
    return {keys[name]: each for name, each in fields if (name, each) not in _UNSAID}


def _fields(item: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    return {name: item[key] for name, key in keys.items() if key in item}


def common(a: Sequence[object], b: Sequence[object]) -> int:
    """Return the length of the common prefix of two texts, by halving: slices compare fast."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def versions(steps: Sequence[Step], file: str) -> Iterator[tuple[Step, str | None, str | None]]:
    """Yield the steps that changed a file, the newest first, each with the text before and after.

    ``None`` means no file. It ends where too much of the journal is gone.
    """
    parts = [(step, part) for step in reversed(steps) for part in step.parts if part.file == file]
    text = _text_after(part for _, part in parts)
    for step, part in parts:
        if not part.target:
            text = ""
        elif text is None or digest(text) != part.target:
            return
        before = part.backward(text) if part.source else None
        yield step, before, text if part.target else None
        text = before


def _text_after(parts: Iterable[Part]) -> str | None:
    """Return what a file holds after what happened to it, the newest first; ``None`` if unknown."""
    later: list[Part] = []
    for part in parts:
        later.append(part)
        if part.begins is not None:
            text = part.begins
            for following in reversed(later[:-1]):
                text = following.forward(text)
            return text if digest(text) == later[0].target else None
    return None

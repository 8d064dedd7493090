"""Memory without what a person erased for good: its files, and the journal of changes.

The journal reads as if the words had never been there: each state of a file is what it
was without them, so that merge bases, digests and undos of everything else go on as before; a step
stays, with its time and the ids, without the words; doing it twice does no harm. The caller holds
the lock of the scope.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Literal

from engramdown.clock import moment
from engramdown.engram import fold
from engramdown.hippocampus import history as journal
from engramdown.hippocampus.entry import address, raw_entries, split_task
from engramdown.hippocampus.history import Change, Head, History, Part, Step, digest, make_part
from engramdown.hippocampus.snapshot import Reader, decoded, encoded, leftover_of, paths
from engramdown.hippocampus.undo import ERASED
from engramdown.kinds import ARCHIVE, PENDING
from engramdown.markdown.blocks import Block, entry_block
from engramdown.markdown.document import parse
from engramdown.storage.disk import UNFINISHED, Disk
from engramdown.storage.erasure import Erasure
from engramdown.storage.exchange import TEMPORARY, Swap

Fate = Literal["goes", "loses words", "stays"]

_DIGITS: Final = 8
# An entry this near to a splice, in characters, may read otherwise after it.
_MARGIN: Final = 4096


class Sieve:
    """Takes erased memories out of texts, and leaves the rest as it is."""

    def __init__(self, erasure: Erasure) -> None:
        """Know what to look for."""
        self._ids = frozenset(erasure.ids)
        self._folds = frozenset(map(fold, erasure.texts))
        self.words = erasure.words()
        # What replaces lines that hold something of it; "" is nothing.
        self._known: dict[tuple[bool, str], str] = {}

    def fate(self, file: str, block: Block) -> Fate:
        """Return what becomes of an entry of a file."""
        text = split_task(block.text)[1] if file == PENDING else block.text
        about = {block.value("id")}
        if file == PENDING:
            about.update(block.value("of").split(","))
        is_named = not self._ids.isdisjoint(about) or fold(text) in self._folds
        if is_named or self.words.is_like(text):
            return "goes"
        return "loses words" if self.words.is_whole(text) else "stays"

    def entry(self, file: str, block: Block) -> str:
        """Return the lines of an entry without what is erased; ``""`` if all of it is."""
        key = (file == PENDING, block.raw)
        if key in self._known:
            return self._known[key]
        fate = self.fate(file, block)
        after = ""
        if fate == "loses words":
            after = self.words.cut(block.raw)
        elif fate == "stays":
            # What its metadata quotes is of another memory.
            start, end = block.span or (len(block.raw), len(block.raw))
            meta = self.words.cut(block.raw[start:end])
            after = block.raw[:start] + meta + block.raw[end:]
        if after != block.raw or self.words.shares(block.raw):
            self._known[key] = after
        return after

    def text(self, file: str, text: str) -> str:
        """Return the text of a file without what is erased."""
        if not self._touches(text):
            return text
        document = parse(text)
        for _ in range(len(document.blocks)):
            # One at a time: an entry that goes may change what the next one is.
            blocks = (placed.block for placed in raw_entries(file, document))
            block = next((each for each in blocks if self.entry(file, each) != each.raw), None)
            if block is None:
                break
            after = self.entry(file, block)
            document = document.swap(block, after) if after else document.remove(block)
        entries = {id(placed.block) for placed in raw_entries(file, document)}
        pieces = []
        for block in document.blocks:
            is_prose = id(block) not in entries and self.words.is_whole(block.raw)
            pieces.append(self.words.cut(block.raw) if is_prose else block.raw)
        return "".join(pieces)

    def state(self, file: str, text: str, region: str, *, was_touched: bool) -> str:
        """Return a text as :func:`text` does, or nearly so, of which only a region is new.

        Args:
            file: The file.
            text: What it held.
            region: The lines that were not there before.
            was_touched: Whether something of it was there before.
        """
        if not (was_touched or self._touches(region)):
            return text
        after, rest = text, region
        for (is_pending, raw), instead in self._known.items():
            if is_pending == (file == PENDING):
                after = _replaced(after, raw, instead)
                rest = _replaced(rest, raw, "")
        return self.text(file, text) if self._touches(rest) else after

    def change(self, change: Change) -> Change:
        """Return what a step did to a memory, without what is erased."""
        sides = [change.before, change.after]
        blocks = [entry_block(raw) for raw in sides if raw]
        left = [self.entry(change.file, block) for block in blocks]
        gone = change.id in self._ids or (bool(left) and not all(left))
        section = self.words.cut(change.section, pieces=gone)
        if gone:
            name = "" if change.id[:1] in "~_" else change.id
            before, after = (None if side is None else "" for side in sides)
            return Change(name, change.file, before, after, section, erased=True)
        if [block.raw for block in blocks] == left and section == change.section:
            return change
        before, after = (side and self.entry(change.file, entry_block(side)) for side in sides)
        lines = after or before or ""
        name = address(entry_block(lines).text) if change.id[:1] in "~_" else change.id
        return Change(name, change.file, before, after, section)

    def _touches(self, text: str) -> bool:
        marks = (f"{key}:{each}" for key in ("id", "of") for each in self._ids)
        return any(mark in text for mark in marks) or self.words.shares(text)


def _replaced(text: str, raw: str, instead: str) -> str:
    """Return ``text`` with ``instead`` where ``raw`` begins a line and ends one."""
    if raw not in text:
        return text
    lines = f"\n{text}"
    if raw.endswith("\n"):
        return lines.replace(f"\n{raw}", f"\n{instead}")[1:]
    return (lines.removesuffix(raw) + instead)[1:] if lines.endswith(f"\n{raw}") else text


def without(name: str, text: str, ids: Iterable[str]) -> str:
    """Return the text of a file without the memories with these ids."""
    return Sieve(Erasure(step="", ids=tuple(ids))).text(name, text)


def drop(disk: Disk, path: Path, name: str, ids: Collection[str]) -> bool:
    """Take memories with these ids out of a file; return whether there were any."""
    any_dropped = False

    def dropped(before: bytes | None) -> bytes:
        nonlocal any_dropped
        after = encoded(without(name, decoded(before) or "", ids))
        any_dropped = any_dropped or after != before
        return after

    Swap(disk).edit(path, dropped)
    return any_dropped


class MemoryEraser:
    """Erases in the memory files and the journal of one scope."""

    def __init__(self, disk: Disk, reader: Reader, history: History, erasure: Erasure) -> None:
        """Erase what ``erasure`` names."""
        self._disk = disk
        self._reader = reader
        self._history = history
        self._erasure = erasure
        self._sieve = Sieve(erasure)
        self._swap = Swap(disk)

    @property
    def is_begun(self) -> bool:
        """Whether the journal was cleaned already."""
        mark = f'"step": "{self._erasure.step}"'.encode()
        return any(mark in line for line in self._history.lines())

    def check(self) -> None:
        """Refuse before anything is changed what cannot be changed.

        Raises:
            StoreError: If a file that holds what is erased is read-only.
        """
        for name in self._dirty():
            path = self._reader.path(name)
            self._disk.check_writable(path.parent)
            self._disk.check_writable(path)

    def is_clean(self) -> bool:
        """Whether no file holds anything of it any more, nor what was journalled since."""
        later = self._history.steps_after(self._erasure.step) if self.is_begun else []
        return not self._dirty() and not any(map(self._is_touched, later))

    def journal(self) -> None:
        """Take the words out of the journal; its last step says that a person did so."""
        lines = self._history.lines()
        if not self.is_begun and not self._dirty():
            steps = (journal.read_line(line) for line in lines)
            if not any(step is None or self._is_touched(step) for step in steps):
                return
        rewriting = _Rewriting(self._sieve, self._erasure)
        self._history.replace(rewriting.carry_out(lines))

    def files(self) -> None:
        """Take the words out of the files, and out of those that were left half done."""
        for path in [*paths(self._reader, self._disk)]:
            if path.name.endswith((".tmp", ".tmp.part", ".old")) and path.name[:1] == ".":
                self._clear(path)
        for name in self._dirty():
            self._swap.edit(self._reader.path(name), partial(self._without, name))

    def _without(self, name: str, before: bytes | None) -> bytes:
        return encoded(self._sieve.text(name, decoded(before) or ""))

    def _dirty(self) -> list[str]:
        """Return the files that hold something of it."""
        texts = ((name, self._reader.read(name).text or "") for name in self._reader.names())
        return [name for name, text in texts if self._sieve.text(name, text) != text]

    def _is_touched(self, step: Step) -> bool:
        """Whether a step may hold something of it."""
        texts = [step.why]
        for part in step.parts:
            texts += [part.old, part.new, part.text or ""]
        is_named = any(self._sieve.change(change) != change for change in step.changes)
        return is_named or any(map(self._sieve.words.holds, texts))

    def _clear(self, path: Path) -> None:
        """Take the words out of a file that is on its way, or was displaced."""
        # An open file is reported at the end.
        data = None if self._disk.is_being_written(path) else self._disk.read(path)
        if data is None:
            return
        leftover = leftover_of(path)
        if TEMPORARY.fullmatch(path.name) is not None:
            # Of an erasure that was cut short; a person may have saved right then.
            self._swap.clear_up(path)
        elif path.name.endswith(UNFINISHED):
            self._disk.unlink(path)
        elif leftover is not None:
            text = decoded(data) or ""
            after = self._sieve.text(leftover[0], text)
            if after != text:
                self._disk.create(path, encoded(after), like=path)


class _Rewriting:
    """Writes a journal anew, without what is erased."""

    def __init__(self, sieve: Sieve, erasure: Erasure) -> None:
        self._sieve = sieve
        self._erasure = erasure
        self._suspects: set[str] = set()
        self._real: dict[str, str | None] = {}
        self._new: dict[str, str | None] = {}
        self._heads: dict[str, Head] = {}
        self._lines: list[bytes] = []
        self._size = self._known_at = 0

    def carry_out(self, lines: Sequence[bytes]) -> bytes:
        """Return the journal without what is erased, and with a step that says so."""
        steps = [(line, journal.read_line(line)) for line in lines]
        words = self._sieve.words
        for _, step in steps:
            # The files in which a step did something that is erased.
            for change in step.changes if step else ():
                if self._sieve.change(change) != change:
                    self._suspects.add(change.file)
            for part in step.parts if step else ():
                if any(map(words.shares, (part.old, part.new, part.text or ""))):
                    self._suspects.add(part.file)
        for line, step in steps:
            if step is not None and step.id != self._erasure.step:
                changes = tuple(map(self._sieve.change, step.changes))
                parts = tuple(filter(None, map(self._part, step.parts)))
                why = words.cut(step.why, pieces=any(each.erased for each in changes))
                self._write(step._replace(parts=parts, changes=changes, why=why))
            elif step is None and not words.shares(line.decode("utf-8", "surrogateescape")):
                self._put(line + b"\n")
        self._write(self._last())
        return b"".join(self._lines)

    def _last(self) -> Step:
        """Return the step of the erasure; every file is as it was before it."""
        parts = []
        for file, head in self._heads.items():
            if not head.target:
                continue
            real, now = self._real.get(file), self._new.get(file)
            exact = None if real is None else self._sieve.text(file, real)
            if exact is None or exact == now:
                # A process that knew the journal before learns from it how each file is left.
                at = head.size
                parts.append(Part(file, head.target, head.target, at, "", "", None, head.whole, at))
            else:
                parts.append(make_part(file, now, exact, self._heads, self._size))
        ids = [each for each in self._erasure.ids if each[:1] not in "~_"]
        changes = tuple(Change(each, ARCHIVE, "", None, erased=True) for each in ids)
        step = self._erasure.step
        return Step(step, moment(), "user", ERASED, "", tuple(parts), changes)

    def _part(self, part: Part) -> Part | None:
        """Return what a step did to a file without what is erased; ``None`` if it was that."""
        file = part.file
        was_known = file in self._real and bool(part.source)
        head = self._heads.get(file)
        text, real = part.begins, self._real.get(file)
        if text is None and file in self._real and digest(real) == part.source:
            text = part.forward(real or "")
        # What the file held after the step, and whether that is known.
        after = text if part.target else None
        if text is None or (text if after is None else digest(text) != part.target):
            self._real.pop(file, None)
            if file not in self._suspects:
                return part
            # A state that held words and cannot be told any more is not kept.
            source = (head.target if head else "") or _nothing()
            return Part(file, source, _nothing(), 0, "", "", None, 0, part.size)
        before = self._new.get(file) if was_known else None
        was_touched = not was_known or self._real[file] != before
        now = after
        if after is not None:
            region = _around(after, part) if was_known and part.text is None else after
            now = self._sieve.state(file, after, region, was_touched=was_touched)
        self._real[file], self._new[file] = after, now
        if was_known and before == now and part.source != part.target:
            return None
        if was_known or not part.source:
            return make_part(file, before, now, self._heads, self._size)
        # From here on it is known again; what was before it is not.
        source, text = head.target if head else _nothing(), now or ""
        return Part(file, source, digest(now), 0, "", "", text, self._size, len(text))

    def _write(self, step: Step) -> None:
        is_due = journal.known_is_due(self._size - self._known_at, len(self._heads))
        heads = dict(self._heads) if is_due else None
        if is_due:
            self._known_at = self._size
        self._put(journal.write_line(step, heads, self._size))
        self._heads |= {part.file: part.head for part in step.parts}

    def _put(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line)


def _around(text: str, part: Part) -> str:
    """Return the lines that a splice touched, and some around them."""
    start = text.rfind("\n", 0, max(part.at - _MARGIN, 0)) + 1
    end = text.find("\n", min(part.at + len(part.new) + _MARGIN, len(text)))
    return text[start : end + 1 if end >= 0 else len(text)]


def _nothing() -> str:
    """Return a value in the place of the digest of a state that is not kept."""
    return os.urandom(_DIGITS).hex()

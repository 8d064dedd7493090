"""The memory files as one step sees and changes them, before anything is written.

Promises: pure; what a step did to each memory follows from the documents alone, at a cost that
grows with what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from engramdown.hippocampus.history import Change, common
from engramdown.hippocampus.placement import address, entry_id
from engramdown.markdown.document import Document

__all__ = ["Act", "Draft", "OutOfStepError", "Slot", "entry_changes", "verified_by", "verify"]


_VERIFIED: Final = {"basis": "verified"}


class Act(NamedTuple):
    """Who does what, and why: the words for the journal.

    Attributes:
        op: ``encode``, ``forget``, ``update``, …
        by: ``user``, ``llm``, ``consolidation``, ``person`` or ``engramdown``.
        why: The reason in words; may be empty.
        of: The step that is undone, or ``""``.
    """

    op: str
    by: str
    why: str = ""
    of: str = ""


class OutOfStepError(Exception):
    """A file is not as the journal says: a person saved it.

    Attributes:
        name: The file.
    """

    def __init__(self, name: str) -> None:
        """Name the file."""
        super().__init__(name)
        self.name = name


class Slot:
    """One file in a draft.

    Attributes:
        before: The text that the step starts from, or ``None`` if there is no file.
        disk: What stands on the disk; usually the bytes of ``before``.
        document: ``before``, read.
        after: What the step makes of it.
        unmarked: What the disk holds if ``before`` marks as verified what a person changed;
            ``None`` if it marks nothing.
        marks: What is yet to be marked after the step.
    """

    __slots__ = ("after", "before", "disk", "document", "marks", "unmarked")

    def __init__(self, before: str | None, disk: bytes | None, document: Document) -> None:
        """Begin with no change."""
        self.before = before
        self.disk = disk
        self.document = self.after = document
        self.unmarked: Document | None = None
        self.marks: tuple[str, ...] = ()

    def marked(self, marks: tuple[str, ...]) -> Slot:
        """Return a slot that starts from this one with ``marks`` in it, as far as they fit."""
        document, left = verify(self.document, marks)
        if document is self.document:
            self.marks = left
            return self
        slot = Slot(document.render(), self.disk, document)
        slot.unmarked, slot.marks = self.document, left
        return slot

    def copy(self) -> Slot:
        """Return a slot that can change without this one."""
        other = Slot(self.before, self.disk, self.document)
        other.after = self.after
        return other

    @property
    def is_dirty(self) -> bool:
        """Whether the disk is to hold something else."""
        if self.after is not self.document:
            return True
        text = None if self.before is None else self.before.encode("utf-8", "surrogateescape")
        return text != self.disk


class Draft:
    """The memory files as one step sees and changes them; nothing is written until it is done."""

    def __init__(self, load: Callable[[str], Slot]) -> None:
        """Read files through ``load`` when they are asked for."""
        self._load = load
        self._slots: dict[str, Slot] = {}
        # The files that changed, in the order of first change.
        self._order: dict[str, None] = {}
        self._before: dict[str, Document] | None = None

    def get(self, name: str) -> Document:
        """Return the document called ``name`` as it is in this step."""
        return self._slot(name).after

    def put(self, name: str, document: Document) -> None:
        """Set the document called ``name``; files are written in the order of first change."""
        slot = self._slot(name)
        if document is not slot.after:
            self._order.setdefault(name)
            if self._before is not None:
                self._before.setdefault(name, slot.after)
        slot.after = document

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Take back what a block changed if it raises: of several acts one may fail alone."""
        self._before = {}
        known = len(self._order)
        try:
            yield
        except BaseException:
            for name, document in self._before.items():
                self._slots[name].after = document
            self._order = dict.fromkeys(list(self._order)[:known])
            raise
        finally:
            self._before = None

    def preset(self, name: str, slot: Slot) -> None:
        """Set what ``name`` reads as and what the disk holds instead."""
        self._slots[name] = slot
        self._order.setdefault(name)

    def marks(self, name: str) -> tuple[str, ...]:
        """Return what is yet to be marked as verified in the file called ``name``."""
        return self._slot(name).marks

    def changed(self) -> list[tuple[str, Slot]]:
        """Return the files that the disk is to hold otherwise, in the order of writing."""
        slots = ((name, self._slots[name]) for name in self._order)
        return [(name, slot) for name, slot in slots if slot.is_dirty]

    def _slot(self, name: str) -> Slot:
        if name not in self._slots:
            self._slots[name] = self._load(name)
        return self._slots[name]


def verified_by(marks: Collection[str], entry_id: str, text: str) -> bool:
    """Whether one of ``marks`` says that a person made an entry say ``text``."""
    return bool(marks) and entry_id + address(text) in marks


def verify(document: Document, marks: Sequence[str]) -> tuple[Document, tuple[str, ...]]:
    """Return a document in which what a person changed is marked as verified, and what is left.

    What is not there, or says something else, is left: git may bring it back.
    """
    if not marks:
        return document, ()
    wanted = set(marks)
    for placed in document.placed():
        mark = entry_id(placed) + address(placed.block.text)
        meta = placed.block.meta
        if mark in wanted and meta is not None:
            wanted.discard(mark)
            if meta.get("basis") != _VERIFIED["basis"]:
                document = document.note(placed.block, meta.update(_VERIFIED))
    return document, tuple(mark for mark in marks if mark in wanted)


def entry_changes(file: str, before: Document, after: Document) -> Iterator[Change]:
    """Yield what happened to each entry; blocks that both documents share are skipped unread."""
    # Imported here, as in all that is loaded to read: only a step that is written compares.
    from engramdown.markdown.merge import compare

    old, new = before.blocks, after.blocks
    # Blocks are equal only to themselves.
    start = common(old, new)
    end = common(old[start:][::-1], new[start:][::-1])
    found = compare(
        Document(old[start : len(old) - end]),
        Document(new[start : len(new) - end]),
    )
    for a, b in found.kept:
        if a.block.raw != b.block.raw:
            yield Change(entry_id(b), file, a.block.raw, b.block.raw)
    entries = before.placed() if found.removed else []
    sections = {id(placed.block): placed.kind or placed.heading for placed in entries}
    for placed in found.removed:
        section = sections[id(placed.block)]
        yield Change(entry_id(placed), file, placed.block.raw, None, section)
    for placed in found.added:
        yield Change(entry_id(placed), file, None, placed.block.raw)

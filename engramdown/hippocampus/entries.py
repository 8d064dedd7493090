"""The memories of one scope as entries, file by file.

Promises: writes nothing; what was read from a document that is still the same is not read again;
an entry says how its file is spelled on the disk, and whether a person made it what it says, also
where the file does not say so yet.
"""

from __future__ import annotations

from engramdown.engram import Scope
from engramdown.hippocampus import placement
from engramdown.hippocampus.changeset import verified_by
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.files import MemoryFiles
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document, Placed

__all__ = ["Entries"]

_Read = tuple[Document, str, tuple[str, ...], dict[Block, Entry]]


class Entries:
    """Reads entries, and keeps them as long as their file is the same."""

    def __init__(self, files: MemoryFiles, scope: Scope) -> None:
        """Read from ``files``, which are those of ``scope``."""
        self._files = files
        self._scope: Scope = scope
        self._read: dict[str, _Read] = {}

    def of(self, name: str) -> list[Entry]:
        """Return the memories of a file, in file order.

        Raises:
            StoreError: If it cannot be read.
        """
        document, spelled = self._files.document(name), self._spelled(name)
        marks = self._files.marks(name)
        known = self._read.get(name)
        if known is None or known[0] is not document or known[1:3] != (spelled, marks):
            before = known[3] if known and known[1:3] == (spelled, marks) else {}
            entries = {}
            for placed in placement.raw_entries(name, document):
                entry = before.get(placed.block)
                # An entry is a snapshot of its line: one that did not move is as it was.
                if entry is None or (entry.line, entry.heading) != (placed.line, placed.heading):
                    entry = self._entry(name, placed, marks)._replace(spelled=spelled)
                entries[placed.block] = entry
            known = self._read[name] = (document, spelled, marks, entries)
        return list(known[3].values())

    def at(self, name: str, placed: Placed) -> Entry:
        """Return what stands at one place of a file as an entry."""
        entry = self._entry(name, placed, self._files.marks(name))
        return entry._replace(spelled=self._spelled(name))

    def _entry(self, name: str, placed: Placed, marks: tuple[str, ...]) -> Entry:
        entry = placement.as_entry(name, self._scope, placed)
        verified = verified_by(marks, entry.id, entry.text)
        return entry._replace(basis="verified") if verified else entry

    def _spelled(self, name: str) -> str:
        """Return how a file is spelled, ``""`` if that is its name."""
        spelled = self._files.place(name).name if name == placement.PROFILE else ""
        return spelled if spelled != name else ""

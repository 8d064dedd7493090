"""Free notes of a model: pages of text that nothing else reads, below ``working/``.

Promises: what is replaced is kept and can be brought back; what was saved meanwhile is not written
over; notes that a person wrote or changed are only added to, in every mode; no secret is written;
the notes on a conversation that is recorded are not touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engramdown.cortex.notebooks import known
from engramdown.episodes.ids import is_session_id
from engramdown.episodes.journal.page import normal
from engramdown.errors import MemoryCommandError
from engramdown.storage.disk import Disk

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.episodes.notes.store import WorkingNotes

__all__ = ["FreeNotes"]

_SUFFIX = ".md"


class FreeNotes:
    """The free notes of a cortex."""

    def __init__(self, cortex: Cortex) -> None:
        """Keep notes where ``cortex`` keeps those on conversations."""
        self._cortex = cortex

    def names(self) -> list[str]:
        """Return what there are notes on, sorted."""
        folder = self._cortex.notes("any").path.parent
        found = []
        for name in Disk().names(folder):
            stem = name.removesuffix(_SUFFIX)
            if name.endswith(_SUFFIX) and is_session_id(stem) and not self._why_not(stem):
                found.append(stem)
        return found

    def text(self, name: str) -> str:
        """Return the notes, with a line end, or ``""``."""
        text = self._notes(name).read().text
        return f"{text}\n" if text else ""

    def create(self, name: str, path: str, text: str) -> str:
        """Begin notes; return a sentence about what was hidden, or ``""``."""
        notes = self._notes(name)
        note = notes.read()
        if note.text:
            raise MemoryCommandError(
                f"File {path} already exists. Use str_replace or insert to change it."
            )
        if not text.strip():
            raise MemoryCommandError("`file_text` is empty; say what is to be kept.")
        return _hidden(notes.write(text, expected=note.digest, own=True).hidden)

    def change(self, name: str, change: Callable[[str], str]) -> tuple[str, str, str]:
        """Change notes; return them before and after, and what :meth:`create` returns."""
        notes = self._notes(name)
        note = notes.read()
        before = f"{note.text}\n"
        after = change(before)
        if not note.own and not _only_adds(note.text, normal(after)):
            raise _theirs(name, "changes or deletes lines of theirs")
        written = notes.write(after, expected=note.digest, own=note.own)
        return before, f"{written.text}\n", _hidden(written.hidden)

    def delete(self, name: str) -> None:
        """Take notes away; they can be brought back."""
        self._own(name, "deletes them").delete()

    def rename(self, old: str, new: str) -> None:
        """Let notes be called otherwise: the new ones are there before the old ones go."""
        self._own(old, "renames them").move(self._notes(new))

    def _own(self, name: str, does: str) -> WorkingNotes:
        """Return notes, if they are a model's own."""
        notes = self._notes(name)
        if not notes.read().own:
            raise _theirs(name, does)
        return notes

    def _notes(self, name: str) -> WorkingNotes:
        why_not = self._why_not(name)
        if why_not:
            raise MemoryCommandError(f"The notes {name!r} {why_not}; choose another name.")
        return self._cortex.notes(name)

    def _why_not(self, name: str) -> str:
        """Return why some notes are none of a model's, or ``""``."""
        notes = self._cortex.notes(name)
        if Disk().exists(notes.root / "episodes" / f"{notes.session}.jsonl"):
            return "are on a conversation that is recorded"
        if self._cortex.settings.pulled == "review" and known([notes.path]):
            return "came with git, and only the user reads them"
        return ""


def _theirs(name: str, does: str) -> MemoryCommandError:
    return MemoryCommandError(
        f"Nothing was changed: the user wrote or changed the notes {name!r}, and nobody else "
        f"{does}. Add to them with insert, keep notes of your own under another name, or ask the "
        f"user to do it."
    )


def _only_adds(before: str, after: str) -> bool:
    """Whether every line stays, in its order."""
    left = iter(after.split("\n"))
    return all(line in left for line in before.split("\n"))


def _hidden(kinds: tuple[str, ...]) -> str:
    return f"\nA secret in it was hidden, and is kept nowhere: {', '.join(kinds)}." if kinds else ""

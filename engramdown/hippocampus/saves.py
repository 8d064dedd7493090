"""A person's saves: found by comparing the disk with the journal, and turned into a draft.

Promises: writes nothing; what is handed out says what the person did, as steps of their own, and
what follows from it for the other files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engramdown.clock import today
from engramdown.hippocampus import filing
from engramdown.hippocampus.checkouts import moved_since
from engramdown.hippocampus.disk import Disk
from engramdown.hippocampus.document import Document, Placed, parse
from engramdown.hippocampus.draft import Act, Draft, OutOfStepError, Slot, entry_changes
from engramdown.hippocampus.handedits import HandEdit, respond
from engramdown.hippocampus.history import History
from engramdown.hippocampus.merge import compare
from engramdown.hippocampus.metadata import Metadata
from engramdown.hippocampus.noticing import states
from engramdown.hippocampus.reading import Reader, decoded, encoded
from engramdown.hippocampus.staging import Staging
from engramdown.hippocampus.stamps import new_id, new_step
from engramdown.hippocampus.steps import Step, digest

__all__ = ["Save", "Saves"]

# How many states back an editor may have been opened; each costs one comparison of lines.
_STATES: Final = 32
_ASIDE: Final = frozenset({filing.ARCHIVE, filing.PENDING})
_BY_HAND: Final = Act("edit", "person", "by hand")
_MEANWHILE: Final = Act("meanwhile", "person", "by hand, while a memory was written")
_FOUND: Final = Act("found", "person")
_BY_GIT: Final = Act("checkout", "person", "git moved to another commit")


@dataclass(frozen=True, slots=True)
class Save:
    """A person's save that is to be taken in.

    Attributes:
        edit: What was saved, and from which states.
        head: What the journal says the file holds; ``None`` if it cannot tell.
        saved: What was saved; ``None`` if the file was removed.
        disk: What stands on the disk: what was saved, unless that was displaced.
        displaced: Whether it was.
        by_git: Whether git brought the file from another commit: then nobody deleted anything.
    """

    edit: HandEdit
    head: str | None
    saved: str | None
    disk: bytes | None
    displaced: bool = False
    by_git: bool = False


class Saves:
    """Finds what a person saved since the last step of the journal."""

    def __init__(self, disk: Disk, reader: Reader, history: History, staging: Staging) -> None:
        """Compare what ``reader`` reads with what ``history`` says."""
        self._disk = disk
        self._reader = reader
        self._history = history
        self._staging = staging

    def load(self, name: str) -> Slot:
        """Read a file for a step.

        Raises:
            OutOfStepError: If a person saved it since the last one.
        """
        read = self._reader.read(name)
        if read.digest != (self._history.head(name) or ""):
            raise OutOfStepError(name)
        return read.slot()

    def strangers(self) -> bool:
        """Whether there is a file that the journal does not know: hand-written, or pulled."""
        return not self._history.heads().keys() >= {*self._reader.names()}

    def found(self, also: Iterable[str]) -> list[Save]:
        """Return what a person saved, strangers included, once it looks whole.

        Args:
            also: Files that are known to be out of step.
        """
        now = states(self._reader, self._history)
        names = [name for name, head, state in now if (head or "") != state]
        heads = {name: self._head_text(name) for name in dict.fromkeys([*names, *also])}
        files = [(self._reader.path(name), head or "") for name, head in heads.items()]
        data = self._staging.settled(files)
        saves = [self._save(name, heads[name], now) for name, now in zip(heads, data, strict=True)]
        return [save for save in saves if self._is_news(save)]

    def displaced(self, name: str, saved: str, source: str) -> Save | None:
        """Return a save that our own file displaced; ``None`` if it says what the file says now.

        Args:
            name: The file.
            saved: What was saved.
            source: The digest of the newest state that the person can have seen.
        """
        head = self._head_text(name)
        if saved == head:
            return None
        states = self._states(name, head, source)
        unseen = int(len(states) > 1 and digest(head) != source)
        disk = None if head is None else encoded(head)
        return Save(HandEdit(name, states, saved, unseen), head, saved, disk, displaced=True)

    def draft(self, saves: Sequence[Save]) -> Draft:
        """Return the files as they are to be after ``saves``.

        Raises:
            OutOfStepError: If another file is needed and was saved as well.
        """
        draft = Draft(self.load)
        for save in saves:
            slot = Slot(save.saved, save.disk, parse(save.saved or ""))
            draft.preset(save.edit.file, slot)
        for save in saves:
            # One that was removed and is back says as much as one that was changed.
            known = save.head is not None or self._history.head(save.edit.file) == ""
            if known and not save.by_git:
                moved = self._stands_elsewhere(save.edit.file, draft)
                respond(draft, save.edit, moved, new_id, today().isoformat())
        return draft

    def step(self, save: Save) -> Step:
        """Return a save as a step of the journal, by the person."""
        file = save.edit.file
        part = self._history.part(file, save.head, save.saved)
        if save.head is None:
            return new_step(_FOUND, (part,), ())
        changes = entry_changes(file, parse(save.head), parse(save.saved or ""))
        act = _BY_GIT if save.by_git else _MEANWHILE if save.displaced else _BY_HAND
        return new_step(act, (part,), tuple(changes))

    def _save(self, name: str, head: str | None, data: bytes | None) -> Save:
        saved = decoded(data)
        states = self._states(name, head)
        by_git = moved_since(self._reader.path(name), self._history.last_at(name), self._disk)
        if len(states) > 1 and self._history.was(name, digest(saved)):
            if name == filing.PENDING and _brings_back(states, saved or ""):
                # What was decided is decided: an old buffer was saved as it was.
                edit = HandEdit(name, states, saved or "", unchanged=True)
                return Save(edit, head, saved, data)
            # Taken back, as git does, not saved from an old buffer.
            states = states[-1:]
        return Save(HandEdit(name, states, saved or ""), head, saved, data, by_git=by_git)

    def _is_news(self, save: Save) -> bool:
        return digest(save.saved) != (self._history.head(save.edit.file) or "")

    def _stands_elsewhere(self, file: str, draft: Draft) -> Callable[[Placed], bool]:
        """Return a test: does an entry stand in another file now, where it did not before?

        A lesson that is filed under another topic, too, was moved there in an earlier save. A rule
        with the words of a lesson is another memory, which stays while the lesson is deleted.
        """
        heads: dict[str, Document] = {}

        def stood(name: str, text: str) -> bool:
            if name not in heads:
                heads[name] = parse(self._head_text(name) or "")
            return bool(heads[name].same(text))

        others = [name for name in self._reader.names() if name not in _ASIDE | {file}]

        def moved(placed: Placed) -> bool:
            said = placed.block.text
            text = filing.split_task(said)[1] if file == filing.PENDING else said
            copies = filing.copies_of(file, placed.block.meta or Metadata())
            return any(
                not stood(name, text) or (name not in copies and _both_lessons(name, file))
                for name in others
                if draft.get(name).same(text)
            )

        return moved

    def _states(self, name: str, head: str | None, seen: str = "") -> tuple[str, ...]:
        return ("",) if head is None else tuple(self._history.states(name, head, _STATES, seen))

    def _head_text(self, name: str) -> str | None:
        """Return the text of a file after its last step."""
        head = self._history.head(name)
        if not head:
            return None
        known = self._reader.known(name, head)
        return self._history.text(name) if known is None else known


def _both_lessons(*names: str) -> bool:
    return all(name == filing.LESSONS or name.startswith("topics/") for name in names)


def _brings_back(states: Sequence[str], saved: str) -> bool:
    """Whether ``saved`` is an older one of the states and has lines that are gone since."""
    return saved in states and bool(compare(parse(states[-1]), parse(saved)).added)

"""A person's saves: found by comparing the disk with the journal, and turned into a draft.

Promises: writes nothing; what is handed out says what the person did, as steps of their own, and
what follows from it for the other files.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from engramdown.clock import today
from engramdown.hippocampus import placement
from engramdown.hippocampus.bases import find_base
from engramdown.hippocampus.changeset import (
    Act,
    Draft,
    OutOfStepError,
    Slot,
    entry_changes,
    new_id,
    new_step,
)
from engramdown.hippocampus.checkouts import (
    is_at_work,
    is_kept,
    is_merging,
    is_restored,
    known_since,
    known_to_git,
    moved_since,
    raced,
    raced_since,
    standing,
)
from engramdown.hippocampus.handedits import HandEdit, carry_over, respond
from engramdown.hippocampus.history import History, Part, Step, digest
from engramdown.hippocampus.origins import CLONED
from engramdown.hippocampus.snapshot import Reader, decoded, encoded, states
from engramdown.hippocampus.transaction import Staging
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.metadata import Metadata
from engramdown.storage.disk import Disk

__all__ = ["Save", "Saves"]

_ASIDE: Final = frozenset({placement.ARCHIVE, placement.PENDING})
_BY_HAND: Final = Act("edit", "person", "by hand")
_MEANWHILE: Final = Act("meanwhile", "person", "by hand, while a memory was written")
_LATE: Final = Act("late", "person", "by hand, some time ago")
_FOUND: Final = Act("found", "person")
_CLONED: Final = Act("found", "person", CLONED)
_BY_GIT: Final = Act("checkout", "person", "git moved to another commit")
# How long git is waited for when it is in the middle of bringing files, in seconds.
_GIT_AT_WORK: Final = 2.0
_POLL: Final = 0.005
# How a save came about that was displaced, and what follows from it; the newest first.
_MERGED: Final = ("followed", "displaced")
# How often we look again at files that change while we ask git about them.
_LOOKS: Final = 5


@dataclass(frozen=True, slots=True)
class Save:
    """A person's save that is to be taken in.

    Attributes:
        edit: What was saved over what.
        head: What the journal says the file holds; ``None`` if it cannot tell.
        saved: What was saved; ``None`` if the file was removed.
        disk: What stands on the disk: what was saved, unless that was displaced.
        displaced: The digest of what displaced it; ``""`` if it stands on the disk.
        by_git: Whether git brought the file from another commit: then nobody deleted anything,
            and ``edit.base`` is what git knew of it.
    """

    edit: HandEdit
    head: str | None
    saved: str | None
    disk: bytes | None
    displaced: str = ""
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
        return read.slot().marked(self._history.marks(name))

    def journalled(self, name: str) -> Slot:
        """Return a file as its last step left it, whatever was saved since: that is displaced."""
        text = self._head_text(name)
        slot = Slot(text, None if text is None else encoded(text), parse(text or ""))
        slot.marks = self._history.marks(name)
        return slot

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
        files = [(self._where(name), head or "") for name, head in heads.items()]
        saves: list[Save] = []
        for _ in range(_LOOKS):
            self._let_git_finish(where() for where, _ in files)
            data = self._staging.settled(files)
            before = self._git(files)
            texts = zip(heads, data, strict=True)
            saves = [self._save(name, heads[name], found) for name, found in texts]
            # What git says of a file that came meanwhile says nothing of the one that we read; it
            # may also have gone to another branch and come back.
            now_there = [self._disk.read(where()) for where, _ in files]
            if now_there == data and self._git(files) == before:
                break
        return [save for save in saves if self._is_news(save)]

    def _git(self, files: Iterable[tuple[Callable[[], Path], str]]) -> set[tuple[object, ...]]:
        """Return what tells whether git did something meanwhile."""
        return {standing(where(), self._disk) for where, _ in files}

    def let_finish(self, name: str) -> None:
        """Wait until a file looks whole again that an editor moved away for a moment."""
        self._staging.settled([(self._where(name), self._head_text(name) or "")])

    def displaced(self, name: str, saved: str, source: str, by: str) -> Save | None:
        """Return a save that our own file displaced; ``None`` if it was taken in already.

        Args:
            name: The file.
            saved: What was saved.
            source: The digest of the newest state that the person can have seen.
            by: The digest of what displaced it.
        """
        head = self._head_text(name)
        since = self._history.since(name, source)[:-1]
        if digest(saved) in {self._history.head(name), *(part.target for part in since)}:
            return None
        disk = None if head is None else encoded(head)
        states = deque([head or ""], maxlen=1 + len(_MERGED))
        for part in since:
            states.append(part.backward(states[-1]))
        seen, newest = states[-1], states[-1 - self._merged(name, since)]
        edit = self._edit(name, head, saved, seen, newest)
        return Save(edit, head, saved, disk, displaced=by)

    def draft(self, saves: Sequence[Save], *, insist: bool = False) -> Draft:
        """Return the files as they are to be after ``saves``.

        Args:
            saves: What was saved.
            insist: Go on from the journal where another file is needed and was saved as well.

        Raises:
            OutOfStepError: If one was, and we do not insist.
        """
        draft = Draft(self.journalled if insist else self.load)
        slots = [Slot(save.saved, save.disk, parse(save.saved or "")) for save in saves]
        for save, slot in zip(saves, slots, strict=True):
            slot.marks = self._history.marks(save.edit.file)
            draft.preset(save.edit.file, slot)
        for save, slot in zip(saves, slots, strict=True):
            # One that was removed and is back says as much as one that was changed.
            known = save.head is not None or self._history.head(save.edit.file) == ""
            if save.by_git and save.edit.base != save.edit.head:
                carry_over(draft, save.edit, new_id, today().isoformat())
            elif known and not save.by_git:
                moved = self._stands_elsewhere(save.edit.file, draft)
                day = today().isoformat()
                done = respond(draft, save.edit, moved, new_id, day, marks=slot.marks)
                slot.marks = done.marks
        return draft

    def step(self, save: Save, marks: tuple[str, ...]) -> Step:
        """Return a save as a step of the journal, by the person; ``marks`` are yet to be set."""
        file = save.edit.file
        part = self._history.part(file, save.head, save.saved)._replace(marks=marks)
        if save.head is None:
            came = known_to_git([self._reader.path(file)], self._disk)
            return new_step(_CLONED if came else _FOUND, (part,), ())
        changes = entry_changes(file, parse(save.head), parse(save.saved or ""))
        return new_step(_act(save), (part,), tuple(changes))

    def _where(self, name: str) -> Callable[[], Path]:
        """Return what says where a file is; one that is away for a moment may be an alias."""
        return partial(self._reader.path, name)

    def _save(self, name: str, head: str | None, data: bytes | None) -> Save:
        saved = decoded(data)
        path = self._reader.path(name)
        moved = moved_since(path, self._history.last_at(name), self._disk, head or "")
        by_git = moved or is_merging(path, self._disk, head, saved)
        restored = is_restored(path, self._disk)
        if by_git or restored:
            # git brought other lines, or took ours back for somebody; no editor is old.
            race = moved or (by_git and restored)
            known = self._known_to_git(name, head or "", path) if race else head or ""
            edit = HandEdit(name, known, known, head or "")
        elif saved and is_kept(path, self._disk) and self._stood_lately(name, head, saved, path):
            edit, by_git = HandEdit(name, saved, saved, head or ""), True
        else:
            edit = self._edit(name, head, saved or "", head or "", head or "")
        return Save(edit, head, saved, data, by_git=by_git)

    def _let_git_finish(self, paths: Iterable[Path]) -> None:
        """Wait while git brings files: why they differ it says behind them."""
        files, waited = [*paths], 0.0
        while waited < _GIT_AT_WORK and any(is_at_work(path, self._disk) for path in files):
            time.sleep(_POLL)
            waited += _POLL

    def _known_to_git(self, name: str, head: str, path: Path) -> str:
        """Return the text of a file that git, or who uses it, knew when it wrote another one.

        git refuses to replace what is not committed. What was written in the moment before it
        wrote the file, and is in no commit, nobody took away: git had looked before that.
        """
        is_raced, known = raced(path, self._disk), head
        late: list[tuple[Step, str, str]] = []
        for step, after, before in self._history.backwards(name, head):
            if step.op == _BY_GIT.op or not is_raced(step.at):
                break
            late.append((step, after, before))
        is_known = known_since(path, late[-1][0].at, self._disk) if late else None
        for _, after, before in late:
            if is_known is None or is_known(encoded(after)):
                break
            known = before
        return known

    def _stood_lately(self, name: str, head: str | None, saved: str, path: Path) -> bool:
        """Whether a file held what it holds until we wrote a moment ago: git put it back."""
        since = raced_since(path, self._disk)
        for step, _, before in self._history.backwards(name, head or ""):
            if step.at < since or step.by == "person":
                return False
            if before == saved:
                return True
        return False

    def _edit(self, name: str, head: str | None, saved: str, seen: str, newest: str) -> HandEdit:
        """Return what a person did, whose editor may be older than ``seen``.

        Args:
            name: The file.
            head: What the journal says it holds.
            saved: What was saved.
            seen: The newest state that they can have seen.
            newest: The newest state that holds their own saves.
        """
        past = () if head is None else self._history.past(name, digest(newest))
        return HandEdit(name, find_base(newest, past, saved).text, seen, head or "")

    def _merged(self, name: str, since: Sequence[Part]) -> int:
        """Return how many of the oldest of ``since`` merged the save before one."""
        before = since[-len(_MERGED) :]
        past = self._history.past(name, before[0].target) if before else ()
        how = tuple(each.how for each in islice(past, len(before)))
        return len(before) if how == _MERGED else 0

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
            text = placement.split_task(said)[1] if file == placement.PENDING else said
            copies = placement.copies_of(file, placed.block.meta or Metadata())
            return any(
                not stood(name, text) or (name not in copies and _both_lessons(name, file))
                for name in others
                if draft.get(name).same(text)
            )

        return moved

    def _head_text(self, name: str) -> str | None:
        """Return the text of a file after its last step."""
        head = self._history.head(name)
        if not head:
            return None
        known = self._reader.known(name, head)
        return self._history.text(name) if known is None else known


def _act(save: Save) -> Act:
    if save.by_git:
        return _BY_GIT
    if not save.displaced:
        return _BY_HAND
    return _MEANWHILE if save.displaced == digest(save.head) else _LATE


def _both_lessons(*names: str) -> bool:
    return all(name == placement.LESSONS or name.startswith("topics/") for name in names)

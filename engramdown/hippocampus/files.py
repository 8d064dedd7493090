"""The memory files of one scope: the only place that writes one.

Every change is made to what is on the disk at that moment, under the scope's lock,
in the journal before it is in the file; a file is exchanged, never overwritten, so that a save of
a person that lands in between is in our hands and is merged; several files change as one step; a
step that was cut short by a crash is carried out by the next holder; an error leaves memory as it
was. ``docs/write-protocol.md`` has the order, and why each part of it is there.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from engramdown.errors import LockTimeoutError, StoreError
from engramdown.forks import cached_property
from engramdown.hippocampus import changeset
from engramdown.hippocampus.changeset import Act, Draft, FileChange, OutOfStepError, Slot, new_step
from engramdown.hippocampus.history import History, Step, digest
from engramdown.hippocampus.snapshot import Reader, decoded, is_untidy
from engramdown.kinds import is_name, starter
from engramdown.markdown.document import Document, parse
from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import ERASING, Disk, named_errors
from engramdown.storage.locks import Held, ScopeLock, one_call

if TYPE_CHECKING:
    from engramdown.hippocampus.erase import MemoryEraser
    from engramdown.hippocampus.hand_edits import Save, Saves
    from engramdown.hippocampus.transaction import Leftover, Recovery, Staged, Staging

T = TypeVar("T")
# A file of a step: its document before and after, and its text before and after.
_Side = tuple["Staged", Document, Document, str | None, str | None]
# How often what a person saves again and again is erased before the next holder goes on with it.
_ERASURES: Final = 5
_ID: Final = re.compile(r"\bid:([0-9a-z]{8})\b")


class MemoryFiles:
    """The files below ``memory/`` of one scope.

    Attributes:
        root: The folder of the scope.
        folder: The memory folder.
        history: The journal.
        obstacles: Returns why topics cannot be read.
    """

    def __init__(self, root: Path, disk: Disk, lock_timeout: float = LOCK_TIMEOUT) -> None:
        """Open the scope at ``root`` (an ``.engramdown`` folder); nothing is created yet.

        Args:
            root: The folder of the scope.
            disk: The system calls.
            lock_timeout: How long to wait for other writers, in seconds.
        """
        self.root = root
        self.history = History(root / "history.jsonl", disk)
        self._disk = disk
        self._reader = Reader(root, disk)
        self.folder, self.obstacles = self._reader.folder, self._reader.obstacles
        self._lock = ScopeLock(self.folder / ".lock", lock_timeout)
        self._planned: dict[str, Slot] | None = None
        self._past: Mapping[str, str] | None = None

    # What only a step needs is loaded with the first one: most processes only read. It is asked
    # for under the lock, so two threads cannot make two of it.

    @cached_property
    def _staging(self) -> Staging:
        from engramdown.hippocampus.transaction import Staging

        return Staging(self._disk)

    @cached_property
    def _saves(self) -> Saves:
        from engramdown.hippocampus.hand_edits import Saves

        return Saves(self._disk, self._reader, self.history, self._staging)

    @cached_property
    def _recovery(self) -> Recovery:
        from engramdown.hippocampus.transaction import Recovery

        return Recovery(self._disk, self._reader, self.history, self._staging)

    def names(self) -> list[str]:
        """Return the memory files that exist, in a fixed order.

        Raises:
            StoreError: If a folder cannot be read, or is something else.
        """
        with named_errors(self.folder, "read"):
            for folder in (self.root, self.folder):
                self._disk.check_folder(folder)
            names = dict.fromkeys(self._reader.names())
        # An editor may have moved a file away for a moment; the journal knows that it is there.
        left = (name for name, head in self.history.heads().items() if head and name not in names)
        known = (name for name in left if self._reader.is_page(name))
        return [*dict.fromkeys([*names, *known, *(self._planned or ())])]

    def place(self, name: str) -> Path:
        """Return where the file called ``name`` is, or will be; it may be spelled otherwise."""
        with named_errors(self.folder, "read"):
            return self._reader.place(name)

    def spellings(self, name: str) -> list[Path]:
        """Return the files that may be meant by ``name``, the one that is used first."""
        with named_errors(self.folder, "read"):
            return self._reader.spellings(name)

    def conflict(self) -> str:
        """Say in which files git left a merge to a person, or return ``""``."""
        try:
            conflicts = [*self._reader.conflicts()]
        except (OSError, StoreError):
            return ""  # Reading the folder reports it.
        more = f" and in {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
        return "".join(
            f"{path}:{line}: an unresolved merge{more}; both sides are memory until you keep the "
            "lines you want and delete the markers (`engramdown doctor` shows them)"
            for path, line in conflicts[:1]
        )

    def document(self, name: str) -> Document:
        """Read a file; one that is not there is an empty document. Takes no lock.

        Raises:
            StoreError: If it cannot be read.
        """
        if self._planned is not None and name in self._planned:
            return self._planned[name].after
        with named_errors(self.folder / name, "read"):
            return self._reader.read(name).document

    def marks(self, name: str) -> tuple[str, ...]:
        """Return what a person changed in a file that is yet to be marked there as verified.

        Another process may have taken the change in. A journal that cannot be read hides no
        memory.
        """
        with contextlib.suppress(StoreError, OSError):
            self.history.refresh()
            return self.history.marks(name) if self._past is None else ()
        return ()

    def text(self, name: str) -> str:
        """Read a file that only a person writes, relative to the scope's folder, or return ``""``.

        Raises:
            StoreError: If it cannot be read, or is a link that leaves the scope, or the project.
        """
        page = name.removeprefix(f"{self.folder.name}/")
        if self._past is not None and page != name:
            return self._past.get(page, "")
        with named_errors(self.root / name, "read"):
            return self._reader.other(name)

    def beside(self, name: str) -> Path | None:
        """Return the file of ``.agents``, beside the scope's folder, that is meant by ``name``.

        Nothing of ours ever writes it; :meth:`text` reads ``.agents/SOUL.md``. Of two that differ
        in capitals the one that is spelled ``SOUL.md`` or ``USER.md`` is.
        """
        try:
            return self._reader.beside(name) if self._past is None else None
        except OSError:
            return None

    def steps(self) -> list[Step]:
        """Return every step of the journal, the oldest first.

        Raises:
            StoreError: If it cannot be read.
        """
        with named_errors(self.history.path, "read"):
            return self.history.steps()

    def start(self, starters: Mapping[str, str]) -> list[Path]:
        """Create the scope's folder and the starter files that are missing; return the new ones."""

        def edit(draft: Draft) -> list[Path]:
            missing = [name for name in starters if not self._disk.exists(self.place(name))]
            for name in missing:
                draft.put(name, parse(starters[name]))
            return [self.place(name) for name in missing]

        return self.change(Act("init", "user"), edit)

    def dry_run(self) -> None:
        """From now on write nothing: steps pile up in memory."""
        self._planned = {} if self._planned is None else self._planned

    def look_back(self, texts: Mapping[str, str]) -> None:
        """From now on read these texts in place of the files, and write nothing."""
        names = [*dict.fromkeys([*self.names(), *filter(is_name, texts)])]
        self._planned = {
            name: Slot(texts.get(name), None, parse(texts.get(name, ""))) for name in names
        }
        self._past = texts

    @property
    def is_past(self) -> bool:
        """Whether earlier texts are read in place of the files."""
        return self._past is not None

    def planned_changes(self) -> list[FileChange]:
        """Return what the steps of the dry run would change."""
        return [
            FileChange(self.place(name), slot.before or "", slot.after.render())
            for name, slot in (self._planned or {}).items()
            if slot.after is not slot.document
        ]

    @one_call()
    def change(self, act: Act | Callable[[T], Act], edit: Callable[[Draft], T]) -> T:
        """Carry out one step and return what ``edit`` returned.

        Args:
            act: The words for the journal, or what returns them for what ``edit`` returned.
            edit: Changes the draft. It is called again from the beginning when a file turns out
                to have been saved by a person, so it must change nothing else.

        Raises:
            LockTimeoutError: If somebody else held the lock too long.
            StoreError: If a file could not be read or written; memory is as it was before.
        """
        if self._past is not None:
            raise StoreError(f"{self.folder}: memory as it was cannot be changed")
        if self._planned is not None:
            return self._plan(edit)
        with self._hold() as hold:
            done = False
            while not done:
                last = self.history.last
                try:
                    draft = Draft(self._saves.journalled if hold.insists else self._saves.load)
                    result = edit(draft)
                    words = act if isinstance(act, Act) else act(result)
                    self._commit(_group.get() or words, draft, hold)
                    done = True
                except OutOfStepError as found:
                    self._carry_out(hold)
                    # What could not be put back is carried out: it must not be done twice.
                    done = self.history.last != last
                    # What they saved before that comes first.
                    self._merge_displaced(hold)
                    self._take_in(hold, found.name)
                self._merge_displaced(hold)
            return result

    def notice(self, *, wait: bool = True) -> bool:
        """Take in what a person changed since the last step; return whether there was anything.

        Takes the lock only if a file is not as the journal says, or a step was not finished.

        Args:
            wait: Whether to wait for somebody who holds the lock. Who only reads need not: files
                are read as they are, and the next writer takes in what was changed.

        Raises:
            StoreError: As :meth:`change`.
        """
        if self._planned is not None or not self._disk.exists(self.folder):
            return False
        with named_errors(self.folder, "read"):
            self.history.refresh()
            behind = self._lock.is_behind(self.history.last)
            if not (behind or is_untidy(self._reader, self.history, self._disk)):
                return False
        try:
            with self._hold(wait=wait) as hold:
                any_saves = self._take_in(hold)
                self._merge_displaced(hold)
        except LockTimeoutError:
            if wait:
                raise
            return False
        return any_saves

    @contextlib.contextmanager
    def _hold(self, *, wait: bool = True) -> Iterator[WriteSession]:
        """Hold the lock with the scope in order: steps that a crash cut short are carried out."""
        with named_errors(self.folder, "written"):
            self._disk.make_folder(self.folder)
            self._disk.inside(self.folder, self.root)
            self._disk.check_writable(self.folder)
            with self._lock.hold(wait=wait) as lock:
                hold = WriteSession(lock)
                try:
                    self._bring_in_order(hold)
                    yield hold
                except BaseException:
                    self._staging.untidy = True
                    raise

    def _bring_in_order(self, hold: WriteSession) -> None:
        """Clear up behind a crash, and finish what a person began to erase for good."""
        self.history.refresh()
        eraser: MemoryEraser | None = None
        if self._disk.exists(self.root / ERASING):
            # Imported here: hardly any process ever erases.
            from engramdown.hippocampus.erase import MemoryEraser
            from engramdown.storage.erasure import unfinished

            erasure = unfinished(self.root, self._disk)
            eraser = erasure and MemoryEraser(self._disk, self._reader, self.history, erasure)
        if eraser is None:
            self._tidy_up(hold)
            return
        if eraser.is_begun:
            # What was displaced holds the words still, and must not be taken for a person's save.
            eraser.files()
        self._tidy_up(hold)
        # What a person saved of other things is taken in: before, and what they save meanwhile
        # after.
        self._take_in(hold)
        eraser.check()
        for _ in range(_ERASURES):
            eraser.journal()
            eraser.files()
            self._tidy_up(hold)
            self._take_in(hold)
            self._merge_displaced(hold)
            if eraser.is_clean():
                break
        hold.lock.finish(self.history.last)

    def _tidy_up(self, hold: WriteSession) -> None:
        """Clear up behind a crash, and write down the files that the journal does not know."""
        finished = hold.lock.finished
        if finished != self.history.last:
            # Another process may have taken back what we know.
            self.history.forget()
            self.history.refresh()
        if finished == self.history.last and not self._staging.untidy:
            return
        self._staging.untidy = False
        ignored = self.root / ".gitignore"
        # A person who removes it later has a reason.
        is_new = finished == "" or not self.history.last
        if is_new and not self._disk.exists(ignored):
            self._disk.create(ignored, starter("gitignore").encode(), mode=0o644)
        self._carry_out(hold)
        for left in self._recovery.leftovers():
            self._fold_in(left, hold)
            self._staging.drop(left.path)
        if self._saves.strangers():
            self._take_in(hold)
        self._merge_displaced(hold)
        hold.lock.finish(self.history.last)
        if not finished and self._disk.durable:
            # Without a note nobody would know that a step of the journal is not finished; and the
            # process that made the folders may have died before they were synced.
            hold.lock.sync()
            self._disk.sync_folder(self.folder)
            self._disk.sync_folder(self.root)
            with contextlib.suppress(PermissionError):  # then it was not us who wrote there
                self._disk.sync_folder(self.root.parent)

    def erase(self, *, wait: bool = True) -> None:
        """Erase for good what the note in the folder of the scope names.

        Args:
            wait: Whether to wait for somebody who holds the lock.

        Raises:
            LockTimeoutError: If somebody else held the lock too long.
            StoreError: If a file could not be written; the next holder of the lock goes on.
        """
        with self._hold(wait=wait):
            self.history.refresh()  # Taking the lock has done it.

    def _carry_out(self, hold: WriteSession) -> None:
        """Carry out the steps of the journal that were neither finished nor put back."""
        finished = hold.lock.finished
        if finished not in (None, self.history.last):
            # The process that wrote the journal or a file may have died before it was synced.
            self._disk.sync(self.history.path)
            self._recovery.carry_out(finished)
            self._disk.sync_folder(self.folder)
            with contextlib.suppress(FileNotFoundError):
                self._disk.sync_folder(self.folder / "topics")

    def _plan(self, edit: Callable[[Draft], T]) -> T:
        slots = self._planned if self._planned is not None else {}
        draft = Draft(
            lambda name: slots[name].copy() if name in slots else self._reader.read(name).slot()
        )
        with named_errors(self.folder, "read"):
            result = edit(draft)
        slots |= dict(draft.changed())
        return result

    def _commit(
        self,
        act: Act,
        draft: Draft,
        hold: WriteSession,
        saves: Sequence[Step] = (),
        *,
        insist: bool = False,
    ) -> None:
        """Write a step into the journal, then into the files; ``saves`` go before it."""
        staged = [
            self._staging.stage(name, self._reader.path(name), slot)
            for name, slot in draft.changed()
        ]
        files = [file for file in staged if file.data != file.slot.disk]
        steps = [*saves, *self._steps(act, staged)]
        if not steps:
            return
        self._staging.check(files)
        size = self.history.append(steps)
        try:
            insist = insist or hold.insists
            hold.displaced += self._staging.install(files, self._reader.path, insist=insist)
        except BaseException:
            hold.yielded += 1
            if self._staging.put_back(files):
                self.history.take_back(size)
            else:
                # Then the step stays in the journal, and the next holder carries it out.
                self._staging.untidy = True
                hold.displaced += self._staging.displaced(files)
            raise
        for file in files:
            self._reader.remember(file.name, file.data, file.text, file.slot.after)
        if not hold.displaced:
            hold.lock.finish(self.history.last)

    def _steps(self, act: Act, staged: Sequence[Staged]) -> Iterator[Step]:
        """Yield the step that ``act`` names, and before it the one that marks hand edits.

        What a person changed in files that are written is marked as verified by a step of its own,
        so that an undo of what was done to the files leaves it.
        """
        marked, changed = list[_Side](), list[_Side]()
        for file in staged:
            slot, unmarked = file.slot, file.slot.unmarked
            if unmarked is not None:
                marked.append((file, unmarked, slot.document, unmarked.render(), slot.before))
            if file.text != slot.before:
                changed.append((file, slot.document, slot.after, slot.before, file.text))
        names = ", ".join(file.name for file, *_ in marked)
        follows = Act("notice", "engramdown", f"follows from a hand edit of {names}")
        for each, sides in ((follows, marked), (act, changed)):
            if sides:
                parts = tuple(
                    self.history.part(file.name, before, after)._replace(marks=file.slot.marks)
                    for file, _, _, before, after in sides
                )
                changes = (
                    changeset.entry_changes(file.name, old, new) for file, old, new, *_ in sides
                )
                yield new_step(each, parts, tuple(chain.from_iterable(changes)))

    def _take_in(self, hold: WriteSession, *names: str) -> bool:
        """Take in a person's saves, ``names`` among them; return whether there were any."""
        any_found = False
        while True:
            saves = self._saves.found(names)
            any_found = any_found or bool(saves)
            if [save for save in saves if self._drop_erased(save)]:
                continue
            try:
                self._respond(saves, hold)
            except OutOfStepError as found:
                # One that is gone is not seen by looking at what is there.
                names = (*names, found.name)
                self._carry_out(hold)
                self._merge_displaced(hold)
            else:
                return any_found

    def _drop_erased(self, save: Save) -> bool:
        """Take out of a save what an editor has kept of a memory that was erased; whether it has.

        Nobody types an id. What git brings from another commit is git's.
        """
        name = save.file
        is_gits, saved = save.by_git, save.saved or ""
        gone = frozenset[str]() if is_gits else self._erased_in(saved, save.head or "")
        if not gone:
            return False
        from engramdown.hippocampus.erase import drop

        return drop(self._disk, self._reader.path(name), name, gone)

    def _erased_in(self, saved: str, head: str) -> frozenset[str]:
        """Return the ids of memories that were erased, and that ``head`` does not have."""
        new = frozenset(_ID.findall(saved)) - frozenset(_ID.findall(head))
        return new & self.history.erased() if new else frozenset()

    def _merge_displaced(self, hold: WriteSession) -> None:
        """Merge the saves that our own files displaced; merging one may displace another."""
        from engramdown.hippocampus.transaction import Leftover

        for merged in count():
            if not hold.displaced:
                return
            if hold.is_long(merged):
                break
            file = hold.displaced[0]
            saved, by = decoded(file.displaced) or "", digest(file.text)
            self._fold_in(Leftover(file.temporary, file.name, saved, file.source, by), hold)
            hold.displaced.popleft()
            self._staging.drop(file.temporary)
            if not hold.displaced:
                hold.lock.finish(self.history.last)
        self._staging.untidy = True

    def _fold_in(self, left: Leftover, hold: WriteSession) -> None:
        """Merge a save that was displaced; one that was made after it is displaced in its turn."""
        gone = self._erased_in(left.text, self.history.text(left.name) or "")
        if gone:
            from engramdown.hippocampus.erase import without

            left = left._replace(text=without(left.name, left.text, gone))
        for tries in count():
            save = self._saves.displaced(left.name, left.text, left.source, left.by, left.path)
            try:
                # It insists: what was saved first is to be merged first.
                self._respond([save] if save else [], hold, insist=True)
            except OutOfStepError as found:
                self._carry_out(hold)
                if not tries:
                    self._saves.let_finish(found.name)
                else:
                    self._take_in(hold, found.name)
            else:
                return

    def _respond(self, saves: Sequence[Save], hold: WriteSession, *, insist: bool = False) -> None:
        """Write saves into the journal as the person's, and carry out what follows from them."""
        if saves:
            names = ", ".join(save.file for save in saves)
            act = Act("notice", "engramdown", f"follows from a hand edit of {names}")
            draft = self._saves.draft(saves, insist=insist or hold.insists)
            steps = [self._saves.step(save, draft.marks(save.file)) for save in saves]
            for save in saves:
                # Few editors sync: a save in the journal must survive a power cut.
                self._disk.sync(self._reader.path(save.file))
            self._commit(act, draft, hold, steps, insist=insist)


_group: ContextVar[Act | None] = ContextVar("step_group", default=None)


@contextlib.contextmanager
def step_group(act: Act) -> Iterator[None]:
    """Journal every step of a ``with`` block, in its thread and task, as part of ``act``."""
    token = _group.set(act)
    try:
        yield
    finally:
        _group.reset(token)


# How often, and for how many seconds, a step is begun anew because a person saved in the middle of
# it. Then it stays, and what they saved is merged behind it.
_YIELDS: Final = 50
_PATIENCE: Final = 2.0
# How many displaced saves one holder merges, and until how many seconds after it took the lock it
# begins with one more; what is left waits for the next holder.
_MERGES: Final = 10
_MERGING: Final = 3.0


class WriteSession:
    """A scope whose lock we hold: for how long we give way to a person's saves, and what waits.

    Attributes:
        lock: The lock.
        displaced: Files whose exchange displaced a person's save that is not merged yet.
        yielded: How often we gave way to a save.
    """

    def __init__(self, lock: Held) -> None:
        """Begin to count."""
        self.lock = lock
        self.displaced: deque[Staged] = deque()
        self.yielded = 0
        self._since = time.monotonic()

    @property
    def insists(self) -> bool:
        """Whether a file of ours stays in its place, even if it displaces a save."""
        return self.yielded >= _YIELDS or self._seconds() >= _PATIENCE

    def is_long(self, merged: int) -> bool:
        """Whether others are to go on, now that ``merged`` displaced saves are merged."""
        return merged >= _MERGES or (merged > 0 and self._seconds() >= _MERGING)

    def _seconds(self) -> float:
        return time.monotonic() - self._since


def is_for_git(name: str) -> bool:
    """Whether a file of a scope, by its name relative to its folder, is for git.

    >>> is_for_git("memory/rules.md"), is_for_git("episodes/a.jsonl"), is_for_git("memory/.lock")
    (True, False, False)
    """
    folder, _, rest = name.partition("/")
    last = rest.rpartition("/")[2]
    is_temporary = last[:1] == "." and last.endswith(".tmp")
    if name == "memory/.lock" or (folder in ("memory", "skills", "journal") and is_temporary):
        return False
    return f"!/{folder}{'/' if rest else ''}" in starter("gitignore").split("\n")

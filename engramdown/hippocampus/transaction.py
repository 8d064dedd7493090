"""Several files replaced as one step, and what a crash left of one.

New files are written beside the old ones, then both are exchanged: nothing is overwritten unseen.
What a person saved between our look at a file and the exchange comes back under the temporary name,
and gets its place again at once; a file that is still being written is given time to become whole;
a step that fails is put back, and says whether that worked. After a crash a step of the journal
that did not reach its files is carried out, our temporary files are removed, and a person's save
among them is handed out; doing it twice does no harm.

A temporary name says what the file was meant to be: ``.<name>.<digest>.<random>.tmp``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.hippocampus import git_state, snapshot
from engramdown.hippocampus.changeset import OutOfStepError, Slot
from engramdown.hippocampus.history import History, Part, digest
from engramdown.hippocampus.snapshot import Reader, decoded, encoded
from engramdown.kinds import is_name
from engramdown.markdown.document import parse
from engramdown.storage import disk as system
from engramdown.storage.disk import POLL, UNFINISHED, Disk, wait_while

# How long a file that looks cut short is given to become whole, in seconds: editors that write in
# place need milliseconds, and a person who deletes the last line is kept waiting this long once.
_SETTLE_CUT: Final = 1.0
_SETTLE_SHORT: Final = 0.25
# How long one is waited for that a program has open for writing; it is looked at again later.
_SETTLE_OPEN: Final = 2.0
# How long to wait for git when it has just begun to bring files, in seconds. What it writes in the
# same moment as we do is told apart from a person's save, but a commit before that records ours.
_SETTLE_GIT: Final = 0.5


@dataclass(slots=True)
class Staged:
    """A file of a step on its way to its place.

    Attributes:
        name: The memory file.
        path: Where it belongs.
        temporary: Where it waits; after the exchange, what was in its place.
        slot: What it was and is to be.
        text: What it is to hold.
        data: The same as bytes.
        displaced: What a person saved and our file displaced.
    """

    name: str
    path: Path
    temporary: Path
    slot: Slot
    text: str
    data: bytes
    displaced: bytes | None = None

    @property
    def source(self) -> str:
        """The digest of what it is to displace.

        Behind a save that was displaced itself that is not what it was: the save had no place.
        """
        return digest(decoded(self.slot.disk))


class Staging:
    """Puts the files of a step into their places.

    Attributes:
        untidy: Whether temporary files may be lying about: nobody looked yet, one could not be
            removed, or a program still writes into one that was displaced.
    """

    def __init__(self, disk: Disk) -> None:
        """Work through ``disk``."""
        system.load()
        self.untidy = True
        self._disk = disk
        # Files that a program keeps open for writing: we waited for it, and go on without.
        self._busy: set[Path] = set()

    def stage(self, name: str, path: Path, slot: Slot) -> Staged:
        """Return what a file is to become; nothing is written yet.

        Raises:
            StoreError: If it would be too large to be read again.
        """
        text = slot.after.render()
        data = encoded(text)
        self._disk.check_size(path, len(data))
        hidden = f".{path.name}.{digest(text)}.{os.urandom(4).hex()}.tmp"
        return Staged(name, path, path.with_name(hidden), slot, text, data)

    def check(self, files: Sequence[Staged]) -> None:
        """Refuse to write what somebody made read-only.

        Raises:
            StoreError: If a file or its folder is.
        """
        for file in files:
            self._disk.make_folder(file.path.parent)
            self._disk.check_writable(file.path.parent)
            self._disk.check_writable(file.path)

    def install(
        self, files: Sequence[Staged], where: Callable[[str], Path], *, insist: bool = False
    ) -> list[Staged]:
        """Put files in their places; after an error :meth:`put_back` is to be called.

        Args:
            files: What :meth:`stage` returned.
            where: Returns where a file belongs now: a new one may have come, spelled otherwise.
            insist: Displace what a person saved while we wrote, and do not give way to it.

        Returns:
            The files where a save was displaced; it is still under the temporary name. What stood
            in a place may have been read, so it is never taken away again for a save.

        Raises:
            OutOfStepError: If a file came or went, or was saved before any was in its place.
        """
        for file in files:
            self._disk.create(file.temporary, file.data, like=file.path)
        if files:
            wait_while(partial(git_state.has_begun, files[0].path, self._disk), _SETTLE_GIT)
        for file in files:
            is_elsewhere = where(file.name) != file.path
            if is_elsewhere or (not insist and self._is_saved(file)):
                raise OutOfStepError(file.name)
        for file in files:
            self._place(file)
        displaced = [file for file in files if file.slot.disk is not None]
        conflicts = [file for file in displaced if self._is_conflict(file)]
        # The process that made the folder of a new file may have died before it was synced.
        above = [file.path.parent.parent for file in files if file.slot.disk is None]
        for folder in dict.fromkeys([*above, *(file.path.parent for file in files)]):
            self._disk.sync_folder(folder)
        for file in displaced:
            if file not in conflicts:
                self.drop(file.temporary)
        for file in conflicts:
            file.displaced = self._settled(file)
        return conflicts

    def put_back(self, files: Sequence[Staged]) -> bool:
        """Undo what :meth:`install` did; return whether everything is as it was before."""
        done = [self._put_back(file) for file in files]
        return all(done)

    def displaced(self, files: Sequence[Staged]) -> list[Staged]:
        """Return the files whose temporary name holds a person's save, although they gave way."""
        saves = []
        for file in files:
            data = self._settled(file) if self._disk.exists(file.temporary) else file.data
            if data not in (file.data, file.slot.disk):
                file.displaced = data
                saves.append(file)
        return saves

    def settled(self, files: Sequence[tuple[Callable[[], Path], str]]) -> list[bytes | None]:
        """Read files that a person may be saving at this moment, once they look whole.

        Args:
            files: What returns where each file is, as one that is away for a moment may be spelled
                otherwise, and what was in it before the person came.
        """
        waited = 0.0
        data = [self._closed(where()) for where, _ in files]
        # They are waited for together: a folder that was removed is a wait, not one per file.
        while cut := [
            at for at, (_, head) in enumerate(files) if waited < _patience(decoded(data[at]), head)
        ]:
            time.sleep(POLL)
            waited += POLL
            for at in cut:
                data[at] = self._closed(files[at][0]())
        return data

    def _settled(self, file: Staged) -> bytes | None:
        """Read what a file displaced, once it looks whole."""
        return self.settled([(lambda: file.temporary, file.slot.before or "")])[0]

    def drop(self, path: Path) -> None:
        """Remove a temporary file, unless a program writes into it; it is looked at again then."""
        try:
            if self._disk.is_being_written(path):
                self.untidy = True
            else:
                self._disk.unlink(path)
        except OSError:
            self.untidy = True

    def _place(self, file: Staged) -> None:
        """Exchange a file with the one in its place, or publish it if there is none."""
        try:
            if file.slot.disk is None:
                self._disk.publish(file.temporary, file.path)
            else:
                self._disk.exchange(file.temporary, file.path)
        except (FileNotFoundError, FileExistsError) as error:
            if not self._disk.exists(file.temporary):
                raise StoreError(
                    f"{file.temporary}: was removed while it was in use; nothing was written."
                ) from error
            raise OutOfStepError(file.name) from error

    def _is_saved(self, file: Staged) -> bool:
        """Whether a file was saved since we read it, or is just being saved."""
        is_open = file.slot.disk is not None and self._is_newly_open(file.path, file.path)
        return is_open or self._disk.read(file.path) != file.slot.disk

    def _is_conflict(self, file: Staged) -> bool:
        """Whether what was displaced is not what we read, or is about to change."""
        is_open = self._is_newly_open(file.temporary, file.path)
        return is_open or self._disk.read(file.temporary) != file.slot.disk

    def _is_newly_open(self, path: Path, place: Path) -> bool:
        """Whether a program has opened a file for writing that we did not wait for yet."""
        if self._disk.is_being_written(path):
            return place not in self._busy
        self._busy.discard(place)
        return False

    def _closed(self, path: Path) -> bytes | None:
        """Read a file once nobody has it open for writing, or when that takes too long."""
        seconds = 0.0 if path in self._busy else _SETTLE_OPEN
        if wait_while(lambda: self._disk.is_being_written(path), seconds):
            self._busy.add(path)
        else:
            self._busy.discard(path)
        return self._disk.read(path)

    def _put_back(self, file: Staged) -> bool:
        """Undo what happened to one file; return whether nobody else was there since."""
        disk, is_new = self._disk, file.slot.disk is None
        try:
            # A call that failed may have worked all the same.
            if is_new:
                is_placed = disk.read(file.path) == file.data
            else:
                is_placed = disk.read(file.temporary) not in (file.data, None)
            if is_placed and is_new:
                disk.withdraw(file.path, file.temporary)
            elif is_placed:
                disk.exchange(file.temporary, file.path)
            if is_placed and disk.read(file.temporary) != file.data:
                # What somebody else put there gets its name back.
                (disk.publish if is_new else disk.exchange)(file.temporary, file.path)
                return False
            disk.unlink(file.temporary)
        except (OSError, StoreError):
            return False
        return True


def _patience(text: str | None, head: str) -> float:
    """Return how long a file that reads ``text`` may still be on its way, in seconds."""
    if not head or text == head:
        return 0.0
    if not text or (head.endswith("\n") and not text.endswith("\n")):
        return _SETTLE_CUT
    return _SETTLE_SHORT if head.startswith(text) else 0.0


class Leftover(NamedTuple):
    """A person's save under a temporary name.

    Attributes:
        path: Where it is.
        name: The memory file that it was in.
        text: What it says.
        source: The digest of the newest state that the person can have seen, or ``""``.
        by: The digest of what displaced it.
    """

    path: Path
    name: str
    text: str
    source: str
    by: str


class Recovery:
    """Brings a scope in order; its lock is held."""

    def __init__(self, disk: Disk, reader: Reader, history: History, staging: Staging) -> None:
        """Work on the files that ``reader`` reads and ``history`` records."""
        self._disk = disk
        self._reader = reader
        self._history = history
        self._staging = staging

    def carry_out(self, finished: str) -> None:
        """Carry out the steps after ``finished`` that did not reach their files.

        A person's save at their end is forgotten and found anew: what follows from it is in
        the next line, and a power cut may have left the one without the other.
        """
        self._history.take_back_saves(finished)
        parts = [part for step in self._history.steps_after(finished) for part in step.parts]
        # A save that our file displaced came before that file, whatever it says now.
        saved = {(left.name, left.by) for left in self._leftovers()} if parts else set()
        for part in parts:
            if (part.file, part.target) not in saved:
                self._carry_out(part)

    def leftovers(self) -> list[Leftover]:
        """Remove temporary files of ours; return those that hold a save, the oldest first."""
        return sorted(self._leftovers(), key=lambda left: self._disk.changed_at(left.path))

    def _leftovers(self) -> Iterator[Leftover]:
        for path in snapshot.paths(self._reader, self._disk):
            name, state = snapshot.leftover_of(path) or ("", "")
            is_ours = bool(name) and is_name(name)
            if path.name == snapshot.IGNORING or (is_ours and path.name.endswith(UNFINISHED)):
                self._staging.drop(path)
            elif is_ours and self._disk.is_being_written(path):
                self._staging.untidy = True
            elif is_ours:
                text = decoded(self._disk.read(path)) or ""
                parts = self._history.since(name, state)
                source = parts[-1].source if parts else ""
                # Ours, what it replaced, or a save that was merged before the crash.
                if digest(text) in {state, source, *(part.target for part in parts)}:
                    self._staging.drop(path)
                    continue
                past = self._history.past(name, state)
                newest, save = next(past, None), next(past, None)
                if newest and newest.how == "followed" and save:
                    # What follows from a save may have been written when the save itself had no
                    # place any more: then an editor can have seen what was there before.
                    source = save.part.source
                yield Leftover(path, name, text, source, state)

    def _carry_out(self, part: Part) -> None:
        """Carry out one part; where a person came in between, what they saved stays."""
        if not is_name(part.file) or not part.target or part.source == part.target:
            return
        read = self._reader.read(part.file)
        after = part.forward(read.text or "")
        if read.digest != part.source or digest(after) != part.target:
            return
        slot = read.slot()
        slot.after = parse(after)
        staged = self._staging.stage(part.file, self._reader.path(part.file), slot)
        self._staging.check([staged])
        try:
            # A save that is displaced stays under its temporary name, and is a leftover.
            self._staging.untidy |= bool(self._staging.install([staged], self._reader.path))
        except BaseException as error:
            self._staging.put_back([staged])
            if not isinstance(error, OutOfStepError):
                raise

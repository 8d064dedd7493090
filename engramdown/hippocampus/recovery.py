"""What a crash left behind: steps that were not carried out, and temporary files.

Promises: a step of the journal that did not reach its files is carried out; of the temporary
files, ours are removed and a person's save among them is handed out; doing it twice does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engramdown.hippocampus.changeset import OutOfStepError
from engramdown.hippocampus.history import History, Part, digest
from engramdown.hippocampus.placement import is_name
from engramdown.hippocampus.snapshot import IGNORING, Reader, decoded, leftover_of, meant, paths
from engramdown.hippocampus.staging import Staged, Staging
from engramdown.markdown.document import parse
from engramdown.storage.disk import UNFINISHED, Disk

__all__ = ["Leftover", "Recovery"]


@dataclass(frozen=True, slots=True)
class Leftover:
    """A person's save that stands under a temporary name.

    Attributes:
        path: Where it stands.
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
        """Work on the files that ``reader`` reads and ``history`` tells about."""
        self._disk = disk
        self._reader = reader
        self._history = history
        self._staging = staging

    def carry_out(self, finished: str) -> None:
        """Carry out the steps after ``finished`` that did not reach their files.

        A person's save at their end is forgotten and found anew: what follows from it stands in
        the next line, and a power cut may have left the one without the other.
        """
        self._history.take_back_saves(finished)
        parts = [part for step in self._history.steps_after(finished) for part in step.parts]
        # What our file displaced was followed by what stands there now, whatever that reads.
        saved = {(left.name, left.by) for left in self._leftovers()} if parts else set()
        for part in parts:
            if (part.file, part.target) not in saved:
                self._carry_out(part)

    def leftovers(self) -> list[Leftover]:
        """Remove temporary files of ours; return those that hold a save, the oldest first."""
        return sorted(self._leftovers(), key=lambda left: self._disk.changed_at(left.path))

    def _leftovers(self) -> Iterator[Leftover]:
        for path in paths(self._reader, self._disk):
            found = leftover_of(path)
            if path.name == IGNORING:
                self._staging.drop(path)
            elif found is not None:
                yield from self._leftover(path, *found)

    def _carry_out(self, part: Part) -> None:
        if not is_name(part.file) or not part.target or part.source == part.target:
            return
        read = self._reader.read(part.file)
        after = part.forward(read.text or "")
        if read.digest != part.source or digest(after) != part.target:
            return
        slot = read.slot()
        slot.after = parse(after)
        staged = self._staging.stage(part.file, self._reader.path(part.file), slot)
        self._install(staged)

    def _install(self, staged: Staged) -> None:
        """Install one file; where a person came in between, what they saved stays."""
        self._staging.check([staged])
        try:
            # A save that is displaced stays under its temporary name, and is a leftover.
            self._staging.untidy |= bool(self._staging.install([staged], self._reader.path))
        except OutOfStepError:
            self._staging.put_back([staged])
        except BaseException:
            self._staging.put_back([staged])
            raise

    def _leftover(self, path: Path, file: str, state: str) -> Iterator[Leftover]:
        folder = "" if path.parent != self._reader.folder / "topics" else "topics/"
        name = meant(f"{folder}{file}")
        if not is_name(name):
            return
        if path.name.endswith(UNFINISHED):
            self._staging.drop(path)
            return
        if self._disk.is_being_written(path):
            self._staging.untidy = True
            return
        text = decoded(self._disk.read(path)) or ""
        parts = self._history.since(name, state)
        source = parts[-1].source if parts else ""
        # Ours, what it replaced, or a save that was merged before the crash.
        if digest(text) in {state, source, *(part.target for part in parts)}:
            self._staging.drop(path)
        else:
            yield Leftover(path, name, text, self._displaced(name, state, source), state)

    def _displaced(self, name: str, state: str, source: str) -> str:
        """Return what stood in the place that ``state``, made of ``source``, was to have.

        What follows from a save may have been written when the save itself had no place any more:
        then an editor can have seen what was there before, and not the save.
        """
        past = self._history.past(name, state)
        newest, save = next(past, None), next(past, None)
        follows = newest is not None and newest.how == "followed"
        return save.part.source if follows and save is not None else source

"""What was done to a scope on a volume, and what must be there wherever the power fails.

Promises: an operation runs on the real code; behind each one stands what a new process finds, so
that a state can be compared with it; what was acknowledged is told from what was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import EngramdownError
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.crash.mounted import Mount
from tests.crash.power_cut import newest
from tests.crash.scopes import opened
from tests.crash.volume import Image, Killed, Volume

SCOPE: Final = "p/.engramdown"
"""Where the scope stands on a volume."""

Act = Callable[[Hippocampus], object]
Make = Callable[[Path], Hippocampus]
Texts = Mapping[str, str]
"""What the memory files of a scope say, without what differs from run to run."""

_CHANGING: Final = re.compile(r"\b(?:id|replaced):[0-9a-z]{8}|\b(?:ts|archived):\d{4}-\d\d-\d\d")
# The mark of what a person changed is a step of its own, in front of the next one.
_MARK: Final = " basis:verified"
_ENTRY: Final = re.compile(r"^- (.*?)(?: <!-- .* -->)?$", re.MULTILINE)
_NOTHING_TO_DO: Final = (EngramdownError, IndexError, ValueError)
_MEMORY: Final = f"{SCOPE}/memory/"
JOURNAL: Final = f"{SCOPE}/history.jsonl"


class Stage(NamedTuple):
    """How far memory has come.

    Attributes:
        after: The name of what was done last.
        since: The number of changes after which it was acknowledged; ``None`` if it never was.
        texts: What a new process finds then.
        journal: The journal at that moment.
        waits: Whether there is a hand edit that is not taken in yet.
        safe: Where a file holds what a person saved and nobody synced or took in: the lines that
            must be found somewhere all the same.
    """

    after: str
    since: int | None
    texts: Texts
    journal: bytes
    waits: bool
    safe: frozenset[str] | None = None


class Recorder:
    """Does things to a scope on a volume and remembers how far memory has come.

    Attributes:
        stages: How far, beginning with how it was before.
    """

    def __init__(self, mount: Mount, image: Image, make: Make | None = None) -> None:
        """Begin with ``image``, all of it on the disk; ``make`` opens a store."""
        mount.volume = Volume.of(image)
        self._mount = mount
        self.stages = [self._stage("nothing", since=0)]
        self._make = make or _durable
        self._store: Hippocampus | None = None
        # Behind these changes nobody looks: an editor is in the middle.
        self._skipped: set[int] = set()

    @property
    def volume(self) -> Volume:
        """What was recorded."""
        return self._mount.volume

    def act(self, name: str, act: Act, *, anew: bool = True) -> bool:
        """Do something, in a process of its own or in that of the last one.

        Returns:
            Whether it could be done: it is passed over if there is nothing to do it to.
        """
        if anew or self._store is None:
            self._store = self._make(self._mount.place / SCOPE)
        try:
            act(self._store)
        except _NOTHING_TO_DO:
            return False
        self._reach(name)
        return True

    def kill(self, name: str, act: Act, changes: int) -> None:
        """Do something in a process that is killed after so many changes."""
        self.volume.left, self._store = changes, None
        try:
            act(self._make(self._mount.place / SCOPE))
        except Killed:
            self.volume.left = None
            self._mount.forget()
            self.stages.append(self._stage(f"{name}, killed", since=None))
        except _NOTHING_TO_DO:
            self.volume.left = None
        else:
            self.volume.left = None
            self._reach(name)

    def edit(self, name: str, path: str, text: str, *, synced: bool, renames: bool) -> None:
        """Let a person save a memory file; what they save is on the disk if it is ``synced``."""
        volume, begun = self.volume, len(self.volume.log)
        if renames:
            number = volume.create(f"{path}~")
            volume.write(number, text.encode())
            if synced:
                volume.sync(number)
            volume.rename(f"{path}~", path)
        else:
            number = volume.find(path)
            volume.write(number, b"")
            volume.write(number, text.encode())
        if synced:
            volume.sync(number)
            volume.sync(volume.find(path.rpartition("/")[0]))
        self._skipped |= {*range(begun + 1, len(volume.log))}
        self._reach(f"{name} by hand", loose=not synced)

    def allowed(self, done: int) -> list[Stage]:
        """Return where memory may be if the power fails behind the first ``done`` changes.

        The first of them was acknowledged before.
        """
        known = [
            at
            for at, stage in enumerate(self.stages)
            if stage.since is not None and stage.since <= done
        ]
        found = [self.stages[known[-1]]]
        for stage in self.stages[known[-1] + 1 :]:
            found.append(stage)
            if stage.since is not None:
                break
        return found

    def moments(self) -> list[int]:
        """Return the numbers of changes behind which the power may fail."""
        return [at for at in range(len(self.volume.log) + 1) if at not in self._skipped]

    def seen(self) -> set[tuple[str, bytes]]:
        """Return all that a reader may have seen in a memory file."""
        images = [newest(self.volume, done) for done in self.moments()]
        return {file for image in images for file in memory_files(image)}

    def _reach(self, name: str, *, loose: bool = False) -> None:
        stage, before = self._stage(name, since=len(self.volume.log)), self.stages[-1]
        if loose or (before.safe is not None and stage.waits):
            # Of a save that was not taken in, and is written over, nobody knows.
            taken = next(each for each in reversed(self.stages) if not each.waits)
            said = _lines(taken.texts) if before.safe is None else before.safe
            stage = stage._replace(safe=said & _lines(stage.texts))
        self.stages.append(stage)

    def _stage(self, name: str, since: int | None) -> Stage:
        image = self.volume.image()
        found = found_at(self._mount, image)
        journal = image.get(JOURNAL) or b""
        return Stage(name, since, texts_of(found), journal, found.get(JOURNAL) != journal)


def _lines(texts: Texts) -> frozenset[str]:
    """Return what the entries say."""
    return frozenset(line for text in texts.values() for line in _ENTRY.findall(text))


def _durable(root: Path) -> Hippocampus:
    return opened(root, Disk())


def memory_files(image: Image) -> set[tuple[str, bytes]]:
    """Return the memory files of an image with their bytes."""
    return {
        (path, data)
        for path, data in image.items()
        if data is not None and path.startswith(_MEMORY) and path.endswith(".md")
    }


def texts_of(image: Image) -> dict[str, str]:
    """Return what the memory files of an image say."""
    return {
        path: _CHANGING.sub("*", data.decode("utf-8", "surrogateescape").replace(_MARK, ""))
        for path, data in memory_files(image)
    }


def found_at(mount: Mount, image: Image) -> dict[str, bytes | None]:
    """Return what is there once a new process has opened the scope and noticed what is new."""
    before, mount.volume = mount.volume, Volume.of(image)
    try:
        opened(mount.place / SCOPE).notice()
        return mount.volume.image()
    finally:
        mount.volume = before

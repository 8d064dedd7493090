"""A file system in memory, which remembers in which order it was changed and what was synced.

Promises: behaves as the system does for what memory files and transcripts ask of it; every change
is in the log, so that :mod:`tests.crash.power_cut` can tell what a power cut leaves of it. Once it
is killed, every call raises :class:`Killed` and changes nothing, as if the process were gone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

Image = Mapping[str, bytes | None]
"""Every path below the root with its bytes, or ``None`` for a folder."""

ROOT: Final = 1
"""The number of the folder that holds everything."""


class Killed(BaseException):
    """The process has been killed: no handler of it can do anything any more."""


class Named(NamedTuple):
    """Names that changed at once: the folder, the name, and what has it now (0 is nothing)."""

    entries: tuple[tuple[int, str, int], ...]


class Wrote(NamedTuple):
    """A file that holds other bytes from now on."""

    node: int
    data: bytes


class Synced(NamedTuple):
    """A file or a folder that was synced."""

    node: int


Change = Named | Wrote | Synced


@dataclass(slots=True)
class Node:
    """A file, or a folder if it has entries.

    Attributes:
        number: Its inode.
        entries: The names in a folder, with their numbers.
        data: What a file holds.
        mode: Its permissions.
        names: How many names it has.
        changed: When it was last written, in steps of the volume's own clock.
    """

    number: int
    entries: dict[str, int] | None = None
    data: bytes = b""
    mode: int = 0o600
    names: int = 0
    changed: int = 0


@dataclass(slots=True)
class Volume:
    """The file system.

    Attributes:
        nodes: All files and folders, with and without a name.
        log: What was changed since :meth:`settle`.
        begun: What was there then, as the names of each folder and the bytes of each file.
        left: How many changes are made before the process is killed; ``None`` for all.
    """

    nodes: dict[int, Node] = field(default_factory=lambda: {ROOT: Node(ROOT, {})})
    log: list[Change] = field(default_factory=list)
    begun: dict[int, dict[str, int] | bytes] = field(default_factory=dict)
    left: int | None = None

    @classmethod
    def of(cls, image: Image) -> Volume:
        """Return a volume that holds ``image``, and will hold it after any power cut."""
        volume = cls()
        for path, data in sorted(image.items()):
            folder, _, name = path.rpartition("/")
            node = volume._new(None if data is not None else {}, data or b"")
            volume.folder(folder)[name] = node.number
            node.names = 1
        volume.settle()
        return volume

    def settle(self) -> None:
        """Let everything be on the disk, as after minutes without a change."""
        self.log.clear()
        self.begun = {
            number: node.data if node.entries is None else dict(node.entries)
            for number, node in self.nodes.items()
        }

    def image(self) -> dict[str, bytes | None]:
        """Return all that has a name."""
        return dict(self._walk("", self.folder("")))

    # ---- looking ----

    def find(self, path: str) -> int:
        """Return the number of what has a path.

        Raises:
            FileNotFoundError: If nothing has it.
        """
        number = ROOT
        for name in path.split("/") if path else ():
            entries = self.nodes[number].entries
            if entries is None or name not in entries:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            number = entries[name]
        return number

    def folder(self, path: str) -> dict[str, int]:
        """Return the names in a folder.

        Raises:
            NotADirectoryError: If it is a file.
        """
        entries = self.nodes[self.find(path)].entries
        if entries is None:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return entries

    # ---- changing ----

    def create(self, path: str, *, folder: bool = False, mode: int = 0o600) -> int:
        """Make an empty file or folder and return its number.

        Raises:
            FileExistsError: If the name is taken.
        """
        self._free(path)
        # Without its folder there would be a file that nobody can name.
        self.folder(path.rpartition("/")[0])
        node = self._new({} if folder else None, b"")
        node.mode = mode
        self._name((path, node.number))
        return node.number

    def write(self, number: int, data: bytes) -> None:
        """Let a file hold ``data``."""
        self._live()
        node = self.nodes[number]
        node.data = data
        node.changed = len(self.log) + 1
        self.log.append(Wrote(number, data))

    def sync(self, number: int) -> None:
        """Sync a file or a folder."""
        self._live()
        self.log.append(Synced(number))

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, which may be taken; of two names of one file both stay."""
        number = self.find(old)
        if self.folder(new.rpartition("/")[0]).get(new.rpartition("/")[2]) != number:
            self._name((new, number), (old, 0))

    def exchange(self, one: str, other: str) -> None:
        """Exchange two names."""
        first, second = self.find(one), self.find(other)
        self._name((one, second), (other, first))

    def link(self, path: str, name: str) -> None:
        """Give a file a second name.

        Raises:
            FileExistsError: If the name is taken.
        """
        self._free(name)
        self._name((name, self.find(path)))

    def unlink(self, path: str) -> None:
        """Take a name away."""
        self.find(path)
        self._name((path, 0))

    def _free(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        if name in self.folder(folder):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)

    def _name(self, *changes: tuple[str, int]) -> None:
        self._live()
        entries = []
        for path, number in changes:
            folder, _, name = path.rpartition("/")
            above, names = self.find(folder), self.folder(folder)
            entries.append((above, name, number))
            self.nodes[above].changed = len(self.log) + 1
            if name in names:
                self.nodes[names.pop(name)].names -= 1
            if number:
                names[name] = number
                self.nodes[number].names += 1
        # Two folders are synced apart.
        for above in dict.fromkeys(above for above, _, _ in entries):
            self.log.append(Named(tuple(entry for entry in entries if entry[0] == above)))

    def _live(self) -> None:
        if self.left is None:
            return
        if self.left <= 0:
            raise Killed
        self.left -= 1

    def _new(self, entries: dict[str, int] | None, data: bytes) -> Node:
        node = Node(max(self.nodes) + 1, entries, data)
        self.nodes[node.number] = node
        return node

    def _walk(self, path: str, entries: dict[str, int]) -> Iterator[tuple[str, bytes | None]]:
        for name, number in entries.items():
            node, here = self.nodes[number], f"{path}{name}"
            if node.entries is None:
                yield here, node.data
            else:
                yield here, None
                yield from self._walk(f"{here}/", node.entries)

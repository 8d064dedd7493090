"""Lets the real disk modules work on a :class:`tests.crash.volume.Volume`: the system is replaced.

Promises: inside :func:`mounted` every call of :mod:`os` on a path below the place, or on a file
that was opened there, goes to the volume; all others go to the system. So what is recorded is what
:class:`engramdown.storage.disk.Disk` really calls. Nobody waits here: a sleep is over at once.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from engramdown.hippocampus import transaction
from engramdown.storage import disk, locks
from tests.crash.volume import Node, Volume

_FIRST: Final = 1_000_000
"""Descriptors of the volume begin here; the system gives none that large."""
_DEVICE: Final = 77
_STEP: Final = 1_000_000


class _Open:
    """An open file of the volume."""

    def __init__(self, node: Node, flags: int) -> None:
        self.node = node
        self.flags = flags
        self.at = 0


class _Found:
    """What :func:`os.scandir` yields."""

    def __init__(self, name: str, folder: str, mount: Mount) -> None:
        self.name = name
        self.path = f"{folder}/{name}"
        self._mount = mount

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        del follow_symlinks
        return stat.S_ISDIR(self._mount.stat(self.path).st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        del follow_symlinks
        return stat.S_ISREG(self._mount.stat(self.path).st_mode)

    def inode(self) -> int:
        return self._mount.stat(self.path).st_ino

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        del follow_symlinks
        return self._mount.stat(self.path)


class Mount:
    """A place in the file system where a volume stands in for it.

    Attributes:
        place: The path of its root.
        volume: What stands there now; another one may be put there.
        exchanges: Whether two names can be exchanged here.
        links: Whether a file can have two names here.
        room: How many bytes can be written before the disk is full; ``None`` for any number.
    """

    def __init__(self, place: Path, volume: Volume) -> None:
        """Mount ``volume`` at ``place``."""
        self.place = place
        self.volume = volume
        self.exchanges = True
        self.links = True
        self.room: int | None = None
        self._prefix = str(place)
        self._open: dict[int, _Open] = {}
        self._next = _FIRST

    def inside(self, path: object) -> str | None:
        """Return a path as the volume calls it, or ``None`` if it lies elsewhere."""
        if not isinstance(path, (str, os.PathLike)):
            return None
        text = os.fspath(path)
        if text == self._prefix:
            return ""
        return text[len(self._prefix) + 1 :] if text.startswith(f"{self._prefix}/") else None

    def forget(self) -> None:
        """Close what a process that was killed had open."""
        self._open.clear()

    # ---- open files ----

    def open(self, path: object, flags: int, mode: int = 0o777, **_: object) -> int:
        place = self._known(path)
        try:
            number = self.volume.find(place)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
            number = self.volume.create(place, mode=mode & 0o777)
        else:
            if flags & os.O_EXCL:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place)
        node = self.volume.nodes[number]
        if flags & os.O_TRUNC and node.data:
            self.volume.write(number, b"")
        self._next += 1
        self._open[self._next] = _Open(node, flags)
        return self._next

    def close(self, descriptor: int) -> None:
        del self._open[descriptor]

    def read(self, descriptor: int, length: int) -> bytes:
        file = self._open[descriptor]
        data = file.node.data[file.at : file.at + length]
        file.at += len(data)
        return data

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        file, new = self._open[descriptor], bytes(data[: self.room])
        if self.room is not None:
            if data and not new:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room -= len(new)
        old = file.node.data
        at = len(old) if file.flags & os.O_APPEND else file.at
        padded = old[:at].ljust(at, b"\0")
        self.volume.write(file.node.number, padded + new + old[at + len(new) :])
        file.at = at + len(new)
        return len(new)

    def lseek(self, descriptor: int, offset: int, whence: int) -> int:
        file = self._open[descriptor]
        base = {os.SEEK_SET: 0, os.SEEK_CUR: file.at, os.SEEK_END: len(file.node.data)}
        file.at = base[whence] + offset
        return file.at

    def ftruncate(self, descriptor: int, size: int) -> None:
        self._cut(self._open[descriptor].node, size)

    def fsync(self, descriptor: int) -> None:
        self.volume.sync(self._open[descriptor].node.number)

    def fstat(self, descriptor: int) -> os.stat_result:
        return self._stat(self._open[descriptor].node)

    def fchmod(self, descriptor: int, mode: int) -> None:
        self._open[descriptor].node.mode = mode

    def fchown(self, descriptor: int, user: int, group: int) -> None:
        del descriptor, user, group

    def has_writer(self, descriptor: int) -> bool:
        node, writing = self._open[descriptor].node, os.O_WRONLY | os.O_RDWR
        return any(each.node is node and each.flags & writing for each in self._open.values())

    # ---- names ----

    def stat(self, path: object, **_: object) -> os.stat_result:
        return self._stat(self.volume.nodes[self.volume.find(self._known(path))])

    def access(self, path: object, mode: int, **_: object) -> bool:
        del mode
        self.volume.find(self._known(path))
        return True

    def truncate(self, path: object, size: int) -> None:
        self._cut(self.volume.nodes[self.volume.find(self._known(path))], size)

    def mkdir(self, path: object, mode: int = 0o777, **_: object) -> None:
        self.volume.create(self._known(path), folder=True, mode=mode)

    def unlink(self, path: object, **_: object) -> None:
        self.volume.unlink(self._known(path))

    def rmdir(self, path: object, **_: object) -> None:
        if self.volume.folder(self._known(path)):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))
        self.volume.unlink(self._known(path))

    def replace(self, old: object, new: object, **_: object) -> None:
        self.volume.rename(self._known(old), self._known(new))

    def rename(self, old: object, new: object, **named: object) -> None:
        self.replace(old, new, **named)

    def link(self, old: object, new: object, **_: object) -> None:
        if not self.links:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(old))
        self.volume.link(self._known(old), self._known(new))

    def exchange(self, new: object, path: object) -> bool:
        if self.exchanges:
            self.volume.exchange(self._known(new), self._known(path))
        return self.exchanges

    @contextmanager
    def scandir(self, path: object) -> Iterator[Iterator[_Found]]:
        folder = os.fspath(str(path))
        yield iter([_Found(name, folder, self) for name in self.volume.folder(self._known(path))])

    def holds(self, descriptor: object) -> bool:
        """Whether a descriptor is one of the volume's."""
        return isinstance(descriptor, int) and descriptor >= _FIRST

    def _known(self, path: object) -> str:
        place = self.inside(path)
        if place is None:
            raise ValueError(f"{path} is not below {self.place}")
        return place

    def _cut(self, node: Node, size: int) -> None:
        if size != len(node.data):
            self.volume.write(node.number, node.data[:size].ljust(size, b"\0"))

    def _stat(self, node: Node) -> os.stat_result:
        kind = stat.S_IFREG if node.entries is None else stat.S_IFDIR
        moment = node.changed * _STEP
        size, seconds = len(node.data), moment // 1_000_000_000
        fields = (kind | node.mode, node.number, _DEVICE, node.names, 0, 0, size, *[seconds] * 3)
        return os.stat_result(fields, {"st_mtime_ns": moment})


_BY_PATH: Final = (
    "access",
    "link",
    "mkdir",
    "open",
    "rename",
    "replace",
    "rmdir",
    "scandir",
    "stat",
    "truncate",
)
_BY_DESCRIPTOR: Final = (
    "close",
    "fchmod",
    "fchown",
    "fstat",
    "fsync",
    "ftruncate",
    "lseek",
    "read",
    "write",
)


@contextmanager
def mounted(place: Path, volume: Volume | None = None) -> Iterator[Mount]:
    """Let a volume stand in for the system below ``place`` for the length of a ``with`` block."""
    mount = Mount(place, volume or Volume())
    with ExitStack() as stack:
        for name in _BY_PATH:
            _replace(stack, os, name, getattr(mount, name), lambda p: mount.inside(p) is not None)
        for name, mine in (("lstat", mount.stat), ("unlink", mount.unlink)):
            _replace(stack, os, name, mine, lambda p: mount.inside(p) is not None)
        for name in _BY_DESCRIPTOR:
            _replace(stack, os, name, getattr(mount, name), mount.holds)
        _replace(stack, disk, "_has_writer", mount.has_writer, mount.holds)
        for name in ("take", "share", "unlock"):
            _replace(stack, locks, name, _lock, mount.holds)
        _replace(stack, disk, "_exchange", mount.exchange, lambda p: mount.inside(p) is not None)
        stack.enter_context(mock.patch.object(time, "sleep", return_value=None))
        for name in ("_SETTLE_CUT", "_SETTLE_SHORT", "_SETTLE_OPEN"):
            stack.enter_context(mock.patch.object(transaction, name, 0.01))
        yield mount


def _lock(_: object) -> bool:
    """Take or give a lock that nobody else wants."""
    return True


def _replace(
    stack: ExitStack,
    module: object,
    name: str,
    mine: Callable[..., Any],
    is_mine: Callable[[object], bool],
) -> None:
    """Let a function of a module ask the volume where its first argument belongs to it."""
    real = getattr(module, name)

    def either(first: object, *rest: object, **named: object) -> object:
        return (mine if is_mine(first) else real)(first, *rest, **named)

    stack.enter_context(mock.patch.object(module, name, either))

"""Every system call on transcripts, in one object, so that a test can put faults into it.

Promises: a file is never opened through a link, a pipe or a device; what is made is readable by
the user alone; a payload appears whole or not at all. Errors are the system's own (``OSError``)
or a :class:`engramdown.errors.StoreError`; both name the path.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.storage import locks
from engramdown.storage.safe_open import closing, make_folder, open_regular, patiently

__all__ = ["EpisodeDisk", "Unfinished"]

_PIECE: Final = 1024 * 1024
# A file of ours never is so large; one with holes may be said to be.
_LARGEST: Final = 1024 * _PIECE
_UNFINISHED: Final = re.compile(r"\.([0-9]{1,9})-[0-9a-f]{8}\.part\Z")
_GIVEN_UP: Final = 60.0
"""Seconds after which nobody works on a file any more that a process began which is gone."""


class Unfinished(NamedTuple):
    """A file that somebody makes, or left half made.

    Attributes:
        path: Its name.
        gone: Whether the process is not there any more that began it, as far as the system tells.
        old: Whether nobody wrote to it lately.
    """

    path: Path
    gone: bool
    old: bool


class EpisodeDisk:
    """The system calls that transcripts need."""

    # ---- files that stay open ----

    def open(self, path: Path | str, *, write: bool = False, new: bool = False) -> int:
        """Open a file and return its descriptor; to write means to append to it.

        Args:
            path: Its name.
            write: Whether to append, and to create it if need be.
            new: Whether it must not be there yet.

        Raises:
            StoreError: If something else than a file stands there, or one that is far too large.
            FileExistsError: If it is there and should be ``new``.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND if write else os.O_RDONLY
        descriptor = open_regular(path, flags | (os.O_EXCL if new else 0))
        size = os.fstat(descriptor).st_size
        if size > _LARGEST:
            os.close(descriptor)
            raise StoreError(
                f"{path}: has {size // _PIECE} MB, more than the limit of {_LARGEST // _PIECE} MB; "
                f"it is not read. Move it away."
            )
        return descriptor

    def close(self, descriptor: int) -> None:
        """Close a file; whatever the system answers, it is closed, and nothing waited for it."""
        with contextlib.suppress(OSError):
            os.close(descriptor)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Append bytes and return how many of them were written."""
        return os.write(descriptor, data)

    def read(self, descriptor: int, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to ``end`` (exclusive), as far as the file goes."""
        pieces = []
        while start < end and (piece := _read_at(descriptor, min(end - start, _PIECE), start)):
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file to ``size`` bytes."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Make what was written last through a power cut."""
        os.fsync(descriptor)

    def look(self, descriptor: int) -> os.stat_result:
        """Return what an open file is now."""
        return os.fstat(descriptor)

    def is_named(self, descriptor: int) -> bool:
        """Whether an open file still has a name."""
        return os.fstat(descriptor).st_nlink > 0

    # ---- locks ----

    def lock(self, descriptor: int) -> bool:
        """Lock an open file without waiting; ``False`` if somebody else holds it."""
        return locks.take(descriptor)

    def unlock(self, descriptor: int) -> None:
        """Let go of a lock."""
        locks.unlock(descriptor)

    def keep(self, descriptor: int) -> None:
        """Say that a file is in use for as long as it is open; a process that dies says so no more.

        Where a lock would keep readers out (Windows), nothing is said.
        """
        if sys.platform != "win32":
            locks.share(descriptor)

    def is_kept(self, path: Path) -> bool:
        """Whether somebody said that a file is in use; ``True`` where the system cannot tell."""
        if sys.platform == "win32":
            return True
        descriptor = self.open(path)
        try:
            return not locks.take(descriptor)
        except OSError:  # the file system has no locks
            return True
        finally:
            self.close(descriptor)

    # ---- names ----

    def find(self, path: Path | str) -> os.stat_result | None:
        """Return what has this name now, or ``None``; a link is not followed."""
        try:
            return os.lstat(path)
        except FileNotFoundError:
            return None

    def names(self, folder: Path) -> list[str]:
        """Return the names of the files in a folder, sorted; none where there is no folder."""
        try:
            with os.scandir(folder) as found:
                return sorted(item.name for item in found if item.is_file(follow_symlinks=False))
        except FileNotFoundError:
            return []

    def obstacles(self, folder: Path) -> list[Path]:
        """Return what is no file in a folder: folders, links, pipes; nothing where there is none.

        A link is never followed, so whatever it leads to is not read.
        """
        try:
            with os.scandir(folder) as found:
                odd = [item.name for item in found if not item.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        return [folder / name for name in sorted(odd)]

    def load(self, path: Path) -> bytes | None:
        """Return the bytes of a file, or ``None`` where there is none."""
        try:
            descriptor = self.open(path)
        except FileNotFoundError:
            return None
        with closing(descriptor, path):
            return self.read(descriptor, 0, sys.maxsize)

    def publish(
        self,
        path: Path,
        data: bytes,
        *,
        durable: bool,
        replace: bool = False,
        unfinished: Path | None = None,
    ) -> bool:
        """Write a file that appears whole; ``False`` if it is there already and stays.

        Args:
            path: Its name.
            data: What it holds.
            durable: Whether it lasts through a power cut.
            replace: Whether to replace what has this name.
            unfinished: What to call it until then, but for the end; by default as it is called.
        """
        unfinished = _in_the_making(unfinished or path)
        descriptor = self.open(unfinished, write=True, new=True)
        try:
            with closing(descriptor, unfinished):
                self.write_all(descriptor, data)
                if durable:
                    self.sync(descriptor)
            return self._name(unfinished, path, replace=replace)
        finally:
            # On a full disk what is half written would keep it full. What stays is swept up later.
            with contextlib.suppress(OSError):
                patiently(unfinished.unlink, missing_ok=True)

    def write_all(self, descriptor: int, data: bytes) -> None:
        """Append bytes, in one call if the system takes them all."""
        done = self.write(descriptor, data)
        while done < len(data):
            done += self.write(descriptor, memoryview(data)[done:])

    def begin(self, path: Path) -> Path:
        """Note that a file is being made, and by whom, beside ``path``; return the note."""
        note = _in_the_making(path)
        self.close(self.open(note, write=True, new=True))
        return note

    def unfinished(self, folder: Path) -> list[Unfinished]:
        """Return what is being made in a folder, or was when its process died."""
        before = time.time() - _GIVEN_UP
        found = []
        for name in self.names(folder):
            matched = _UNFINISHED.search(name)
            there = self.find(folder / name) if matched else None
            if matched is not None and there is not None:
                gone = not self.is_running(int(matched[1]))
                found.append(Unfinished(folder / name, gone, there.st_mtime < before))
        return found

    def remove_unfinished(self, folder: Path) -> None:
        """Remove what processes that died left of files that they were making."""
        for path, gone, old in self.unfinished(folder):
            # A process of another machine or container is not seen: its file is younger.
            if gone and old:
                self.remove(path)

    def remove(self, path: Path) -> None:
        """Remove a file of ours; it may be gone."""
        patiently(path.unlink, missing_ok=True)

    def make_folder(self, path: Path, *, durable: bool) -> bool:
        """Make a folder and those above it, for the user alone; ``False`` if it is there.

        Raises:
            StoreError: If something else stands there, or a link, which may lead anywhere.
        """
        self.check_folder(path)
        return make_folder(path, self.sync_folder if durable else bool)

    def check_folder(self, path: Path) -> None:
        """Refuse a link in the place of a folder of ours: a cloned project may have brought it.

        Raises:
            StoreError: If it is one.
        """
        if path.is_symlink():
            raise StoreError(f"{path}: is a link where a folder should be; put the folder there.")

    def sync_file(self, path: Path) -> None:
        """Make what somebody else wrote to a file last through a power cut."""
        # Windows syncs only what is open to be written.
        descriptor = open_regular(path, os.O_RDWR)
        with closing(descriptor, path):
            self.sync(descriptor)

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder last through a power cut."""
        if sys.platform == "win32":
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        with closing(descriptor, path):
            os.fsync(descriptor)

    def is_writable(self, path: Path) -> bool:
        """Whether we may write here, as far as the system tells without trying."""
        return os.access(path, os.W_OK)

    # ---- the machine ----

    def process(self) -> int:
        """Return which process this is."""
        return os.getpid()

    def is_running(self, process: int) -> bool:
        """Whether a process is there; ``True`` where the system does not tell."""
        if sys.platform == "win32":
            return True
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _name(self, unfinished: Path, path: Path, *, replace: bool) -> bool:
        if replace:
            patiently(unfinished.replace, path)
            return True
        try:
            patiently(os.link, unfinished, path)
        except FileExistsError:
            return False
        except OSError:  # no hard links here: two who write the same at once write the same bytes
            if os.path.lexists(path):
                return False
            patiently(unfinished.replace, path)
        return True


def _in_the_making(path: Path) -> Path:
    """Return a name that nothing has yet, which says who makes the file at ``path``."""
    return path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")


def _read_at(descriptor: int, length: int, start: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, length)

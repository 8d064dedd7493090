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
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.regular import open_regular

__all__ = ["EpisodeDisk"]

_FOLDER_MODE: Final = 0o700
_PIECE: Final = 1024 * 1024
_UNFINISHED: Final = re.compile(r"\.([0-9]{1,9})-[0-9a-f]{8}\.part\Z")
_GIVEN_UP: Final = 60.0
"""Seconds after which nobody works on a file any more that a process began which is gone."""


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
            StoreError: If something else than a file stands there.
            FileExistsError: If it is there and should be ``new``.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND if write else os.O_RDONLY
        return open_regular(path, flags | (os.O_EXCL if new else 0))

    def close(self, descriptor: int) -> None:
        """Close a file."""
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
        if sys.platform != "win32":
            # Through portalocker the same two calls take ten times as long.
            import fcntl

            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        else:
            from portalocker import AlreadyLocked, LockFlags, lock

            try:
                lock(descriptor, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
            except AlreadyLocked:
                return False
        return True

    def unlock(self, descriptor: int) -> None:
        """Let go of a lock."""
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_UN)
        else:
            from portalocker import unlock

            unlock(descriptor)

    def keep(self, descriptor: int) -> None:
        """Say that a file is in use for as long as it is open; a process that dies says so no more.

        Where a lock would keep readers out (Windows), nothing is said.
        """
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_SH)

    def is_kept(self, path: Path) -> bool:
        """Whether somebody said that a file is in use; ``True`` where the system cannot tell."""
        if sys.platform != "win32":
            import fcntl

            descriptor = self.open(path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # somebody holds it, or the file system has no locks
                return True
            finally:
                self.close(descriptor)
        return sys.platform == "win32"

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

    def load(self, path: Path) -> bytes | None:
        """Return the bytes of a file, or ``None`` where there is none."""
        try:
            descriptor = self.open(path)
        except FileNotFoundError:
            return None
        with self._closing(descriptor, path):
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
        begun = unfinished or path
        unfinished = begun.with_name(f"{begun.name}.{os.getpid()}-{os.urandom(4).hex()}.part")
        descriptor = self.open(unfinished, write=True, new=True)
        try:
            with self._closing(descriptor, unfinished):
                self.write_all(descriptor, data)
                if durable:
                    self.sync(descriptor)
            return self._name(unfinished, path, replace=replace)
        finally:
            # On a full disk what is half written would keep it full.
            unfinished.unlink(missing_ok=True)

    def write_all(self, descriptor: int, data: bytes) -> None:
        """Append bytes, in one call if the system takes them all."""
        done = self.write(descriptor, data)
        while done < len(data):
            done += self.write(descriptor, memoryview(data)[done:])

    def remove_unfinished(self, folder: Path) -> None:
        """Remove what processes that died left of files that they were making."""
        before = time.time() - _GIVEN_UP
        for name in self.names(folder):
            found = _UNFINISHED.search(name)
            if found is None or self.is_running(int(found[1])):
                continue
            path = folder / name
            left = self.find(path)
            # A process of another machine or container is not seen: its file is younger.
            if left is not None and left.st_mtime < before:
                self.remove(path)

    def remove(self, path: Path) -> None:
        """Remove a file of ours; it may be gone."""
        path.unlink(missing_ok=True)

    def make_folder(self, path: Path, *, durable: bool) -> bool:
        """Make a folder and those above it, for the user alone; ``False`` if it is there."""
        if path.is_dir():
            return False
        self.make_folder(path.parent, durable=durable)
        with contextlib.suppress(FileExistsError):
            path.mkdir(_FOLDER_MODE)
        if not path.is_dir():
            raise StoreError(f"{path}: is not a folder; move it away.")
        if durable:
            self.sync_folder(path.parent)
        return True

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder last through a power cut."""
        if sys.platform == "win32":
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        with self._closing(descriptor, path):
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
            unfinished.replace(path)
            return True
        try:
            os.link(unfinished, path)
        except FileExistsError:
            return False
        except OSError:  # no hard links here: two who write the same at once write the same bytes
            if os.path.lexists(path):
                return False
            unfinished.replace(path)
        return True

    @contextlib.contextmanager
    def _closing(self, descriptor: int, path: Path) -> Iterator[None]:
        """Close a file at the end, and let an error of the system name it."""
        try:
            try:
                yield
            finally:
                self.close(descriptor)
        except OSError as error:
            error.filename = error.filename or str(path)
            raise


def _read_at(descriptor: int, length: int, start: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, length)

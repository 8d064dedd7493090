"""Writes one file that a person edits, too: it is exchanged, never overwritten.

A file appears whole or not at all; a change is made to what is on the disk at that moment; what a
person saved in between is in our hands and gets its place again; an error leaves the file as it
was; what a crash left is known by its name, and swept up by the next writer. The caller holds the
lock of the folder.

The order is that of the memory files (docs/write-protocol.md) without the journal of changes: a
step here is one file, which is old or new. A temporary name says what the file was meant to be
and to displace: ``.<name>.<digest>.<digest>.<random>.tmp``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.storage.disk import POLL, Disk, named_errors, wait_while
from engramdown.storage.locks import Held

# A file in the making, or what it displaced: the name, what it was to be, what it displaces.
TEMPORARY: Final = re.compile(
    r"\.(.+)\.([0-9a-f]{16})\.([0-9a-f]{16})\.[0-9a-f]{8}(?:\.old)?\.tmp(\.part)?"
)

_READY: Final = "ready"
_DIGITS: Final = 16
# How long an editor is given that has the file open, and one that took it away, in seconds.
_SETTLE_OPEN: Final = 2.0
_SETTLE_GONE: Final = 1.0
_TRIES: Final = 50


@contextlib.contextmanager
def in_order(
    disk: Disk, folder: Path, root: Path, hold: AbstractContextManager[Held]
) -> Iterator[None]:
    """Hold the lock of a folder of a scope, which is made if it is missing.

    Args:
        disk: The system calls.
        folder: The folder.
        root: That of the scope.
        hold: Takes the lock.

    Raises:
        StoreError: If it cannot be written to, or somebody else holds the lock.
    """
    with named_errors(folder, "written"):
        disk.inside(folder, root)
        disk.make_folder(folder)
        disk.check_writable(folder)
        with hold as held:
            if held.finished != _READY:
                # The process that made these folders may have died before they were synced.
                for each in (folder, root):
                    disk.sync_folder(each)
                with contextlib.suppress(PermissionError):  # then it was not us
                    disk.sync_folder(root.parent)
                held.finish(_READY)
            yield


class Swap:
    """Writes single files."""

    def __init__(self, disk: Disk) -> None:
        """Write through ``disk``."""
        self._disk = disk

    def create(self, path: Path, data: bytes) -> None:
        """Write a new file.

        Raises:
            FileExistsError: If there is one.
            StoreError: If it would be too large.
            OSError: If it could not be written; nothing is there then.
        """
        self._disk.check_size(path, len(data))
        self._disk.make_folder(path.parent)
        temporary = _temporary(path, data, b"")
        placed = False
        try:
            self._disk.create(temporary, data)
            self._disk.publish(temporary, path)
            placed = True
            # The process that made the folder may have died before it was synced.
            for folder in (path.parent, path.parent.parent):
                self._disk.sync_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError, StoreError):
                if placed:
                    # Take it back, unless somebody changed it already.
                    self._disk.withdraw(path, temporary)
                    if self._disk.read(temporary) != data:
                        self._disk.publish(temporary, path)
                self._disk.unlink(temporary)
            raise

    def edit(
        self, path: Path, change: Callable[[bytes | None], bytes], *, is_there: bool = False
    ) -> bytes:
        """Change a file, or make it, and return what it holds now.

        Args:
            path: Which one.
            change: Gets what the file holds, ``None`` for no file. It is called again when
                somebody saves meanwhile, so it must change nothing else, or may do so twice.
            is_there: Whether the file is known to be there: one that is gone is waited for.

        Raises:
            StoreError: If it could not be written; it is as it was then.
            OSError: The same.
        """
        for _ in range(_TRIES):
            before = self._settled(path, is_there=is_there)
            after = change(before)
            if after == before:
                return after
            with contextlib.suppress(FileExistsError):
                if before is None:
                    self.create(path, after)
                    return after
                if self._replaced(path, before, after):
                    return after
        raise StoreError(
            f"{path}: somebody else keeps saving it; nothing was written. Try again later."
        )

    def remove(self, path: Path, seen: Callable[[bytes], object]) -> None:
        """Remove a file; ``seen`` is called with what it held, however late that was saved.

        Raises:
            StoreError: If a program has it open to write into it.
            OSError: If it could not be removed.
        """
        before = self._settled(path, is_there=False)
        if before is None:
            return
        seen(before)
        temporary = _temporary(path, b"", before)
        self._disk.withdraw(path, temporary)
        now = self._disk.read(temporary)
        if now is not None and now != before:
            seen(now)
        self._disk.sync_folder(path.parent)
        self._drop(temporary)

    def leftovers(self, folder: Path) -> Iterator[Path]:
        """Yield the temporary files of ours in a folder."""
        for name in self._disk.names(folder):
            with contextlib.suppress(StoreError):
                if TEMPORARY.fullmatch(name):
                    self._disk.identity(folder / name)
                    yield folder / name

    def tidy(self, folder: Path) -> None:
        """Finish what processes that died had begun in a folder."""
        for left in self.leftovers(folder):
            self.clear_up(left)

    def clear_up(self, left: Path) -> Path | None:
        """Finish what a process that died had begun with a temporary file; return its target."""
        named = TEMPORARY.fullmatch(left.name)
        data = self._disk.read(left)
        if named is None or data is None:
            return None
        name, new, old, unfinished = named.groups()
        path = left.with_name(name)
        if not unfinished and _digest(data) not in (new, old):
            # Somebody saved right before the exchange, and nobody was left to look.
            now = self._disk.read(path)
            self._put_right(left, path, now if now and _digest(now) == new else b"")
            return path
        # What it displaced may go once the file that displaced it is synced.
        self._disk.sync_folder(path.parent)
        self._drop(left)
        return path

    # ---- one try ----

    def _settled(self, path: Path, *, is_there: bool) -> bytes | None:
        """Read a file once nobody writes into it; one that is gone may come back at once.

        Raises:
            StoreError: If a program keeps it open.
        """
        self._closed(path)
        waited = 0.0
        while not (data := self._disk.read(path)) and waited < _SETTLE_GONE:
            if data is None and not is_there:
                # An editor may have put it aside, to write it anew: ``day.md~``.
                beside = any(path.name in name for name in self._disk.names(path.parent))
                if not beside:
                    return None
            time.sleep(POLL)
            waited += POLL
        return data

    def _closed(self, path: Path) -> None:
        """Wait until nobody has a file open to write into it.

        Raises:
            StoreError: If that takes too long.
        """
        if wait_while(lambda: self._disk.is_being_written(path), _SETTLE_OPEN):
            raise StoreError(
                f"{path}: another program has it open for writing; nothing was written. "
                f"Close it there, then try again."
            )

    def _replaced(self, path: Path, before: bytes, after: bytes) -> bool:
        """Put ``after`` into the place of ``before``; ``False`` if the file held something else."""
        self._disk.check_size(path, len(after))
        self._disk.check_writable(path.parent)
        self._disk.check_writable(path)
        temporary = _temporary(path, after, before)
        try:
            self._disk.create(temporary, after, like=path)
            if self._disk.read(path) != before or not self._exchanged(temporary, path):
                self._disk.unlink(temporary)
                return False
            writes = self._disk.is_being_written(temporary)
            if writes or self._disk.read(temporary) != before:
                self._put_right(temporary, path, after)
                return False
            self._disk.sync_folder(path.parent)
        except BaseException:
            with contextlib.suppress(OSError, StoreError):
                if self._disk.read(temporary) not in (after, None):
                    self._put_right(temporary, path, after)
                else:
                    self._disk.unlink(temporary)
            raise
        self._drop(temporary)
        return True

    def _exchanged(self, temporary: Path, path: Path) -> bool:
        """Exchange two files; ``False`` if an editor took one away."""
        try:
            self._disk.exchange(temporary, path)
        except FileNotFoundError:
            return False
        return True

    def _put_right(self, temporary: Path, path: Path, ours: bytes) -> None:
        """Give what we displaced its place back, unless somebody saved the file since."""
        if self._disk.read(path) == ours and self._exchanged(temporary, path):
            if self._disk.read(temporary) == ours:
                self._disk.sync_folder(path.parent)
                self._drop(temporary)
                return
            self._disk.exchange(temporary, path)
        # A save whose place somebody else has is kept beside it.
        with contextlib.suppress(StoreError):
            self._closed(temporary)
        data = self._disk.read(temporary) or b""
        try:
            if data and data != self._disk.read(path):
                self._disk.publish(temporary, path)
        except FileExistsError:
            other = path.with_name(f"{path.stem}.other-{_digest(data)[:8]}{path.suffix}")
            with contextlib.suppress(FileExistsError):
                self._disk.publish(temporary, other)
        self._disk.sync_folder(path.parent)
        self._drop(temporary)

    def _drop(self, temporary: Path) -> None:
        """Remove a temporary file, unless a program writes into it; the next one looks again."""
        with contextlib.suppress(OSError):
            if not self._disk.is_being_written(temporary):
                self._disk.unlink(temporary)


def _temporary(path: Path, after: bytes, before: bytes) -> Path:
    dice = os.urandom(4).hex()
    return path.with_name(f".{path.name}.{_digest(after)}.{_digest(before)}.{dice}.tmp")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]

"""The SKILL.md files of one scope on the disk: the only place that writes one.

Promises: a skill appears whole or not at all; a change is made to what stands on the disk at that
moment, under a lock; a file is exchanged, never overwritten, so that what a person saved in between
is in our hands and gets its place again; an error leaves the skill as it was; what a crash left is
swept up by whoever writes next. No other file of a skill is ever touched.

The order is that of the memory files (docs/write-protocol.md) but for the journal: a step here is
one file, which is old or new. A temporary name tells what the file was meant to be and to displace:
``.SKILL.md.<digest>.<digest>.<random>.tmp``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from engramdown.disk import Disk
from engramdown.errors import SkillExistsError, SkillNotFoundError, StoreError
from engramdown.naming import named_errors
from engramdown.scope_lock import ScopeLock

__all__ = ["FILE", "KEPT", "SkillFiles"]

FILE: Final = "SKILL.md"
KEPT: Final = re.compile(r"SKILL\.other-[0-9a-f]{8}\.md")
"""A save that lost its place while two others were made; a person decides."""

_TEMPORARY: Final = re.compile(
    r"\.SKILL\.md\.([0-9a-f]{16})\.([0-9a-f]{16})\.[0-9a-f]{8}(?:\.old)?\.tmp(\.part)?"
)
_DIGITS: Final = 16
_READY: Final = "ready"
# How long an editor is given that has the file open, and one that took it away, in seconds.
_SETTLE_OPEN: Final = 2.0
_SETTLE_GONE: Final = 1.0
_POLL: Final = 0.005
_TRIES: Final = 50


class SkillFiles:
    """The files ``skills/<label>/SKILL.md`` of one scope.

    Attributes:
        root: The folder of the scope.
        folder: The folder that holds the skills.
    """

    def __init__(self, root: Path, disk: Disk, lock_timeout: float) -> None:
        """Work in the scope at ``root`` through ``disk``; nothing is created yet."""
        self.root = root
        self.folder = root / "skills"
        self._disk = disk
        # Beside the folder, not in it: skills/ is for git, and what else is here is not.
        self._lock = ScopeLock(root / "skills.lock", lock_timeout)

    def labels(self) -> list[str]:
        """Return the names of the folders in which a skill may stand, sorted."""
        with named_errors(self.folder, "read"):
            self._disk.inside(self.folder, self.root)
            return [name for name in self._disk.folders(self.folder) if name[:1] != "."]

    def path(self, label: str) -> Path:
        """Return the file of a skill.

        Raises:
            StoreError: If a link leads out of the scope.
        """
        return self._disk.inside(self.folder / label, self.root) / FILE

    def read(self, label: str) -> bytes | None:
        """Return the bytes of a skill, or ``None`` if it has no file. Takes no lock.

        Raises:
            StoreError: If it cannot be read.
        """
        with named_errors(self.folder / label / FILE, "read"):
            return self._disk.read(self.path(label))

    def others(self, label: str) -> list[str]:
        """Return the names of what else stands in the folder of a skill, folders with a slash."""
        with named_errors(self.folder / label, "read"):
            home = self.path(label).parent
            files = [name for name in self._disk.names(home) if name != FILE]
            found = [name for name in files if not _TEMPORARY.fullmatch(name)]
            return sorted([*found, *(f"{name}/" for name in self._disk.folders(home))])

    def tidy(self) -> None:
        """Sweep up what a crash left; takes the lock only if there is something.

        Raises:
            StoreError: If it cannot be put in order.
        """
        with named_errors(self.folder, "read"):
            found = next(self._leftovers(), None)
        if found is not None:
            with self._hold():
                pass  # Whoever holds the lock has tidied.

    def create(self, label: str, data: bytes) -> None:
        """Write a new skill.

        Raises:
            SkillExistsError: If there is one.
            StoreError: If it could not be written; nothing is there then.
        """
        with self._hold():
            path = self.path(label)
            self._disk.check_size(path, len(data))
            if self._disk.exists(path):
                raise SkillExistsError(str(path), label)
            is_new = not self._disk.exists(path.parent)
            try:
                self._place_new(path, data)
            except BaseException:
                if is_new:
                    self._disk.remove_folder(path.parent)
                raise

    def edit(self, label: str, change: Callable[[bytes], bytes]) -> bytes:
        """Change a skill and return what it holds now.

        Args:
            label: Which one.
            change: Is given what stands there. It is called again when somebody saves meanwhile,
                so it must change nothing else.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it could not be written; it is as it was then.
        """
        with self._hold():
            path = self.path(label)
            for _ in range(_TRIES):
                before = self._settled(path)
                if before is None:
                    raise SkillNotFoundError(label)
                after = change(before)
                if after == before or self._replaced(path, before, after):
                    return after
        raise StoreError(
            f"{path}: is saved by somebody else again and again; nothing was written. "
            f"Try again when that is over."
        )

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        """Hold the lock with the skills in order."""
        with named_errors(self.folder, "written"):
            self._disk.inside(self.folder, self.root)
            self._disk.make_folder(self.folder)
            self._disk.check_writable(self.folder)
            with self._lock.hold() as held:
                if held.finished != _READY:
                    # Whoever made these folders may have died before they were made to last.
                    for folder in (self.folder, self.root):
                        self._disk.sync_folder(folder)
                    with contextlib.suppress(PermissionError):  # then it was not us
                        self._disk.sync_folder(self.root.parent)
                    held.finish(_READY)
                for left in self._leftovers():
                    self._clear_up(left)
                yield

    def _place_new(self, path: Path, data: bytes) -> None:
        self._disk.make_folder(path.parent)
        temporary = _temporary(path, data, b"")
        placed = False
        try:
            self._disk.create(temporary, data)
            self._disk.publish(temporary, path)
            placed = True
            # Whoever made the folder may have died before it was made to last.
            for folder in (path.parent, self.folder):
                self._disk.sync_folder(folder)
        except BaseException as error:
            with contextlib.suppress(OSError, StoreError):
                if placed:
                    self._withdraw(path, temporary, data)
                self._disk.unlink(temporary)
            if isinstance(error, FileExistsError):
                raise SkillExistsError(str(path), path.parent.name) from error
            raise

    def _withdraw(self, path: Path, temporary: Path, data: bytes) -> None:
        """Take a new skill back, unless somebody changed it already."""
        self._disk.withdraw(path, temporary)
        if self._disk.read(temporary) != data:
            self._disk.publish(temporary, path)

    def _settled(self, path: Path) -> bytes | None:
        """Read a file once nobody writes into it; one that is gone may come back at once.

        Raises:
            StoreError: If a program keeps it open.
        """
        self._closed(path)
        waited = 0.0
        while not (data := self._disk.read(path)) and waited < _SETTLE_GONE:
            time.sleep(_POLL)
            waited += _POLL
        return data

    def _closed(self, path: Path) -> None:
        """Wait until nobody has a file open to write into it.

        Raises:
            StoreError: If that takes too long.
        """
        waited = 0.0
        while self._disk.is_being_written(path):
            if waited >= _SETTLE_OPEN:
                raise StoreError(
                    f"{path}: is open in another program, which may write into it; nothing was "
                    f"written. Close it there, then try again."
                )
            time.sleep(_POLL)
            waited += _POLL

    def _replaced(self, path: Path, before: bytes, after: bytes) -> bool:
        """Put ``after`` into the place of ``before``; ``False`` if something else stood there."""
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
                self._put_back(temporary, path, after)
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

    def _put_back(self, temporary: Path, path: Path, after: bytes) -> None:
        """Undo what was begun."""
        if self._disk.read(temporary) not in (after, None):
            self._put_right(temporary, path, after)
        else:
            self._disk.unlink(temporary)

    def _put_right(self, temporary: Path, path: Path, ours: bytes) -> None:
        """Give what we displaced its place back; whatever somebody saved last stands there."""
        if self._disk.read(path) == ours and self._exchanged(temporary, path):
            if self._disk.read(temporary) == ours:
                self._disk.sync_folder(path.parent)
                self._drop(temporary)
                return
            self._disk.exchange(temporary, path)
        self._keep(temporary, path)

    def _keep(self, temporary: Path, path: Path) -> None:
        """Keep a save whose place somebody else has."""
        with contextlib.suppress(StoreError):
            self._closed(temporary)
        data = self._disk.read(temporary) or b""
        try:
            if data and data != self._disk.read(path):
                self._disk.publish(temporary, path)
        except FileExistsError:
            kept = path.with_name(f"SKILL.other-{_digest(data)[:8]}.md")
            with contextlib.suppress(FileExistsError):
                self._disk.publish(temporary, kept)
        self._disk.sync_folder(path.parent)
        self._drop(temporary)

    def _drop(self, temporary: Path) -> None:
        """Remove a temporary file, unless a program writes into it; the next one looks again."""
        with contextlib.suppress(OSError):
            if not self._disk.is_being_written(temporary):
                self._disk.unlink(temporary)

    def _leftovers(self) -> Iterator[Path]:
        """Yield the temporary files that lie about; what is no file of such a name is not ours."""
        for label in self.labels():
            with contextlib.suppress(StoreError):  # a link that leaves the scope: not ours
                home = self.path(label).parent
                for name in self._disk.names(home):
                    if _TEMPORARY.fullmatch(name) and self._is_file(home / name):
                        yield home / name

    def _is_file(self, path: Path) -> bool:
        with contextlib.suppress(StoreError):
            self._disk.identity(path)
            return True
        return False

    def _clear_up(self, left: Path) -> None:
        """Finish what a process that died had begun with a temporary file."""
        named = _TEMPORARY.fullmatch(left.name)
        data = self._disk.read(left)
        if named is None or data is None:
            return
        new, old, unfinished = named.groups()
        path = left.with_name(FILE)
        if not unfinished and _digest(data) not in (new, old):
            # Somebody saved right before the exchange, and nobody was left to look.
            now = self._disk.read(path)
            self._put_right(left, path, now if now and _digest(now) == new else b"")
            return
        # What it displaced may go once what stands there lasts.
        self._disk.sync_folder(path.parent)
        self._drop(left)
        if not self._disk.exists(path):
            self._disk.remove_folder(path.parent)


def _temporary(path: Path, after: bytes, before: bytes) -> Path:
    dice = os.urandom(4).hex()
    return path.with_name(f".{FILE}.{_digest(after)}.{_digest(before)}.{dice}.tmp")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]

"""Every system call on a memory folder, in one object, so that a test can put faults into it.

A file is never opened through a link that leaves the scope, never through a pipe or a
device, never beyond its size limit; a file appears whole or not at all; a name is exchanged, not
overwritten, so that what it named before is still in our hands. Errors are the system's own
(``OSError``) or a :class:`engramdown.errors.StoreError`; both name the path.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.storage import locks, safe_open
from engramdown.storage.safe_open import FILE_MODE, closing, denies, open_regular, patiently

if TYPE_CHECKING:
    import ctypes

    from engramdown.settings import Settings

# What the name of a file ends with until it is whole.
UNFINISHED: Final = ".part"
# The file, in the folder of a scope, that says what is being erased; there only in between.
ERASING: Final = "erasing.json"
# How long is slept before somebody looks again, in seconds.
POLL: Final = 0.005

_MOST_DIGITS: Final = 8
_PIECE: Final = 1024 * 1024
# The largest file that is read unless a setting says otherwise.
_LIMIT: Final = 16 * _PIECE
# A file of ours never is so large; one with holes may be said to be.
_LARGEST: Final = 1024 * _PIECE
# The rights of all but the user.
_OTHERS: Final = 0o077
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_APPEND: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND
_AT_FDCWD: Final = -100
_EXCHANGE: Final = 2
# What the system says when a file system has no exchange, or no hard links.
_UNSUPPORTED: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EMLINK}


class Unfinished(NamedTuple):
    """A file that somebody makes, or left half made.

    Attributes:
        path: Its name.
        gone: Whether the process that began it has ended, as far as the system can say.
        old: Whether nobody wrote to it lately.
    """

    path: Path
    gone: bool
    old: bool


class Disk:
    """The system calls that stores and transcripts need.

    Attributes:
        durable: Whether ``fsync`` is called, so that a power cut loses nothing acknowledged.
        limit: The largest file that is read or written, in bytes.
    """

    def __init__(self, *, durable: bool = True, limit: int = _LIMIT) -> None:
        """Set whether data survives a power cut, and the size limit in bytes."""
        self.durable = durable
        self.limit = limit

    def read(self, path: Path) -> bytes | None:
        """Return the bytes of a file, or ``None`` where there is none.

        Raises:
            StoreError: If it is not a regular file, or larger than the limit.
        """
        try:
            descriptor = open_regular(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with closing(descriptor, path):
            size = os.fstat(descriptor).st_size
            self.check_size(path, size)
            chunks = []
            while chunk := os.read(descriptor, max(size, 4096)):
                chunks.append(chunk)
            return b"".join(chunks)

    def read_range(self, path: Path, start: int, end: int) -> bytes:
        """Return the bytes of a file from ``start`` to ``end`` (exclusive), as far as it goes."""
        descriptor = open_regular(path, os.O_RDONLY)
        with closing(descriptor, path):
            return self.read_at(descriptor, start, end)

    def identity(self, path: Path) -> tuple[int, int]:
        """Return the size in bytes and the inode of a file; zeros if it does not exist.

        Raises:
            StoreError: If it is not a regular file.
        """
        try:
            entry = path.lstat()
        except FileNotFoundError:
            return 0, 0
        safe_open.check_regular(path, entry.st_mode)
        return entry.st_size, entry.st_ino

    def changed_at(self, path: Path) -> int:
        """Return when a file was last written to, in nanoseconds since 1970."""
        return path.lstat().st_mtime_ns

    def exists(self, path: Path) -> bool:
        """Whether anything has this name, be it a link that leads nowhere."""
        return os.path.lexists(path)

    def check_folder(self, path: Path) -> None:
        """Refuse anything that is not a folder; a missing folder is fine.

        Raises:
            StoreError: If it is something else.
            OSError: If it cannot be found out, as for a link that leads to itself.
        """
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISDIR(path.stat().st_mode):
                raise StoreError(f"{path}: is not a folder; move it away or choose another scope.")

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder except those of folders, sorted; ``[]`` if it is missing."""
        return _names(folder, lambda item: not _is_folder(item))

    def plain(self, folder: Path) -> set[str]:
        """Return the names in a folder of which :meth:`check_readable` needs not be asked."""

        def is_plain(item: os.DirEntry[str]) -> bool:
            try:
                is_small = _is_file(item) and item.stat().st_size <= self.limit
            except OSError:
                return False  # It is gone.
            return is_small and os.access(item.path, os.R_OK)

        return {*_names(folder, is_plain)}

    def folders(self, folder: Path) -> list[str]:
        """Return the names of the folders in a folder, sorted; ``[]`` if it is missing."""
        return _names(folder, _is_folder)

    def inside(self, path: Path, root: Path) -> Path:
        """Return where ``path`` leads; it and the folders below ``root`` may be links.

        Raises:
            StoreError: If a link leaves ``root``.
        """
        # Strings rather than paths, as this runs before every read.
        part, top = str(path), str(root)
        while part != top and part != (above := os.path.dirname(part)):  # noqa: PTH120 - twice as fast as a path
            if os.path.islink(part):  # noqa: PTH114 - the same
                target = Path(os.path.realpath(path))
                if not target.is_relative_to(os.path.realpath(root)):
                    raise StoreError(
                        f"{part}: is a link that leaves the memory folder; "
                        f"put the file itself there, or choose another scope."
                    )
                return target
            part = above
        return path

    def check_writable(self, path: Path) -> None:
        """Refuse to replace a file or to write into a folder that somebody made read-only.

        A replace would not ask the file, and root is not asked at all, so we look at the bits.

        Raises:
            StoreError: If no write bit is set, or the system says no.
        """
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return
        if not mode & 0o222 or denies(path, os.W_OK):
            raise StoreError(
                f"{path}: is read-only; nothing was written. "
                f"Make it writable (chmod u+w) or choose another scope."
            )

    def check_readable(self, path: Path) -> None:
        """Refuse what :meth:`read` would refuse, without opening it; a missing file is fine.

        Raises:
            StoreError: If it is not a regular file, too large, or not readable.
        """
        size, _ = self.identity(path)
        self.check_size(path, size)
        if denies(path, os.R_OK):
            raise StoreError(f"{path}: cannot be read; make it readable (chmod u+r).")

    def is_being_written(self, path: Path) -> bool:
        """Whether a program has a file open for writing; ``False`` where the system cannot say."""
        if sys.platform != "linux":
            return False
        try:
            descriptor = open_regular(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        with closing(descriptor, path):
            return _has_writer(descriptor)

    def create(
        self, path: Path, data: bytes, *, like: Path | None = None, mode: int = FILE_MODE
    ) -> None:
        """Write a file whole and on the disk; until it is whole its name ends with ``.part``.

        Args:
            path: Its name.
            data: What it holds.
            like: A file whose permissions and owner it gets, if there is one.
            mode: Its permissions otherwise.
        """
        unfinished = path.with_name(path.name + UNFINISHED)
        descriptor = open_regular(unfinished, _NEW, FILE_MODE)
        try:
            with closing(descriptor, unfinished):
                _take_after(descriptor, like, mode)
                self.write_all(descriptor, data)
                self._sync(descriptor)
        except OSError:
            # On a full disk it would keep the disk full.
            unfinished.unlink(missing_ok=True)
            raise
        patiently(unfinished.replace, path)

    def append(self, path: Path, data: bytes) -> int:
        """Append ``data`` after the last whole line, and return the size before.

        A torn last line is what a crash left of an append that was not acknowledged; it is cut
        off. An append that fails is taken back.
        """
        descriptor = open_regular(path, _APPEND, FILE_MODE)
        with closing(descriptor, path):
            size = os.fstat(descriptor).st_size
            if torn := len(next(lines_backwards(partial(self.read_at, descriptor), size))):
                size -= torn
                os.ftruncate(descriptor, size)
            try:
                self.write_all(descriptor, data)
                self._sync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            return size

    def truncate(self, path: Path, size: int) -> None:
        """Cut a file to ``size`` bytes."""
        patiently(os.truncate, path, size)

    def exchange(self, new: Path, path: Path) -> None:
        """Let ``new`` and ``path`` change names; afterwards ``new`` is what was at ``path``.

        Where the system cannot exchange, a link to the old file is kept while it is replaced;
        where it has no links either, the last resort is a plain replace.

        Raises:
            FileNotFoundError: If one of them is not there: an editor may have moved it away.
        """
        if _exchange(new, path):
            return
        kept = new.with_suffix(f".old{new.suffix}")
        try:
            patiently(os.link, path, kept)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            self.create(kept, self.read(path) or b"", like=path)
        patiently(new.replace, path)
        patiently(kept.replace, new)

    def publish(self, new: Path, path: Path) -> None:
        """Give ``new`` the name ``path``, which must be free.

        Raises:
            FileExistsError: If somebody created ``path`` meanwhile.
        """
        try:
            patiently(os.link, new, path)
        except OSError:
            # The file system may have no hard links, whatever it answers.
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            patiently(new.replace, path)
            return
        # From here on it is published; a second name that stays is swept up later.
        with contextlib.suppress(OSError):
            patiently(new.unlink)

    def withdraw(self, path: Path, new: Path) -> None:
        """Take back a name that :meth:`publish` gave: from now on the file is ``new`` again."""
        patiently(path.replace, new)
        if path.exists() and path.samefile(new):
            # Of two names of one file, a rename leaves both.
            patiently(path.unlink)

    def unlink(self, path: Path) -> None:
        """Remove a file of ours; it may be gone."""
        patiently(path.unlink, missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, readable by the user alone, and make them last."""
        safe_open.make_folder(path, self.sync_folder)

    def move_folder(self, folder: Path, path: Path) -> None:
        """Give a folder another name, which must be free, or that of an empty folder."""
        patiently(folder.rename, path)

    def remove_folder(self, path: Path) -> None:
        """Remove a folder if it is empty; whatever keeps it, it does no harm."""
        with contextlib.suppress(OSError):
            path.rmdir()

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder last through a power cut."""
        if not self.durable or sys.platform == "win32":
            return
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        with closing(descriptor, path):
            os.fsync(descriptor)

    def sync(self, path: Path) -> None:
        """Make a file that somebody else wrote last through a power cut, and its name."""
        if not self.durable or sys.platform == "win32":
            return
        with contextlib.suppress(FileNotFoundError):
            descriptor = open_regular(path, os.O_RDONLY)
            with closing(descriptor, path):
                os.fsync(descriptor)
        with contextlib.suppress(FileNotFoundError):
            self.sync_folder(path.parent)

    def _sync(self, descriptor: int) -> None:
        if self.durable:
            os.fsync(descriptor)

    def check_size(self, path: Path, size: int) -> None:
        """Refuse a file of more than the limit.

        Raises:
            StoreError: If ``size``, in bytes, is more.
        """
        if size > self.limit:
            has, most = megabytes(size, self.limit)
            raise StoreError(
                f"{path}: has {has} MB, more than the limit of {most} MB; "
                "split it, or raise max_file_mb in config.toml."
            )

    # ---- files that stay open ----

    def open(self, path: Path | str, *, write: bool = False, new: bool = False) -> int:
        """Open a file and return its descriptor; to write means to append to it.

        Args:
            path: Its name.
            write: Whether to append, and to create it if need be.
            new: Whether it must not be there yet.

        Raises:
            StoreError: If it is not a file, or far too large.
            FileExistsError: If it is there and should be ``new``.
        """
        flags = _APPEND if write else os.O_RDONLY
        descriptor = open_regular(path, flags | (os.O_EXCL if new else 0))
        size = os.fstat(descriptor).st_size
        if size > _LARGEST:
            os.close(descriptor)
            raise StoreError(
                f"{path}: has {size // _PIECE} MB, more than the limit of {_LARGEST // _PIECE} MB; "
                f"it is not read. Move it away."
            )
        return descriptor

    @contextlib.contextmanager
    def opened(self, path: Path | str, *, write: bool = False) -> Iterator[int]:
        """Keep a file open for the length of a ``with`` block; see :meth:`open`."""
        descriptor = self.open(path, write=write)
        try:
            yield descriptor
        finally:
            self.close(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a file; whatever the system answers, it is closed, and nothing waited for it."""
        with contextlib.suppress(OSError):
            os.close(descriptor)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Append bytes and return how many of them were written."""
        return os.write(descriptor, data)

    def read_at(self, descriptor: int, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to ``end`` (exclusive), as far as the file goes."""
        pieces = []
        while start < end:
            os.lseek(descriptor, start, os.SEEK_SET)
            piece = os.read(descriptor, min(end - start, _PIECE))
            if not piece:
                break
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def truncate_open(self, descriptor: int, size: int) -> None:
        """Cut a file to ``size`` bytes."""
        os.ftruncate(descriptor, size)

    def sync_open(self, descriptor: int) -> None:
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
        with self.opened(path) as descriptor, contextlib.suppress(OSError):
            return not locks.take(descriptor)
        return True  # The file system has no locks.

    # ---- names ----

    def find(self, path: Path | str) -> os.stat_result | None:
        """Return what has this name now, or ``None``; a link is not followed."""
        try:
            return os.lstat(path)
        except FileNotFoundError:
            return None

    def files(self, folder: Path) -> list[str]:
        """Return the names of the files in a folder, sorted; ``[]`` if it is missing."""
        return _names(folder, _is_file)

    def obstacles(self, folder: Path) -> list[Path]:
        """Return what is not a file in a folder: folders, links, pipes; ``[]`` if it is missing.

        A link is never followed, so whatever it leads to is not read.
        """
        return [folder / name for name in _names(folder, lambda item: not _is_file(item))]

    def load(self, path: Path) -> bytes | None:
        """Return the bytes of a file, or ``None`` where there is none."""
        try:
            descriptor = self.open(path)
        except FileNotFoundError:
            return None
        with closing(descriptor, path):
            return self.read_at(descriptor, 0, sys.maxsize)

    def load_own(self, path: Path) -> bytes:
        """Return the bytes of a file that the user alone can read, or ``b""``.

        Git never makes a file so: one that others can read may have come with a clone.
        """
        status = self.find(path)
        if status is None or (hasattr(os, "getuid") and status.st_mode & _OTHERS):
            return b""
        return self.load(path) or b""

    def save(
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
                    self.sync_open(descriptor)
            if replace:
                patiently(unfinished.replace, path)
            else:
                self.publish(unfinished, path)
        except FileExistsError:
            return False
        else:
            return True
        finally:
            # Half a file would keep a full disk full. What cannot be removed is swept up later.
            with contextlib.suppress(OSError):
                patiently(unfinished.unlink, missing_ok=True)

    def write_all(self, descriptor: int, data: bytes) -> None:
        """Append bytes, in one call if the system takes them all."""
        done = self.write(descriptor, data)
        while done < len(data):
            done += self.write(descriptor, memoryview(data)[done:])

    def add_lines(self, path: Path, data: bytes, *, durable: bool = False) -> None:
        """Append whole lines; what a crash left of the last one stays on a line of its own."""
        descriptor = self.open(path, write=True)
        with closing(descriptor, path):
            size = self.look(descriptor).st_size
            is_cut = size > 0 and self.read_at(descriptor, size - 1, size) != b"\n"
            self.write_all(descriptor, b"\n" * is_cut + data)
            if durable:
                self.sync_open(descriptor)

    def begin(self, path: Path) -> Path:
        """Note that a file is being made, and by whom, beside ``path``; return the note."""
        note = _in_the_making(path)
        self.close(self.open(note, write=True, new=True))
        return note

    def unfinished(self, folder: Path) -> list[Unfinished]:
        """Return the unfinished files in a folder, also those of processes that died."""
        before, files = time.time() - _GIVEN_UP, list[Unfinished]()
        for name in self.files(folder):
            matched = _UNFINISHED.search(name)
            there = self.find(folder / name) if matched else None
            if matched is not None and there is not None:
                gone = not self.is_running(int(matched[1]))
                files.append(Unfinished(folder / name, gone, there.st_mtime < before))
        return files

    def remove_unfinished(self, folder: Path) -> None:
        """Remove what processes that died left of files that they were making."""
        for path, gone, old in self.unfinished(folder):
            # A process of another machine or container is not seen: its file is younger.
            if gone and old:
                self.unlink(path)

    def make_plain_folder(self, path: Path, *, durable: bool) -> bool:
        """Make a folder and those above it, for the user alone; ``False`` if it is there.

        Raises:
            StoreError: If it is not a folder, or a link, which may lead anywhere.
        """
        self.refuse_link(path)
        return safe_open.make_folder(path, self.sync_folder if durable else bool)

    def refuse_link(self, path: Path) -> None:
        """Refuse a link in the place of a folder of ours: a cloned project may have brought it.

        Raises:
            StoreError: If it is one.
        """
        if path.is_symlink():
            raise StoreError(f"{path}: is a link where a folder should be; put the folder there.")

    def sync_file(self, path: Path) -> None:
        """Make what somebody else wrote to a file last through a power cut."""
        # Windows syncs only files that are open for writing.
        descriptor = open_regular(path, os.O_RDWR)
        with closing(descriptor, path):
            self.sync_open(descriptor)

    def is_writable(self, path: Path) -> bool:
        """Whether we may write here, as far as the system says without trying."""
        return os.access(path, os.W_OK)

    # ---- the machine ----

    def process(self) -> int:
        """Return which process this is."""
        return os.getpid()

    def is_running(self, process: int) -> bool:
        """Whether a process is there; ``True`` where the system does not tell."""
        if sys.platform != "win32":
            try:
                os.kill(process, 0)
            except OSError as error:
                return not isinstance(error, ProcessLookupError)
        return True


class ClosedDisk(Disk):
    """The system calls of a store that may not write."""

    def __init__(self, reason: str, *, limit: int = _LIMIT) -> None:
        """Refuse with ``reason``; ``limit`` is the largest file that is read, in bytes."""
        super().__init__(limit=limit)
        self._reason = reason

    def make_folder(self, path: Path) -> None:
        """Refuse: a step begins with the folder that it writes to.

        Raises:
            StoreError: Always.
        """
        del path  # It would only be named to be refused.
        raise StoreError(self._reason)


def disk_of(settings: Settings, closed: str = "") -> Disk:
    """Return the system calls on the files of a scope; ``closed`` is why it may not be written."""
    if closed:
        return ClosedDisk(closed, limit=settings.max_file_bytes)
    return Disk(durable=settings.durability == "full", limit=settings.max_file_bytes)


def megabytes(size: int, limit: int) -> tuple[str, str]:
    """Return two numbers of bytes as one counts them in ``max_file_mb``: ``47.7``, ``16``.

    Both get as many digits as it takes to tell them apart.

    >>> megabytes(16_777_217, 16_777_216), megabytes(900, 10)
    (('16.000001', '16'), ('0.001', '0.00001'))
    """

    def shown(size: int, other: int) -> str:
        text = ""
        for digits in range(1, _MOST_DIGITS):
            text = f"{size / _PIECE:.{digits}f}"
            if float(text) and text != f"{other / _PIECE:.{digits}f}":
                break
        return text.rstrip("0").removesuffix(".")

    return shown(size, limit), shown(limit, size)


def _names(folder: Path, wanted: Callable[[os.DirEntry[str]], bool]) -> list[str]:
    """Return the wanted names in a folder, sorted; ``[]`` if it is missing."""
    try:
        with os.scandir(folder) as entries:
            return sorted(item.name for item in entries if wanted(item))
    except FileNotFoundError:
        return []


def _is_file(item: os.DirEntry[str]) -> bool:
    return item.is_file(follow_symlinks=False)


def _is_folder(item: os.DirEntry[str]) -> bool:
    """Whether it is a folder or a link to one; a link that cannot be followed is not.

    Such a link may come with somebody's commit, and must not hide the files beside it.
    """
    try:
        return item.is_dir()
    except OSError:
        return False


def _take_after(descriptor: int, like: Path | None, mode: int) -> None:
    """Give a file the permissions and, where we may, the owner of another one."""
    if sys.platform == "win32":
        return
    model = None
    with contextlib.suppress(FileNotFoundError):
        model = like.lstat() if like is not None else None
    if model is not None:
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, model.st_uid, model.st_gid)
    os.fchmod(descriptor, mode if model is None else stat.S_IMODE(model.st_mode))


def lines_backwards(
    read: Callable[[int, int], bytes], end: int, piece: int = 4096
) -> Iterator[bytes]:
    """Yield the text behind the last line end, then the lines from the last one upwards.

    Args:
        read: Returns the bytes from one offset to another one.
        end: Where the text ends.
        piece: How much is read at first; each further piece is twice as long.
    """
    rest = b""
    while end > 0:
        start = max(0, end - piece)
        lines = (read(start, end) + rest).split(b"\n")
        rest = lines[0]
        yield from reversed(lines[1:])
        end, piece = start, piece * 2
    yield rest


def _exchange(new: Path, path: Path) -> bool:
    """Exchange two names in one step; ``False`` where the system or file system cannot."""
    if sys.platform == "win32":
        return False
    import ctypes

    a, b = os.fsencode(new), os.fsencode(path)
    if hasattr(_library(), "renameat2"):
        failed = _library().renameat2(_AT_FDCWD, a, _AT_FDCWD, b, _EXCHANGE)
    elif hasattr(_library(), "renamex_np"):
        failed = _library().renamex_np(a, b, _EXCHANGE)
    else:
        return False
    code = ctypes.get_errno() if failed else 0
    if code not in {0, *_UNSUPPORTED}:
        raise OSError(code, os.strerror(code), str(path))
    return not code


@cache
def _library() -> ctypes.CDLL:
    """Return the C library: Python has no function that exchanges two names."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def load() -> None:
    """Load the C library, where there is one: later, too many files may be open."""
    if sys.platform != "win32":
        _library()


def _has_writer(descriptor: int) -> bool:
    """Whether a program has an open file open for writing, as an editor that saves in place has.

    Linux grants a read lease only on a file that nobody has open for writing. It keeps nobody from
    opening the file: the system then sends a signal, here one that does nothing. Windows need not
    be asked: it renames no file that a program has open. macOS and others do not say.
    """
    import signal

    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    return False


def wait_while(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait while something holds, ``seconds`` at most; return whether it still does."""
    waited = 0.0
    while (still := holds()) and waited < seconds:
        time.sleep(POLL)
        waited += POLL
    return still


def json_lines(data: bytes) -> Iterator[dict[str, Any]]:
    r"""Yield the objects in lines of JSON; what is anything else, or damaged, is skipped.

    >>> [*json_lines(b'{"a": 1}\n[2]\n{"torn')]
    [{'a': 1}]
    """
    for line in filter(None, data.split(b"\n")):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


_AS_BEFORE: Final = (
    ". Memory is as it was before; free some space or mend the permissions, then try again."
)


@contextlib.contextmanager
def named_errors(path: Path, what: str, more: str = _AS_BEFORE) -> Iterator[None]:
    """Turn an error of the system into one that names the file, and says more: the next step.

    Args:
        path: The file, unless the error names one.
        what: What could not be done with it: ``read``, ``written``.
        more: How the sentence goes on; ``""`` for a file that memory does not depend on.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or path
        reason = error.strerror or type(error).__name__
        raise StoreError(f"{where}: could not be {what}: {reason}{more}") from error


_UNFINISHED: Final = re.compile(r"\.([0-9]{1,9})-[0-9a-f]{8}\.part\Z")
# Seconds after which nobody works on a file any more that a process began which is gone.
_GIVEN_UP: Final = 60.0


def _in_the_making(path: Path) -> Path:
    """Return a name that nothing has yet, which says who makes the file at ``path``."""
    return path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")

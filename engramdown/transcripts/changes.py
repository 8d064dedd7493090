"""Which transcripts have changed since they were last looked at.

A new, replaced or removed file is always noticed, and so is a line that was appended through
:class:`engramdown.episodes.recorder.Recorder`, in whatever process. With more than
:data:`MANY` sessions not every file can be looked at for every question: then these are the ones
that were written last and the ones that a writer has named; all the others are looked at often,
but for no more than a hundredth of the time.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.storage.safe_open import closing, open_regular
from engramdown.transcripts.episode import is_session_id

# Sessions whose files are looked at for every question.
MANY: Final = 1_000
# Of more sessions, those written last.
RECENT: Final = 256
# The folder of the transcripts, in that of a scope.
FOLDER: Final = "episodes"
SUFFIX: Final = ".jsonl"
# The folder, beside that of the transcripts, of what can be made again.
CACHE: Final = "cache"
_TOUCHED: Final = "written"
_LONGEST: Final = 1_000_000
# The time of a folder steps; what happens within one step has the same time.
_STEP: Final = 100_000_000
_SHARE: Final = 100
_SELDOM: Final = 10.0


class FileState(NamedTuple):
    """The state of a file when it was looked at.

    Attributes:
        inode: Which file it is.
        size: In bytes.
        changed: When it was last written, in nanoseconds.
    """

    inode: int
    size: int
    changed: int


def file_state(folder: Path, session: str) -> FileState | None:
    """Return the present state of a session's file; ``None`` if it is not a regular file."""
    try:
        found = os.lstat(f"{folder}/{session}{SUFFIX}")
    except OSError:
        return None
    is_file = stat.S_ISREG(found.st_mode)
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns) if is_file else None


def changed(folder: Path, sessions: Mapping[str, FileState]) -> list[str]:
    """Return those of ``sessions`` whose files have changed."""
    lstat, before = os.lstat, f"{folder}{os.sep}"
    found = []
    for session, (inode, size, written) in sessions.items():
        try:
            now = lstat(f"{before}{session}{SUFFIX}")
        except OSError:
            found.append(session)
            continue
        # This is done for every file at every question.
        if now.st_mtime_ns != written or now.st_size != size or now.st_ino != inode:
            found.append(session)
    return found


def touch(cache: Path, session: str) -> None:
    """Name a session that is about to be written, for those who search in other processes.

    If that cannot be done, the line is found a little later.
    """
    if not cache.is_symlink():
        with contextlib.suppress(OSError, StoreError):
            path = cache / _TOUCHED
            descriptor = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with closing(descriptor, path):
                os.write(descriptor, f"{session}\n".encode())


def touched(cache: Path, start: int) -> tuple[int, list[str]]:
    """Return the sessions that were named behind byte ``start``, and where their list ends.

    A list that has become long is begun anew.
    """
    path = cache / _TOUCHED
    try:
        if path.stat().st_size == start:
            return start, []
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(start if start <= size else 0)
            data = file.read()
    except (OSError, StoreError):
        return 0, []
    end = data.rfind(b"\n") + 1
    names = list(dict.fromkeys(data[:end].decode("utf-8", "replace").split("\n")))
    # Anybody may have written into a cache, and what is named there becomes a path.
    return (start if start <= size else 0) + end, [name for name in names if is_session_id(name)]


def listing(folder: Path) -> dict[str, int]:
    """Return the sessions of a folder with the inodes of their files; none behind a link.

    Raises:
        OSError: If it cannot be read.
    """
    if folder.is_symlink():
        return {}
    try:
        with os.scandir(folder) as found:
            return {
                item.name.removesuffix(SUFFIX): item.inode()
                for item in found
                if item.name.endswith(SUFFIX) and item.is_file(follow_symlinks=False)
            }
    except (FileNotFoundError, NotADirectoryError):
        return {}


def moment_of(folder: Path) -> int:
    """Return when the names in ``folder`` last changed, in nanoseconds; 0 if there is no folder."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def settled(moment: int) -> int:
    """Return ``moment`` if any further change of the folder will give it a later one, else 0."""
    return moment if time.time_ns() - moment > _STEP else 0


def is_due(looked: float, cost: float) -> bool:
    """Whether every file should be looked at again.

    Args:
        looked: When that was done last, in seconds since 1970.
        cost: How long it took, in seconds.
    """
    since = time.time() - looked
    return not 0 <= since <= max(_SELDOM, cost * _SHARE)

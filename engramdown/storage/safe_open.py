"""Opens files that are neither links nor folders, pipes or devices, and makes folders.

Never waits for somebody at the other end of a pipe; looks at what was opened, not at what the name
meant before; an error names what was refused and the next step. Files and folders are readable by
the user alone, whatever the umask, each folder on the way included.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from engramdown.errors import StoreError

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700

_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BYTES: Final = getattr(os, "O_BINARY", 0)
_LINK: Final = "a link"


def open_regular(
    path: Path | str, flags: int, mode: int = FILE_MODE, wanted: str = "a file"
) -> int:
    """Open a file with the ``flags`` of ``os.open`` and return its descriptor.

    Args:
        path: Its name.
        flags: Whether to read, write, append or create.
        mode: Its permissions if it is created.
        wanted: What should stand there, for the error.

    Raises:
        StoreError: If it is not a file.
        OSError: If the system does not open it.
    """
    try:
        descriptor = os.open(path, flags | _SAFELY | _BYTES, mode)
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError as error:
        # The system's words for a link and for a pipe that nobody reads tell nobody what to do.
        with contextlib.suppress(FileNotFoundError):
            check_regular(path, os.lstat(path).st_mode, wanted)
        if not is_in_use(error):
            raise
        descriptor = patiently(os.open, path, flags | _SAFELY | _BYTES, mode)
    try:
        check_regular(path, os.fstat(descriptor).st_mode, wanted)
    except StoreError:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def closing(descriptor: int, path: Path) -> Iterator[None]:
    """Close a descriptor at the end, and let an error of the system name its file."""
    try:
        try:
            yield
        finally:
            # Where nothing was synced, this may be the first to hear of a full disk.
            os.close(descriptor)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def make_folder(path: Path, made: Callable[[Path], object] = bool) -> bool:
    """Make a folder and those above it, for the user alone; ``False`` if it is there.

    Args:
        path: Its name.
        made: Is given the folder that holds the new one, for each that is made.

    Raises:
        StoreError: If it is something else.
        OSError: If the system does not make it.
    """
    if path.is_dir():
        return False
    make_folder(path.parent, made)
    with contextlib.suppress(FileExistsError):
        path.mkdir(FOLDER_MODE)
    if not path.is_dir():
        raise StoreError(f"{path}: is not a folder; move it away or choose another scope.")
    made(path.parent)
    return True


def check_regular(path: Path | str, mode: int, wanted: str = "a file") -> None:
    """Refuse anything that is not a file by its ``st_mode``.

    Raises:
        StoreError: If it is something else; ``wanted`` is what should stand there.
    """
    what = what_instead(mode)
    if what:
        next_step = "put the file itself there" if what == _LINK else "move it away"
        if wanted != "a file":
            next_step = "remove it"
        raise StoreError(f"{path}: is {what} where {wanted} should be; {next_step}.")


def denies(path: Path, what: int) -> bool:
    """Whether the system does not let us do ``what`` with a file that exists."""
    while not os.access(path, what):
        try:
            before = path.lstat()
            is_denied = not os.access(path, what)
            # An editor that saves moves the old file away first: a missing file is not a denial.
            if is_denied and os.path.samestat(before, path.lstat()):
                return True
        except FileNotFoundError:
            return False
    return False


def what_instead(mode: int) -> str:
    """Return in words what has this ``st_mode``, or ``""`` for a file.

    >>> import stat
    >>> what_instead(stat.S_IFDIR), what_instead(stat.S_IFREG)
    ('a folder', '')
    """
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISLNK(mode):
        return _LINK
    return "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"


# Patience with a file that another program has open, where the system does not let us touch it.
#
# A call that Windows refuses because a file is in use is tried again for some two
# seconds, and then fails with words that name the file and say why; any other error is raised at
# once.
#
# An editor, a search index or a virus scanner opens a file for a moment after it was written, and
# Windows renames, removes and opens nothing that somebody else has open so. No other system does
# that: there nothing is ever tried twice.

P = ParamSpec("P")
T = TypeVar("T")

_PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
# Access denied, sharing violation, lock violation. What opens a file says only that it was denied:
# then the number is None. Errors of other systems have no such number.
_IN_USE: Final = (5, 32, 33, None)


def patiently(call: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
    """Call a function of the system, again and again while it says that a file is in use.

    Raises:
        PermissionError: If the file is in use all the time.
        OSError: If anything else is wrong.
    """
    pauses = iter(_PAUSES)
    while True:
        try:
            return call(*args, **how)
        except PermissionError as error:
            if not is_in_use(error):
                raise
            pause = next(pauses, None)
            if pause is None:
                error.strerror = "another program has it open, or it may not be changed"
                raise
        time.sleep(pause)


def is_in_use(error: OSError) -> bool:
    """Whether an error may be that another program has a file open."""
    return isinstance(error, PermissionError) and getattr(error, "winerror", 0) in _IN_USE

"""Places where writing fails by itself: a disk that is full, one that is read-only, a file limit.

Promises: a real file system, mounted for the length of a ``with`` block, or a
:class:`tests.crash.campaign.MissingError` that says why there is none; a limit is lifted at the
end, whatever happened.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.crash.campaign import MissingError

_PIECE = 4096


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a disk of ``size`` bytes at ``folder``.

    Raises:
        MissingError: If that cannot be done here.
    """
    if sys.platform != "linux":
        raise MissingError("a small disk is mounted on Linux only")
    folder.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        # Somebody may stand in it still.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def read_only(disk: Path) -> Iterator[None]:
    """Let nobody write to a disk that :func:`small_disk` mounted, root included."""
    _mount("-o", "remount,ro", str(disk))
    try:
        yield
    finally:
        _mount("-o", "remount,rw", str(disk))


@contextlib.contextmanager
def filled(disk: Path, left: int) -> Iterator[None]:
    """Leave ``left`` bytes of a disk, about."""
    path = disk / "filler"
    space = os.statvfs(disk)
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for _ in range(max(0, space.f_bavail * space.f_frsize - left) // _PIECE + (not left)):
            file.write(bytes(_PIECE))
    try:
        yield
    finally:
        path.unlink()


@contextlib.contextmanager
def file_limit(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond ``size`` bytes: a write is cut short, then fails.

    Raises:
        MissingError: If the system has no such limit.
    """
    if sys.platform == "win32":
        raise MissingError("there is no limit for the size of files on Windows")
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _mount(*arguments: str) -> None:
    try:
        done = subprocess.run(
            ["mount", *arguments], capture_output=True, encoding="utf-8", check=False
        )
    except FileNotFoundError:
        raise MissingError("mount is missing here") from None
    if done.returncode:
        raise MissingError(f"no disk may be mounted here: {done.stderr.strip()}")

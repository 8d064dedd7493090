"""Whether git changed the files itself: a switch of branches is no edit of a person's.

Promises: runs no program and writes nothing; where there is no git, or its log cannot be read,
the answer is no.

git writes a line into ``logs/HEAD`` whenever it moves to another commit. One that brings other
files (a checkout, a merge, a pull) after our last step explains why they differ; a commit brings
none.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.hippocampus.disk import Disk

__all__ = ["moved_since"]

# The newest lines are enough: nobody moves that often between two steps and a look.
_TAIL: Final = 64 * 1024
_LINE: Final = re.compile(rb" (\d{1,12}) [+-]\d{4}\t([^\n]*)\Z")
_STAYS: Final = (b"commit:", b"commit (amend):", b"commit (initial):", b"branch:", b"Branch:")
_NANO: Final = 1_000_000_000


def moved_since(path: Path, moment: str, disk: Disk) -> bool:
    """Whether git brought another version of a file, or took it away, after ``moment``.

    Args:
        path: The file.
        moment: As the journal writes it: UTC, ISO 8601.
        disk: The system calls.
    """
    try:
        since = datetime.fromisoformat(moment).timestamp()
        tree = next((folder for folder in path.parents if disk.exists(folder / ".git")), None)
        if tree is None:
            return False
        folder = _git_folder(tree, disk)
        name = path.relative_to(tree).as_posix()
        # What git does not know it does not change; it may have taken away what is gone.
        known = not disk.exists(path) or os.fsencode(name) in _end(folder / "index", disk)
        return known and _moved(folder / "logs" / "HEAD", since, disk)
    except (OSError, StoreError, ValueError):
        return False


def _git_folder(tree: Path, disk: Disk) -> Path:
    """Return the folder in which git keeps what it knows of a work tree."""
    place = tree / ".git"
    if disk.exists(place / "HEAD"):
        return place
    # A second work tree, or a submodule: the file says where its folder is.
    said = os.fsdecode(disk.read(place) or b"")
    return tree / said.removeprefix("gitdir:").strip()


def _moved(log: Path, since: float, disk: Disk) -> bool:
    """Whether the log of where ``HEAD`` was tells of another commit's files after ``since``."""
    lines = _end(log, disk, _TAIL).rstrip(b"\n").split(b"\n")
    written = disk.changed_at(log) / _NANO
    for age, line in enumerate(reversed(lines)):
        found = _LINE.search(line)
        if found is None:
            return False
        # git tells whole seconds; when the newest line was written the system knows better.
        at = int(found[1]) if age else min(written, int(found[1]) + 1)
        if at <= since:
            return False
        if not found[2].startswith(_STAYS):
            return True
    return False


def _end(path: Path, disk: Disk, most: int | None = None) -> bytes:
    """Return the last ``most`` bytes of a file, or all."""
    size = disk.identity(path)[0]
    return disk.read_range(path, 0 if most is None else max(0, size - most), size)

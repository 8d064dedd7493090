"""What stands beside SKILL.md in the folder of a skill: its references, scripts and other files.

Promises: writes nothing; what is named leads nowhere out of the folder: links are passed over, and
a name that is not listed is not opened; no more is read than is allowed; what cannot be read is
told. Only so many files are looked at, however many there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.disk import Disk
from engramdown.errors import StoreError
from engramdown.naming import named_errors
from engramdown.skills.writing import FILE, KEPT
from engramdown.swapping import TEMPORARY

__all__ = ["DEEPEST", "MOST", "Beside", "files_beside", "read_beside"]

MOST: Final = 200
"""How many files of a skill are told of."""
DEEPEST: Final = 6
"""How many folders deep they may stand."""

_EVERY: Final = 5_000
_BOTTOM: Final = 30
_PASSED_OVER: Final = frozenset({"__pycache__", "node_modules"})


class Beside(NamedTuple):
    """A file of a skill.

    Attributes:
        name: Where it stands in the folder of the skill, with ``/`` between.
        size: How long it is, in bytes.
    """

    name: str
    size: int


def files_beside(disk: Disk, home: Path, *, every: bool = False) -> list[Beside]:
    """Return the files in the folder of a skill but for SKILL.md, by name, :data:`MOST` at most.

    Hidden files, links, pipes and devices are passed over.

    Args:
        disk: The system calls.
        home: The folder.
        every: Return those too that nobody is told of, as they are many, or deep down.

    Raises:
        StoreError: If the folder cannot be read.
    """
    found: list[Beside] = []
    most, deepest = (_EVERY, _BOTTOM) if every else (MOST, DEEPEST)
    with named_errors(home, "read"):
        for each in _walk(disk, home, "", deepest):
            found.append(each)
            if len(found) == most:
                break
    return found


def read_beside(disk: Disk, home: Path, name: str, most: int) -> str:
    """Return the text of a file in the folder of a skill.

    Args:
        disk: The system calls.
        home: The folder.
        name: One that :func:`files_beside` returned.
        most: How long it may be, in bytes.

    Raises:
        StoreError: If there is no such file, it is too long, no text, or cannot be read.
    """
    path = home / name
    if name not in {each.name for each in files_beside(disk, home)}:
        raise StoreError(f"{name!a}: is no file of this skill.")
    with named_errors(path, "read"):
        size, _ = disk.identity(path)
        if size > most:
            raise StoreError(
                f"{path}: has {size} bytes, and {most} are shown at once; "
                f"read it piece by piece with other tools."
            )
        data = disk.read_range(path, 0, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StoreError(f"{path}: is no text in UTF-8; use it with other tools.") from None


def _walk(disk: Disk, folder: Path, before: str, deep: int) -> Iterator[Beside]:
    for name in disk.names(folder):
        if name[:1] != "." and not (not before and _is_page(name)):
            try:
                size, _ = disk.identity(folder / name)
            except StoreError:
                continue  # a link, a pipe or a device
            yield Beside(before + name, size)
    for name in disk.folders(folder) if deep else ():
        is_link = os.path.islink(folder / name)  # noqa: PTH114 - no error where it is gone
        if name[:1] != "." and name not in _PASSED_OVER and not is_link:
            yield from _walk(disk, folder / name, f"{before}{name}/", deep - 1)


def _is_page(name: str) -> bool:
    return name == FILE or KEPT.fullmatch(name) is not None or TEMPORARY.fullmatch(name) is not None

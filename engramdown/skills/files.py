"""The files in the folder of a skill: SKILL.md, and references, scripts and others beside it.

Nothing is written. No name leads out of the folder: links are passed over, and only a name that
is listed is opened. No more is read than allowed, and only so many files are looked at. As parts
of a skill all files count, hidden ones and links too, but for what programs left and nobody
shares.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.exchange import TEMPORARY

FILE: Final = "SKILL.md"
# A save that lost its place while two others were made; a person decides.
KEPT: Final = re.compile(r"SKILL\.other-[0-9a-f]{8}\.md")


def is_temporary(name: str) -> bool:
    """Whether a name is that of a SKILL.md in the making."""
    named = TEMPORARY.fullmatch(name)
    return named is not None and named[1] == FILE


# How many files of a skill are listed.
MOST: Final = 200
# How many folders deep they may stand.
DEEPEST: Final = 6

# How many files a skill may have that is to be known by all of them.
EVERY: Final = 5_000

_BOTTOM: Final = 30
_PASSED_OVER: Final = frozenset({"__pycache__", "node_modules"})


class Beside(NamedTuple):
    """A file of a skill.

    Attributes:
        name: Its path in the folder of the skill, with ``/`` between.
        size: How long it is, in bytes.
    """

    name: str
    size: int


class Part(NamedTuple):
    """A file that counts as a part of a skill.

    Attributes:
        name: Its path in the folder of the skill, with ``/`` between.
        is_aside: Whether it is hidden, or what a program left: a part only if it is shared.
    """

    name: str
    is_aside: bool = False


def files_beside(disk: Disk, home: Path) -> list[Beside]:
    """Return the files in the folder of a skill but for SKILL.md, by name, :data:`MOST` at most.

    Hidden files, links, pipes and devices are passed over.

    Args:
        disk: The system calls.
        home: The folder.

    Raises:
        StoreError: If the folder cannot be read.
    """
    with named_errors(home, "read"):
        return list(islice(_walk(disk, home, "", DEEPEST), MOST))


def parts_of(disk: Disk, home: Path, is_shared: Callable[[Path], bool]) -> list[Part]:
    """Return every file in the folder of a skill but SKILL.md, links among them.

    Args:
        disk: The system calls.
        home: The folder.
        is_shared: Whether others have anything of a folder that is hidden, or that a program left.

    Raises:
        StoreError: If the folder cannot be read, or holds more than :data:`EVERY`, or too deep.
    """
    found: list[Part] = []
    left = [("", False)]
    while left:
        before, is_aside = left.pop()
        folder = home / before
        if before.count("/") > _BOTTOM:
            raise StoreError(f"{folder}: is more than {_BOTTOM} folders deep; move it up.")
        with named_errors(home, "read"):
            names, folders = disk.names(folder), disk.folders(folder)
        found += [
            Part(before + name, is_aside or _is_aside(name, before))
            for name in names
            if before or name != FILE
        ]
        for name in folders:
            aside = is_aside or _is_aside(name, before)
            if os.path.islink(folder / name):  # noqa: PTH114 - no error where it is gone
                found.append(Part(before + name, aside))
            elif not aside or is_shared(folder / name):
                left.append((f"{before}{name}/", aside))
        if len(found) > EVERY:
            raise StoreError(f"{home}: holds more than {EVERY} files; keep fewer there.")
    return found


def read_beside(disk: Disk, home: Path, name: str, most: int) -> str:
    """Return the text of a file in the folder of a skill.

    Args:
        disk: The system calls.
        home: The folder.
        name: One that :func:`files_beside` returned.
        most: How long it may be, in bytes.

    Raises:
        StoreError: If there is no such file, it is too long, not text, or cannot be read.
    """
    path = home / name
    if name not in {each.name for each in files_beside(disk, home)}:
        raise StoreError(f"{name!a}: is not a file of this skill.")
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
        raise StoreError(f"{path}: is not text in UTF-8; use other tools for it.") from None


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
        if not is_passed_over(name) and not is_link:
            yield from _walk(disk, folder / name, f"{before}{name}/", deep - 1)


def is_passed_over(name: str) -> bool:
    """Whether a file or a folder is not a part of a skill: hidden, or what a program left."""
    return name[:1] == "." or name in _PASSED_OVER


def _is_aside(name: str, before: str) -> bool:
    return is_passed_over(name) or (not before and _is_page(name))


def _is_page(name: str) -> bool:
    return name == FILE or KEPT.fullmatch(name) is not None or TEMPORARY.fullmatch(name) is not None

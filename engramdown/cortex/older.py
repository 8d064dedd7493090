"""Finds and reads the files of older layouts.

Promises: changes nothing and follows no link out of the folder that was named; what cannot be read
(a folder or a pipe in the place of a file, no permission, too large, no text) is told with the
reason, and the rest is read; files come in a fixed order, each once. In the folders of a project
only files that are about these are looked for, and none in what is not the project's own: hidden
folders, packages, what was built, other repositories.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from engramdown.errors import StoreError
from engramdown.importers.markdown_notes import File, Layout, layout_of, links, topics
from engramdown.storage.disk import Disk

__all__ = ["Unread", "files_at"]

_PLACES: Final = (
    ".anton/memory/*.md",
    ".anton/context/*.md",
    ".anton/learnings/*.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "AGENTS.md",
    ".cursorrules",
    ".cursor/rules/**/*.mdc",
    "MEMORY.md",
    "memory/MEMORY.md",
    "memory/*.md",
)
_ANY: Final = ("*.md", "*.mdc")
_OF_FOLDERS: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
_BUILT: Final = frozenset({"build", "dist", "target"})
_OTHERS: Final = frozenset({"node_modules", "site-packages", "third_party", "vendor"})
_MARKS_OF_OTHERS: Final = (".git", ".engramdown", "pyvenv.cfg")
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Unread(NamedTuple):
    """A file that could not be read.

    Attributes:
        path: What a person calls it.
        reason: Why, in words.
    """

    path: str
    reason: str


class _Place(NamedTuple):
    """Where a file may be.

    Attributes:
        path: Its whole name.
        folder: The folder that it must not lead out of, or ``None`` for one that was named.
        layout: What it is.
        topic: What it is about, where something else than the file says so.
        part: The folder of the project that it is about, or ``""``.
    """

    path: Path
    folder: Path | None
    layout: Layout | None
    topic: str = ""
    part: str = ""


def files_at(
    paths: Iterable[Path], base: Path, disk: Disk, *, folders: bool = False
) -> Iterator[File | Unread]:
    """Yield what there is to read at ``paths``: files, and folders in which they are looked for.

    Args:
        paths: What a person named.
        base: The folder from which files are named; one elsewhere is called by its name.
        disk: The system calls.
        folders: Whether ``base`` is a project, whose folders may have files of their own.
    """
    seen: set[str] = set()
    project = base if folders else None
    named = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - as it was named, links and all
    waiting = [place for path in named for place in _places(path, project)]
    while waiting:
        place = waiting.pop(0)
        real = os.path.realpath(place.path)
        if real in seen:
            continue
        seen.add(real)
        read = _read(place, Path(real), _name(place.path, base), disk)
        yield read
        if isinstance(read, File) and read.layout == "index":
            waiting = [*_linked(read.text, place), *waiting]


def _places(path: Path, project: Path | None) -> list[_Place]:
    if not path.is_dir():
        return [_Place(path, None, layout_of(path.as_posix()), part=_part(path, project))]
    found = [each for pattern in _PLACES for each in _glob(path, pattern)]
    if project is not None and path.is_relative_to(project):
        found += _below(path)
    if not found:
        found = [each for pattern in _ANY for each in sorted(path.glob(pattern))]
    told: dict[Path, Mapping[str, str]] = {}
    return [
        _Place(each, path, layout, _topic(each, layout, told), _part(each, project))
        for each in found
        if (layout := layout_of(each.as_posix())) is not None
    ]


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return what fits a pattern, also if ``folder`` is the first part of it."""
    first, _, rest = pattern.partition("/")
    found = sorted(folder.glob(rest if rest and folder.name == first else pattern))
    if first != "memory":
        return found
    # A folder of this name may hold anything: only what is called like these is theirs.
    return [each for each in found if layout_of(each.as_posix()) in ("daily", "index")]


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files that are about the folders below ``folder``."""
    for root, folders, files in os.walk(folder):
        at = Path(root)
        folders[:] = sorted(name for name in folders if _is_own(at / name))
        if at != folder:
            yield from (at / name for name in _OF_FOLDERS if name in files)


def _is_own(folder: Path) -> bool:
    """Whether a folder of a project holds its own work."""
    name = folder.name
    if name.startswith(".") or name in _BUILT or name in _OTHERS or folder.is_symlink():
        return False
    return not any((folder / mark).exists() for mark in _MARKS_OF_OTHERS)


def _part(path: Path, project: Path | None) -> str:
    """Return the folder of the project that a file is about, or ``""`` if it is about all of it."""
    if project is None or path.name not in _OF_FOLDERS or not path.is_relative_to(project):
        return ""
    parts = path.parent.relative_to(project).parts
    return "/".join(takewhile(lambda part: not part.startswith("."), parts))


def _topic(path: Path, layout: Layout, told: dict[Path, Mapping[str, str]]) -> str:
    if layout != "anton-learnings":
        return ""
    folder = path.parent
    if folder not in told:
        told[folder] = {}
        with contextlib.suppress(OSError, StoreError):
            data = Disk(durable=False).read(folder / "index.json") or b""
            told[folder] = topics(data.decode("utf-8", "replace"))
    return told[folder].get(path.name, "")


def _linked(text: str, index: _Place) -> Iterator[_Place]:
    """Yield the files that an index links to, if they are there; elsewhere they are only told."""
    folder = index.path.parent
    for link in links(text):
        path = folder / unquote(link)
        with contextlib.suppress(OSError, ValueError):
            if not _is_inside(path, folder) or path.exists():
                yield _Place(path, folder, "topic", path.stem)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _name(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name


def _read(place: _Place, real: Path, name: str, disk: Disk) -> File | Unread:
    if place.layout is None:
        return Unread(name, "is no markdown file")
    if place.folder is not None and not _is_inside(place.path, place.folder):
        return Unread(name, "is a link that leads out of the folder; name the file itself")
    try:
        data = disk.read(real)
    except StoreError as error:
        return Unread(name, str(error).removeprefix(f"{real}: "))
    except OSError as error:
        return Unread(name, f"cannot be read: {error.strerror}")
    text = None if data is None else _text(data)
    if text is None:
        return Unread(name, "is not there" if data is None else "is no text")
    return File(name, text, place.layout, place.topic, place.part)


def _text(data: bytes) -> str | None:
    """Return what bytes say; those that are not UTF-8 are kept apart, and found again."""
    if data[:2] in _UTF16:
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            return None
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")

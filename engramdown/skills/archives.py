"""Skills in a ``.zip``: read in memory, never unpacked to where the archive says.

Promises: a name that leads out of the archive, or that some system has no file for, a link, two
files of one name to any system, or what is encrypted refuses the whole archive; no more is unpacked
than is allowed, whatever the archive claims of its sizes; nothing is written.
"""

from __future__ import annotations

import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.skills.incoming import (
    LARGEST,
    MOST_FILES,
    MOST_SKILLS,
    Content,
    is_hidden,
    is_passed_over,
    too_many,
    too_much,
)
from engramdown.skills.writing import FILE
from engramdown.storage.disk import Disk

__all__ = ["skills_in"]

_LARGEST_ARCHIVE: Final = 100 * 1024 * 1024
_LARGEST_WHOLE: Final = 200 * 1024 * 1024
_MOST: Final = 10_000
_LONGEST_NAME: Final = 500
_ENCRYPTED: Final = 1
_NOTHING: Final = "nothing of it is brought in."
# The rarer ways fail with errors of their own, and not every Python has them.
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What stands for a device on Windows, and what it cuts off the end of a name.
_NOT_THERE: Final = re.compile(
    r"(?:^|/)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.[^/]*)?(?:/|$)|[. ](?:/|$)", re.IGNORECASE
)
_NO_NAME: Final = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]|(?:^|/)\.\.?(?:/|$)|^/|//')

_Found = tuple[str, str, dict[str, Content], str, int]


def skills_in(path: Path) -> Iterator[_Found]:
    """Yield each skill of an archive: name of its folder, place, files, problem, what is hidden.

    Raises:
        StoreError: If it is no archive, or one that must not be trusted.
    """
    size, _ = Disk().identity(path)
    if size > _LARGEST_ARCHIVE:
        raise StoreError(f"{path}: is larger than {_LARGEST_ARCHIVE // 1024**2} MB.")
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _skills(archive, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise StoreError(f"{path}: is no .zip that can be read: {error}") from error


def _skills(archive: zipfile.ZipFile, path: Path) -> Iterator[_Found]:
    members = _members(archive, path)
    every = sorted(name.removesuffix(FILE) for name in members if _is_page(name))
    homes: list[str] = []
    for home in every:
        # One that stands in the folder of another is an example there, and belongs to it.
        if not homes or not home.startswith(homes[-1]):
            homes.append(home)
    if not homes:
        raise StoreError(f"{path}: holds no {FILE}.")
    if len(homes) > MOST_SKILLS:
        raise StoreError(too_many(path))
    room = _LARGEST_WHOLE
    for home in homes:
        mine = [name for name in members if name.startswith(home)]
        files: dict[str, Content] = {}
        problem = ""
        left = min(LARGEST, room)
        for name in mine:
            content = _read(archive, members[name], left)
            if content is None or len(files) == MOST_FILES:
                files, problem = {}, too_much(f"{path.name}/{home}")
                break
            left -= len(content.data)
            files[name.removeprefix(home)] = content
        room -= sum(len(content.data) for content in files.values())
        folder = home.rstrip("/").rpartition("/")[2] or path.stem
        hidden = sum(_is_hidden(info, home) for info in archive.infolist())
        yield folder, f"{path}/{home}".rstrip("/"), files, problem, hidden


def _is_hidden(info: zipfile.ZipInfo, home: str) -> bool:
    """Whether a file of a skill is hidden, or stands in a folder that is."""
    if info.is_dir() or not info.filename.startswith(home):
        return False
    parts = info.filename.removeprefix(home).split("/")
    first = next((part for part in parts if is_passed_over(part)), "")
    return parts[0] != "__MACOSX" and is_hidden(first)


def _is_page(name: str) -> bool:
    return name == FILE or name.endswith(f"/{FILE}")


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the files of an archive that count, by name.

    Raises:
        StoreError: If one of them must not be trusted.
    """
    infos = archive.infolist()
    if len(infos) > _MOST:
        raise StoreError(f"{path}: holds more than {_MOST} files.")
    members: dict[str, zipfile.ZipInfo] = {}
    known: set[str] = set()
    for info in infos:
        name = _folded(info.filename)
        wrong = _wrong(info) or ("stands there twice" if name in known else "")
        if wrong:
            raise StoreError(f"{path}: {info.filename[:80]!a} {wrong}; {_NOTHING}")
        known.add(name)
        parts = info.filename.split("/")
        if not info.is_dir() and not any(map(is_passed_over, parts)) and parts[0] != "__MACOSX":
            members[info.filename] = info
    for name in members:
        both = next(
            (each for each in Path(name).parents if _folded(each.as_posix()) in known), None
        )
        if both is not None:
            raise StoreError(f"{path}: {both.as_posix()[:80]!a} is a file and a folder; {_NOTHING}")
    return members


def _folded(name: str) -> str:
    """Return a name as systems compare it that tell neither case nor forms of a letter apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _wrong(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    # What stood behind a zero byte is cut off by then, but not from what the archive says.
    if info.orig_filename != info.filename or _NO_NAME.search(info.filename):
        return "is a name that leads elsewhere"
    if len(info.filename) > _LONGEST_NAME or not info.filename.isprintable():
        return "is no name for a file"
    if _NOT_THERE.search(info.filename):
        return "is no name for a file on Windows"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    return "" if info.compress_type in _PACKED else "is not packed as a .zip usually is"


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> Content | None:
    """Return what a file holds, or ``None`` if that is more than ``most`` bytes."""
    if info.file_size > most:
        return None
    with archive.open(info) as file:
        data = file.read(most + 1)
    runs = bool(info.external_attr >> 16 & stat.S_IXUSR)
    return Content(data, runs) if len(data) <= most else None

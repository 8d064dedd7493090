"""Looks at a scope's transcripts for ``doctor`` and ``stats``.

Promises: reads only and takes no lock; what is wrong is a finding, never an error, and names no
text of a transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engramdown.doctor.findings import Finding, find
from engramdown.episodes.recorder import find_trouble
from engramdown.errors import StoreError
from engramdown.recall.lines import BROKEN, read_lines, usual
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import CACHE, FOLDER
from engramdown.transcripts.episode import read_line
from engramdown.transcripts.payloads import PAYLOADS, Payloads
from engramdown.transcripts.sessions import Sessions, left_open
from engramdown.transcripts.summary_log import FOLDER as GISTS

__all__ = ["Tally", "count_transcripts", "inspect_transcripts"]

_TORN: Final = ".torn-"
_REFERS: Final = b'"payload"'
_BLOCK: Final = 4 * 1024 * 1024
_DIGEST: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Tally:
    """How much is recorded.

    Attributes:
        sessions: How many sessions there are.
        episodes: How many lines they have, but for the first of each.
        size: Of their files, in bytes.
        degraded: Why recording does not work, one sentence for each process in trouble.
    """

    sessions: int = 0
    episodes: int = 0
    size: int = 0
    degraded: tuple[str, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        """Return the sum of two scopes."""
        return Tally(
            self.sessions + other.sessions,
            self.episodes + other.episodes,
            self.size + other.size,
            self.degraded + other.degraded,
        )


def count_transcripts(root: Path) -> Tally:
    """Count what the scope at ``root`` has recorded."""
    folder, disk = root / FOLDER, Disk()
    try:
        found = Sessions(folder, disk).list()
        degraded = tuple(str(trouble) for _, trouble in find_trouble(folder, disk))
    except OSError as error:
        return Tally(degraded=(f"cannot be read: {error.strerror}",))
    return Tally(
        sessions=len(found),
        episodes=sum(info.lines for info in found),
        size=sum(info.size for info in found),
        degraded=degraded,
    )


def inspect_transcripts(root: Path) -> list[Finding]:
    """Return what is wrong with the transcripts of the scope at ``root``."""
    folder, disk = root / FOLDER, Disk()
    sessions = Sessions(folder, disk)
    found = [
        find((f"../{name}", 0), "link", fixable=False, target=(root / name).readlink())
        for name in (FOLDER, f"{FOLDER}/{PAYLOADS}", GISTS, CACHE)
        if (root / name).is_symlink()
    ]
    try:
        for name, trouble in find_trouble(folder, disk):
            told = find(_place(name), "degraded", fixable=trouble.ended, reason=str(trouble))
            found.append(told)
        for name in disk.files(folder):
            if _TORN in name:
                size = (folder / name).stat().st_size
                found.append(find(_place(name), "torn-line", size=size))
        payloads = Payloads(folder / PAYLOADS, disk, durable=False)
        for session in sessions.ids():
            found += _inspect_session(sessions.path(session), disk, payloads)
        for info in left_open(sessions, disk):
            place = _place(sessions.path(info.id).name)
            found.append(find(place, "left-open", fixable=True, date=info.last[:10]))
    except OSError as error:
        found.append(find(_place("."), "cannot-read", reason=error.strerror))
    return found


def _inspect_session(path: Path, disk: Disk, payloads: Payloads) -> list[Finding]:
    name, _ = _place(path.name)
    try:
        look = _look(path, disk, payloads)
        cut = look.unfinished and not disk.is_kept(path)
    except FileNotFoundError:
        return []
    except (OSError, StoreError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return [find((name, 0), "cannot-read", reason=reason)]
    found = []
    if look.broken:
        found.append(find((name, look.broken[0]), "episode-line", count=len(look.broken)))
    if look.missing:
        found.append(find((name, look.missing[0]), "missing-text", count=len(look.missing)))
    if cut:
        found.append(find((name, look.lines), "unfinished-line", size=look.unfinished))
    return found


@dataclass(slots=True)
class _Look:
    """What one reading of a session found: numbers of lines, from 1."""

    lines: int = 0
    broken: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    unfinished: int = 0


def _look(path: Path, disk: Disk, payloads: Payloads) -> _Look:
    look = _Look()
    for block in _blocks(path, disk):
        for number, line in _doubtful(block, look.lines + 1):
            seen = next(read_lines(line), None)
            if seen is None:
                look.unfinished = len(line)
            elif seen.role == BROKEN:
                look.broken.append(number)
            elif not _has_whole(line, disk, payloads):
                look.missing.append(number)
        look.lines += block.count(b"\n") + bool(look.unfinished)
    return look


def _doubtful(block: bytes, number: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that may be no episodes or refer to a text; the first has this number."""
    clean = _is_text(block)
    at = good = 0
    while at < len(block):
        if at == good and clean:
            good = usual(block, at)
        refers = block.find(_REFERS, at, good)
        stop = good if refers < 0 else (block.rfind(b"\n", at, refers) + 1 or at)
        number += block.count(b"\n", at, stop)
        at = stop
        if at < len(block):
            end = block.find(b"\n", at) + 1 or len(block)
            yield number, block[at:end]
            number, at = number + 1, end
            good = max(good, at)


def _is_text(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _blocks(path: Path, disk: Disk) -> Iterator[bytes]:
    """Yield the bytes of a file, cut behind the end of a line; the last piece may lack one."""
    descriptor = disk.open(path)
    try:
        offset, rest = 0, b""
        while piece := disk.read_at(descriptor, offset, offset + _BLOCK):
            offset += len(piece)
            end = piece.rfind(b"\n") + 1
            if end:
                yield rest + piece[:end]
            rest = piece[end:] if end else rest + piece
        if rest:
            yield rest
    finally:
        disk.close(descriptor)


def _has_whole(line: bytes, disk: Disk, payloads: Payloads) -> bool:
    """Whether the whole text is there that a line needs; what is no digest leads nowhere."""
    episode = read_line(line) if _REFERS in line else None
    name = episode.payload if episode is not None else ""
    if not name:
        return True
    return bool(_DIGEST.fullmatch(name)) and disk.find(payloads.path(name)) is not None


def _place(name: str) -> tuple[str, int]:
    return f"../{FOLDER}" if name == "." else f"../{FOLDER}/{name}", 0

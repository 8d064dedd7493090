"""Looks at a scope's transcripts for ``doctor`` and ``stats``.

Promises: reads only and takes no lock; what is wrong is a finding, never an error, and names no
text of a transcript.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engramdown.cortex.findings import Finding, find
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import read_line
from engramdown.episodes.memory import FOLDER
from engramdown.episodes.sessions import Sessions, lines
from engramdown.episodes.trouble import find_trouble
from engramdown.errors import StoreError

__all__ = ["Tally", "count_transcripts", "inspect_transcripts"]

_TORN = ".torn-"


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
    folder, disk = root / FOLDER, EpisodeDisk()
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
    folder, disk = root / FOLDER, EpisodeDisk()
    found = []
    try:
        for name, trouble in find_trouble(folder, disk):
            found.append(find(_place(name), "degraded", reason=str(trouble)))
        for name in disk.names(folder):
            if _TORN in name:
                size = (folder / name).stat().st_size
                found.append(find(_place(name), "torn-line", size=size))
        for session in Sessions(folder, disk).ids():
            found += _inspect_session(folder / f"{session}.jsonl", disk)
    except OSError as error:
        found.append(find(_place("."), "cannot-read", reason=error.strerror))
    return found


def _inspect_session(path: Path, disk: EpisodeDisk) -> list[Finding]:
    try:
        broken = list(_broken(path, disk))
    except FileNotFoundError:
        return []
    except (OSError, StoreError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return [find(_place(path.name), "cannot-read", reason=reason)]
    if not broken:
        return []
    place = (_place(path.name)[0], broken[0])
    return [find(place, "episode-line", count=len(broken))]


def _broken(path: Path, disk: EpisodeDisk) -> Iterator[int]:
    """Yield the numbers of the lines that are no episodes; one that is still written is none."""
    for number, (_, line) in enumerate(lines(disk, path), 1):
        if line.endswith(b"\n") and read_line(line) is None:
            yield number


def _place(name: str) -> tuple[str, int]:
    return f"../{FOLDER}" if name == "." else f"../{FOLDER}/{name}", 0

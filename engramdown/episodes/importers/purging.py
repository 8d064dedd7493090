"""Takes back what was imported from one source.

Promises: what was recorded here stays, and so does what came from other sources, with every whole
text that any of it shows cut. Killed half-way, the next run does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import read_line
from engramdown.episodes.importers.importing import alone
from engramdown.episodes.importers.ledger import Ledger
from engramdown.episodes.lock import FolderLock
from engramdown.episodes.payloads import PAYLOADS, Payloads
from engramdown.episodes.sessions import Sessions, lines

__all__ = ["Purged", "purge_import"]

_LOCK_TIMEOUT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Purged:
    """What was taken back, or would be.

    Attributes:
        sessions: The sessions.
        episodes: How many lines they had.
        payloads: How many whole texts nobody else shows.
        files: How many lines of the ledger.
    """

    sessions: tuple[str, ...]
    episodes: int
    payloads: int
    files: int


def purge_import(
    folder: Path, source: str, disk: EpisodeDisk | None = None, *, dry: bool = False
) -> Purged:
    """Remove the sessions that were imported from ``source``.

    Raises:
        LockTimeoutError: If an import or a writer runs for too long.
        OSError: If something cannot be removed; the next run does the rest.
    """
    disk = disk or EpisodeDisk()
    if dry or disk.find(folder) is None:
        return _purge(folder, source, disk, dry=True)
    with alone(folder, disk):
        return _purge(folder, source, disk, dry=False)


def _purge(folder: Path, source: str, disk: EpisodeDisk, *, dry: bool) -> Purged:
    ledger, sessions = Ledger(folder, disk, durable=True), Sessions(folder, disk)
    named = ledger.sessions(source)
    gone = [info for info in sessions.list() if info.source == source or info.id in named]
    names = tuple(info.id for info in gone)
    texts = _texts(sessions, disk, names)
    if texts:
        texts -= _texts(sessions, disk, set(sessions.ids()) - set(names))
    files = sum(entry.source == source for entry in ledger.entries)
    if not dry:
        payloads = Payloads(folder / PAYLOADS, disk, durable=True)
        # Whoever is interrupted here finds the rest again: the ledger goes last.
        for text in sorted(texts):
            disk.remove(payloads.path(text))
        _remove(folder, names, disk)
        ledger.forget(source)
    return Purged(names, sum(info.lines for info in gone), len(texts), files)


def _texts(sessions: Sessions, disk: EpisodeDisk, names: Iterable[str]) -> set[str]:
    """Return the digests of the whole texts that some sessions point to."""
    found: set[str] = set()
    for name in names:
        for _, line in lines(disk, sessions.path(name)):
            if b'"payload":' in line:
                episode = read_line(line)
                found |= {episode.payload} if episode and episode.payload else set()
    return found


def _remove(folder: Path, names: Iterable[str], disk: EpisodeDisk) -> None:
    lock = FolderLock(folder / ".lock", disk, _LOCK_TIMEOUT)
    torn = [name for name in disk.names(folder) if ".torn-" in name]
    try:
        for name in names:
            with lock.hold():
                for rest in torn:
                    if rest.startswith(f"{name}.torn-"):
                        disk.remove(folder / rest)
                disk.remove(Sessions(folder, disk).path(name))
    finally:
        lock.close()

"""Takes back what was imported from one source.

Promises: what was recorded here stays, and so does what came from other sources, with every whole
text that any of it shows cut. What was made of the sessions goes with them: cards, and the index,
which comes back. Killed half-way, the next run does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import read_line
from engramdown.episodes.importers.importing import alone
from engramdown.episodes.importers.ledger import Ledger
from engramdown.episodes.lock import FolderLock
from engramdown.episodes.sessions import Sessions, lines
from engramdown.episodes.traces import Traces
from engramdown.episodes.watch import CACHE

__all__ = ["Purged", "purge_import"]

_LOCK_TIMEOUT: Final = 10.0
# What a crash left beside the file of a session.
_PIECE: Final = re.compile(r"(.+?)\.(?:torn-[0-9]+|jsonl\..+\.part).*")
# It holds the words of what it was made of; the next question makes it again.
_INDEX: Final = ("index.sqlite", "index.seal")


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
        # Whoever is interrupted here finds the rest again: the ledger goes last.
        _remove_texts(folder, texts, disk)
        _remove_sessions(folder, names, disk)
        if names or files:
            _remove_index(folder.parent / CACHE, disk)
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


def _remove_texts(folder: Path, texts: Iterable[str], disk: EpisodeDisk) -> None:
    traces = Traces(folder.parent, disk)
    for text in sorted(texts):
        for path in traces.payload(text):
            disk.remove(path)


def _remove_sessions(folder: Path, names: Sequence[str], disk: EpisodeDisk) -> None:
    """Remove sessions, and after them what was made of them."""
    traces, sessions = Traces(folder.parent, disk), Sessions(folder, disk)
    matches = ((_PIECE.fullmatch(name), name) for name in disk.names(folder))
    pieces = [(found[1], name) for found, name in matches if found]
    lock = FolderLock(folder / ".lock", disk, _LOCK_TIMEOUT)
    try:
        for name in names:
            rest = [folder / piece for session, piece in pieces if session == name]
            with lock.hold():
                for path in (*rest, *traces.derived(name), sessions.path(name)):
                    disk.remove(path)
    finally:
        lock.close()


def _remove_index(cache: Path, disk: EpisodeDisk) -> None:
    for name in disk.names(cache):
        if name.startswith(_INDEX):
            disk.remove(cache / name)

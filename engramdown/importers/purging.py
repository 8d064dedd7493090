"""Takes back what was imported from one source.

Promises: what was recorded here stays, and so does what came from other sources, with every whole
text that any of it shows cut. What was made of the sessions goes with them: cards, vectors, and
their words in the index. Killed half-way, the next run does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.episodes.derived import Derived
from engramdown.episodes.episode import read_line
from engramdown.episodes.sessions import Sessions, lines
from engramdown.episodes.traces import Traces, digests
from engramdown.importers.importing import alone
from engramdown.importers.inputs import Ledger
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock

__all__ = ["Purged", "purge_import"]

_LOCK_TIMEOUT: Final = 10.0
# What a crash left beside the file of a session.
_PIECE: Final = re.compile(r"(.+?)\.(?:torn-[0-9]+|jsonl\..+\.part).*")


@dataclass(frozen=True, slots=True)
class Purged:
    """What was taken back, or would be.

    Attributes:
        sessions: The sessions.
        episodes: How many lines they had.
        texts: The digests of the whole texts that nobody else shows.
        files: How many lines of the ledger.
    """

    sessions: tuple[str, ...]
    episodes: int
    texts: frozenset[str]
    files: int

    @property
    def payloads(self) -> int:
        """How many whole texts nobody else shows."""
        return len(self.texts)


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
        return _look(folder, source, disk)
    derived = Derived(folder, disk)
    lock = FolderLock(folder / ".lock", disk, _LOCK_TIMEOUT)
    with ExitStack() as stack:
        stack.callback(lock.close)
        stack.enter_context(alone(folder, disk))
        names = _look(folder, source, disk).sessions
        forget = stack.enter_context(derived.without(names))
        # From here on nobody writes: a whole text that no line needs is needed by none to come.
        stack.enter_context(lock.hold())
        found = _look(folder, source, disk)
        forget()
        # Whoever is interrupted here finds the rest again: the ledger goes last.
        _remove_texts(folder, found.texts, disk)
        _remove_sessions(folder, names, disk)
        _remove_forsaken(folder, disk)
        derived.forget_unsaid()
        Ledger(folder, disk, durable=True).forget(source)
    return found


def _look(folder: Path, source: str, disk: EpisodeDisk) -> Purged:
    """Return what belongs to ``source`` alone."""
    ledger, sessions = Ledger(folder, disk, durable=True), Sessions(folder, disk)
    named = ledger.sessions(source)
    gone = [info for info in sessions.list() if info.source == source or info.id in named]
    names = tuple(info.id for info in gone)
    texts = _texts(sessions, disk, names)
    if texts:
        texts -= _texts(sessions, disk, set(sessions.ids()) - set(names))
    files = sum(entry.source == source for entry in ledger.entries)
    return Purged(names, sum(info.lines for info in gone), frozenset(texts), files)


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


def _remove_forsaken(folder: Path, disk: EpisodeDisk) -> None:
    """Remove the texts that an import kept which was killed before it could write their lines."""
    traces = Traces(folder.parent, disk)
    for path in traces.unsaid(digests(traces.left())):
        disk.remove(path)


def _remove_sessions(folder: Path, names: Sequence[str], disk: EpisodeDisk) -> None:
    """Remove sessions, and before each what was made of it."""
    traces, sessions = Traces(folder.parent, disk), Sessions(folder, disk)
    matches = ((_PIECE.fullmatch(name), name) for name in disk.names(folder))
    pieces = [(found[1], name) for found, name in matches if found]
    for name in names:
        rest = [folder / piece for session, piece in pieces if session == name]
        for path in (*rest, *traces.derived(name), sessions.path(name)):
            disk.remove(path)

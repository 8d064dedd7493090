"""Reading sessions.

Promises: reading creates nothing, stops at no malformed line and has no limit for a line; a last
line that is still being written is left for later.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import Episode, read_line
from engramdown.episodes.ids import is_session_id
from engramdown.episodes.log import SUFFIX
from engramdown.errors import SessionNotFoundError, StoreError

__all__ = ["SessionInfo", "Sessions", "Transcript", "lines"]

_PIECE: Final = 1024 * 1024
_END_PIECE: Final = 8 * 1024
# What says something about a session, not in it: an ended one stays ended.
_MARKS: Final = frozenset({"archive", "exclude", "include", "redact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What the first and the last lines of a session say.

    Attributes:
        id: Its id.
        title: What it was called when it began, or ``""``.
        started: When it began, as in a line.
        last: When something was last said in it.
        ended: When it ended, or ``""`` if it is open.
        reason: Why it ended: ``finished``, ``reset``, ``idle_timeout``, ``crash_recovery`` ….
        parent: The session that it was begun from, or ``""``.
        parent_call: The tool call that began it, or ``""``.
        source: Where it was imported from, or ``""``.
        lines: How many lines it has after the first.
        size: Of its file, in bytes.
    """

    id: str
    title: str = ""
    started: str
    last: str
    ended: str = ""
    reason: str = ""
    parent: str = ""
    parent_call: str = ""
    source: str = ""
    lines: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A whole session.

    Attributes:
        id: Its id.
        episodes: Its lines, in order, events included.
        malformed: The offsets of lines that are no episodes, in bytes.
        unfinished: Bytes at the end that are no line yet.
    """

    id: str
    episodes: tuple[Episode, ...]
    malformed: tuple[int, ...] = ()
    unfinished: int = 0


def lines(disk: EpisodeDisk, path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    r"""Yield the offset and the bytes of each line from the offset ``start`` on.

    Each ends with ``\n``, but for a last one that is unfinished.

    Raises:
        FileNotFoundError: If there is no such file.
    """
    descriptor = disk.open(path)
    try:
        offset, rest = start, b""
        while piece := disk.read(descriptor, offset + len(rest), offset + len(rest) + _PIECE):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield offset, line + b"\n"
                offset += len(line) + 1
        if rest:
            yield offset, rest
    finally:
        disk.close(descriptor)


class Sessions:
    """The sessions of one folder."""

    def __init__(self, folder: Path, disk: EpisodeDisk) -> None:
        """Read ``folder``, which need not exist."""
        self.folder = folder
        self._disk = disk

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return self.folder / f"{session}{SUFFIX}"

    def ids(self) -> list[str]:
        """Return the ids of all sessions, sorted."""
        names = self._disk.names(self.folder)
        found = [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]
        return [name for name in found if is_session_id(name)]

    def list(self) -> list[SessionInfo]:
        """Return all sessions that can be read, in the order in which they began.

        Of those that cannot ``doctor`` tells.
        """
        found = []
        for session in self.ids():
            with contextlib.suppress(OSError, StoreError):
                found.append(self.info(session))
        known = [info for info in found if info is not None]
        return sorted(known, key=lambda info: (info.started, info.id))

    def info(self, session: str) -> SessionInfo | None:
        """Return what is known of a session; ``None`` if it is not there or holds no episode."""
        path = self.path(session)
        try:
            first = next((read_line(line) for _, line in lines(self._disk, path)), None)
            last = list(self._from_the_end(path))
        except FileNotFoundError:
            return None
        if not last:
            return None
        start = first or last[-1]
        said = {key: value for key, value in start.more.items() if isinstance(value, str)}
        ended = last[-1] if last[-1].event == "end" else None
        found = self._disk.find(path)
        return SessionInfo(
            id=session,
            title=said.get("title", ""),
            started=start.ts,
            last=last[-1].ts,
            ended=ended.ts if ended else "",
            reason=str(ended.more.get("reason", "")) if ended else "",
            parent=said.get("parent", ""),
            parent_call=said.get("parent_call", ""),
            source=said.get("source", ""),
            lines=last[0].seq,
            size=found.st_size if found else 0,
        )

    def read(self, session: str) -> Transcript:
        """Return a whole session.

        Raises:
            SessionNotFoundError: If there is none of that id.
        """
        episodes, malformed, unfinished = [], [], 0
        try:
            for offset, line in lines(self._disk, self.path(session)):
                episode = read_line(line)
                if episode is not None:
                    episodes.append(episode)
                elif line.endswith(b"\n"):
                    malformed.append(offset)
                else:
                    unfinished = len(line)
        except FileNotFoundError:
            raise SessionNotFoundError(session, str(self.folder)) from None
        return Transcript(
            id=session,
            episodes=tuple(episodes),
            malformed=tuple(malformed),
            unfinished=unfinished,
        )

    def _from_the_end(self, path: Path) -> Iterator[Episode]:
        """Yield the last episodes, the last first, up to one that is no mark."""
        descriptor = self._disk.open(path)
        try:
            end = self._disk.look(descriptor).st_size
            size = _END_PIECE
            rest = b""
            while end > 0:
                start = max(end - size, 0)
                first, *others = (self._disk.read(descriptor, start, end) + rest).split(b"\n")
                if start == 0:
                    others, first = [first, *others], b""
                for line in reversed(others):
                    episode = read_line(line)
                    if episode is not None:
                        yield episode
                        if episode.event not in _MARKS:
                            return
                rest, end, size = first, start, size * 2
        finally:
            self._disk.close(descriptor)

"""Which session runs, and what stands in one, counted.

Promises: looking writes nothing; a session that was left open long ago does not run, unless a
program has it open. Counting is for a glance: a line is taken for what its beginning says.
"""

from __future__ import annotations

import contextlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engramdown.clock import nanoseconds
from engramdown.episodes.sessions import SessionInfo, Sessions, lines
from engramdown.errors import StoreError
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.episode import Episode, read_line, stamp_of
from engramdown.transcripts.session_log import ORPHAN_MINUTES

__all__ = ["Tally", "count", "find_running", "left_open"]

_MINUTE: Final = 60_000_000_000
# How a line of ours begins; a quotation mark inside of a text would stand behind a backslash.
_HEAD: Final = re.compile(rb'\{"seq":[0-9]+,"ts":"[^"\\]*","id":"[^"\\]*","role":"([a-z_]+)",')


@dataclass(slots=True)
class Tally:
    """What stands in a session.

    Attributes:
        roles: How many episodes there are of each role, events left out.
        first: The first words of the user, or of whoever spoke first.
    """

    roles: dict[str, int] = field(default_factory=dict)
    first: str = ""

    @property
    def turns(self) -> int:
        """How often the user spoke."""
        return self.roles.get("user", 0)

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return sum(self.roles.values())


def find_running(sessions: Sessions, disk: EpisodeDisk) -> SessionInfo | None:
    """Return the session that began last of those that have no end, or ``None``.

    One that was begun from another session is passed over: it is not the conversation. So is one
    in which nothing was said for an hour and that no program has open.
    """
    found = []
    for name in sessions.ids():
        # One that is somebody else's, or is being removed, is none that we could go on with.
        with contextlib.suppress(OSError, StoreError):
            found.append(_if_running(sessions, disk, name))
    known = [info for info in found if info is not None]
    return max(known, key=lambda info: (info.started, info.id), default=None)


def left_open(
    sessions: Sessions, disk: EpisodeDisk, minutes: float = ORPHAN_MINUTES
) -> list[SessionInfo]:
    """Return the sessions that nobody ended, in which nothing was said for so long, an hour.

    Those that a program has open are none of them. A line of the future was written while the clock
    was ahead: it keeps nothing running.
    """
    since, until = _lately(minutes)
    found = []
    for info in sessions.list():
        # One that is being removed is nobody's business any more.
        with contextlib.suppress(FileNotFoundError):
            silent = not info.ended and not since <= info.last <= until
            if silent and not disk.is_kept(sessions.path(info.id)):
                found.append(info)
    return found


def count(sessions: Sessions, disk: EpisodeDisk, session: str) -> Tally:
    """Count what stands in a session; nothing if it is gone."""
    tally = Tally()
    spoken: Episode | None = None
    try:
        for _, line in lines(disk, sessions.path(session)):
            if not line.endswith(b"\n"):
                break
            role = _role(line)
            if role not in ("", "event"):
                tally.roles[role] = tally.roles.get(role, 0) + 1
                if spoken is None or (role == "user" and spoken.role != "user"):
                    spoken = read_line(line)
    except FileNotFoundError:
        return Tally()
    tally.first = spoken.text if spoken is not None else ""
    return tally


def _role(line: bytes) -> str:
    """Return the role of a line, or ``""`` if it is no episode."""
    known = _HEAD.match(line)
    if known is not None:
        return known[1].decode()
    episode = read_line(line)
    return "" if episode is None else episode.role


def _if_running(sessions: Sessions, disk: EpisodeDisk, session: str) -> SessionInfo | None:
    path = sessions.path(session)
    found = disk.find(path)
    since, until = _lately(ORPHAN_MINUTES)
    # Only what was written to lately is read, or a shell with years of transcripts would wait.
    if found is None or (stamp_of(found.st_mtime_ns) < since and not _is_open(path, disk)):
        return None
    info = sessions.info(session)
    if info is None or info.ended or info.parent:
        return None
    return info if since <= info.last <= until or _is_open(path, disk) else None


def _is_open(path: Path, disk: EpisodeDisk) -> bool:
    """Whether a program has a session open; where the system cannot tell, silence decides."""
    return sys.platform != "win32" and disk.is_kept(path)


def _lately(minutes: float) -> tuple[str, str]:
    """Return between which times something was said lately, as far as clocks can be trusted."""
    now, some = nanoseconds(), int(minutes * _MINUTE)
    return stamp_of(now - some), stamp_of(now + some)

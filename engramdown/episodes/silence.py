"""Ending the sessions that nobody ended.

Promises: a session is ended only while nobody has it open, under the lock, with the time of its
last activity; one that cannot be ended is named and tried again by the next run; a second run
changes nothing. Of a session in which nothing was said nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engramdown.episodes.sessions import Sessions
from engramdown.errors import EngramdownError, LockTimeoutError
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import encode
from engramdown.transcripts.session_log import SessionLog

__all__ = ["Ended", "Silence", "end_silent"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What was ended, and what could not be.

    Attributes:
        ids: The sessions that were ended.
        failed: Why others could not be, by id; the next run tries again.
    """

    ids: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Silence:
    """What counts as the end.

    Attributes:
        before: A time as in a line; nothing was said since.
        ahead: A time that is to come; what was said after it was said while the clock was ahead.
        reason: What to call it.
        new_id: Gives the id of an episode.
        written: Sessions whose file was not written to since are passed over, in nanoseconds
            since 1970.
        timeout: How long to wait for other writers, in seconds, or ``None`` for the usual.
    """

    before: str
    ahead: str
    reason: str
    new_id: Callable[[], str]
    written: int = 0
    timeout: float | None = None


def end_silent(sessions: Sessions, disk: EpisodeDisk, lock: FolderLock, silence: Silence) -> Ended:
    """End the open sessions that are silent and that nobody has open."""
    ended, failed = [], {}
    for session in sessions.ids():
        try:
            found = disk.find(sessions.path(session))
            if found is None or found.st_mtime_ns < silence.written:
                continue
            if _last(sessions, session, silence) and _end(session, sessions, disk, lock, silence):
                ended.append(session)
        except LockTimeoutError as error:
            # The others would wait for the same lock, each as long.
            failed[session] = str(error)
            break
        except (OSError, EngramdownError) as error:
            failed[session] = str(error)
    return Ended(tuple(ended), failed)


def _end(
    session: str, sessions: Sessions, disk: EpisodeDisk, lock: FolderLock, silence: Silence
) -> bool:
    path = sessions.path(session)

    def ending() -> bytes | None:
        """Look again now that nobody else writes."""
        last = _last(sessions, session, silence)
        if not last or disk.is_kept(path):
            return None
        known = {"ts": last, "id": silence.new_id(), "role": "event", "text": "", "event": "end"}
        return encode(known, {"reason": silence.reason})

    log = SessionLog(path, disk, lock, durable=False)
    try:
        return log.end(ending, bytes, silence.timeout)
    finally:
        log.close()


def _last(sessions: Sessions, session: str, silence: Silence) -> str:
    """Return when something was last said in an open session that is silent, or ``""``."""
    info = sessions.info(session)
    if info is None or info.ended or silence.before <= info.last <= silence.ahead:
        return ""
    return info.last

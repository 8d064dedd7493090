"""Sessions: which there are, what their files say, which one runs, and ending those left open.

Reading creates nothing, skips malformed lines and accepts lines of any length; a last line that is
still being written is left for later. A session is ended only while nobody has it open, under the
lock, with the time of its last activity; one that cannot be ended is reported and tried again by
the next run. A session in which nothing was said is removed.
"""

from __future__ import annotations

import builtins
import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from engramdown.clock import nanoseconds
from engramdown.errors import EngramdownError, LockTimeoutError, SessionNotFoundError, StoreError
from engramdown.storage.disk import Disk, lines_backwards
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.changes import SUFFIX
from engramdown.transcripts.episode import NUMBERED, Episode, is_session_id, read_line, stamp_of
from engramdown.transcripts.session_log import ORPHAN_MINUTES, SessionLog
from engramdown.transcripts.visibility import Excluded, excluded

_PIECE: Final = 1024 * 1024
# What is read at once while a line is looked for.
_NEAR: Final = 64 * 1024
_END_PIECE: Final = 8 * 1024
# So many bytes of the first line tell a file from another one: they hold its time and its id.
_COMPARED: Final = 128
_MINUTE: Final = 60_000_000_000
# How a line of ours begins; a quotation mark inside of a text would stand behind a backslash.
_HEAD: Final = re.compile(rb'\{"seq":[0-9]+,"ts":"[^"\\]*","id":"[^"\\]*","role":"([a-z_]+)",')
# What the first line says of a session.
_SAID: Final = ("title", "parent", "parent_call", "source", "conversation")
# What says something about a session, not in it: an ended one stays ended.
_MARKS: Final = frozenset({"archive", "exclude", "include", "redact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What the first and the last lines of a session say.

    Attributes:
        id: Its id.
        title: What it was called when it began, or ``""``.
        started: When it began, as in a line.
        last: When something was last said in it: the time of its last line, also if one before it
            is later. The clock ran ahead then, and was put right.
        ended: When it ended, or ``""`` if it is open.
        reason: Why it ended: ``finished``, ``reset``, ``idle_timeout``, ``crash_recovery`` ….
        parent: The session that it was begun from, or ``""``.
        parent_call: The tool call that began it, or ``""``.
        source: Where it was imported from, or ``""``.
        conversation: The UUID of the conversation that another program has it in, or ``""``.
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
    conversation: str = ""
    lines: int
    size: int

    def is_silent(self, minutes: float) -> bool:
        """Whether nobody ended it and nothing was said in it for so long.

        A line of the future was written while the clock was ahead: it keeps nothing running.
        """
        since, until = _lately(minutes)
        return not self.ended and not since <= self.last <= until


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole session.

    Attributes:
        id: Its id.
        episodes: Its lines, in order, events included.
        malformed: The offsets of lines that are not episodes, in bytes; a last line that is still
            being written is not among them.
    """

    id: str
    episodes: tuple[Episode, ...]
    malformed: tuple[int, ...] = ()


def lines(disk: Disk, path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    r"""Yield the offset and the bytes of each line from the offset ``start`` on.

    Each ends with ``\n``, but for a last one that is unfinished. What is appended meanwhile is left
    for the next time, since several writers may be faster than the reader.

    Raises:
        FileNotFoundError: If there is no such file.
    """
    with disk.opened(path) as descriptor:
        size = disk.look(descriptor).st_size
        offset, rest = start, b""
        while (at := offset + len(rest)) < size:
            piece = disk.read_at(descriptor, at, min(at + _PIECE, size))
            if not piece:  # cut short meanwhile
                break
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield offset, line + b"\n"
                offset += len(line) + 1
        if rest:
            yield offset, rest


def whole_lines(disk: Disk, path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield what :func:`lines` yields, without an unfinished last line."""
    return (each for each in lines(disk, path, start) if each[1].endswith(b"\n"))


class Tail:
    """A file to which lines are appended, read on from where it was left.

    Attributes:
        end: Where the next line begins.
    """

    def __init__(self, disk: Disk, path: Path) -> None:
        """Begin at the first line; nothing is read yet."""
        self.end = 0
        self._disk = disk
        self._path = path
        self._inode: int | None = None
        self._changed = 0
        self._head = b""

    def is_gone(self) -> bool:
        """Whether the file that was read is not there any more, or does not go on from there."""
        if self._inode is None:
            return False
        status = self._disk.find(self._path)
        if status is None or status.st_ino != self._inode or status.st_size < self.end:
            return True
        if status.st_size == self.end:
            # Somebody may have written the same number of other bytes.
            return self._changed not in (0, status.st_mtime_ns)
        # A new file may have the inode of one that was removed.
        with self._disk.opened(self._path) as descriptor:
            return self._disk.read_at(descriptor, 0, len(self._head)) != self._head

    def new(self) -> Iterator[bytes]:
        """Yield the whole lines that were not read before; none if there is no file."""
        status = self._disk.find(self._path)
        if status is None or status.st_size == self.end:
            return
        if self._inode is None:
            self._inode = status.st_ino
        for offset, line in whole_lines(self._disk, self._path, self.end):
            self._head = self._head or line[:_COMPARED]
            yield line
            # Not before: a line that could not be used is read again.
            self.end = offset + len(line)
        now = self._disk.find(self._path)
        is_end = now is not None and now.st_size == self.end
        self._changed = now.st_mtime_ns if now is not None and is_end else 0


class Sessions:
    """The sessions of one folder."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        """Read ``folder``, which need not exist."""
        self.folder = folder
        self._disk = disk

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return self.folder / f"{session}{SUFFIX}"

    def ids(self) -> list[str]:
        """Return the ids of all sessions, sorted."""
        # A folder behind a link belongs to somebody else: doctor reports it.
        names = [] if self.folder.is_symlink() else self._disk.files(self.folder)
        found = [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]
        return [name for name in found if is_session_id(name)]

    def matching(self, prefix: str) -> builtins.list[str]:
        """Return the ids that ``prefix`` may mean: the one it is, or else all that begin so."""
        ids, wanted = self.ids(), prefix.lower()
        return [wanted] if wanted in ids else [each for each in ids if each.startswith(wanted)]

    def obstacles(self) -> builtins.list[str]:
        """Report each link or folder that is where a transcript should be."""
        paths = [] if self.folder.is_symlink() else self._disk.obstacles(self.folder)
        odd = [path for path in paths if path.suffix == SUFFIX and is_session_id(path.stem)]
        return [f"{path}: is not a file; put the transcript itself there" for path in odd]

    def list(self) -> list[SessionInfo]:
        """Return all sessions that can be read, in the order in which they began.

        ``doctor`` reports those that cannot.
        """
        return self.survey()[0]

    def survey(self) -> tuple[builtins.list[SessionInfo], builtins.list[OSError]]:
        """Return what :meth:`list` does, and why the system did not let others be read."""
        found: builtins.list[SessionInfo] = []
        errors: builtins.list[OSError] = []
        for session in self.ids():
            # What is there may not be a file, and will not become one.
            with contextlib.suppress(StoreError):
                try:
                    info = self.info(session)
                except OSError as error:
                    error.filename = error.filename or str(self.path(session))
                    errors.append(error)
                else:
                    found += [info] if info is not None else []
        return sorted(found, key=lambda info: (info.started, info.id)), errors

    def info(self, session: str) -> SessionInfo | None:
        """Return what the ends of a session say, or ``None`` without a file or an episode."""
        try:
            descriptor = self._disk.open(self.path(session))
        except FileNotFoundError:
            return None
        try:
            size = self._disk.look(descriptor).st_size
            head = self._disk.read_at(descriptor, 0, min(size, _END_PIECE))

            def read(start: int, end: int) -> bytes:
                # Most sessions are so short that this is all of them.
                is_read = end <= len(head)
                return head[start:end] if is_read else self._disk.read_at(descriptor, start, end)

            length = len(head)
            while (end := read(0, length).find(b"\n")) < 0 and length < size:
                length *= 2
            first = read_line(read(0, end if end >= 0 else length))
            last = list(_from_the_end(read, size))
        finally:
            self._disk.close(descriptor)
        if not last:
            return None
        start = first or last[-1]
        said = {key: value for key, value in start.more.items() if isinstance(value, str)}
        ended = last[-1] if last[-1].event == "end" else None
        return SessionInfo(
            id=session,
            started=start.ts,
            last=last[-1].ts,
            ended=ended.ts if ended else "",
            reason=str(ended.more.get("reason", "")) if ended else "",
            lines=last[0].seq,
            size=size,
            **{name: said.get(name, "") for name in _SAID},
        )

    def read(self, session: str) -> Transcript:
        """Return a whole session.

        Raises:
            SessionNotFoundError: If there is none of that id.
        """
        episodes: builtins.list[Episode] = []
        malformed: builtins.list[int] = []
        for offset, line in self._lines(session):
            episode = read_line(line)
            if episode is not None:
                episodes.append(episode)
            elif line.endswith(b"\n"):
                malformed.append(offset)
        return Transcript(session, tuple(episodes), tuple(malformed))

    def part(self, session: str, first: int, limit: int) -> builtins.list[Episode]:
        """Return at most ``limit`` lines of a session, from the one with the number ``first`` on.

        Raises:
            SessionNotFoundError: If there is no such session.
        """
        found: builtins.list[Episode] = []
        for _, line in self._lines(session, first):
            begins = NUMBERED.match(line)
            # To take a line apart takes much longer than to pass it over.
            is_before = begins is not None and int(begins[1]) < first
            episode = None if is_before else read_line(line)
            if episode is not None and episode.seq >= first:
                found.append(episode)
            if len(found) == limit:
                break
        return found

    def episode(self, session: str, seq: int) -> Episode | None:
        """Return the line of a session with this number, or ``None``; no line behind it is read.

        Raises:
            SessionNotFoundError: If there is no such session.
        """
        for _, line in self._lines(session):
            # A line of ours says its number first: those of others need not be taken apart.
            begins = NUMBERED.match(line)
            if begins is None or int(begins[1]) == seq:
                episode = read_line(line)
                if episode is not None and episode.seq == seq:
                    return episode
        return None

    def _lines(self, session: str, first: int = 0) -> Iterator[tuple[int, bytes]]:
        path = self.path(session)
        try:
            yield from lines(self._disk, path, self._before(path, first) if first else 0)
        except FileNotFoundError:
            raise SessionNotFoundError(session, str(self.folder)) from None

    def _before(self, path: Path, first: int) -> int:
        """Return where a line begins that is not behind the one with a number; numbers grow."""
        with self._disk.opened(path) as descriptor:
            low, high = 0, self._disk.look(descriptor).st_size
            while high - low > _NEAR:
                middle = (low + high) // 2
                piece = self._disk.read_at(descriptor, middle, min(middle + _NEAR, high))
                begin = piece.find(b"\n") + 1
                begins = NUMBERED.match(piece, begin) if begin else None
                if begins is None:
                    break  # It is longer than that, or somebody else's.
                if int(begins[1]) < first:
                    low = middle + begin
                else:
                    high = middle
        return low


def _from_the_end(read: Callable[[int, int], bytes], size: int) -> Iterator[Episode]:
    """Yield the last episodes, the last first, up to one that is not a mark.

    Args:
        read: Returns the bytes between two offsets.
        size: Of the file.
    """
    for episode in filter(None, map(read_line, lines_backwards(read, size, _END_PIECE))):
        yield episode
        if episode.event not in _MARKS:
            return


# ---- which one runs, and which nobody ended ----


def find_running(sessions: Sessions, disk: Disk) -> SessionInfo | None:
    """Return the session that began last of those that have no end, or ``None``.

    One that was begun from another session is passed over: it is not the conversation. So is one
    in which nothing was said for an hour and that no program has open.
    """
    since, _ = _lately(ORPHAN_MINUTES)
    found = []
    for name in sessions.ids():
        path = sessions.path(name)
        # One that is somebody else's, or is being removed, cannot be continued.
        with contextlib.suppress(OSError, StoreError):
            there = disk.find(path)
            # Only what was written to lately is read, or a shell with years of transcripts would
            # wait. Where the system cannot tell whether a program has it open, silence decides.
            is_late = there is None or stamp_of(there.st_mtime_ns) < since
            is_open = sys.platform != "win32" and there is not None and disk.is_kept(path)
            info = sessions.info(name) if is_open or not is_late else None
            if info is None or info.ended or info.parent:
                continue
            if is_open or not info.is_silent(ORPHAN_MINUTES):
                found.append(info)
    return max(found, key=lambda info: (info.started, info.id), default=None)


def left_open(sessions: Sessions, disk: Disk, minutes: float = ORPHAN_MINUTES) -> list[SessionInfo]:
    """Return the sessions that nobody ended, in which nothing was said for so long, an hour.

    Those that a program has open are left out.
    """
    found = []
    for info in sessions.list():
        # One that is being removed needs nothing any more.
        with contextlib.suppress(FileNotFoundError):
            if info.is_silent(minutes) and not disk.is_kept(sessions.path(info.id)):
                found.append(info)
    return found


@dataclass(frozen=True, slots=True)
class Ended:
    """What was ended, and what could not be.

    Attributes:
        ids: The sessions that were ended.
        failed: Why others could not be, by id; the next run tries again.
    """

    ids: tuple[str, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)


def end_silent(
    sessions: Sessions,
    disk: Disk,
    lock: FolderLock,
    minutes: float,
    line: Callable[[str], bytes],
    *,
    written: int = 0,
    timeout: float | None = None,
) -> Ended:
    """End the sessions in which nothing was said for ``minutes`` and that nobody has open.

    Args:
        sessions: The sessions of a folder.
        disk: The system calls.
        lock: That of the writers of the folder.
        minutes: How long nothing was said.
        line: Returns the event that ends a session, given when something was last said in it.
        written: Sessions whose file was not written to since, in nanoseconds since 1970, are
            passed over.
        timeout: How long to wait for other writers, in seconds, or ``None`` for the usual.
    """

    def is_silent(session: str) -> str:
        """Return when something was last said in an open session that is silent, or ``""``."""
        info = sessions.info(session)
        return info.last if info is not None and info.is_silent(minutes) else ""

    def ending(session: str) -> bytes | None:
        """Look again now that nobody else writes."""
        last = is_silent(session)
        return line(last) if last and not disk.is_kept(sessions.path(session)) else None

    ended, failed = [], {}
    for session in sessions.ids():
        path = sessions.path(session)
        try:
            found = disk.find(path)
            if found is None or found.st_mtime_ns < written or not is_silent(session):
                continue
            with contextlib.closing(SessionLog(path, disk, lock, durable=False)) as log:
                if log.end(partial(ending, session), bytes, timeout):
                    ended.append(session)
        except LockTimeoutError as error:
            # The others would wait for the same lock, each as long.
            failed[session] = str(error)
            break
        except (OSError, EngramdownError) as error:
            failed[session] = str(error)
    return Ended(tuple(ended), failed)


def _lately(minutes: float) -> tuple[str, str]:
    """Return between which times something was said lately, as far as clocks can be trusted."""
    now, some = nanoseconds(), int(minutes * _MINUTE)
    return stamp_of(now - some), stamp_of(now + some)


# ---- counting what a session holds ----


@dataclass(slots=True)
class Tally:
    """What a session holds.

    Attributes:
        roles: How many episodes there are of each role, events left out.
        first: The first words of the user, or of the first speaker.
        excluded: What of it is kept out of recall and prompts.
    """

    roles: dict[str, int] = field(default_factory=dict)
    first: str = ""
    excluded: Excluded = field(default_factory=partial(excluded, ()))

    @property
    def turns(self) -> int:
        """How often the user spoke."""
        return self.roles.get("user", 0)

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return sum(self.roles.values())


def count_session(sessions: Sessions, disk: Disk, session: str) -> Tally:
    """Count what a session holds; nothing if it is gone."""
    tally = Tally()
    spoken: Episode | None = None
    events: list[Episode | None] = []
    try:
        for _, line in whole_lines(disk, sessions.path(session)):
            known = _HEAD.match(line)
            episode = read_line(line) if known is None else None
            role = known[1].decode() if known else episode.role if episode else ""
            if role == "event":
                events.append(episode or read_line(line))
            elif role:
                tally.roles[role] = tally.roles.get(role, 0) + 1
                if spoken is None or (role == "user" and spoken.role != "user"):
                    spoken = episode or read_line(line)
    except FileNotFoundError:
        return Tally()
    tally.first = spoken.text if spoken is not None else ""
    tally.excluded = excluded(filter(None, events))
    return tally

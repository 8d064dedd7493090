"""Writing episodes without ever being in the way, and reporting when they cannot be written.

:meth:`Recorder.put` raises nothing that a disk, a lock or a permission may cause, and waits no
longer than a short time-out. What could not be written waits in a queue and is tried again at the
next call, in order; what the queue cannot hold is counted, and the transcript says how much it was
once it can be written. :attr:`Recorder.trouble` says so here, and a small file beside the
transcripts says so to other processes.
"""

from __future__ import annotations

import atexit
import contextlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

from engramdown.clock import moment
from engramdown.errors import EngramdownError, LockTimeoutError, StoreError
from engramdown.forks import RLock, in_child
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.changes import SUFFIX
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.payloads import PAYLOADS, Payloads
from engramdown.transcripts.session_log import SessionLog

LOCK: Final = ".lock"
QUEUE_ITEMS: Final = 1_000
QUEUE_BYTES: Final = 16 * 1024 * 1024
# Seconds that a call waits for other writers at most.
LOCK_TIMEOUT: Final = 1.0
# The same while something waits already, so that a lock that is stuck slows no turn down.
IMPATIENT: Final = 0.02
_OPEN_FILES: Final = 32

_Failure = (OSError, EngramdownError)


class Said(TypedDict, total=False):
    """What may be recorded with a text; see :class:`engramdown.transcripts.episode.Episode`."""

    name: str
    call: str
    ms: float | None
    error: bool | str
    model: str
    turn: int | None
    recalled: tuple[str, ...]
    meta: Mapping[str, Any]
    at: datetime


class Item(NamedTuple):
    """An episode on its way.

    Attributes:
        line: What :func:`engramdown.transcripts.episode.encode` returned.
        payload: The digest of its whole text and the text, if that is to be kept.
    """

    line: bytes
    payload: tuple[str, str] | None = None

    @property
    def size(self) -> int:
        """What it takes in memory, about."""
        return len(self.line) + (len(self.payload[1]) if self.payload else 0)


class _Waiting:
    """What waits to be written to one session."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.items: list[Item] = []
        self.lost = 0
        self.start: bytes | None = None


class Recorder:
    """Writes to the sessions of one folder.

    Attributes:
        folder: Where the transcripts are.
        lock: The lock of its writers.
        failures: How many writes failed.
    """

    def __init__(
        self,
        folder: Path,
        disk: Disk,
        *,
        durable: bool,
        start: Callable[[str], bytes],
        lost: Callable[[int, str], bytes],
    ) -> None:
        """Write to ``folder``.

        Args:
            folder: Where the transcripts are.
            disk: What it is written with.
            durable: Whether a power cut is survived.
            start: Returns the line of the event that begins a session, given its id.
            lost: Returns the line that says how many episodes are missing, and why.
        """
        self.folder = folder
        self.lock = FolderLock(folder / LOCK, disk, LOCK_TIMEOUT)
        self.failures = 0
        self._disk = disk
        self._durable = durable
        self._start = start
        self._lost = lost
        self._guard = RLock()
        self._reset()
        in_child(self, Recorder._begin_child)

    def put(self, session: str, item: Item) -> Pointer | None:
        """Write an episode; ``None`` if it waits or is lost, which :attr:`trouble` reports."""
        with self._guard:
            waiting = self._waiting.get(session)
            if waiting is not None:
                kept = self._take_in(session, item)
                last = self._retry().get(session)
                return Pointer(session, last) if kept and last is not None else None
            try:
                seq = self._write(session, [item], IMPATIENT if self._waiting else LOCK_TIMEOUT)
            except _Failure as error:
                self._take_in(session, item)
                self._failed(error)
                return None
            if self._waiting:
                self._retry()
            return Pointer(session, seq)

    def add_all(self, session: str, choose: Callable[[bytes], list[Item]]) -> int:
        """Write several episodes, all of them or none; return the number of the first.

        Args:
            session: Its id.
            choose: Returns them, given the lines that are there; called while nobody else writes.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            StoreError: If what waits for this session cannot be written, or no file can be.
            OSError: If it could not be written; nothing of it is there then.
        """
        with self._guard:
            if self._waiting:
                self._retry(LOCK_TIMEOUT)
            if session in self._waiting:
                raise StoreError(f"{session}: not written: {self._reason}")
            self._make_folder()
            chosen: list[Item] = []

            def lines(seen: bytes) -> list[bytes]:
                chosen[:] = choose(seen)
                return [item.line for item in chosen]

            def payloads() -> list[tuple[str, str]]:
                return [item.payload for item in chosen if item.payload is not None]

            first = partial(self._first, session)
            log = self._log(session)
            seq = log.add_all(lines, first, LOCK_TIMEOUT, lambda: self._keep(payloads()))
            self._payloads.release(name for name, _ in payloads())
            return seq

    def begin(self, session: str, line: bytes, unless: Callable[[], object] = bool) -> bool:
        """Begin a session with its first line; ``False`` if there is one of that id already.

        Args:
            session: Its id.
            line: The first line.
            unless: Whether not to begin it after all; asked while nobody else begins one.
        """
        with self._guard:
            try:
                self._make_folder()
                return self._log(session).begin(lambda: line, LOCK_TIMEOUT, unless)
            except _Failure as error:
                self._waiting.setdefault(session, _Waiting()).start = line
                self._failed(error)
                return True

    def end(self, session: str, line: bytes) -> None:
        """End a session; nothing is left of one in which nothing was said."""
        with self._guard:
            if self._waiting:
                self._retry()
            if session in self._waiting:
                self._take_in(session, Item(line))
                return
            try:
                log = self._log(session)
                # Without a file nothing was said, and none is made to end it.
                if self._disk.find(log.path) is not None:
                    log.end(lambda: line, partial(self._start, session))
            except _Failure as error:
                self._take_in(session, Item(line))
                self._failed(error)
            self._close(session)

    def flush(self) -> bool:
        """Try to write what waits, and return whether nothing waits any more."""
        with self._guard:
            if self._waiting:
                self._retry(LOCK_TIMEOUT)
            return not self._waiting

    def close(self) -> None:
        """Try to write what waits, and close all files; they are opened again when needed."""
        with self._guard:
            self.flush()
            for session in list(self._logs):
                self._close(session)
            self._payloads.release()
            self.lock.close()

    def open_sessions(self) -> list[str]:
        """Return the sessions that are running here."""
        with self._guard:
            return list(self._logs)

    def release(self, session: str) -> None:
        """Stop marking a session as running here."""
        with self._guard:
            self._close(session)

    def refuse(self, reason: str) -> None:
        """Count what could not even be tried."""
        with self._guard:
            self.failures += 1
            self._refused = reason

    @property
    def trouble(self) -> Trouble | None:
        """What is wrong with recording in this process, or ``None``."""
        with self._guard:
            waiting = self._waiting.values()
            reason = self._reason if waiting else self._refused
            if not reason:
                return None
            items, lost = sum(len(each.items) for each in waiting), sum(x.lost for x in waiting)
            return Trouble(self._process, self._since, reason, items, lost)

    # ---- with the guard ----

    def _begin_child(self) -> None:
        """Begin with nothing of the parent's, but keep its sessions running until we record."""
        inherited = self._logs
        self._reset()
        self._inherited |= inherited

    def _reset(self) -> None:
        self._process = self._disk.process()
        self._payloads = Payloads(self.folder / PAYLOADS, self._disk, durable=self._durable)
        self._logs: dict[str, SessionLog] = {}
        self._inherited: dict[str, SessionLog] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._reason = self._refused = self._since = ""
        self._made = False

    def _write(self, session: str, items: list[Item], timeout: float) -> int:
        payloads = [item.payload for item in items if item.payload is not None]
        if payloads or not self._made:
            self._make_folder()
        keep = partial(self._keep, payloads) if payloads else bool
        keep()
        lines = [item.line for item in items]
        log, start = self._log(session), partial(self._first, session)
        try:
            # Again, since a redaction may remove the same text until this line refers to it.
            seq = log.append(lines, start, timeout, keep)
        except FileNotFoundError:  # somebody removed the folder
            self._make_folder()
            seq = log.append(lines, start, timeout, keep)
        self._refused = ""
        if payloads:
            self._payloads.release(name for name, _ in payloads)
        return seq

    def _keep(self, payloads: list[tuple[str, str]]) -> None:
        for payload in payloads:
            self._payloads.keep(*payload)

    def _first(self, session: str) -> bytes:
        """Return the line that begins a session: one that could not be written, or a new one."""
        waiting = self._waiting.get(session)
        return (waiting.start if waiting else None) or self._start(session)

    def _log(self, session: str) -> SessionLog:
        if session not in self._logs:
            self._inherited = {}
            while len(self._logs) >= _OPEN_FILES:
                self._logs.pop(next(iter(self._logs))).close()
            path = self.folder / f"{session}{SUFFIX}"
            self._logs[session] = SessionLog(path, self._disk, self.lock, durable=self._durable)
        return self._logs[session]

    def _close(self, session: str) -> None:
        log = self._logs.get(session)
        if log is not None:
            log.close()
            # One that failed knows what it left behind.
            if session not in self._waiting:
                del self._logs[session]

    def _make_folder(self) -> None:
        self._disk.make_plain_folder(self.folder, durable=self._durable)
        note = self.folder / ".gitignore"
        # Who took it away from transcripts that were there wants git to have them.
        is_new = self._disk.find(note) is None
        if is_new and not any(name.endswith(SUFFIX) for name in self._disk.files(self.folder)):
            # Transcripts stay on this machine, whatever git is told above.
            self._disk.save(note, b"*\n", durable=self._durable)
        self._made = True

    # ---- what waits ----

    def _take_in(self, session: str, item: Item) -> bool:
        """Queue an episode behind those that wait already; ``False`` if there is no room for it."""
        waiting = self._waiting.setdefault(session, _Waiting())
        sizes = [each.size for queue in self._waiting.values() for each in queue.items]
        full = len(sizes) >= QUEUE_ITEMS or sum(sizes) + item.size > QUEUE_BYTES
        if waiting.lost or full:
            waiting.lost += 1
            return False
        waiting.items.append(item)
        return True

    def _retry(self, timeout: float = IMPATIENT) -> dict[str, int]:
        """Write what waits; return the number of the last episode of each session written."""
        written = {}
        for session, waiting in list(self._waiting.items()):
            items = list(waiting.items)
            if waiting.lost:
                items.append(Item(self._lost(waiting.lost, self._reason)))
            try:
                seq = self._write(session, items, timeout)
            except LockTimeoutError as error:
                self._failed(error)
                break
            except _Failure as error:
                self._failed(error)
            else:
                written[session] = seq + len(waiting.items) - 1
                del self._waiting[session]
        if not self._waiting:
            self._reason = self._since = ""
            _IN_TROUBLE.discard(self)
            try:
                self._disk.unlink(self.folder / marker(self._process))
            except OSError as error:
                self._refused = str(error)
        return written

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        self._reason = str(error) or type(error).__name__
        self._since = self._since or moment()
        _IN_TROUBLE.add(self)
        self._mark()

    def leave(self) -> None:
        """Try to write a last time, and note what is lost with this process."""
        with self._guard:
            if not self.flush():
                self._mark()

    def _mark(self) -> None:
        """Leave a note for other processes; if even that fails, they see the trouble themselves."""
        with contextlib.suppress(*_Failure):
            if trouble := self.trouble:
                self._disk.refuse_link(self.folder)
                data = json.dumps(trouble._asdict()).encode() + b"\n"
                path = self.folder / marker(self._process)
                self._disk.save(path, data, durable=False, replace=True)


# Recorders with waiting episodes, which must not go with the last reference to them.
_IN_TROUBLE: Final[set[Recorder]] = set()


@atexit.register
def _leave() -> None:
    """At the end of the program, try to write a last time."""
    for recorder in list(_IN_TROUBLE):
        recorder.leave()


_BEFORE: Final = "degraded-"
_AFTER: Final = ".json"
# What reading raises if the file was removed meanwhile, or is not ours.
_NOT_OURS: Final = (
    ValueError, TypeError, KeyError, OverflowError, RecursionError, OSError, StoreError
)  # fmt: skip


class Trouble(NamedTuple):
    """Why recording does not work.

    Attributes:
        process: The process that could not write.
        since: Since when, as in a line of a transcript, or ``""``.
        reason: What the system said.
        waiting: How many episodes wait in its memory.
        lost: How many it could not even keep there.
        ended: Whether that process is gone, and what waited with it.
    """

    process: int
    since: str
    reason: str
    waiting: int = 0
    lost: int = 0
    ended: bool = False

    def __str__(self) -> str:
        """Return one sentence."""
        if self.ended:
            return (
                f"process {self.process} ended with {_episodes(self.waiting + self.lost)} not "
                f"written since {self.since}: {self.reason}"
            )
        said = f"transcripts are not written: {self.reason}"
        if self.waiting or self.lost:
            said += f"; {_episodes(self.waiting)} in the queue"
        return f"{said}, {_episodes(self.lost)} lost" if self.lost else said


def marker(process: int) -> str:
    """Return the name of the file that says that a process is in trouble."""
    return f"{_BEFORE}{process}{_AFTER}"


def find_trouble(folder: Path, disk: Disk) -> list[tuple[str, Trouble]]:
    """Return what is wrong in a folder of transcripts: the name of a file and the trouble."""
    if disk.find(folder) is None:
        return []
    if not disk.is_writable(folder):
        reason = f"{folder}: is read-only; make it writable (chmod u+w)"
        return [(".", Trouble(disk.process(), "", reason))]
    found = []
    for name in disk.files(folder):
        if not (name.startswith(_BEFORE) and name.endswith(_AFTER)):
            continue
        with contextlib.suppress(*_NOT_OURS):
            note = json.loads(disk.load(folder / name) or b"")
            trouble = Trouble(**(note | {"ended": not disk.is_running(note["process"])}))
            if type(trouble.waiting) is type(trouble.lost) is int:
                found.append((name, trouble))
    return found


def _episodes(count: int) -> str:
    return f"{count} episode{'' if count == 1 else 's'}"

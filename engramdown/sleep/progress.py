"""Records what sleep has done in a scope, and what it was writing when it was killed.

A step counts as done once its line is appended. What a model answered is kept until it is in
memory, so that it is not asked again, and dropped if what the model was shown has gone. Losing
these files costs only time and the price of asking again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.clock import moment
from engramdown.engram import Engram
from engramdown.episodes.forget import WORK, in_hand
from engramdown.errors import EngramdownError, StoreError
from engramdown.storage import Disk, open_regular
from engramdown.transcripts.episode import Episode

# The file of what was done, in the folder of a scope.
NAME: Final = "sleep.jsonl"
# So often a session is tried whose answers are of no use; then it is left until it goes on.
TRIES: Final = 3

# What the background worker keeps here, which is no sleep.
BESIDE: Final = frozenset({"card", "facts", "model", "summary"})

_SEEN: Final = frozenset({"waits", "idle", "empty"})
_APPENDING: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND


class Mark(NamedTuple):
    """How far a job has come.

    Attributes:
        job: The job.
        session: The session, or ``""`` for a job that is about the scope as a whole.
        born: When the session began: another one may have its id later.
        seq: The number of the last line that was read.
        digest: Of the memory that the job left, where it is about the scope.
        outcome: ``done``; ``failed`` for a try that gave nothing; ``waits`` for a step for which a
            model has to be asked, and was not; ``idle`` if there is not enough yet to learn from;
            ``empty`` if there is nothing at all.
        messages: How many messages of the user wait with it.
    """

    job: str
    session: str = ""
    born: str = ""
    seq: int = 0
    digest: str = ""
    outcome: str = "done"
    messages: int = 0


class Part(NamedTuple):
    """What a job read of one session.

    Attributes:
        mark: What counts as done when it is written what the job learned.
        after: The number of the line after which it read.
        digest: Of the lines that it read.
    """

    mark: Mark
    after: int
    digest: str


class Work(NamedTuple):
    """What a job has learned and is about to be written.

    Attributes:
        parts: What it read.
        engrams: What it learned.
    """

    parts: tuple[Part, ...]
    engrams: tuple[Engram, ...]


class SleepState:
    """What was done in one scope."""

    def __init__(self, root: Path) -> None:
        """Keep the files in ``root``; nothing is created before there is something to keep."""
        self._root = root
        self._path = root / NAME
        self._work = root / WORK
        self._disk = Disk()
        self._done: dict[tuple[str, str, str], Mark] = {}
        self._failed: dict[tuple[str, str, str, int], Attempts] = {}
        self._seen: dict[tuple[str, str, str], Mark] = {}
        try:
            data = self._disk.load(self._path) or b""
        except OSError as error:
            raise _cannot(self._path, error) from error
        for mark, at in filter(None, map(_parse, data.split(b"\n"))):
            self._take(mark, at)

    def done_of(self, job: str) -> list[str]:
        """Return the sessions, or what stands for them, of which a job has done something."""
        return [session for name, session, _ in self._done if name == job]

    def done(self, job: str, session: str = "", born: str = "") -> Mark:
        """Return how far a job has come."""
        return self._done.get((job, session, born)) or Mark(job, session, born)

    def attempts(self, mark: Mark) -> Attempts:
        """Return how often the step that would end at ``mark`` gave nothing, and when last."""
        return self._failed.get((mark.job, mark.session, mark.born, mark.seq), NEVER)

    def seen(self, mark: Mark) -> Mark | None:
        """Return what is known of the step that would end at ``mark``, if it waits, or is idle."""
        known = self._seen.get((mark.job, mark.session, mark.born))
        return known if known is not None and known.seq == mark.seq else None

    def add(self, *marks: Mark) -> None:
        """Write down that steps are done, or what else became of them, in one append.

        Raises:
            StoreError: If it cannot be written.
        """
        now = moment()
        told = ({"ts": now} | mark._asdict() for mark in marks)
        lines = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in told)
        try:
            descriptor = open_regular(self._path, _APPENDING)
            try:
                size = self._disk.look(descriptor).st_size
                # What a crash cut stays behind.
                is_cut = size and self._disk.read_at(descriptor, size - 1, size) != b"\n"
                self._disk.write_all(descriptor, b"\n" * bool(is_cut) + lines.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _cannot(self._path, error) from error
        for mark in marks:
            self._take(mark, now)

    def begin(self, work: Work) -> None:
        """Keep what is about to be written to memory.

        Raises:
            StoreError: If it cannot be written.
        """
        engrams = [dataclasses.asdict(engram) for engram in work.engrams]
        told = {"parts": work.parts, "engrams": engrams}
        try:
            data = json.dumps(told).encode()
            self._disk.save(self._work, data, durable=False, replace=True)
        except OSError as error:
            raise _cannot(self._work, error) from error

    def work(self) -> Work | None:
        """Return what a sleep before this one was about to write, or ``None``."""
        try:
            told = json.loads(self._disk.load(self._work) or b"")
            engrams = tuple(Engram(**each) for each in told["engrams"])
            parts = tuple(
                Part(_fitting(Mark(*mark)), int(after), str(digest))
                for mark, after, digest in told["parts"]
            )
            return Work(parts, engrams)
        except (
            *(OSError, ValueError, LookupError, TypeError, EngramdownError),
            *(OverflowError, RecursionError),
        ):
            return None

    def end(self) -> None:
        """Forget what was in hand, and what a crash left of it half written."""
        try:
            for path in in_hand(self._root, self._disk):
                self._disk.unlink(path)
        except OSError as error:
            raise _cannot(self._work, error) from error

    def _take(self, mark: Mark, at: str) -> None:
        key = (mark.job, mark.session, mark.born, mark.seq)
        if mark.outcome == "done":
            self._done[mark.job, mark.session, mark.born] = mark
            self._failed.pop(key, None)
        elif mark.outcome in _SEEN:
            self._seen[mark.job, mark.session, mark.born] = mark
        else:
            self._failed[key] = Attempts(self._failed.get(key, NEVER).times + 1, at)


def slept_at(root: Path) -> str:
    """Return when a sleep last got through a step in the scope at ``root``, UTC; or ``""``."""
    try:
        lines = (Disk().load(root / NAME) or b"").split(b"\n")
    except (OSError, StoreError):
        return ""
    found = filter(None, map(_parse, reversed(lines)))
    return next((at for mark, at in found if at and mark.job not in BESIDE), "")


def digest_of(lines: Iterable[Episode]) -> str:
    """Return a digest of what lines say; another one if any of them is taken out or replaced."""
    found = hashlib.sha256()
    for line in lines:
        found.update(json.dumps([line.seq, line.role, line.text]).encode())
    return found.hexdigest()


def _parse(line: bytes) -> tuple[Mark, str] | None:
    """Return the mark that a line tells, and when it was written; ``None`` if it tells none."""
    try:
        told: Any = json.loads(line)
        mark = _fitting(Mark(*(told[name] for name in Mark._fields)))
        return mark, str(told.get("ts") or "")
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _fitting(mark: Mark) -> Mark:
    """Return a mark that was read, if it is one.

    Raises:
        ValueError: If something in it is of another type.
    """
    if any(type(a) is not type(b) for a, b in zip(mark, Mark(""), strict=True)):
        msg = "no mark"
        raise ValueError(msg)
    return mark


def _cannot(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be read or written: {error.strerror}")


# ---- when what failed is tried again ----
#
# Each wait is twice as long as the one before, up to a longest one. A clock that was put back, or a
# time that is none, makes nobody wait.

# Seconds after the first failure.
FIRST_WAIT: Final = 300.0
# Seconds that are waited at most, however often it failed.
LONGEST_WAIT: Final = 3600.0

_MOST_DOUBLINGS: Final = 20


class Attempts(NamedTuple):
    """How often something failed.

    Attributes:
        times: So often.
        last: When it did so last, ISO 8601 in UTC, or ``""``.
    """

    times: int = 0
    last: str = ""


# What has not failed.
NEVER: Final = Attempts()


def next_try(attempts: Attempts) -> str:
    """Return from when on it is tried again, as ``last`` is written; ``""`` for at once.

    >>> next_try(Attempts(2, "2026-03-01T10:00:00.000000Z"))
    '2026-03-01T10:10:00.000000Z'
    """
    doubled = FIRST_WAIT * 2 ** min(attempts.times - 1, _MOST_DOUBLINGS)
    try:
        last = datetime.fromisoformat(attempts.last)
        if not attempts.times or last.tzinfo is None:
            return ""
        then = last.astimezone(UTC) + timedelta(seconds=min(doubled, LONGEST_WAIT))
    except (ValueError, OverflowError):  # no time, or the last hour that there is
        return ""
    return then.isoformat(timespec="microseconds").replace("+00:00", "Z")


def is_ripe(attempts: Attempts, now: str) -> bool:
    """Whether it may be tried now.

    Args:
        attempts: How often it failed.
        now: The time, as ``last`` is written.
    """
    then = next_try(attempts)
    return not then or then <= now or attempts.last > now

"""Records what sleep has done in a scope, and what it was writing when it was killed.

A step counts as done once its line is appended. An answer of a model is kept until it is in memory,
so that the model is not asked again, and dropped if the lines that the model saw are gone. Losing
these files costs only time and the price of asking again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.clock import moment
from engramdown.consolidation.corrections import TakenBack
from engramdown.engram import Engram
from engramdown.episodes.forget import WORK, in_hand
from engramdown.errors import MALFORMED, EngramdownError, StoreError
from engramdown.storage import Disk, named_errors
from engramdown.transcripts.episode import Episode

# The file of the record, in the folder of a scope.
NAME: Final = "sleep.jsonl"
# How often a session is tried whose answers are unusable; then it is left until it goes on.
TRIES: Final = 3

# Jobs of the background worker, which are not part of a sleep.
BESIDE: Final = frozenset({"card", "facts", "model", "summary"})

_SEEN: Final = frozenset({"waits", "idle", "empty"})


class Mark(NamedTuple):
    """How far a job has come.

    Attributes:
        job: The job.
        session: The session, or ``""`` for a job about the whole scope.
        born: When the session began: another one may have its id later.
        seq: The number of the last line that was read.
        digest: The digest of the memory after the job, if it is about the scope.
        outcome: ``done``; ``failed`` for a try without a result; ``waits`` for a step that needs a
            model and has not asked one; ``idle`` if there is not enough yet to learn from;
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
    """The part of a session that a job has read.

    Attributes:
        mark: The mark to record once the job's result is written.
        after: The number of the line before the first that it read.
        digest: The digest of the lines that it read.
    """

    mark: Mark
    after: int
    digest: str


class Work(NamedTuple):
    """What a job has learned, about to be written.

    Attributes:
        parts: The parts of sessions that it read.
        engrams: What it learned.
        taken_back: What the user took back.
    """

    parts: tuple[Part, ...]
    engrams: tuple[Engram, ...]
    taken_back: tuple[TakenBack, ...] = ()


class SleepState:
    """What was done in one scope."""

    def __init__(self, root: Path, *, dry: bool = False) -> None:
        """Keep the files in ``root``; nothing is created before there is something to keep.

        Args:
            root: The folder of the scope.
            dry: Whether nothing is to be kept at all.
        """
        self._root, self._dry = root, dry
        self._path = root / NAME
        self._work = root / WORK
        self._disk = Disk()
        self._done: dict[tuple[str, str, str], Mark] = {}
        self._failed: dict[tuple[str, str, str, int], Attempts] = {}
        self._seen: dict[tuple[str, str, str], Mark] = {}
        with named_errors(self._path, "read", ""):
            data = self._disk.load(self._path) or b""
        for mark, at in filter(None, map(_parse, data.split(b"\n"))):
            self._take(mark, at)

    def done_of(self, job: str) -> list[str]:
        """Return the sessions of which a job has done anything, by what its marks call them."""
        return [session for name, session, _ in self._done if name == job]

    def done(self, job: str, session: str = "", born: str = "") -> Mark:
        """Return how far a job has come."""
        return self._done.get((job, session, born)) or Mark(job, session, born)

    def attempts(self, mark: Mark) -> Attempts:
        """Return how often the step that would end at ``mark`` has failed, and when last."""
        return self._failed.get((mark.job, mark.session, mark.born, mark.seq), NEVER)

    def seen(self, mark: Mark) -> Mark | None:
        """Return the mark of the step that would end at ``mark``, if it waits or is idle."""
        known = self._seen.get((mark.job, mark.session, mark.born))
        return known if known is not None and known.seq == mark.seq else None

    def is_open(self, mark: Mark) -> bool:
        """Whether the step that would end at ``mark`` is not done, and may have a result."""
        seen = self.seen(mark)
        is_idle = seen is not None and seen.outcome in ("empty", "idle")
        return not is_idle and self.done(mark.job, mark.session, mark.born).seq < mark.seq

    def add(self, *marks: Mark) -> None:
        """Record steps that are done, or have another outcome, in one append.

        Raises:
            StoreError: If it cannot be written.
        """
        if self._dry:
            return
        now = moment()
        records = ({"ts": now} | mark._asdict() for mark in marks)
        lines = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)
        with named_errors(self._path, "written", ""):
            self._disk.add_lines(self._path, lines.encode())
        for mark in marks:
            self._take(mark, now)

    def begin(self, work: Work) -> None:
        """Record what is about to be written to memory.

        Raises:
            StoreError: If it cannot be written.
        """
        engrams = [dataclasses.asdict(engram) for engram in work.engrams]
        back = [
            (*each[:3], each.instead and dataclasses.asdict(each.instead), each.context)
            for each in work.taken_back
        ]
        data = json.dumps({"parts": work.parts, "engrams": engrams, "taken_back": back}).encode()
        with named_errors(self._work, "written", ""):
            self._disk.save(self._work, data, durable=False, replace=True)

    def work(self) -> Work | None:
        """Return what an earlier sleep was about to write, or ``None``."""
        try:
            record = json.loads(self._disk.load(self._work) or b"")
            engrams = tuple(Engram(**each) for each in record["engrams"])
            parts = tuple(
                Part(_checked(Mark(*mark)), int(after), str(digest))
                for mark, after, digest in record["parts"]
            )
            back = tuple(
                TakenBack(words, kind, is_loose, Engram(**instead) if instead else None, *more)
                for words, kind, is_loose, instead, *more in record.get("taken_back", ())
            )
            return Work(parts, engrams, back)
        except (*MALFORMED, OSError, EngramdownError, OverflowError):
            return None

    def end(self) -> None:
        """Forget the work in hand, including files that a crash left half written."""
        with named_errors(self._work, "removed", ""):
            for path in in_hand(self._root, self._disk):
                self._disk.unlink(path)

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
    marks = filter(None, map(_parse, reversed(lines)))
    return next((at for mark, at in marks if at and mark.job not in BESIDE), "")


def digest_of(lines: Iterable[Episode]) -> str:
    """Return a digest of lines, which changes if any of them is removed or replaced."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(json.dumps([line.seq, line.role, line.text]).encode())
    return digest.hexdigest()


def _parse(line: bytes) -> tuple[Mark, str] | None:
    """Return the mark in a line and when it was written; ``None`` if the line holds none."""
    try:
        record: Any = json.loads(line)
        mark = _checked(Mark(*(record[name] for name in Mark._fields)))
        return mark, str(record.get("ts") or "")
    except MALFORMED:
        return None


def _checked(mark: Mark) -> Mark:
    """Return a mark that was read; a ValueError if a value in it has another type."""
    if any(type(a) is not type(b) for a, b in zip(mark, Mark(""), strict=True)):
        raise ValueError(mark)
    return mark


# ---- when a failure is tried again ----
#
# Each wait is twice as long as the one before, up to a longest one. A clock that was put back, or a
# time that cannot be read, makes nobody wait.

# Seconds after the first failure.
FIRST_WAIT: Final = 300.0
# The longest wait in seconds, however often it failed.
LONGEST_WAIT: Final = 3600.0

_MOST_DOUBLINGS: Final = 20


class Attempts(NamedTuple):
    """How often something failed.

    Attributes:
        times: The number of failures.
        last: The time of the last one, ISO 8601 in UTC, or ``""``.
    """

    times: int = 0
    last: str = ""


NEVER: Final = Attempts()


def next_try(attempts: Attempts) -> str:
    """Return when to try again, in the format of ``last``; ``""`` for at once.

    >>> next_try(Attempts(2, "2026-03-01T10:00:00.000000Z"))
    '2026-03-01T10:10:00.000000Z'
    """
    doubled = FIRST_WAIT * 2 ** min(attempts.times - 1, _MOST_DOUBLINGS)
    try:
        last = datetime.fromisoformat(attempts.last)
        if not attempts.times or last.tzinfo is None:
            return ""
        then = last.astimezone(UTC) + timedelta(seconds=min(doubled, LONGEST_WAIT))
    except (ValueError, OverflowError):  # not a time, or the last hour that there is
        return ""
    return then.isoformat(timespec="microseconds").replace("+00:00", "Z")


def is_ripe(attempts: Attempts, now: str) -> bool:
    """Whether to try again now.

    Args:
        attempts: How often it failed.
        now: The time, in the format of ``last``.
    """
    then = next_try(attempts)
    return not then or then <= now or attempts.last > now

"""What sleep has done in a scope, and what it was about to write when it was killed.

Promises: a step counts as done when its line is written, one append each, and what a crash left of
a line stays on a line of its own; what a model answered is kept until it is in memory, so that it
is not asked again, and is dropped if what it was shown is not there any more. Losing these files
loses nothing but time and the cost of asking again: memory knows what it holds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.clock import moment
from engramdown.engram import Engram
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import Episode
from engramdown.errors import InvalidEngramError, StoreError
from engramdown.regular import open_regular

__all__ = ["NAME", "TRIES", "WORK", "Mark", "SleepState", "Work", "digest_of"]

NAME: Final = "sleep.jsonl"
"""The file of what was done, in the folder of a scope."""
WORK: Final = "sleep-work.json"
"""The file of what is in hand."""
TRIES: Final = 3
"""So often a session is tried whose answers are of no use; then it is left until it goes on."""

_APPENDING: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND


class Mark(NamedTuple):
    """How far a job has come.

    Attributes:
        job: The job.
        session: The session, or ``""`` for a job that is about the scope as a whole.
        born: When the session began: another one may have its id later.
        seq: The number of the last line that was read.
        digest: Of the memory that the job left, where it is about the scope.
        outcome: ``done``, or ``failed`` for a try that gave nothing.
    """

    job: str
    session: str = ""
    born: str = ""
    seq: int = 0
    digest: str = ""
    outcome: str = "done"


class Work(NamedTuple):
    """What a job has learned and is about to be written.

    Attributes:
        mark: What counts as done when it is written.
        after: The number of the line after which the job read.
        digest: Of the lines that it read.
        engrams: What it learned.
    """

    mark: Mark
    after: int
    digest: str
    engrams: tuple[Engram, ...]


class SleepState:
    """What was done in one scope."""

    def __init__(self, root: Path) -> None:
        """Keep the files in ``root``; nothing is created before there is something to keep."""
        self._path = root / NAME
        self._work = root / WORK
        self._disk = EpisodeDisk()
        self._done: dict[tuple[str, str, str], Mark] = {}
        self._failed: dict[tuple[str, str, str, int], int] = {}
        for mark in self._read():
            self._take(mark)

    def done(self, job: str, session: str = "", born: str = "") -> Mark:
        """Return how far a job has come."""
        return self._done.get((job, session, born)) or Mark(job, session, born)

    def tries(self, mark: Mark) -> int:
        """Return how often the step that would end at ``mark`` gave nothing."""
        return self._failed.get((mark.job, mark.session, mark.born, mark.seq), 0)

    def add(self, mark: Mark) -> None:
        """Write down that a step is done, or failed.

        Raises:
            StoreError: If it cannot be written.
        """
        line = json.dumps({"ts": moment()} | mark._asdict(), separators=(",", ":")).encode() + b"\n"
        try:
            descriptor = open_regular(self._path, _APPENDING)
            try:
                self._disk.write_all(descriptor, _after(self._disk, descriptor) + line)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _cannot(self._path, error) from error
        self._take(mark)

    def begin(self, work: Work) -> None:
        """Keep what is about to be written to memory.

        Raises:
            StoreError: If it cannot be written.
        """
        engrams = [dataclasses.asdict(engram) for engram in work.engrams]
        told = {"mark": work.mark, "after": work.after, "digest": work.digest, "engrams": engrams}
        try:
            data = json.dumps(told).encode()
            self._disk.publish(self._work, data, durable=False, replace=True)
        except OSError as error:
            raise _cannot(self._work, error) from error

    def work(self) -> Work | None:
        """Return what a sleep before this one was about to write, or ``None``."""
        try:
            told = json.loads(self._work.read_bytes())
            engrams = tuple(Engram(**each) for each in told["engrams"])
            return Work(Mark(*told["mark"]), int(told["after"]), str(told["digest"]), engrams)
        except (OSError, ValueError, LookupError, TypeError, InvalidEngramError):
            return None

    def end(self) -> None:
        """Forget what was in hand."""
        try:
            self._disk.remove(self._work)
        except OSError as error:
            raise _cannot(self._work, error) from error

    def _read(self) -> Iterator[Mark]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _cannot(self._path, error) from error
        for line in data.split(b"\n"):
            mark = _mark(line)
            if mark is not None:
                yield mark

    def _take(self, mark: Mark) -> None:
        if mark.outcome == "done":
            self._done[mark.job, mark.session, mark.born] = mark
        else:
            key = (mark.job, mark.session, mark.born, mark.seq)
            self._failed[key] = self._failed.get(key, 0) + 1


def digest_of(lines: Iterable[Episode]) -> str:
    """Return a digest of what lines say; another one if any of them is taken out or replaced."""
    found = hashlib.sha256()
    for line in lines:
        found.update(json.dumps([line.seq, line.role, line.text]).encode())
    return found.hexdigest()


def _mark(line: bytes) -> Mark | None:
    """Return the mark that a line tells, or ``None`` if it tells none."""
    try:
        told: Any = json.loads(line)
        mark = Mark(*(told[name] for name in Mark._fields))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    fits = all(type(a) is type(b) for a, b in zip(mark, Mark(""), strict=True))
    return mark if fits else None


def _after(disk: EpisodeDisk, descriptor: int) -> bytes:
    """Return what a line begins with, so that what a crash cut stays behind."""
    size = disk.look(descriptor).st_size
    return b"" if not size or disk.read(descriptor, size - 1, size) == b"\n" else b"\n"


def _cannot(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be read or written: {error.strerror}")

r"""Appending to the file of one session.

Lines are appended, several with one write; only :meth:`SessionLog.rewrite`, for what a person takes
back, changes any. What was acknowledged is there whole, however many processes append and whenever
one of them dies. A torn last line is set aside in a file of its own, never dropped and never a
reason to stop. Episodes are numbered under the lock, without a gap. An append that fails is taken
back.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.storage.disk import Disk, lines_backwards
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.changes import CACHE, SUFFIX, touch
from engramdown.transcripts.episode import NUMBERED, number, read_line

# How long nothing was said in a session that is taken for one whose program died.
ORPHAN_MINUTES: Final = 60

# Returns what `engramdown.transcripts.episode.encode` returned for a line.
Line = Callable[[], bytes]
# Is called while nobody else writes or takes back.
Act = Callable[[], object]

_SEVERAL: Final = 2
# Seconds after which a session that is written is named again.
_NAMED_FOR: Final = 60.0


class SessionLog:
    """The end of one session's file, where lines are appended.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, disk: Disk, lock: FolderLock, *, durable: bool) -> None:
        """Append to ``path`` under ``lock``; ``durable`` says whether a power cut is survived."""
        self.path = path
        self._disk, self._lock, self._durable = disk, lock, durable
        self._process = disk.process()
        self._name = str(path)
        self._descriptor: int | None = None
        # Of the file: which it is, where it ends, the number of its next line, and what its last
        # line lacks.
        self._inode, self._end, self._next, self._lacks = (0, 0), 0, 0, b""
        self._named_at = -_NAMED_FOR
        self._left = (0, b"")

    def append(
        self, lines: Sequence[bytes], start: Line, timeout: float | None = None, prepare: Act = bool
    ) -> int:
        """Append lines and return the number of the first of them.

        Args:
            lines: What :func:`engramdown.transcripts.episode.encode` returned for each.
            start: Returns the same for the event that comes first in a file that is empty.
            timeout: How long to wait for other writers, in seconds, or ``None`` for the usual.
            prepare: What is to be done before, while nobody else writes or takes back.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            StoreError: If there is something other than a file.
            OSError: If it could not be written; the file is as before.
        """
        with self._lock.hold(timeout):
            return self._append(lines, start, prepare)

    def add_all(
        self,
        choose: Callable[[bytes], Sequence[bytes]],
        start: Line,
        timeout: float | None = None,
        prepare: Act = bool,
    ) -> int:
        """Add lines, all of them or none, whenever the process dies; return the first's number.

        Several are written with a copy of the session that takes its place: of an append that is
        cut short some lines would be whole.

        Args:
            choose: Returns the lines, given those that are there; called while nobody else writes.
            start: See :meth:`append`.
            timeout: See :meth:`append`.
            prepare: See :meth:`append`; called if there is anything to add.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            StoreError: If there is something other than a file.
            OSError: If it could not be written; the file is as before.
        """
        with self._lock.hold(timeout):
            is_there = self._disk.find(self.path) is not None
            seen, following = self._contents() if is_there else (b"", 0)
            lines = choose(seen)
            if len(lines) < _SEVERAL:
                return self._append(lines, start, prepare) if lines else following
            prepare()
            whole = lines if seen else [start(), *lines]
            added = b"".join([number(seq, line) for seq, line in enumerate(whole, following)])
            self._disk.save(self.path, seen + added, durable=self._durable, replace=True)
            # From here on it runs in the new file.
            self.close()
            self._settle()
            self._name_session()
            return following + len(whole) - len(lines)

    def begin(self, start: Line, timeout: float | None = None, unless: Act = bool) -> bool:
        """Begin a file that is not there yet; ``False`` if there is one already.

        Args:
            start: See :meth:`append`.
            timeout: See :meth:`append`.
            unless: Whether not to begin it; asked while nobody else begins one.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            OSError: If it could not be written.
        """
        with self._lock.hold(timeout):
            found = self._disk.find(self.path)
            if (found is not None and found.st_size) or unless():
                return False
            self._append([], start)
            return True

    def end(
        self, line: Callable[[], bytes | None], start: Line, timeout: float | None = None
    ) -> bool:
        """Append the event that ends the session; remove a file in which nothing was said.

        Args:
            line: Returns the event, or ``None`` to leave everything as it is; it is called while
                nobody else writes.
            start: See :meth:`append`.
            timeout: See :meth:`append`.

        Returns:
            Whether the session was ended.
        """
        with self._lock.hold(timeout):
            ending = line()
            if ending is None:
                return False
            descriptor = self._settle()
            # Whether the file holds no line but its first.
            if self._next <= 1 and self._disk.read_at(descriptor, 0, self._end).count(b"\n") <= 1:
                self._disk.unlink(self.path)
                self.close()
            else:
                self._append([ending], start)
            return True

    def rewrite(
        self, change: Callable[[bytes], bytes], event: Callable[[list[int]], bytes]
    ) -> bool:
        """Put a copy in the place of the file, with lines changed and an event that says so.

        Whoever has the old one open sees that it lost its name, and goes on in the new one. Only
        for whoever holds the lock and knows that the file is there.

        Args:
            change: Returns the new text of a line, both without the line end.
            event: Returns the event, given the numbers of the lines that changed.

        Returns:
            Whether any line changed.
        """
        data, following = self._contents()
        self.close()
        before = data.split(b"\n")[:-1]
        after = [change(line) for line in before]
        new = [line for old, line in zip(before, after, strict=True) if line != old]
        if not new:
            return False
        changed = sorted({each.seq for each in map(read_line, new) if each is not None})
        copy = b"\n".join([*after, number(following, event(changed))])
        self._disk.save(self.path, copy, durable=True, replace=True)
        return True

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._disk.close(descriptor)

    def __del__(self) -> None:
        """Close the file, which shows others that the session no longer runs."""
        self.close()

    # ---- under the lock ----

    def _contents(self) -> tuple[bytes, int]:
        """Mend the end of the file; return its whole lines, and the number of the next."""
        descriptor = self._settle()
        return self._disk.read_at(descriptor, 0, self._end) + self._lacks, self._next

    def _append(self, lines: Sequence[bytes], start: Line, prepare: Act = bool) -> int:
        descriptor = self._settle()
        prepare()
        # What an append left that failed and could not be taken back, if it is whole.
        at, left = self._left
        if left and self._disk.read_at(descriptor, at, at + len(left)) + self._lacks != left:
            left = b""
        # A line says its id, so no other is taken for it.
        new = [line for line in lines if line not in left] if left else lines
        whole = new if self._end else [start(), *new]
        if whole or left:
            data = b"".join([number(seq, line) for seq, line in enumerate(whole, self._next)])
            data = self._lacks + data
            self._write(descriptor, data)
            self._end += len(data)
            self._next += len(whole)
            self._lacks, self._left = b"", (0, b"")
            self._name_session()
        last = None if new else _last_number(reversed(left.split(b"\n")))
        return (self._next if last is None else last + 1) - len(lines)

    def _name_session(self) -> None:
        """Name the session for searching processes, now and then while it is written."""
        now = time.monotonic()
        if now - self._named_at > _NAMED_FOR:
            self._named_at = now
            touch(self.path.parent.parent / CACHE, self.path.stem)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            self._disk.write_all(descriptor, data)
            if self._durable:
                self._disk.sync_open(descriptor)
        except OSError as error:
            error.filename = error.filename or str(self.path)
            # If that fails too, the next append sets half a line aside and finds a whole one again.
            self._left = (self._end, data)
            with contextlib.suppress(OSError):
                self._disk.truncate_open(descriptor, self._end)
                self._left = (0, b"")
            self.close()
            raise

    def _settle(self) -> int:
        """Open the file if need be, find its end and mend it; return its descriptor."""
        try:
            if self._process != self._disk.process():
                # The descriptor of a parent process is not ours to keep the session running with.
                self._process = self._disk.process()
                self.close()
            found = self._disk.find(self._name)
            if self._descriptor is None or found is None or _inode(found) != self._inode:
                self._lock.renew()
                self.close()
                self._descriptor = self._open()
                found = self._disk.look(self._descriptor)
            if found.st_size != self._end:
                self._lock.renew()
                self._catch_up(self._descriptor, found.st_size)
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise
        return self._descriptor

    def _open(self) -> int:
        descriptor = self._disk.open(self.path, write=True)
        try:
            # Tells others that this session is running; see sessions.py.
            self._disk.keep(descriptor)
            found = self._disk.look(descriptor)
            if found.st_size == 0 and self._durable:
                self._disk.sync_folder(self.path.parent)
        except OSError:
            self._disk.close(descriptor)
            raise
        self._inode, self._end, self._next, self._lacks = _inode(found), 0, 0, b""
        return descriptor

    def _catch_up(self, descriptor: int, size: int) -> None:
        """Take in what others appended since, and mend the end of the file."""
        lines = lines_backwards(partial(self._disk.read_at, descriptor), size)
        tail, last = next(lines), _last_number(lines)
        self._next, self._lacks = 0 if last is None else last + 1, b""
        whole_tail = read_line(tail) if tail else None
        if whole_tail is not None:
            # Somebody's editor took only the line end away.
            self._next, self._lacks = whole_tail.seq + 1, b"\n"
        elif tail:
            self._set_aside(tail)
            self._disk.truncate_open(descriptor, size - len(tail))
            size -= len(tail)
        # Only what is mended is taken for the end: if mending fails, the next append tries again.
        self._end = size

    def _set_aside(self, tail: bytes) -> None:
        stem = self.path.name.removesuffix(SUFFIX)
        for count in range(1, 1_000_000):
            if self._disk.save(self.path.with_name(f"{stem}.torn-{count}"), tail, durable=True):
                return
        raise StoreError(f"{self.path}: has a million torn lines beside it; remove them.")


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _last_number(backwards: Iterable[bytes]) -> int | None:
    """Return the number of the last line that has one, given the lines from the last upwards."""
    for line in backwards:
        # To read a line takes much longer.
        if found := NUMBERED.match(line):
            return int(found[1])
        if (read := read_line(line)) is not None:
            return read.seq
    return None

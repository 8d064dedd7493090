r"""The log of summaries of a conversation: ``gists/<session>.jsonl``.

Promises: lines are appended, several with one write; what was acknowledged lasts through a power
cut; what a crash left of a line stays where it is, on a line of its own, and counts for nothing.
What is appended is made from the log as it is then, while nobody else writes to it or to the
transcript. A redaction takes out the summaries of what it takes out. Reading creates nothing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock

__all__ = ["FOLDER", "GistLog", "without_gists_of"]

FOLDER: Final = "gists"
"""The name of the folder in that of a scope."""

_SUFFIX: Final = ".jsonl"
_PATIENCE: Final = 10.0
"""Seconds to wait for writers: a model was paid for what is to be written."""


class GistLog:
    """The logs of one scope."""

    def __init__(self, root: Path, disk: EpisodeDisk, lock: FolderLock) -> None:
        """Keep the logs in the scope's folder ``root``, written under the lock of transcripts."""
        self.folder = root / FOLDER
        self._disk = disk
        self._lock = lock

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return self.folder / f"{session}{_SUFFIX}"

    def append(
        self, session: str, transcript: Path | None, make: Callable[[], Sequence[bytes]]
    ) -> list[bytes]:
        r"""Append lines to the log of a session, and return them.

        Args:
            session: Its id.
            transcript: What was said in it; it lasts through a power cut before a summary of it
                does, which would else be taken for one of what is said later. ``None`` for lines
                that do not speak of it.
            make: Returns the lines, each with its ``\n``; nobody writes to the log or to the
                transcript meanwhile.

        Raises:
            LockTimeoutError: If somebody else held the lock for too long.
            StoreError: If something else than a file stands there.
            OSError: If it could not be written; the log is as before, if the disk allows that.
        """
        path = self.path(session)
        # The folder of the lock is there: it is that of the transcript.
        with self._lock.hold(_PATIENCE):
            before = self._disk.load(path)
            if before and not before.endswith(b"\n"):
                # What is whole but for its end counts from now on, so it is seen by who makes.
                self._write(path, b"\n", is_new=False)
            lines = list(make())
            if lines:
                if transcript is not None:
                    self._disk.sync_file(transcript)
                    self._disk.sync_folder(transcript.parent)
                self._write(path, b"".join(lines), is_new=before is None)
        return lines

    def _write(self, path: Path, data: bytes, *, is_new: bool) -> None:
        if is_new:
            self._disk.make_folder(self.folder, durable=True)
        descriptor = self._disk.open(path, write=True)
        try:
            size = self._disk.look(descriptor).st_size
            try:
                self._disk.write_all(descriptor, data)
                self._disk.sync(descriptor)
                if is_new:
                    self._disk.sync_folder(self.folder)
            except OSError as error:
                error.filename = error.filename or str(path)
                with contextlib.suppress(OSError):
                    self._disk.truncate(descriptor, size)
                raise
        finally:
            self._disk.close(descriptor)


def without_gists_of(data: bytes, seqs: Collection[int]) -> bytes:
    """Return a log without the summaries of some messages, and without what was made of those.

    So does a summary go whose author was shown one of them, since it may repeat its words, and a
    line that cannot be read, since it may be one.
    """
    lines = data.split(b"\n")
    told = [_gist(line) for line in lines]
    away: set[object] = set()
    gone = [False] * len(lines)
    # A gist stands behind its sources, unless somebody turned lines round: so until nothing goes.
    while True:
        before = sum(gone)
        for at, gist in enumerate(told):
            if gist is not None and not gone[at] and _is_of(gist, seqs, away):
                gone[at] = True
                away.add(gist.get("id"))
        if sum(gone) == before:
            break
    return b"\n".join(line for line, is_gone in zip(lines, gone, strict=True) if not is_gone)


def _gist(line: bytes) -> dict[str, object] | None:
    """Return what may be a gist of a line: any of the kind, and whatever cannot be read."""
    if not line.strip():
        return None
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if isinstance(told, dict):
        return told if told.get("kind") == "gist" else None
    return {}


def _is_of(gist: dict[str, object], seqs: Collection[int], away: Collection[object]) -> bool:
    sources = gist.get("sources")
    if not isinstance(sources, list) or gist.get("previous") in away:
        return True
    return any(_holds(each, seqs, away) for each in sources)


def _holds(source: object, seqs: Iterable[int], away: Collection[object]) -> bool:
    match source:
        case str():
            return source in away
        case [int(first), int(last)]:
            return any(first <= seq <= last for seq in seqs)
    return True

r"""What was read already: one line of JSON each time that a part of a file was taken in.

Promises: a line is written only after everything that it speaks of; whoever finds a file that
begins as one of these did goes on where that ended, wherever the file is now; a line that is torn
or not ours is passed over.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from engramdown.importers.finding import Opened
from engramdown.storage.disk import EpisodeDisk

__all__ = ["FOLDER", "HEAD", "Entry", "Ledger"]

FOLDER: Final = "imports"
"""The name of the folder, in that of the transcripts."""

HEAD: Final = 1024
"""By so many bytes a file is told from most others."""

_NAME: Final = "ledger.jsonl"
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What was taken in of one file.

    Attributes:
        source: The name of the source.
        path: Where the file was.
        origin: Where it was when it was read first: what its sessions are called after.
        head: SHA-256 of its first :data:`HEAD` bytes, if so many were read, else ``""``.
        digest: SHA-256 of its bytes up to ``offset``.
        offset: How many bytes were read.
        lines: How many lines that were.
        at: When.
        sessions: The sessions, each with the number of the last line that it had then.
        ids: The sessions by their ids in the source.
    """

    source: str
    path: str
    origin: str
    head: str
    digest: str
    offset: int
    lines: int = 0
    at: str = ""
    sessions: Mapping[str, int] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)


class Ledger:
    """The ledger of one folder of transcripts."""

    def __init__(self, episodes: Path, disk: EpisodeDisk, *, durable: bool) -> None:
        """Read the ledger of the transcripts in ``episodes``; reading creates nothing."""
        self.path = episodes / FOLDER / _NAME
        self._disk = disk
        self._durable = durable
        self._known: dict[tuple[str, str], dict[int, dict[str, Entry]]] = {}
        self._ids: dict[tuple[str, str], str] = {}
        self.entries: list[Entry] = []
        data = disk.load(self.path) or b""
        self._lacks_end = bool(data) and not data.endswith(b"\n")
        for entry in map(_entry, data.split(b"\n")):
            if entry is not None:
                self._remember(entry)

    def add(self, entry: Entry) -> None:
        """Write a line down."""
        line = json.dumps(asdict(entry)).encode() + b"\n"
        self._disk.make_folder(self.path.parent, durable=self._durable)
        # What a crash, or an error here, left of a line stays behind, on a line of its own.
        data, self._lacks_end = b"\n" + line if self._lacks_end else line, True
        descriptor = self._disk.open(self.path, write=True)
        try:
            self._disk.write_all(descriptor, data)
            if self._durable:
                self._disk.sync(descriptor)
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise
        finally:
            self._disk.close(descriptor)
        self._lacks_end = False
        self._remember(entry)

    def forget(self, source: str) -> None:
        """Drop the lines of a source."""
        kept = [entry for entry in self.entries if entry.source != source]
        if len(kept) < len(self.entries):
            data = b"".join(json.dumps(asdict(entry)).encode() + b"\n" for entry in kept)
            self._disk.publish(self.path, data, durable=True, replace=True)

    def find(self, source: str, stream: Opened, size: int) -> Entry | None:
        """Return the entry of the longest beginning that a file shares with one that was read."""
        head = stream.read(HEAD)
        found, done = hashlib.sha256(), 0
        known = dict(self._known.get((source, ""), {}))
        if len(head) == HEAD:
            known |= self._known.get((source, hashlib.sha256(head).hexdigest()), {})
        best = None
        for offset in sorted(offset for offset in known if offset <= size):
            while done < offset and (piece := head or stream.read(_PIECE)):
                piece, head = piece[: offset - done], piece[offset - done :]
                found.update(piece)
                done += len(piece)
            best = known[offset].get(found.hexdigest(), best) if done == offset else best
        return best

    def sessions(self, source: str) -> set[str]:
        """Return the sessions that the lines of a source name."""
        return {name for entry in self.entries if entry.source == source for name in entry.sessions}

    def session_of(self, source: str, own: str) -> str:
        """Return the session that has the id ``own`` in a source, or ``""``."""
        return self._ids.get((source, own), "")

    def _remember(self, entry: Entry) -> None:
        self.entries.append(entry)
        if entry.offset:
            same = self._known.setdefault((entry.source, entry.head), {})
            same.setdefault(entry.offset, {})[entry.digest] = entry
        self._ids |= {(entry.source, own): session for own, session in entry.ids.items()}


def _entry(line: bytes) -> Entry | None:
    try:
        told: dict[str, Any] = json.loads(line)
        entry = Entry(**told)
        sizes = [entry.offset, entry.lines, *entry.sessions.values()]
        texts = [
            entry.source,
            entry.path,
            entry.origin,
            entry.head,
            entry.digest,
            *entry.ids.values(),
        ]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    good = all(isinstance(text, str) for text in texts)
    return entry if good and all(_is_size(size) for size in sizes) else None


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < sys.maxsize

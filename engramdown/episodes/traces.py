"""Where else the content of a line stands: in other lines, in payloads, in torn pieces, on a card.

Promises: looking writes nothing; every transcript of the folder is looked at.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from engramdown.episodes.card import CardFiles
from engramdown.journal.working_notes import pieces
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.changes import FOLDER
from engramdown.transcripts.episode import Pointer, read_line
from engramdown.transcripts.payloads import PAYLOADS, Payloads
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.summary_log import ViewCache

__all__ = ["Traces", "digests"]

_NOTE: Final = re.compile(r"([0-9a-f]{64})\.")
_NUMBER: Final = re.compile(r"[0-9]{1,12}\Z")
_PAYLOAD: Final = re.compile(rb'"payload"\s*:\s*"([0-9a-f]{64})"')


def digests(left: Iterable[Path]) -> set[str]:
    """Return the digests of the texts that notes and parts are about."""
    return {found[1] for path in left if (found := _NOTE.match(path.name))}


class Traces:
    """The traces of the lines of one scope."""

    def __init__(self, root: Path, disk: EpisodeDisk) -> None:
        """Look in the scope's folder ``root``."""
        self._folder = root / FOLDER
        self._disk = disk
        self._sessions = Sessions(self._folder, disk)
        self._payloads = Payloads(self._folder / PAYLOADS, disk, durable=True)
        self._cards = CardFiles(root, disk)

    def card(self, session: str) -> Path:
        """Return the file in which a person corrects the card of a session."""
        return self._cards.path(session)

    def quoting(self, session: str, seqs: Collection[int]) -> Iterator[Pointer]:
        """Yield the lines in which a recall has shown some of ``seqs``."""
        wanted = sorted(seqs)
        sought = f'"{session}#'.encode()
        for other, data in self._files():
            for line in data.split(b"\n") if sought in data else ():
                episode = read_line(line) if sought in line else None
                told = episode.recalled if episode is not None else ()
                if episode is not None and any(_quotes(each, session, wanted) for each in told):
                    yield Pointer(other, episode.seq)

    def referenced(self, session: str = "", without: Collection[int] = ()) -> set[str]:
        """Return the digests that lines refer to, but for the lines ``without`` of ``session``."""
        found: set[str] = set()
        for other, data in self._files():
            if other != session:
                found |= _named(_whole(data))
                continue
            episodes = filter(None, map(read_line, data.split(b"\n")))
            found.update(each.payload for each in episodes if each.seq not in without)
        return found

    def named(self, session: str) -> set[str]:
        """Return the digests that a session names anywhere, also in lines that cannot be read."""
        return _named(self._disk.load(self._sessions.path(session)) or b"")

    def _files(self) -> Iterator[tuple[str, bytes]]:
        for session in self._sessions.ids():
            yield session, self._disk.load(self._sessions.path(session)) or b""

    def pieces(self, session: str, ids: Collection[str] | None = None) -> list[Path]:
        """Return the torn lines and unfinished copies of a session; with ``ids`` those with one."""
        name = re.compile(re.escape(session) + r"\.(?:torn-[0-9]+(?:\..+\.part)?|jsonl\..+\.part)")
        found = [self._folder / n for n in self._disk.names(self._folder) if name.fullmatch(n)]
        if ids is None:
            return found
        marks = [json.dumps(each).encode() for each in ids]
        torn = ((path, self._disk.load(path) or b"") for path in found)
        return [path for path, data in torn if any(mark in data for mark in marks)]

    def text(self, name: str) -> Path:
        """Return where a whole text is kept, by its digest."""
        return self._payloads.path(name)

    def payload(self, name: str) -> list[Path]:
        """Return the file of a whole text, and what was left of making it; none behind a link."""
        path = self._payloads.path(name)
        if self._is_elsewhere(path):
            return []
        return [path, *(each for each in self.left() if each.name.startswith(f"{name}."))]

    def unsaid(self, names: Collection[str]) -> list[Path]:
        """Return the files of those whole texts that no line refers to."""
        gone = set(names) - self.referenced() if names else set()
        return [path for name in sorted(gone) for path in self.payload(name)]

    def left(self, *, patiently: bool = False) -> list[Path]:
        """Return what was left of keeping whole texts: notes about some, and parts of some.

        Args:
            patiently: Whether a process that is not seen may still be there for a minute.
        """
        folder = self._payloads.folder
        found = [] if self._is_elsewhere(folder) else self._disk.unfinished(folder)
        return [each.path for each in found if each.old or (each.gone and not patiently)]

    def _is_elsewhere(self, path: Path) -> bool:
        """Whether a path leads through a link: what stands there is somebody else's."""
        return any(each.is_symlink() for each in (path.parent, self._payloads.folder, self._folder))

    def derived(self, session: str) -> list[Path]:
        """Return the files beside the transcripts that are about one session."""
        noted = pieces(self._folder.parent, session, self._disk)
        seen = ViewCache(self._folder.parent, self._disk).path(session)
        return [self._cards.path(session), self._cards.filled_path(session), seen, *noted]


def _quotes(recalled: str, session: str, seqs: Sequence[int]) -> bool:
    """Whether what a recall brought is one of ``seqs``, which are sorted, or a run with one.

    >>> _quotes("a#3", "a", [3]), _quotes("a#3-9", "a", [1, 12]), _quotes("a#3-9", "a", [1, 9])
    (True, False, True)
    """
    other, _, numbers = recalled.rpartition("#")
    first, _, last = numbers.partition("-")
    if other != session or not _NUMBER.match(first) or not _NUMBER.match(last or first):
        return False
    at = bisect_left(seqs, int(first))
    return at < len(seqs) and seqs[at] <= int(last or first)


def _named(data: bytes) -> set[str]:
    return {name.decode() for name in _PAYLOAD.findall(data)}


def _whole(data: bytes) -> bytes:
    """Return a transcript without a torn last line, which is set aside and shows nothing."""
    end = data.rfind(b"\n") + 1
    return data if end == len(data) or read_line(data[end:]) is not None else data[:end]

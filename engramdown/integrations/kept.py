"""What another library keeps in a session, read from its transcript.

Promises: nothing here raises because of a disk. A line that could not be written yet is there for
this process all the same, in its place behind the others, also for whoever opens the session anew;
what is taken back is out of the session, of recall and of summaries, and stays in the file, which
is only ever appended to. Of two programs that take the last one back at once, each gets another. To
look again costs what was added since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from engramdown.clock import nanoseconds
from engramdown.episodes.episode import Episode, Pointer, joined, read_line, stamp_of
from engramdown.episodes.live import REDACTED, excluded
from engramdown.episodes.marks import marked
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.sessions import lines
from engramdown.episodes.showing import hidden, shown
from engramdown.episodes.watch import SUFFIX
from engramdown.errors import StoreError
from engramdown.integrations.lines import Entry, Line, as_line, as_value, readable
from engramdown.integrations.unwritten import Waits, unwritten_of
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import EpisodeDisk

__all__ = ["Kept", "Write"]

Write = Callable[[dict[str, Any]], Pointer | None]
"""Writes a line, given its ``meta``."""

_HEAD: Final = 128
_NONE: Final = object()
_BY: Final = "by"


class Kept:
    """The values that a session keeps for one library.

    Attributes:
        session: The id of the session.
    """

    def __init__(
        self,
        episodes: EpisodicMemory | None,
        session: str,
        key: str,
        plain: Callable[[Episode], Any],
    ) -> None:
        """Read a session; nothing is read yet.

        Args:
            episodes: The transcripts, or ``None`` if there are none.
            session: The id of the session.
            key: Under which the values stand in ``meta``.
            plain: Returns the value for a line that something else recorded, or ``None``.
        """
        self._episodes = episodes
        self.session = session
        self._key = key
        self._plain = plain
        self._disk = EpisodeDisk()
        self._unwritten = unwritten_of(episodes, session, key)
        self._late: list[int] = []
        self._forget()

    def _forget(self) -> None:
        self._file, self._end, self._head = (-1, -1), 0, b""
        self._entries: dict[int, Entry] = {}
        self._marks: list[Episode] = []

    # ---- writing ----

    def add(self, line: Line, write: Write) -> None:
        """Keep a value.

        Args:
            line: Its line.
            write: Writes it, given the ``meta`` of the line; returns where it stands, or ``None``
                if it must wait.
        """
        settings = EpisodeSettings() if self._episodes is None else self._episodes.settings
        kept = as_line(line, lambda text: hidden(line.role, text, settings))
        begun = stamp_of(nanoseconds())
        if write({self._key: kept}) is None:
            value = as_value(kept, joined(hidden(line.role, line.text, settings)))
            entry = Entry(value, line.call, json=readable(value))
            view = shown(line.role, line.text, settings).text
            times = (begun, stamp_of(nanoseconds()))
            self._unwritten.add(Waits(line.role, kept, view, entry, times))

    def pop(self, whole: Callable[[list[Entry]], list[Entry]]) -> Entry | None:
        """Take back the last of what ``whole`` leaves of the entries; ``None`` if nothing is left.

        Who else takes it at once is told by the order of the lines in which they say so.
        """
        while left := whole(self.entries()):
            last = left[-1]
            if last.seq < 0:
                next(each for each in self._unwritten.lines if each.entry is last).is_taken = True
                return last
            if self._take_back([last.seq], "pop"):
                return last
        return None

    def clear(self) -> None:
        """Take back everything."""
        seqs = [entry.seq for entry in self.entries() if entry.seq >= 0 and not entry.is_gone]
        for each in self._unwritten.lines:
            each.is_taken = True
        if seqs:
            self._take_back(seqs, "clear")

    def _take_back(self, seqs: list[int], by: str) -> bool:
        """Exclude lines; whether nobody else took one of them just before."""
        at = None
        if self._episodes is not None:
            said = {"of": seqs, _BY: f"{self._key} {by}"}
            at = self._episodes.mark(self.session, "exclude", **said)
        if at is None:
            self._unwritten.pop(seqs)
            return True
        self._refresh()
        holders = _holders(self._marks)
        return all(seq in holders and holders[seq].seq == at.seq for seq in seqs)

    # ---- reading ----

    def entries(self) -> list[Entry]:
        """Return what is kept, in order; of what a person took back, that it is gone."""
        self._refresh()
        whole, seqs = excluded(self._marks)
        held = _holders(self._marks).items()
        told = {seq for seq, event in held if _BY in event.more}
        self._unwritten.popped -= told
        popped = self._unwritten.popped | told
        found = [
            entry._replace(is_gone=True) if whole or seq in seqs else entry
            for seq, entry in self._entries.items()
            if seq not in popped
        ]
        return found + [each.entry for each in self._unwritten.lines if not each.is_taken]

    def _refresh(self) -> None:
        """Take in what was added to the file; what cannot be read now is left for later."""
        if self._episodes is None:
            return
        path = self._episodes.folder / f"{self.session}{SUFFIX}"
        known = (self._file, self._end, self._head, self._entries, self._marks)
        try:
            self._read_on(path)
        except (OSError, StoreError):
            self._file, self._end, self._head, self._entries, self._marks = known
        late, self._late = self._late, []
        if late:
            self._take_back(late, "pop")

    def _read_on(self, path: Path) -> None:
        found = self._disk.find(path)
        if found is None:
            self._forget()
            return
        file = (found.st_dev, found.st_ino)
        if file != self._file or found.st_size < self._end or not self._is_same(path):
            self._forget()
            self._file = file
        for offset, line in lines(self._disk, path, self._end):
            if not line.endswith(b"\n"):
                break
            self._end = offset + len(line)
            self._head = self._head or line[:_HEAD]
            self._take(read_line(line))

    def _is_same(self, path: Path) -> bool:
        """Whether the file begins as it did: a new one may get the number of one that is gone."""
        descriptor = self._disk.open(path)
        try:
            return self._disk.read(descriptor, 0, len(self._head)) == self._head
        finally:
            self._disk.close(descriptor)

    def _take(self, episode: Episode | None) -> None:
        if episode is None:
            return
        if marked(episode)[0] is not None:
            self._marks.append(episode)
        elif REDACTED in episode.more:
            self._entries[episode.seq] = Entry(None, episode.call, is_gone=True, seq=episode.seq)
        else:
            self._take_value(episode)

    def _take_value(self, episode: Episode) -> None:
        kept = episode.meta.get(self._key)
        value = self._value(episode, kept) if isinstance(kept, dict) else _NONE
        if value is _NONE:
            value = self._plain(episode)
            if value is None:
                return
        self._entries[episode.seq] = Entry(
            value, episode.call, seq=episode.seq, json=readable(value)
        )

    def _value(self, episode: Episode, kept: dict[str, Any]) -> object:
        """Return the value of a line of ours; ``_NONE`` if somebody changed the line."""
        self._arrived(episode, kept)
        text = self._whole(episode)
        is_whole = episode.cut is None or len(text) == episode.cut
        try:
            return as_value(kept, text, is_whole=is_whole)
        except ValueError:
            return _NONE

    def _whole(self, episode: Episode) -> str:
        return episode.text if self._episodes is None else self._episodes.whole(episode)

    def _arrived(self, episode: Episode, kept: dict[str, Any]) -> None:
        """Note that a line was written which had to wait."""
        for number, each in enumerate(self._unwritten.lines):
            if each.is_line(episode, kept):
                del self._unwritten.lines[number]
                if each.is_taken:
                    self._late.append(episode.seq)
                return


def _holders(marks: Iterable[Episode]) -> dict[int, Episode]:
    """Return which event keeps a line out: the first one since it was brought in again."""
    found: dict[int, Episode] = {}
    for event in marks:
        away, of = marked(event)
        if away:
            for seq in of or ():
                found.setdefault(seq, event)
        elif of is None:
            found.clear()
        else:
            for seq in of:
                found.pop(seq, None)
    return found

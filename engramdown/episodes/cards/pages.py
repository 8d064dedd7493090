"""The pages on which a person corrects the card of a session, and what models said for it.

Promises: a page is made once, by whoever edits a card for the first time, and never written again
by us; reading creates nothing; what a model said never stands in the way of a person's page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from engramdown.episodes.cards.card import Card, compute, overlaid
from engramdown.episodes.cards.filled import (
    Filled,
    filled_in,
    read_filled,
    taken_back,
    without_filled,
    write_filled,
)
from engramdown.journal.working_notes import without_versions
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import stamp_of
from engramdown.transcripts.sessions import Transcript
from engramdown.transcripts.summary_log import FOLDER, without_gists_of

__all__ = ["FOLDER", "CardFiles"]

_SUFFIX: Final = ".card.md"
_FILLED: Final = ".jsonl"


class CardFiles:
    """The pages of one scope."""

    def __init__(self, root: Path, disk: EpisodeDisk) -> None:
        """Read the pages in the scope's folder ``root``; none needs to be there."""
        self.folder = root / FOLDER
        self._disk = disk

    def path(self, session: str) -> Path:
        """Return the file of a session's page."""
        return self.folder / f"{session}{_SUFFIX}"

    def filled_path(self, session: str) -> Path:
        """Return the file of what models said of a session."""
        return self.folder / f"{session}{_FILLED}"

    def card(self, transcript: Transcript) -> Card:
        """Return the card of a session as a model filled it in and a person corrected it.

        A page that is older than a redaction may hold what was redacted: it is left out until the
        person has saved it again, and the card is *stale*.
        """
        path, episodes = self.path(transcript.id), transcript.episodes
        found, data = self._disk.find(path), self._disk.load(path)
        redacted = max((each.ts for each in episodes if each.event == "redact"), default="")
        stale = found is not None and stamp_of(found.st_mtime_ns) < redacted
        card = compute(transcript.id, episodes)
        said = self.filled(transcript)
        if said is not None:
            card = filled_in(card, said, episodes)
        if data is None or stale:
            return replace(card, stale=stale)
        return overlaid(card, data.decode("utf-8", "replace"))

    def filled(self, transcript: Transcript) -> Filled | None:
        """Return what a model said of a session, unless lines were taken back since."""
        data = self._disk.load(self.filled_path(transcript.id))
        said = read_filled(data) if data else None
        if said is None or said.marks != taken_back(transcript.episodes):
            return None
        return said

    def fill(
        self,
        transcript: Transcript,
        said: Filled,
        lock: FolderLock,
        read: Callable[[str], Transcript],
    ) -> bool:
        """Keep what a model said of a session; ``False`` if lines were taken back meanwhile.

        Args:
            transcript: The session as the model was shown it.
            said: What it said.
            lock: That of the writers of transcripts.
            read: Reads a session as it is now.

        Raises:
            SessionNotFoundError: If the session was purged meanwhile.
            LockTimeoutError: If somebody else held the lock for too long.
            OSError: If it could not be written.
        """
        self._disk.make_folder(self.folder, durable=True)
        path = self.filled_path(transcript.id)
        # Under the lock that a redaction holds, too: it removes what was said before it.
        with lock.hold():
            now = read(transcript.id)
            if taken_back(now.episodes) != taken_back(transcript.episodes):
                return False
            before = self._disk.load(path) or b""
            if before and not before.endswith(b"\n"):
                before += b"\n"
            line = write_filled(said._replace(marks=taken_back(now.episodes)))
            self._disk.publish(path, before + line, durable=True, replace=True)
            self._disk.sync_folder(self.folder)
        return True

    def unfill(self, session: str, seqs: Collection[int]) -> None:
        """Take what was said of a session, and of these lines, off the disk; with the lock held.

        Earlier notes go as well: what they quote is not known.
        """
        path = self.filled_path(session)
        data = self._disk.load(path)
        if data is None:
            return
        left = without_versions(without_filled(without_gists_of(data, seqs)))
        if left.strip():
            self._disk.publish(path, left, durable=True, replace=True)
        else:
            self._disk.remove(path)
        self._disk.sync_folder(self.folder)

    def create(self, session: str, page: str) -> bool:
        """Write the first page of a session; ``False`` if there is one already."""
        self._disk.make_folder(self.folder, durable=True)
        data = page.encode("utf-8", "replace")
        made = self._disk.publish(self.path(session), data, durable=True)
        self._disk.sync_folder(self.folder)
        return made

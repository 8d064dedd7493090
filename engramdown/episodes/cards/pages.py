"""The pages on which a person corrects the card of a session.

Promises: a page is made once, by whoever edits a card for the first time, and never written again
by us; reading creates nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from engramdown.episodes.cards.card import Card, compute, overlaid
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import stamp_of
from engramdown.episodes.sessions import Transcript

__all__ = ["FOLDER", "CardFiles"]

FOLDER: Final = "gists"
"""The name of the folder in that of a scope."""

_SUFFIX: Final = ".card.md"


class CardFiles:
    """The pages of one scope."""

    def __init__(self, root: Path, disk: EpisodeDisk) -> None:
        """Read the pages in the scope's folder ``root``; none needs to be there."""
        self.folder = root / FOLDER
        self._disk = disk

    def path(self, session: str) -> Path:
        """Return the file of a session's page."""
        return self.folder / f"{session}{_SUFFIX}"

    def card(self, transcript: Transcript) -> Card:
        """Return the card of a session as a person corrected it.

        A page that is older than a redaction may hold what was redacted: it is left out until the
        person has saved it again, and the card is *stale*.
        """
        path, episodes = self.path(transcript.id), transcript.episodes
        found, data = self._disk.find(path), self._disk.load(path)
        redacted = max((each.ts for each in episodes if each.event == "redact"), default="")
        stale = found is not None and stamp_of(found.st_mtime_ns) < redacted
        card = compute(transcript.id, episodes)
        if data is None or stale:
            return replace(card, stale=stale)
        return overlaid(card, data.decode("utf-8", "replace"))

    def create(self, session: str, page: str) -> bool:
        """Write the first page of a session; ``False`` if there is one already."""
        self._disk.make_folder(self.folder, durable=True)
        data = page.encode("utf-8", "replace")
        made = self._disk.publish(self.path(session), data, durable=True)
        self._disk.sync_folder(self.folder)
        return made

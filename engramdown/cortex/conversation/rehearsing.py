"""A compaction that is only rehearsed: what would be summarised, in which order, and to how much.

Promises: asks no model and writes nothing; what it chooses is what a compaction of this moment
would choose, if each summary came out as long as it is asked to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from engramdown.consolidation.summaries import Request, Written
from engramdown.conversation.view import Count, Track
from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import Disk
from engramdown.transcripts.summary_log import Gist, GistLog, read_gist

__all__ = ["RehearsedTrack", "pretend"]

_PER_TOKEN: Final = 4


class _Kept(GistLog):
    """A log that keeps in mind what it is given."""

    gists: tuple[Gist, ...] = ()

    def append(
        self, session: str, transcript: Path | None, make: Callable[[], Sequence[bytes]]
    ) -> list[bytes]:
        """Keep lines, and return them."""
        del session, transcript
        lines = list(make())
        self.gists += tuple(gist for line in lines if (gist := read_gist(line)) is not None)
        return lines


class RehearsedTrack(Track):
    """The view of a conversation, with summaries that are nowhere else."""

    def __init__(self, episodes: EpisodicMemory, session: str, count: Count) -> None:
        """Follow a session as :class:`Track` does."""
        super().__init__(episodes, session, count)
        self.log: _Kept = _Kept(episodes.folder.parent, Disk(), episodes.recorder.lock)

    def keep(self) -> None:
        """Keep nothing: what is rehearsed is nowhere."""

    def refresh(self) -> None:
        """Take in what was added, and what was only kept in mind."""
        with self.guard:
            super().refresh()
            self._apply(gist for gist in self.log.gists if gist.id not in self.fold.gists)


def pretend(request: Request) -> Written:
    """Return a text that is as long as it should be at most."""
    return Written("x" * (request.target * _PER_TOKEN), "normal")

"""Finding in the transcripts of one scope, with nothing of what records them.

Promises: nothing of recall is imported before something is asked for; a transcript is never
changed, and none is created.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.clock import nanoseconds
from engramdown.episodes.disk import EpisodeDisk
from engramdown.settings import EpisodeSettings, episode_settings

if TYPE_CHECKING:
    from engramdown.episodes.recall import Context, Hit, Hits, Mode, Recall
    from engramdown.models.embedders import Embedder
    from engramdown.recall.vectors import Lane

__all__ = ["FOLDER", "Finder"]

FOLDER: Final = "episodes"
"""The name of the folder in that of a scope."""


class Finder:
    """What finds in the transcripts of one scope.

    Attributes:
        folder: Where they are.
        settings: What was configured.
    """

    def __init__(
        self,
        root: Path | str,
        settings: EpisodeSettings | None = None,
        disk: EpisodeDisk | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """Look in the ``episodes`` of the scope's folder ``root``; nothing is read yet."""
        self.folder = Path(root) / FOLDER
        self.settings = episode_settings() if settings is None else settings
        self._disk = disk or EpisodeDisk()
        self._recall: Recall | Lane | None = None
        self._embedder = embedder

    def recall(  # noqa: PLR0917 - in the order that is promised
        self,
        query: str,
        limit: int = 20,
        days_back: float | None = None,
        session: str | None = None,
        role: str | Iterable[str] | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        mode: Mode = "best",
    ) -> Hits:
        """Return what was said about ``query``, in all sessions.

        Args:
            query: Any string: words, a question, or for ``exact`` the very string. With ``""``
                and a range of time everything in it is a hit, the newest first.
            limit: How many hits at most.
            days_back: How many days back at most.
            session: The id of the only session to look in.
            role: The only role, or several. By default all but events and what was recalled.
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone.
            until: The latest time or day, which belongs to it.
            mode: ``best`` ranks what answers the question; ``exact`` finds the string as it is,
                capitals or not, the newest first.

        Raises:
            ValueError: If a role, a time or the mode is none.
        """
        from engramdown.recall.filters import wanted

        if mode not in ("best", "exact"):
            raise ValueError(f"{mode!r} is no mode; use best or exact")
        now = datetime.fromtimestamp(nanoseconds() / 1e9, UTC)
        filters = wanted(
            now, days_back=days_back, session=session, role=role, since=since, until=until
        )
        return self._recalling()(query, limit, mode, filters)

    def messages(
        self,
        since: date | str | None = None,
        until: date | str | None = None,
        *,
        role: str | Iterable[str] | None = None,
        session: str | None = None,
        limit: int = 1_000,
    ) -> list[Hit]:
        """Return what was said and done in a range of time, in all sessions, the oldest first.

        What was excluded or redacted is left out.

        Args:
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone. By default
                there is none.
            until: The latest time or day, which belongs to it.
            role: The only role, or several. By default all but events and what was recalled.
            session: The id of the only session to look in.
            limit: How many at most; of more these are the newest.

        Raises:
            ValueError: If a role or a time is none.

        >>> from datetime import date
        >>> Finder("nowhere").messages(date(2026, 2, 27), date(2026, 2, 28), role="user")
        []
        """
        from engramdown.recall.filters import wanted

        now = datetime.fromtimestamp(nanoseconds() / 1e9, UTC)
        filters = wanted(now, session=session, role=role, since=since, until=until)
        return self._recalling().messages(limit, filters)

    def around(self, hits: Sequence[Hit]) -> list[Context]:
        """Return what was said around each of ``hits``, up to a silence, as it is configured."""
        from engramdown.episodes.search.surroundings import Limits

        own = self.settings
        limits = Limits(own.gap_minutes, own.around, own.around_hours, own.shown)
        return self._recalling().around(hits, limits)

    def _recalling(self) -> Recall | Lane:
        if self._recall is None:
            # Imported here: what only records needs none of it.
            from engramdown.episodes.meaning.answering import answering

            self._recall = answering(self.folder, self._disk, self.settings, self._embedder)
        return self._recall

    def keep_up(self) -> None:
        """Take what was said into the index, which is made if there is none."""
        self._recalling().keep_up()

    def close(self) -> None:
        """Let go of the index; the next recall opens it again."""
        if self._recall is not None:
            self._recall.close()

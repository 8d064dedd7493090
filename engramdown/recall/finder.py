"""Finding in the transcripts of one scope.

Nothing that searches is imported before the first search, since recording needs none of it. A
transcript is never changed, and none is created.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from engramdown.settings import EpisodeSettings, episode_settings
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import CACHE, FOLDER

if TYPE_CHECKING:
    from engramdown.models.embedders import Embedder
    from engramdown.recall.episodes import Moment, Recall
    from engramdown.recall.query import Context, Hit, Hits, Mode, Wanted


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
        disk: Disk | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """Look in the ``episodes`` of the scope's folder ``root``; nothing is read yet."""
        self.folder = Path(root) / FOLDER
        self.settings = episode_settings() if settings is None else settings
        self._disk = disk or Disk()
        self._recall: Recall | None = None
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
            ValueError: If a role, a time or the mode is invalid.
        """
        if mode not in ("best", "exact"):
            raise ValueError(f"{mode!r} is not a mode; use best or exact")
        from engramdown.recall.query import wanted

        filters = wanted(session=session, role=role, since=since, until=until, days_back=days_back)
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
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone.
            until: The latest time or day, which belongs to it.
            role: The only role, or several. By default all but events and what was recalled.
            session: The id of the only session to look in.
            limit: How many at most; of more these are the newest.

        Raises:
            ValueError: If a role or a time is invalid.

        >>> from datetime import date
        >>> Finder("nowhere").messages(date(2026, 2, 27), date(2026, 2, 28), role="user")
        []
        """
        from engramdown.recall.query import wanted

        filters = wanted(session=session, role=role, since=since, until=until)
        return self._recalling().messages(limit, filters)

    def similar(
        self, query: str, limit: int, wanted: Wanted, *, by_meaning: bool = False
    ) -> list[Hit]:
        """Return what is nearest to ``query``; scores are from 0 to 1.

        Args:
            query: Any string.
            limit: How many at most.
            wanted: Which lines.
            by_meaning: Ask the embedder; by words alone otherwise.

        Raises:
            EmbeddingError: If there is no embedder, or it fails.
        """
        recalling = self._recalling()
        if not by_meaning:
            return recalling.by_words(query, limit, wanted)
        from engramdown.models.embedders import EmbeddingError
        from engramdown.recall.vectors import VectorRecall

        if not isinstance(recalling, VectorRecall):
            raise EmbeddingError("no embedder is set for the transcripts")
        return recalling.nearest(query, limit, wanted)

    def newest(self, limit: int, wanted: Wanted, before: Moment | None = None) -> list[Hit]:
        """Return the newest ``limit`` lines that are wanted, and before one of them if given.

        They come with the oldest first.
        """
        return self._recalling().messages(limit, wanted, before)

    @property
    def has_embedder(self) -> bool:
        """Whether something is set that finds by meaning."""
        return bool(self._embedder or self.settings.embedder)

    @property
    def is_indexed(self) -> bool:
        """Whether the index is there, so that the next question need not make it."""
        return self._recalling().index.is_made()

    def around(self, hits: Sequence[Hit]) -> list[Context]:
        """Return what was said around each of ``hits``, up to a silence, as it is configured."""
        return self._recalling().around(hits, self.settings)

    def _recalling(self) -> Recall:
        if self._recall is None:
            cache = self.folder.parent / CACHE
            embedder = self._embedder or self.settings.embedder
            if embedder:
                from engramdown.recall.vectors import VectorRecall

                seconds = self.settings.embedder_timeout
                self._recall = VectorRecall(self.folder, cache, self._disk, embedder, seconds)
            else:
                from engramdown.recall.episodes import Recall

                self._recall = Recall(self.folder, cache, self._disk)
        return self._recall

    def keep_up(self) -> None:
        """Bring the index up to date; it is made if there is none."""
        self._recalling().index.ask(lambda _: None)

    def close(self) -> None:
        """Let go of the index; the next recall opens it again."""
        if self._recall is not None:
            self._recall.index.close()

"""What is kept of transcripts beside them: the index, and the vectors of what was said.

Promises: what is taken out of the transcripts can be taken out of these, so that nothing of it can
be read in them; the rest of them is not made anew for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.watch import CACHE

__all__ = ["Derived"]

_INDEX: Final = ("index.sqlite", "index.seal")
_VECTORS: Final = "vectors.sqlite"


class Derived:
    """What is kept of the transcripts of one folder."""

    def __init__(self, folder: Path, disk: EpisodeDisk) -> None:
        """See to what was made of the transcripts in ``folder``."""
        self._folder = folder
        self._cache = folder.parent / CACHE
        self._disk = disk

    @contextmanager
    def without(self, sessions: Iterable[str]) -> Iterator[Callable[[], None]]:
        """Prepare an index without ``sessions`` while they are as they were.

        What is yielded puts it in the place of the other; to be called with the lock of the
        transcripts held, before they are changed.
        """
        try:
            import sqlite3  # noqa: F401 - a Python may be built without it
        except ImportError:
            yield self.drop_index
            return
        from engramdown.episodes.index.removal import removal

        with removal(self._folder, self._cache, sessions, self._disk) as replace:
            yield replace

    def drop_index(self) -> None:
        """Remove the index; the next question makes it anew."""
        for name in self._disk.names(self._cache):
            if name.startswith(_INDEX):
                self._disk.remove(self._cache / name)

    def forget_unsaid(self) -> None:
        """Forget the vectors of texts that nobody has said, after these were taken out."""
        if self._disk.find(self._cache / _VECTORS) is not None:
            # Imported here: without embeddings nothing of them is needed.
            from engramdown.episodes.meaning.lane import forget_unsaid

            forget_unsaid(self._folder, self._cache, self._disk)

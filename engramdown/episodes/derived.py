"""What is kept of transcripts beside them: the index, vectors, and what sleep has in hand.

Promises: what is taken out of the transcripts can be taken out of these, so that nothing of it can
be read in them; the rest of them is not made anew for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.changes import CACHE

__all__ = ["WORK", "Derived", "in_hand"]

WORK: Final = "sleep-work.json"
"""The file, in the folder of a scope, of what sleep has learned and not yet put into memory."""
_INDEX: Final = ("index.sqlite", "index.seal")
_VECTORS: Final = "vectors.sqlite"


def in_hand(root: Path, disk: EpisodeDisk) -> list[Path]:
    """Return the files of what sleep has in hand in the scope's folder, torn ones included."""
    return [root / name for name in disk.names(root) if name.startswith(WORK)]


class Derived:
    """What is kept of the transcripts of one folder."""

    def __init__(self, folder: Path, disk: EpisodeDisk) -> None:
        """See to what was made of the transcripts in ``folder``."""
        self._folder = folder
        self._root = folder.parent
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
        from engramdown.recall.index_file import removal

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
            from engramdown.recall.vectors import forget_unsaid

            forget_unsaid(self._folder, self._cache, self._disk)

    def in_hand(self, session: str) -> list[Path]:
        """Return the files in which sleep may have words of a session that it has learned from."""
        found = in_hand(self._root, self._disk)
        mark = session.encode()
        return [path for path in found if mark in (self._disk.load(path) or b"")]

    def forget_in_hand(self, session: str) -> None:
        """Remove these; the next sleep learns again, from what is left of the session."""
        for path in self.in_hand(session):
            self._disk.remove(path)

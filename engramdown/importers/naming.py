"""What imported sessions are called: ``<source>-<date>-<digest>``.

Promises: the same conversation has the same name, whatever day it is found to begin on. The digest
is that of the conversation's id, or of the place of its file where ids are not unique.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Final

from engramdown.episodes.episode import read_line
from engramdown.episodes.sessions import lines
from engramdown.episodes.watch import SUFFIX
from engramdown.importers.records import Conversation, Kept, digest
from engramdown.storage.disk import EpisodeDisk

__all__ = ["Names"]

_NAME: Final = re.compile(r"(.+)-[0-9]{8}-([0-9a-f]{12})")
_SHORT: Final = 12
_LONGEST: Final = 100


class Names:
    """The names of the imported sessions of one folder."""

    def __init__(self, folder: Path, disk: EpisodeDisk) -> None:
        """Look at the sessions in ``folder``, which need not exist."""
        self._folder = folder
        self._disk = disk
        stems = (name.removesuffix(SUFFIX) for name in disk.names(folder) if name.endswith(SUFFIX))
        found = ((_NAME.fullmatch(stem), stem) for stem in stems)
        self._known = {(match[1], match[2]): stem for match, stem in found if match}

    def name(self, source: str, conversation: Conversation, origin: str, at: datetime) -> str:
        """Return the id of the session of a conversation.

        Args:
            source: The name of its source.
            conversation: The conversation.
            origin: Where its file was when it was read first.
            at: When it began.
        """
        place = "" if conversation.everywhere else origin
        short = digest(source, place, conversation.key)[:_SHORT]
        return self._known.setdefault((source, short), f"{source}-{at:%Y%m%d}-{short}")

    def own(self, kept: Kept) -> str:
        """Return the id of the session of ours that begins with an episode.

        It is its own, unless another session has that here.
        """
        path = self._folder / f"{kept.key}{SUFFIX}"
        if self._disk.find(path) is None:
            return kept.key
        first = next((read_line(line) for _, line in lines(self._disk, path)), None)
        if first is not None and first.id == kept.episode.id:
            return kept.key
        short = digest(kept.key, kept.episode.id)[:_SHORT]
        return f"{kept.key[: _LONGEST - _SHORT - 1]}-{short}"

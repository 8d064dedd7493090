"""Where the view of a conversation stood when it was summarised last, in the cache.

Promises: it holds numbers, ids and places, and no text; it may be deleted, cut short or spoilt at
any time: a digest tells that it is whole, and what it says is looked up and compared before it is
used. That it cannot be written is no failure: the transcript says it all, and takes longer to read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.changes import CACHE

__all__ = ["FOLDER", "Kept", "Place", "ViewCache"]

FOLDER: Final = "views"
"""The name of the folder in the cache."""

_VERSION: Final = 1
_SUFFIX: Final = ".json"
_LARGEST: Final = 10_000_000


class Place(NamedTuple):
    """Something that is in the view.

    Attributes:
        source: The number of a message, or the id of a summary.
        id: The id of the message or the summary.
        at: Where its line begins, in bytes.
    """

    source: int | str
    id: str
    at: int


class Kept(NamedTuple):
    """The view as it was.

    Attributes:
        transcript: The inode of the transcript, and how far it was read, in bytes.
        log: The same of the log of summaries.
        view: What was in the view, in order.
    """

    transcript: tuple[int, int]
    log: tuple[int, int]
    view: tuple[Place, ...]


class ViewCache:
    """The views of the conversations of one scope."""

    def __init__(self, root: Path, disk: EpisodeDisk) -> None:
        """Keep them in the cache of the scope's folder ``root``."""
        self.folder = root / CACHE / FOLDER
        self._disk = disk

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return self.folder / f"{session}{_SUFFIX}"

    def write(self, session: str, kept: Kept) -> None:
        """Keep a view, if that is possible."""
        told = json.dumps({"v": _VERSION, **kept._asdict()}, separators=(",", ":")).encode()
        data = b"%b\n%b\n" % (told, _seal(told))
        # It is only slower without.
        with contextlib.suppress(OSError, StoreError):
            self._disk.make_folder(self.folder, durable=False)
            self._disk.publish(self.path(session), data, durable=False, replace=True)

    def read(self, session: str) -> Kept | None:
        """Return a view as it was kept; ``None`` if there is none."""
        try:
            found = self._disk.find(self.path(session))
            if found is None or found.st_size > _LARGEST:
                return None
            told, _, seal = (self._disk.load(self.path(session)) or b"").partition(b"\n")
            return _kept(json.loads(told)) if seal == _seal(told) + b"\n" else None
        except (OSError, StoreError, ValueError, TypeError, LookupError, RecursionError):
            return None


def _seal(told: bytes) -> bytes:
    return hashlib.sha256(told).hexdigest().encode()


def _kept(told: Any) -> Kept | None:  # noqa: ANN401 - whatever JSON holds
    """Return what a file says, if it is of this version.

    Raises:
        TypeError: If it has another form.
        ValueError: If it has another form.
        LookupError: If something is missing.
    """
    if told["v"] != _VERSION:
        return None
    (spoken, read), (log, logged) = told["transcript"], told["log"]
    view = tuple(_place(*place) for place in told["view"])
    return Kept((int(spoken), int(read)), (int(log), int(logged)), view)


def _place(source: Any, name: Any, at: Any) -> Place:  # noqa: ANN401 - whatever JSON holds
    """Return a place.

    Raises:
        ValueError: If it cannot be one.
    """
    if not isinstance(source, int | str) or int(at) < 0:
        raise ValueError(source)
    return Place(source, str(name), int(at))

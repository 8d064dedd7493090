"""What is wrong with recording, for whoever asks.

Promises: a process that cannot write transcripts is seen by others: by the file that it leaves, or
because they cannot write there either. Looking writes nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.storage.disk import EpisodeDisk

__all__ = ["Trouble", "find_trouble", "marker"]

_BEFORE: Final = "degraded-"
_AFTER: Final = ".json"


class Trouble(NamedTuple):
    """Why recording does not work.

    Attributes:
        process: The process that could not write.
        since: Since when, as in a line of a transcript, or ``""``.
        reason: What the system said.
        waiting: How many episodes wait in its memory.
        lost: How many it could not even keep there.
        ended: Whether that process is gone, and what waited with it.
    """

    process: int
    since: str
    reason: str
    waiting: int = 0
    lost: int = 0
    ended: bool = False

    def data(self) -> dict[str, Any]:
        """Return it as JSON can say it."""
        return self._asdict()

    def __str__(self) -> str:
        """Return one sentence."""
        if self.ended:
            return (
                f"process {self.process} ended with {_episodes(self.waiting + self.lost)} not "
                f"written since {self.since}: {self.reason}"
            )
        said = f"transcripts are not written: {self.reason}"
        if self.waiting or self.lost:
            said += f"; {_episodes(self.waiting)} in the queue"
        return f"{said}, {_episodes(self.lost)} lost" if self.lost else said


def marker(process: int) -> str:
    """Return the name of the file that says that a process is in trouble."""
    return f"{_BEFORE}{process}{_AFTER}"


def find_trouble(folder: Path, disk: EpisodeDisk) -> list[tuple[str, Trouble]]:
    """Return what is wrong in a folder of transcripts: the name of a file and the trouble."""
    if disk.find(folder) is None:
        return []
    if not disk.is_writable(folder):
        reason = f"{folder}: is read-only; make it writable (chmod u+w)"
        return [(".", Trouble(disk.process(), "", reason))]
    names = disk.names(folder)
    found = [(name, _read(folder / name, disk)) for name in names if _is_marker(name)]
    return [(name, trouble) for name, trouble in found if trouble is not None]


def _is_marker(name: str) -> bool:
    return name.startswith(_BEFORE) and name.endswith(_AFTER)


def _read(path: Path, disk: EpisodeDisk) -> Trouble | None:
    try:
        data = json.loads(disk.load(path) or b"")
        trouble = Trouble(**(data | {"ended": not disk.is_running(data["process"])}))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, OSError, StoreError):
        # Removed meanwhile, or not by us: then there is nothing that we can say.
        return None
    return trouble if type(trouble.waiting) is type(trouble.lost) is int else None


def _episodes(count: int) -> str:
    return f"{count} episode{'' if count == 1 else 's'}"

"""What ``doctor --fix`` may tidy in the transcripts of a scope.

Promises: no line of a transcript is touched: a session that was left open is ended with the time
of its last line, and the note that a process left about its trouble is removed once it was told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.memory import FOLDER, EpisodicMemory
from engramdown.episodes.running import left_open
from engramdown.episodes.sessions import Sessions
from engramdown.episodes.trouble import find_trouble
from engramdown.errors import StoreError
from engramdown.settings import EpisodeSettings

__all__ = ["Tidying", "plan_tidying", "tidy"]


@dataclass(frozen=True, slots=True)
class Tidying:
    """What can be tidied in one scope.

    Attributes:
        root: The folder of the scope.
        open: The ids of the sessions to end.
        told: The files to remove, and what each says.
    """

    root: Path
    open: tuple[str, ...] = ()
    told: tuple[tuple[Path, str], ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is anything to do."""
        return bool(self.open or self.told)


def plan_tidying(root: Path, settings: EpisodeSettings) -> Tidying:
    """Return what can be tidied in the scope at ``root``; nothing where nothing is recorded."""
    folder, disk = root / FOLDER, EpisodeDisk()
    if not settings.enabled:
        return Tidying(root)
    left = left_open(Sessions(folder, disk), disk)
    told = [
        (folder / name, str(trouble))
        for name, trouble in find_trouble(folder, disk)
        if trouble.ended
    ]
    return Tidying(root, tuple(info.id for info in left), tuple(told))


def tidy(plans: Iterable[Tidying], settings: EpisodeSettings) -> None:
    """Carry out what was planned; what somebody else did meanwhile is done.

    Raises:
        StoreError: If a session could not be ended.
        OSError: If a file could not be removed.
    """
    for each in plans:
        memory = EpisodicMemory(each.root, settings)
        failed = memory.close_orphans().failed if each.open else {}
        memory.close()
        if failed:
            session, reason = next(iter(failed.items()))
            raise StoreError(f"{session} could not be ended: {reason}")
        for path, _ in each.told:
            path.unlink(missing_ok=True)

"""Where a hook finds memory, and how patient it is.

Promises: nothing is created where nobody set memory up; a scope that somebody else holds is waited
for a moment, not for as long as a person would wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.settings import Settings, find_project, global_home, load_or_strictest

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.engram import Scope
    from engramdown.episodes.memory import EpisodicMemory

__all__ = ["PATIENCE", "HookPlace", "find_place"]

PATIENCE: Final = 0.5
"""Seconds for which a hook waits for a lock."""

_CLOSED: Final = "no project memory here; a hook does not begin one"


class HookPlace(NamedTuple):
    """Where memory is for an agent.

    Attributes:
        home: The folder of the global scope; it need not exist.
        project: The ``.engramdown`` of the project, or ``None``.
        start: The folder that the agent works in.
        settings: What was configured.
        trouble: Why the settings of the project could not be read, or ``""``; the strictest hold
            then.
    """

    home: Path
    project: Path | None
    start: Path
    settings: Settings
    trouble: str = ""

    @property
    def root(self) -> Path:
        """The folder of the scope that keeps what hooks keep."""
        return self.project or self.home

    def cortex(self, settings: Settings | None = None) -> Cortex:
        """Open memory.

        Args:
            settings: Other settings than those that were configured.
        """
        # Imported here: after most tool calls nothing of memory is needed.
        from engramdown.cortex.cortex import Cortex
        from engramdown.hippocampus.read_only import REFUSED, ClosedDisk, is_refused
        from engramdown.hippocampus.store import Hippocampus
        from engramdown.storage.disk import Disk

        chosen = settings or self.settings

        def opened(root: Path, scope: Scope, closed: str = "") -> Hippocampus:
            said = chosen.of(scope)
            durable, limit = said.durability == "full", said.max_file_bytes
            disk = ClosedDisk(closed, limit=limit) if closed else Disk(durable=durable, limit=limit)
            patience = min(PATIENCE, said.lock_timeout)
            return Hippocampus(root, scope, disk=disk, lock_timeout=patience)

        if self.project is not None:
            refused = REFUSED if is_refused(self.home, self.project) else ""
            everywhere = opened(self.home, "global", refused)
            here = opened(self.project, "project")
        else:
            everywhere = opened(self.home, "global")
            here = opened(self.start / ".engramdown", "project", _CLOSED)
        return Cortex(everywhere, here, chosen.mode, settings=chosen)

    def episodes(self) -> EpisodicMemory | None:
        """Return the transcripts of the project; without a project nothing is recorded."""
        if self.project is None:
            return None
        from engramdown.episodes.memory import EpisodicMemory

        return EpisodicMemory(self.project, self.settings.episodes)


def find_place(start: Path, home: Path | None = None, mode: str | None = None) -> HookPlace | None:
    """Return where memory is for an agent that works in ``start``, or ``None`` if nowhere.

    Args:
        start: The folder.
        home: The folder of the global scope, if not the usual one.
        mode: The mode that an argument asks for.

    Raises:
        SettingsError: If a setting is wrong that is no project's.
    """
    place = home or global_home()
    project = find_project(start, place)
    if project is None and not place.is_dir():
        return None
    # Whoever broke its settings must not take away what a model is told of all projects.
    settings = load_or_strictest(place, project, mode)
    return HookPlace(place, project, start, settings, settings.trouble)

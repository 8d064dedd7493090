"""What ``doctor --fix`` may tidy in the transcripts of a scope.

Promises: a session that was left open is ended with the time of its last line, and the note that a
process left about its trouble is removed once it was told. Of a line only the secrets are touched,
which the settings would hide if it were written today.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.doctor.findings import Finding, find
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.recorder import find_trouble
from engramdown.errors import EngramdownError, StoreError
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import FOLDER
from engramdown.transcripts.payloads import TOOL_ROLES
from engramdown.transcripts.sessions import Sessions, left_open

__all__ = ["Tidying", "plan_tidying", "telling_findings", "telling_sessions", "tidy"]


@dataclass(frozen=True, slots=True)
class Tidying:
    """What can be tidied in one scope.

    Attributes:
        root: The folder of the scope.
        open: The ids of the sessions to end.
        told: The files to remove, and what each says.
        telling: The ids of the sessions that tell secrets, and the lines that do, with what they
            say without them.
    """

    root: Path
    open: tuple[str, ...] = ()
    told: tuple[tuple[Path, str], ...] = ()
    telling: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is anything to do."""
        return bool(self.open or self.told or self.telling)


def plan_tidying(root: Path, settings: EpisodeSettings) -> Tidying:
    """Return what can be tidied in the scope at ``root``; nothing where nothing is recorded."""
    folder, disk = root / FOLDER, Disk()
    if not settings.enabled:
        return Tidying(root)
    left = left_open(Sessions(folder, disk), disk)
    told = [
        (folder / name, str(trouble))
        for name, trouble in find_trouble(folder, disk)
        if trouble.ended
    ]
    telling = tuple(telling_sessions(root, settings))
    return Tidying(root, tuple(info.id for info in left), tuple(told), telling)


def telling_sessions(
    root: Path, settings: EpisodeSettings, most: int | None = None
) -> Iterator[tuple[str, tuple[tuple[int, str], ...]]]:
    """Yield the sessions that tell secrets which the settings hide, newest first, and the lines.

    Args:
        root: The folder of the scope.
        settings: Its settings; where they hide nothing, there is nothing to say.
        most: How many bytes of transcripts to look at; ``None`` for all of them.

    Raises:
        OSError: If a transcript cannot be read.
    """
    if settings.redact == "off":
        return
    memory = EpisodicMemory(root, settings)
    try:
        forgetting = memory.forgetting()
        roles = None if settings.redact == "all" else TOOL_ROLES
        for info in sorted(memory.sessions(), key=lambda info: info.last, reverse=True):
            if most is not None:
                most -= info.size
                if most < 0:
                    return
            if lines := forgetting.telling(info.id, roles):
                yield info.id, lines
    finally:
        memory.close()


def telling_findings(root: Path, settings: EpisodeSettings) -> list[Finding]:
    """Return what the newest transcripts tell, for who only looks."""
    try:
        return [
            find(
                (f"../{FOLDER}/{session}.jsonl", lines[0][0] + 1),
                "transcript-secret",
                fixable=True,
                lines="1 line" if len(lines) == 1 else f"{len(lines)} lines",
            )
            for session, lines in telling_sessions(root, settings, _LOOKED_AT)
        ]
    except (OSError, EngramdownError):
        return []  # what cannot be read is a finding of its own


_LOOKED_AT: Final = 4 * 1024 * 1024


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
        _hide(each, settings)


def _hide(plan: Tidying, settings: EpisodeSettings) -> None:
    if not plan.telling:
        return
    memory = EpisodicMemory(plan.root, settings)
    try:
        for session, lines in plan.telling:
            memory.forgetting().hide(session, [seq for seq, _ in lines])
    finally:
        memory.close()

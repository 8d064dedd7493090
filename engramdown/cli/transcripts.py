"""Opens the transcripts of a scope for a command, and finds the session that it means.

Promises: loads nothing of memory; a prefix that means several sessions is refused with the list of
them; an id that is there in full is never ambiguous with a longer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engramdown.cli import entry_messages
from engramdown.cli import log_messages as said
from engramdown.cli.codes import RefusalError
from engramdown.cli.opening import settings_at, tell_unread
from engramdown.cli.options import Place
from engramdown.cli.scopes import meant, roots
from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.sessions import SessionInfo, Sessions

__all__ = ["Transcripts", "open_all", "open_one", "open_transcripts"]

_OFFERED: Final = 8


class Transcripts:
    """The transcripts of one scope.

    Attributes:
        memory: What records them.
        disk: What reads them.
        sessions: What stands in their folder.
    """

    def __init__(self, memory: EpisodicMemory) -> None:
        """Read where ``memory`` records."""
        self.memory = memory
        self.disk = EpisodeDisk()
        self.sessions = Sessions(memory.folder, self.disk)

    def find(self, prefix: str) -> str:
        """Return the id of the session that ``prefix`` means; the newest one for ``""``.

        Raises:
            RefusalError: There is none, or there are several.
        """
        ids = self.sessions.ids()
        if not ids:
            raise RefusalError(said.no_sessions(self.memory.folder))
        wanted = prefix.lower()
        if wanted in ids:
            return wanted
        matches = [session for session in ids if session.startswith(wanted)]
        if not matches:
            raise RefusalError(said.no_session(prefix, ids))
        if wanted and matches[1:]:
            raise RefusalError(entry_messages.ambiguous(prefix), self._offered(matches))
        known = self._known(matches)
        return known[0].id if known else matches[0]

    def running(self) -> SessionInfo | None:
        """Return the session that runs; see :func:`engramdown.transcripts.sessions.find_running`."""
        from engramdown.transcripts.sessions import find_running

        return find_running(self.sessions, self.disk)

    def _known(self, ids: Sequence[str]) -> list[SessionInfo]:
        """Return what is known of sessions, the newest first."""
        known = [info for info in map(self.sessions.info, ids) if info is not None]
        return sorted(known, key=lambda info: (info.started, info.id), reverse=True)

    def _offered(self, ids: Sequence[str]) -> list[str]:
        known = self._known(ids)
        shown = [said.one_session(info) for info in known[:_OFFERED]]
        return [*shown, *([said.and_more(len(known) - _OFFERED)] if known[_OFFERED:] else [])]


def open_transcripts(place: Place, scope: str | None, *, write: bool = False) -> Transcripts:
    """Return the transcripts of a scope: by default the project's, or else the global ones.

    Args:
        place: Where memory is.
        scope: ``project`` or ``global``, if one was asked for.
        write: Whether something is to be recorded.

    Raises:
        click.ClickException: There is no such scope, or recording is switched off.
    """
    memory = open_one(place, scope)
    if write and not memory.settings.enabled:
        raise RefusalError(said.SWITCHED_OFF)
    transcripts = Transcripts(memory)
    tell_unread(transcripts.sessions.obstacles())
    return transcripts


def open_one(place: Place, scope: str | None) -> EpisodicMemory:
    """Return what records in a scope; see :func:`open_transcripts`."""
    own, root = meant(place, scope)
    settings = settings_at(place, root if own == "project" else None)
    return EpisodicMemory(root, settings.episodes)


def open_all(place: Place) -> list[EpisodicMemory]:
    """Return what records in each scope that there is, the project first.

    Raises:
        click.ClickException: There is none.
    """
    found = [EpisodicMemory(root, settings_at(place, root).episodes) for _, root in roots(place)]
    for memory in found:
        tell_unread(Sessions(memory.folder, EpisodeDisk()).obstacles())
    return found

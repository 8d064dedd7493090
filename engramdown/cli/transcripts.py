"""Opens the transcripts of a scope for a command, and finds the session that it means.

Promises: loads nothing of memory; a prefix that means several sessions is refused with the list of
them; an id that is there in full is never ambiguous with a longer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click

from engramdown.cli import views
from engramdown.cli.layout import clock
from engramdown.cli.opening import settings_at, tell_unread
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.scopes import meant, roots
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import EngramdownError
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.sessions import SessionInfo, Sessions, Tally, count

_OFFERED: Final = 8
_COMPLETED: Final = 50
NONE_RUNS: Final = "no session runs; `engramdown log list --open` shows those that were left open"
SWITCHED_OFF: Final = (
    "nothing is recorded: transcripts are switched off, by ENGRAMDOWN_EPISODES or by `enabled` "
    "below [episodes] in config.toml"
)


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
            raise RefusalError(no_sessions(self.memory.folder))
        wanted = prefix.lower()
        if wanted in ids:
            return wanted
        matches = [session for session in ids if session.startswith(wanted)]
        if not matches:
            raise RefusalError(no_session(prefix, ids))
        if wanted and matches[1:]:
            raise RefusalError(views.ambiguous(prefix), self._offered(matches))
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
        shown = [one_session(info) for info in known[:_OFFERED]]
        return [*shown, *([and_more(len(known) - _OFFERED)] if known[_OFFERED:] else [])]


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
        raise RefusalError(SWITCHED_OFF)
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


def no_sessions(folder: Path) -> str:
    """Say that nothing was recorded."""
    return f'no session in {folder} yet; `engramdown log user "..."` records the first line'


def no_session(wanted: str, known: Iterable[str]) -> str:
    """Say that there is no such session, and which one was perhaps meant."""
    import difflib

    near = difflib.get_close_matches(wanted, known, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"no session {wanted!r}; {meant}`engramdown log` lists them"


def one_session(info: SessionInfo) -> str:
    """Name a session among others, in one line."""
    title = f"  {' '.join(info.title.split())}" if info.title else ""
    return f"{info.id}  {clock(info.started)}  {info.reason or 'open'}{title}"


def and_more(count: int) -> str:
    """Say how many are not shown."""
    return f"... and {count} more"


def known_sessions(place: Place, scope: str | None, prefix: str) -> list[tuple[str, str]]:
    """Return the ids that begin with ``prefix``, the newest first, and what each is about.

    None if they cannot be read.
    """
    try:
        transcripts = open_transcripts(place, scope)
        ids = [each for each in transcripts.sessions.ids() if each.startswith(prefix)]
        known = [info for info in map(transcripts.sessions.info, ids) if info is not None]
        known.sort(key=lambda info: (info.started, info.id), reverse=True)
        return [
            (info.id, words_of(info, count(transcripts.sessions, transcripts.disk, info.id)))
            for info in known[:_COMPLETED]
        ]
    except (EngramdownError, click.ClickException, OSError):
        return []


def words_of(info: SessionInfo, tally: Tally) -> str:
    """Return the title of a session, or its first words, in one line."""
    return " ".join((info.title or tally.first).split())

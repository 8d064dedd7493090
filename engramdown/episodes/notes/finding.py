"""The notes on all sessions of a scope, searched.

Promises: any text is a query; notes on a session that was excluded are not found, nor such as are
older than a redaction of it, since they may hold what was redacted. Reads only; what cannot be
read hides no other.
"""

from __future__ import annotations

import contextlib
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.episodes.ranked import asked, may_hold, piece, ranked, stand_in
from engramdown.errors import SessionNotFoundError, StoreError
from engramdown.journal.working_notes import EPISODES, FOLDER, Note, WorkingNotes
from engramdown.storage.disk import Disk, EpisodeDisk
from engramdown.transcripts.episode import is_session_id, stamp_of
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.visibility import excluded

__all__ = ["NoteMatch", "search_notes"]

_SUFFIX: Final = ".md"


class NoteMatch(NamedTuple):
    """Notes that answer a question.

    Attributes:
        session: The session that they are on.
        path: Their file.
        updated: When they were written last, or ``""``.
        piece: Why they were found, in 250 characters at most.
        score: How well they answer; comparable within one search only.
    """

    session: str
    path: Path
    updated: str
    piece: str
    score: float


def search_notes(
    root: Path,
    query: str,
    limit: int = 5,
    *,
    exact: bool = False,
    session: str | None = None,
    since: date | None = None,
    until: date | None = None,
) -> list[NoteMatch]:
    """Return the notes that answer ``query``, the best first.

    Args:
        root: The folder of the scope.
        query: Words, or for ``exact`` the very string, capitals or not.
        limit: How many at most.
        exact: Whether to look for the string as it is.
        session: The only session.
        since: The earliest day, by when they were written last.
        until: The latest day.
    """
    stems = asked(query)
    found = []
    for each, note in _notes(root, session):
        day = note.updated[:10]
        early = since is not None and day < since.isoformat()
        late = until is not None and day > until.isoformat()
        if not (early or late) and (exact or may_hold(note.text, stems)):
            found.append((note.updated, each, note.text))
    found.sort()
    texts = [text for _, _, text in found]
    hits: list[NoteMatch] = []
    for at, score in stand_in(query, texts) if exact else ranked(stems, texts):
        if len(hits) >= limit:
            break
        updated, name, text = found[at]
        notes = WorkingNotes(root, name)
        if _may_be_shown(root, name, updated):
            shown = piece(" ".join(text.split()), query, stems)
            hits.append(NoteMatch(name, notes.path, updated, shown, score))
    return hits


def _notes(root: Path, session: str | None) -> list[tuple[str, Note]]:
    """Return the notes on each session, or on one."""
    found = []
    for name in Disk().names(root / FOLDER):
        each = name.removesuffix(_SUFFIX)
        if name.endswith(_SUFFIX) and is_session_id(each) and session in (None, each):
            with contextlib.suppress(StoreError):
                found.append((each, WorkingNotes(root, each).read()))
    return found


def _may_be_shown(root: Path, session: str, updated: str) -> bool:
    try:
        episodes = Sessions(root / EPISODES, EpisodeDisk()).read(session).episodes
    except SessionNotFoundError:
        return True
    redacted = max((each.ts for each in episodes if each.event == "redact"), default="")
    # Who looked through them since has saved them, but seldom says so in the front matter.
    saved = stamp_of(Disk().changed_at(WorkingNotes(root, session).path))
    return not excluded(episodes).whole and redacted[:19] <= max(saved, updated)[:19]

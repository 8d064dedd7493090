"""The tools with which a model writes the journal and its working notes, and searches the journal.

Promises: a secret is never written, and its kind is told; in mode off nothing is written; what is
found is inert, on a line each, and labelled as data.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from engramdown.context.search import LABEL, flat
from engramdown.errors import EngramdownError, StoreError
from engramdown.language.untrusted import inert

if TYPE_CHECKING:
    from engramdown.cortex.session import Parts, Session
    from engramdown.cortex.tool_arguments import (
        JournalArguments,
        JournalSearchArguments,
        NotesArguments,
    )
    from engramdown.journal.journal import Match
    from engramdown.journal.page_search import NoteMatch

__all__ = [
    "day_row",
    "note_row",
    "search_journals",
    "write_journal",
    "write_notes",
]

_PIECE: Final = 300
_OFF: Final = "memory is switched off (mode off), so nothing was written"
_NO_SESSION: Final = "no conversation is running, so there is nothing to keep notes on"
_UNRECORDED: Final = "this conversation is not recorded, so no notes are kept on it"
_WHO: Final = {"agent": "assistant", "person": "person"}

_Told = tuple[str, tuple[str, ...]]


def write_journal(cortex: Parts, given: JournalArguments, session: Session | None) -> _Told:
    """Add an entry to the journal.

    Raises:
        ValueError: If the date is no day.
        EngramdownError: If nothing may be written, or it could not be.
    """
    _check_on(cortex)
    themes = [theme for theme in given.themes.split(",") if theme.strip()]
    where = cortex.context.notebooks.journal.write(
        _text(given.text),
        by="agent",
        themes=themes,
        session=session.id if session else "",
        day=_day(given.date),
    )
    heading = where.section.heading
    later = heading[:1].isalpha()
    when = f", which says so: {heading}" if later else f" at {heading}"
    said = f"Written to the journal of {where.day}{when}."
    return f"{said}{_hidden(where.hidden)}", ()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        raise ValueError(f'"date" is {text!r}; give a day, 2026-02-27') from None


def search_journals(cortex: Parts, given: JournalSearchArguments, session: Session | None) -> _Told:
    """Return the entries of the journals that fit.

    Raises:
        ValueError: If nothing is asked for.
    """
    del session  # What it wrote itself may be long ago.
    query, limit = given.query, given.limit
    if not query.strip():
        raise ValueError('"query" is empty; give words to look for')
    found: list[Match] = []
    rows = []
    for journal in cortex.context.notebooks.journals():
        try:
            found += journal.search(query, limit)
        except StoreError as error:
            rows.append(f"Note: {inert(str(error))}")
    found.sort(key=lambda match: (-match.score, -match.date.toordinal(), -match.section.line))
    if not found:
        return "\n".join([*rows, f"Nothing found for {flat(query, _PIECE)!r} in the journal."]), ()
    return "\n".join([*rows, f"{LABEL}\n", *map(day_row, found[:limit])]), ()


def write_notes(cortex: Parts, given: NotesArguments, session: Session | None) -> _Told:
    """Replace the notes on the running conversation, or add to them.

    Raises:
        EngramdownError: If nothing may be written, or it could not be.
    """
    # Imported here: a search needs nothing of sessions.
    from engramdown.transcripts.episode import is_like

    _check_on(cortex)
    if session is None or not session.id:
        raise EngramdownError(_NO_SESSION)
    chosen = cortex.scopes.settings.episodes
    if not chosen.enabled or is_like(session.id, chosen.ignore):
        raise EngramdownError(_UNRECORDED)
    notes, text = cortex.conversations.notes(session), _text(given.text)
    if given.mode == "append":
        note, done = notes.append(text), "Added to"
    else:
        note, done = notes.write(text), "Replaced"
    return f"{done} the notes on this conversation.{_hidden(note.hidden)}", ()


def day_row(match: Match) -> str:
    """Return an entry of the journal that was found as one line."""
    section = match.section
    heading = flat(section.heading, _PIECE)
    themes = flat(", ".join(section.themes), _PIECE)
    about = f" (themes: {themes})" if themes else ""
    at = f"{match.date} {heading}".rstrip()
    return f"- {at} {_WHO[section.by]}: {flat(match.piece, _PIECE)}{about}"


def note_row(match: NoteMatch) -> str:
    """Return notes that were found as one line."""
    at = f" {flat(match.updated, _PIECE)[:16].replace('T', ' ')}".rstrip()
    return f"- {match.session}{at}: {flat(match.piece, _PIECE)}"


def _check_on(cortex: Parts) -> None:
    if cortex.scopes.mode == "off":
        raise EngramdownError(_OFF)


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError('"text" is empty; say what is to be kept')
    return text


def _hidden(kinds: tuple[str, ...]) -> str:
    return f" A secret in it was hidden, and is kept nowhere: {', '.join(kinds)}." if kinds else ""

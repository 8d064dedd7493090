"""What may be written into the journal: a text that is not empty, of a bounded size, no secrets.

Promises: what cannot be written is refused with what could; a secret is hidden before anything is
written, and its kind is told, never its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Final, NamedTuple, get_args

from engramdown.episodes.front import fold
from engramdown.episodes.journal.page import Author, Section, normal
from engramdown.errors import InvalidNoteError
from engramdown.transcripts.episode import check_session_id

__all__ = ["LONGEST", "Entry", "drafted", "of_day", "without_secrets"]

LONGEST: Final = 100_000
"""Characters of a section, or of notes, at most."""
_THEME: Final = 60
_THEMES: Final = 20
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


class Entry(NamedTuple):
    """What is to be written.

    Attributes:
        day: To the page of which day.
        section: The section.
        hidden: The kinds of secrets that were hidden in it.
    """

    day: date
    section: Section
    hidden: tuple[str, ...]


def drafted(text: str, *, by: Author, themes: Iterable[str], session: str, at: datetime) -> Entry:
    """Return what is to be written.

    Args:
        text: What somebody wants to say.
        by: Who.
        themes: What it is about.
        session: In which session, or ``""``.
        at: When, as the clock on the wall had it; the moment itself is not said.

    Raises:
        InvalidNoteError: If it cannot be written.
        InvalidSessionError: If the session is none.
    """
    if by not in get_args(Author):
        raise InvalidNoteError("by", f"{by!r} is not one of {', '.join(get_args(Author))}")
    if session:
        check_session_id(session)
    kept, hidden = without_secrets("text", text)
    if not kept:
        raise InvalidNoteError("text", "is empty; say what is to be kept")
    section = Section(f"{at:%H:%M}", kept, by, session=session, themes=tuple(_themes(themes)))
    return Entry(at.date(), section, hidden)


def of_day(entry: Entry, day: date | None) -> Entry:
    """Return an entry for the page of a day that has passed, which says when it was written.

    Args:
        entry: What is written now.
        day: The day, or ``None`` for the one on which it is written.

    Raises:
        InvalidNoteError: If the day is to come.
    """
    if day is None or day == entry.day:
        return entry
    if day > entry.day:
        reason = f"{day} is still to come; give today, {entry.day}, or a day before"
        raise InvalidNoteError("date", reason)
    heading = f"Written {entry.day} {entry.section.heading}"
    return entry._replace(day=day, section=entry.section._replace(heading=heading))


def without_secrets(field: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text as it is kept, and the kinds of the secrets that were hidden in it.

    Raises:
        InvalidNoteError: If it is too long.
    """
    # Imported here: it compiles many patterns, and whoever reads needs none.
    from engramdown.secrets.redaction import find_secrets, redact

    # Of what is too long, no more is looked at than tells so.
    if len(text) > 2 * LONGEST or len(kept := normal(text)) > LONGEST:
        reason = f"has {len(text):,} characters, {LONGEST:,} are allowed; write it in parts"
        raise InvalidNoteError(field, reason)
    hidden = tuple(dict.fromkeys(secret.kind for secret in find_secrets(kept)))
    return (normal(redact(kept)) if hidden else kept), hidden


def _themes(themes: Iterable[str]) -> Iterator[str]:
    """Yield themes as they are kept, each once.

    Raises:
        InvalidNoteError: If one is empty, too long or a secret, or there are too many.
    """
    known: dict[str, str] = {}
    for theme in themes:
        plain = " ".join(_UNSEEN.sub(" ", theme).split())
        if not plain or len(plain) > _THEME:
            reason = f"{plain[:_THEME]!r} is empty or longer than {_THEME} characters"
            raise InvalidNoteError("theme", f"{reason}; give a word or two")
        if without_secrets("theme", plain)[1]:
            raise InvalidNoteError("theme", "holds a secret; give a word or two")
        known.setdefault(fold(plain), plain)
    if len(known) > _THEMES:
        raise InvalidNoteError("theme", f"there are {len(known)}, {_THEMES} are allowed")
    yield from known.values()

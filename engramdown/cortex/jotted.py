"""What the journal and the working notes say about a question.

Promises: reads only; what cannot be read is told, and hides nothing else; notes that git knows,
which may be a stranger's, are not found.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.context.notebooks import Notebooks, known
from engramdown.errors import StoreError
from engramdown.journal.page_search import NoteMatch, search_notes

if TYPE_CHECKING:
    from engramdown.journal.journal import Match

__all__ = ["Jotted", "jotted"]

_DAYS: Final = 5
_NOTES: Final = 3


class Jotted(NamedTuple):
    """What was found.

    Attributes:
        journal: Sections of the journal, the best first.
        notes: Notes on sessions, the best first.
        troubles: What could not be read, and why.
    """

    journal: tuple[Match, ...] = ()
    notes: tuple[NoteMatch, ...] = ()
    troubles: tuple[str, ...] = ()


def jotted(
    notebooks: Notebooks,
    query: str,
    limit: int,
    *,
    exact: bool = False,
    session: str | None = None,
    since: date | None = None,
    until: date | None = None,
) -> Jotted:
    """Return what fits ``query``: five sections of the journal at most, and three notes.

    Args:
        notebooks: Whose.
        query: Words, or for ``exact`` the very string.
        limit: How many of each at most, if that is less.
        exact: Whether to look for the string as it is.
        session: Notes on this session alone, and nothing of the journal.
        since: The earliest day.
        until: The latest day.
    """
    roots = [store.root for store in reversed(notebooks.scopes.stores)]
    days: list[Match] = []
    noted: list[NoteMatch] = []
    troubles: list[str] = []
    for journal in [] if session else notebooks.journals():
        try:
            days += journal.search(query, min(limit, _DAYS), exact=exact, since=since, until=until)
        except StoreError as error:
            troubles.append(str(error))
    for root in roots:
        try:
            noted += search_notes(
                *(root, query, min(limit, _NOTES)),
                exact=exact,
                session=session,
                since=since,
                until=until,
            )
        except (StoreError, OSError) as error:
            troubles.append(str(error))
    strange = known([each.path for each in noted])
    noted = [each for each in noted if each.path not in strange]
    days.sort(key=lambda match: (-match.score, -match.date.toordinal(), -match.section.line))
    noted.sort(key=lambda match: -match.score)
    if exact:
        days.sort(key=lambda match: match.date, reverse=True)
    return Jotted(
        tuple(days[: min(limit, _DAYS)]), tuple(noted[: min(limit, _NOTES)]), (*troubles,)
    )

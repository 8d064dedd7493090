"""Memories, transcripts, the journal and working notes, searched at once.

Promises: any text is a query; what is asked of all is found in all, and what only transcripts know
(a session, a role) is not asked of memories. A journal that is not there costs a look at its
folder. Reads only.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import today
from engramdown.context.notebooks import FOLDERS
from engramdown.hippocampus.entry import Entry

if TYPE_CHECKING:
    from engramdown.context.builder import ContextBuilder
    from engramdown.cortex.jotted import Jotted
    from engramdown.gate.scopes import Scopes
    from engramdown.journal.journal import Match
    from engramdown.journal.page_search import NoteMatch
    from engramdown.recall.finder import Finder
    from engramdown.recall.hits import Hit, Mode

__all__ = ["Asked", "Found", "moment_from", "search"]

_ALL: Final = 1 << 62


class Asked(NamedTuple):
    """What is looked for; see :meth:`engramdown.EpisodicMemory.recall`.

    Attributes:
        query: Words, a question, or for ``exact`` the very string; ``""`` with a range of time for
            everything in it, the newest first.
        limit: How many memories at most, and how many lines of transcripts.
        mode: ``best`` or ``exact``.
        days_back: How many days back at most.
        session: The only session.
        role: The only roles; none for all.
        since: The earliest time or day.
        until: The latest, which belongs to it.
    """

    query: str
    limit: int = 20
    mode: Mode = "best"
    days_back: float | None = None
    session: str | None = None
    role: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None


class Found(NamedTuple):
    """What was found.

    Attributes:
        memories: The best first, or for ``exact`` the newest.
        episodes: The same, of the transcripts.
        notes: What could not be asked, and why.
        journal: Sections of the journal, the best first; five at most.
        working: Notes on sessions, the best first; three at most.
    """

    memories: list[Entry]
    episodes: list[Hit]
    notes: tuple[str, ...] = ()
    journal: tuple[Match, ...] = ()
    working: tuple[NoteMatch, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self.memories or self.episodes or self.journal or self.working)


def search(context: ContextBuilder, asked: Asked, episodes: Finder | None) -> Found:
    """Return what fits ``asked``: of ``cortex`` memories, journal and notes, and transcripts.

    Raises:
        ValueError: If a role or the mode is none.
        StoreError: If a store cannot be read.
    """
    memories = [] if asked.session or asked.role else _memories(context.scopes, asked)
    beside = None if asked.role else _jotted(context, asked)
    noted = beside[:2] if beside else ((), ())
    troubles = beside.troubles if beside else ()
    if episodes is None:
        return Found(memories, [], troubles, *noted)
    hits = episodes.recall(
        asked.query,
        asked.limit,
        days_back=asked.days_back,
        session=asked.session,
        role=asked.role or None,
        since=asked.since,
        until=asked.until,
        mode=asked.mode,
    )
    return Found(memories, list(hits), (*hits.notes, *troubles), *noted)


def moment_from(text: str) -> date:
    """Return the day or the time that ``text`` names; a time without a zone is UTC.

    Raises:
        ValueError: If it names none.

    >>> moment_from("2026-02-27")
    datetime.date(2026, 2, 27)
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text)


def _memories(scopes: Scopes, asked: Asked) -> list[Entry]:
    first, last = _days(asked)
    # Without words everything is meant that is of the time that was asked for.
    is_any = not asked.query.strip() and (first, last) != ("", "")
    if asked.mode == "exact" or is_any:
        wanted = "" if is_any else asked.query.casefold()
        both = (scopes.global_hc, scopes.project_hc)
        memories = [each for store in both for each in scopes.readable(store)]
        found = [each for each in memories if (wanted or is_any) and wanted in each.text.casefold()]
        found.sort(key=lambda entry: entry.ts, reverse=True)
    else:
        found = scopes.recall(asked.query, limit=_ALL)
    if (first, last) != ("", ""):
        found = [each for each in found if each.ts and first <= each.ts <= (last or each.ts)]
    return found[: max(asked.limit, 0)]


def _jotted(context: ContextBuilder, asked: Asked) -> Jotted | None:
    """Return what the journal and the notes say, ``None`` where there are none."""
    folders = (store.root / name for store in context.scopes.stores for name in FOLDERS)
    if not any(folder.is_dir() for folder in folders):
        return None
    from engramdown.cortex.jotted import jotted

    first, last = _days(asked)
    return jotted(
        context.notebooks,
        asked.query,
        asked.limit,
        exact=asked.mode == "exact",
        session=asked.session,
        since=date.fromisoformat(first) if first else None,
        until=date.fromisoformat(last) if last else None,
    )


def _days(asked: Asked) -> tuple[str, str]:
    """Return the first and the last day that are wanted, as memories have them, or ``""``."""
    first = "" if asked.since is None else _day(asked.since)
    last = "" if asked.until is None else _day(asked.until)
    if asked.days_back is not None:
        now = today().toordinal()
        back = date.fromordinal(max(now - int(min(asked.days_back, now)), 1))
        first = max(first, back.isoformat())
    return first, last


def _day(at: date) -> str:
    return (at.date() if isinstance(at, datetime) else at).isoformat()

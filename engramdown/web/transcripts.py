"""Routes about what was said: sessions, their lines, cards and notes, export, and the journal."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from engramdown.engram import Scope
from engramdown.episodes import EpisodicMemory
from engramdown.errors import AmbiguousIdError, SessionNotFoundError, StoreError
from engramdown.serializers import (
    card_data,
    day_page_data,
    episode_data,
    listed_day_data,
    notes_data,
    session_data,
    withdrawn_data,
)
from engramdown.storage import Disk
from engramdown.transcripts import PAYLOADS, Payloads, Pointer, Sessions, count_session
from engramdown.web.problems import ProblemError
from engramdown.web.routes import Call, ChangeRoute, Form, Paged, Reply, Route, page_of

if TYPE_CHECKING:
    from engramdown.transcripts import Episode, SessionInfo, Tally

_LONGEST_NUMBER: Final = 12
# Of so many sessions it is kept what they hold.
_COUNTED: Final = 1_000


class InScope(Form):
    """Of which memory; by default of the project's, or else of the global one."""

    scope: Scope | None = None


class SessionsQuery(Paged):
    """Which sessions."""

    limit: int = Field(20, ge=1, le=200, description="At most so many.")
    scope: Scope | None = Field(None, description="Of which memory.")


class LinesQuery(InScope):
    """Which lines of a session."""

    first: int = Field(0, ge=0, alias="from", description="The number of the first line.")
    limit: int = Field(100, ge=1, le=200, description="At most so many.")


class LineQuery(InScope):
    """How a line is shown."""

    whole: bool = Field(default=False, description="All of a text that was cut.")


class Lines(Form):
    """Which lines of a session; none for the whole session."""

    lines: list[int] = Field([], max_length=10_000, description="Their numbers.")
    dry_run: bool = Field(default=False, description="Change nothing; say what would be done.")


class Purge(Form):
    """How a session is removed."""

    dry_run: bool = Field(default=False, description="Change nothing; say what would be done.")


class ExportQuery(InScope):
    """What is exported, and how."""

    session: str = Field(max_length=100, description="The id of a session, or its beginning.")
    format: Literal["json", "md"] = Field("json", description="Everything, or a page to read.")


class DaysQuery(Paged):
    """Which days of the journal."""

    limit: int = Field(10, ge=1, le=200, description="At most so many.")
    scope: Scope | None = Field(None, description="Of which memory.")


# ---- sessions ----


def list_sessions(call: Call) -> Reply:
    """List sessions, the newest first."""
    memory = _memory(call)
    infos = memory.sessions()[::-1]
    return page_of(call, infos, lambda info: info.id, lambda info: _facts(memory, info))


def show_session(call: Call) -> Reply:
    """Show the facts about a session."""
    memory, session = _named(call)
    info = Sessions(memory.folder, Disk()).info(session)
    if info is None:
        raise StoreError(f"no line of {session} can be read; GET /v1/doctor says why")
    return Reply(_facts(memory, info))


def list_lines(call: Call) -> Reply:
    """List the lines of a session from a number on; `Link` leads to the next ones."""
    memory, session = _named(call)
    limit = call.query.limit
    found = Sessions(memory.folder, Disk()).part(session, call.query.first, limit + 1)
    headers = {}
    if len(found) > limit:
        scope = f"&scope={call.query.scope}" if call.query.scope else ""
        headers["Link"] = f'<?from={found[limit].seq}&limit={limit}{scope}>; rel="next"'
    return Reply([episode_data(session, each) for each in found[:limit]], headers=headers)


def show_line(call: Call) -> Reply:
    """Show a line of a session, and all of a text that was cut if that is asked for."""
    memory, session = _named(call)
    number = call.path["seq"]
    is_number = number.isascii() and number.isdecimal() and len(number) <= _LONGEST_NUMBER
    episode = memory.episode(Pointer(session, int(number))) if is_number else None
    if episode is None:
        raise ProblemError("not-found", f"no line {number!r} in {session}")
    if call.query.whole:
        episode = episode._replace(text=memory.whole(episode))
        if episode.cut is not None and len(episode.text) < episode.cut:
            raise ProblemError("not-found", f"the rest of {session}#{number} is not kept")
    return Reply(episode_data(session, episode))


def show_card(call: Call) -> Reply:
    """Show what a session was about: title, summary, tools, files."""
    from engramdown.episodes import CardFiles

    memory, session = _named(call)
    path = CardFiles(memory.folder.parent, Disk()).path(session)
    return Reply(card_data(memory.card(session), path))


def show_notes(call: Call) -> Reply:
    """Show the notes that an assistant keeps on a session."""
    from engramdown.journal import WorkingNotes

    memory, session = _named(call)
    kept = WorkingNotes(memory.folder.parent, session, disk=Disk())
    note = kept.read()
    if not note.digest:
        raise ProblemError("not-found", f"no notes are kept on {session}")
    return Reply(notes_data(kept, note))


def export_session(call: Call) -> Reply:
    """Export a session with everything in it, as a page of markdown or as JSON."""
    from engramdown.episodes import as_json, as_markdown

    memory = _memory(call)
    session = session_in(memory, call.query.session)
    payloads = Payloads(memory.folder / PAYLOADS, Disk(), durable=False)
    episodes = memory.session(session).episodes

    def whole(episode: Episode) -> str | None:
        return payloads.fetch(episode.payload)

    if call.query.format == "json":
        return Reply(as_json(session, episodes, whole))
    page = as_markdown(session, episodes, whole).encode("utf-8", "backslashreplace")
    return Reply(page, media="text/markdown; charset=utf-8")


# ---- taking back ----


def exclude_lines(call: Call) -> Reply:
    """Keep a session, or lines of it, out of recall and prompts; the file keeps them."""
    return _withdraw(call, "exclude", call.body.lines)


def include_lines(call: Call) -> Reply:
    """Take an exclusion back; for a whole session, those of its lines as well."""
    return _withdraw(call, "include", call.body.lines)


def redact_lines(call: Call) -> Reply:
    """Empty lines for ever: only a digest of what they held stays. 0 is the title of the session.

    The answer names what keeps words of them or was learned from them.
    """
    if not call.body.lines:
        why = "name single lines; /purge removes a whole session"
        raise ProblemError("invalid", why, "lines")
    return _withdraw(call, "redact", call.body.lines)


def purge_session(call: Call) -> Reply:
    """Remove a session and everything that belongs to it alone, for ever."""
    return _withdraw(call, "purge")


def _withdraw(
    call: Call, action: Literal["exclude", "include", "redact", "purge"], *lines: list[int]
) -> Reply:
    from engramdown.doctor import find_traces  # no start waits for its checks

    memory, session = _named(call)
    is_dry = call.body.dry_run
    act = partial(getattr(memory.forgetting(), action), session, *lines)
    done = act(dry_run=True)
    # Looked for before the texts are gone.
    scopes = [(store.root, store.scope) for store in call.cortex.scopes.stores]
    traces = find_traces(done, memory, scopes)
    data = withdrawn_data(done if is_dry else act(dry_run=False), traces)
    troubles = {"troubles": traces.problems} if traces.problems else {}
    return Reply({"dry_run": is_dry, "sessions": [data], **troubles})


def _memory(call: Call) -> EpisodicMemory:
    """Return the transcripts of the scope that a request names.

    Raises:
        StoreError: If it has none.
    """
    scopes, scope = call.cortex.scopes, call.query.scope
    for store in scopes.stores if scope else ():
        if store.scope == scope:
            return EpisodicMemory(store.root, scopes.settings.of(scope).episodes)
    if scope or scopes.episodes is None:
        raise StoreError(f"there are no transcripts of the {scope or 'project'}: it has no files")
    return scopes.episodes


def _named(call: Call) -> tuple[EpisodicMemory, str]:
    memory = _memory(call)
    return memory, session_in(memory, call.path["id"])


def session_in(memory: EpisodicMemory, prefix: str) -> str:
    """Return the id of the session that a prefix means.

    Raises:
        SessionNotFoundError: If there is none.
        AmbiguousIdError: If there are several.
    """
    matches = Sessions(memory.folder, Disk()).matching(prefix)
    if not matches:
        raise SessionNotFoundError(prefix, str(memory.folder))
    if len(matches) > 1:
        raise AmbiguousIdError(prefix, matches)
    return matches[0]


def _facts(memory: EpisodicMemory, info: SessionInfo) -> dict[str, Any]:
    path = Sessions(memory.folder, Disk()).path(info.id)
    changed = path.stat().st_mtime_ns if path.exists() else 0
    return session_data(info, _tally(memory.folder, info.id, info.size, changed), path)


@lru_cache(maxsize=_COUNTED)
def _tally(folder: Path, session: str, size: int, changed: int) -> Tally:
    """Count what a session holds, once for each ``size`` and each time that it was ``changed``.

    To count a long one takes a second, and a page asks for it again and again.
    """
    del size, changed
    return count_session(Sessions(folder, Disk()), Disk(), session)


# ---- the journal ----


def list_days(call: Call) -> Reply:
    """List the days that have a page in the journal, the newest first."""
    journal = call.cortex.context.notebooks.journal_in(call.query.scope)
    days = journal.days(None)
    return page_of(call, days, lambda day: day.date.isoformat(), listed_day_data)


def show_day(call: Call) -> Reply:
    """Show what was written into the journal on a day: 2026-02-27, today or yesterday."""
    journal = call.cortex.context.notebooks.journal_in(call.query.scope)
    try:
        which = journal.day_named(call.path["day"])
    except ValueError as error:
        raise ProblemError("invalid", str(error), "day") from None
    page = journal.day(which)
    if page is None:
        raise ProblemError("not-found", f"nothing was written on {which.isoformat()}")
    return Reply(day_page_data(page))


_ONE: Final = "/v1/sessions/{id}"
_WITHDRAWALS: Final[tuple[tuple[str, Callable[[Call], Reply], type[Form]], ...]] = (
    ("exclude", exclude_lines, Lines),
    ("include", include_lines, Lines),
    ("redact", redact_lines, Lines),
    ("purge", purge_session, Purge),
)

ROUTES: Final = (
    Route("GET", "/v1/sessions", list_sessions, "[Session]", query=SessionsQuery),
    Route("GET", _ONE, show_session, "Session", query=InScope),
    Route("GET", f"{_ONE}/episodes", list_lines, "[Line]", query=LinesQuery),
    Route("GET", f"{_ONE}/episodes/{{seq}}", show_line, "Line", query=LineQuery),
    Route("GET", f"{_ONE}/card", show_card, "Card", query=InScope),
    Route("GET", f"{_ONE}/notes", show_notes, "Notes", query=InScope),
    *(
        ChangeRoute(
            "POST",
            f"{_ONE}/{action}",
            handler,
            "Withdrawn",
            query=InScope,
            body=body,
            answers={200: "What was done, or would be, and what is left elsewhere."},
        )
        for action, handler, body in _WITHDRAWALS
    ),
    Route(
        "GET",
        "/v1/export",
        export_session,
        "Exported",
        need="person",
        query=ExportQuery,
        answers={200: "The session: JSON, or markdown if that is asked for."},
    ),
    Route("GET", "/v1/journal", list_days, "[Day]", query=DaysQuery),
    Route("GET", "/v1/journal/{day}", show_day, "Day", query=InScope),
)

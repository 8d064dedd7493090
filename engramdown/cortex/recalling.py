"""The tool ``recall``: what a model asks of memory, and how it is answered.

Promises: every line of an answer that comes from a transcript carries its pointer; what was said
in the running turn is not found, for the model has it before it; nothing that was excluded or
redacted is shown. Texts are inert and cut to a length; the pointer brings more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from engramdown.context.search import (
    LABEL,
    PIECE,
    Asked,
    Found,
    flat,
    head,
    memory_row,
    moment_from,
    search,
)
from engramdown.errors import StoreError
from engramdown.language.untrusted import inert
from engramdown.transcripts.episode import Pointer

if TYPE_CHECKING:
    from engramdown.cortex.session import Parts, Session
    from engramdown.cortex.tool_arguments import RecallArguments
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.recall.hits import Context, Hit, Message

_AGAIN: Final = "To read around a line, call recall with its pointer alone."
_WHOLE: Final = 4_000
# What was said in the running turn is asked for beyond the limit and then passed over.
_SPARE: Final = 50

_Told = tuple[str, tuple[str, ...]]


def recall(cortex: Parts, given: RecallArguments, session: Session | None) -> _Told:
    """Return the answer, and the pointers that it quotes.

    Args:
        cortex: What is asked.
        given: What is looked for.
        session: The running conversation, if it is known.

    Raises:
        ValueError: If an argument is of the right type and still wrong.
        EngramdownError: If a store cannot be read.
    """
    if given.pointer:
        if given.given() != {"pointer"}:
            raise ValueError("give a pointer alone, or a query without a pointer")
        return _around(cortex.scopes.episodes, given.pointer)
    return _found(cortex, given, session)


# ---- a search ----


def _found(cortex: Parts, given: RecallArguments, session: Session | None) -> _Told:
    asked, limit = _asked(given), given.limit
    found = search(cortex.context.notebooks, asked, cortex.scopes.episodes)
    began = session.turn_began if session is not None else None
    hits = [hit for hit in found.episodes if not _is_now(hit, began)][:limit]
    found = found._replace(
        memories=found.memories[:limit],
        episodes=hits,
        journal=found.journal[:limit],
        working=found.working[:limit],
    )
    lost = [] if asked.session or asked.role else cortex.scopes.unreadable()
    if lost and not found:
        raise StoreError(lost[0])  # What was asked for may stand there.
    notes = [*found.notes, *(f"could not be read, and is left out: {each}" for each in lost[:1])]
    found = found._replace(notes=tuple(notes))
    lines = [*_search_lines(given.query, found)]
    return "\n".join(lines), tuple(str(hit.pointer) for hit in hits)


def _asked(given: RecallArguments) -> Asked:
    has_range = given.since or given.until or given.days_back is not None
    if not given.query.strip() and not has_range:
        raise ValueError(
            '"query" is missing or empty; give words to look for, a range of time, or a pointer'
        )
    return Asked(
        query=given.query,
        limit=given.limit + _SPARE,
        mode=given.mode,
        days_back=given.days_back,
        session=given.session or None,
        role=() if given.role is None else (given.role,),
        since=_moment("since", given.since),
        until=_moment("until", given.until),
    )


def _moment(name: str, text: str) -> Any:  # noqa: ANN401 - a date, a time or None
    try:
        return moment_from(text) if text else None
    except ValueError:
        reason = f'"{name}" is {text!r}; give a day, 2026-02-27, or a time, 2026-02-27T10:15'
        raise ValueError(reason) from None


def _is_now(hit: Hit, began: Pointer | None) -> bool:
    """Whether a hit belongs to the running turn."""
    return began is not None and hit.session == began.session and hit.seq >= began.seq


def _search_lines(query: str, found: Found) -> Iterator[str]:
    yield from (f"Note: {inert(note)}" for note in found.notes)
    if not found:
        yield f"Nothing found for {flat(query, PIECE)!r}. Try other words, or fewer filters."
        return
    yield LABEL
    if found.memories:
        yield "\nRemembered:"
        yield from map(memory_row, found.memories)
    yield from _jotted_lines(found)
    if found.episodes:
        yield "\nSaid:"
        for hit in found.episodes:
            yield f"- {head(hit)}: {flat(hit.snippet, PIECE)}"
        yield f"\n{_AGAIN}"


def _jotted_lines(found: Found) -> Iterator[str]:
    if found.journal or found.working:
        # Imported here: it needs what stands above.
        from engramdown.cortex.journaling import day_row, note_row

        if found.journal:
            yield "\nJournal:"
            yield from map(day_row, found.journal)
        if found.working:
            yield "\nNotes on sessions:"
            yield from map(note_row, found.working)


# ---- around a pointer ----


def _around(episodes: EpisodicMemory | None, text: str) -> _Told:
    hit = _at(episodes, text)
    if episodes is None or hit is None:
        raise ValueError(
            f"{flat(text, PIECE)!r} points to no line that can be shown; "
            "give a pointer as recall returned it, such as 20260227-101500-4f2a#12"
        )
    (context,) = episodes.around([hit])
    shown: list[Hit | Message] = [*context.before, hit, *context.after]
    pointers = tuple(str(Pointer(each.session, each.seq)) for each in shown)
    return "\n".join(_context_lines(hit, context)), pointers


def _at(episodes: EpisodicMemory | None, text: str) -> Hit | None:
    """Return what a pointer points to, if it may be shown."""
    # Imported here: only this needs them.
    from engramdown.errors import InvalidSessionError, SessionNotFoundError
    from engramdown.recall.hits import Hit
    from engramdown.transcripts.visibility import visible

    session, mark, number = text.strip().rpartition("#")
    if episodes is None or not mark or not number.isascii() or not number.isdecimal():
        return None
    try:
        found = visible(episodes.session(session).episodes)
    except (InvalidSessionError, SessionNotFoundError):
        return None
    for each in found:
        if str(each.seq) == number:
            said = episodes.whole(each)
            return Hit(session, each.seq, each.ts, each.role, each.name, said, said, 1.0)
    return None


def _context_lines(hit: Hit, context: Context) -> Iterator[str]:
    yield f"{LABEL}\n"
    if context.more_before:
        yield f"({context.more_before} more before)"
    yield from _messages(context.before)
    yield f"> {head(hit)}:"
    yield from (f"> {row}" for row in _cut(inert(hit.text), _WHOLE).split("\n"))
    yield from _messages(context.after)
    if context.more_after:
        yield f"({context.more_after} more after)"


def _messages(messages: Iterable[Message]) -> Iterator[str]:
    for each in messages:
        yield f"- {head(each)}: {flat(each.text, PIECE)}"


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[:size]}…"

"""The tools with which a model finds the way back to the words: grep, describe, expand.

Promises: whatever is quoted is labelled as data and can forge nothing: of a message every row is
marked, a summary is XML that says that it is history. Each message carries its pointer. What was
said in the running turn, and what tools only repeated, is not found. A wrong argument is told with
what would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from engramdown.context.search import LABEL, flat
from engramdown.errors import GistNotFoundError, InvalidSessionError, SessionNotFoundError
from engramdown.language.untrusted import inert
from engramdown.transcripts.episode import Pointer

if TYPE_CHECKING:
    from engramdown.conversation.conversation import Conversation
    from engramdown.conversation.lookup import Expanded, Expansion, Found
    from engramdown.cortex.session import Parts, Session
    from engramdown.cortex.tool_arguments import (
        DescribeArguments,
        ExpandArguments,
        GrepArguments,
    )
    from engramdown.transcripts.summary_log import Gist

__all__ = [
    "describe",
    "expand",
    "grep",
]

_PIECE: Final = 1_000
_NAMED: Final = 60
_OFFERED: Final = 8
_ALL: Final = 1_000_000_000
_BACK: Final = (
    "To read what a summary stands for, call expand with its id; "
    "to read a line and what is around it, call recall with its pointer."
)

_Told = tuple[str, tuple[str, ...]]


def grep(cortex: Parts, given: GrepArguments, session: Session | None) -> _Told:
    """Return where a text stands in a conversation, and the pointers that are quoted.

    Raises:
        ValueError: If nothing is asked for, or there is no such session.
        EngramdownError: If it cannot be read.
    """
    pattern = given.pattern
    if not pattern.strip():
        raise ValueError('"pattern" is empty; give a text to look for')
    conversation = _conversation(cortex, given.session, session)
    # What is passed over shall take nobody's place.
    found = conversation.grep(pattern, given.scope, _ALL)
    hits = [hit for hit in found if not hit.echo and not _is_now(hit, conversation, session)]
    limit = given.limit or 0
    shown = hits[: limit if limit > 0 else _default()]
    rows = _found_rows(conversation, pattern, shown, len(hits) - len(shown))
    return "\n".join(rows), _pointers(conversation, [hit.source for hit in shown])


def describe(cortex: Parts, given: DescribeArguments, session: Session | None) -> _Told:
    """Return what is known of a summary, and the lines that it stands for.

    Raises:
        ValueError: If there is no such summary or session.
        EngramdownError: If it cannot be read.
    """
    conversation = _conversation(cortex, given.session, session)
    gist = _gist(conversation, given.id)
    known = conversation.describe(gist.id)
    state = "You are shown it as it is." if known.in_view else _covered(known.derived)
    rows = [LABEL, "", _xml(conversation, gist), "", _about(gist), state]
    return "\n".join(rows), _pointers(conversation, [gist.id])


def expand(cortex: Parts, given: ExpandArguments, session: Session | None) -> _Told:
    """Return what a summary was made from, and the lines that are quoted.

    Raises:
        ValueError: If there is no such summary or session, or the cursor is none of ours.
        EngramdownError: If it cannot be read.
    """
    wanted = given.id.strip()
    # A pointer is that of a message; whatever else is not known is told with what there is.
    pointed = Pointer.parse(wanted)
    named = given.session if pointed is None else pointed.session
    conversation = _conversation(cortex, named, session)
    name = wanted if pointed else _gist(conversation, wanted).id
    found = conversation.expand(name, given.tokens or 0, given.cursor.strip(), given.depth)
    rows = "\n".join(_expansion_rows(conversation, found))
    return rows, _pointers(conversation, [item.source for item in found.items])


# ---- which conversation ----


def _conversation(cortex: Parts, named: str, session: Session | None) -> Conversation:
    wanted = named.strip() or (session.id if session else "")
    if not wanted:
        raise ValueError('"session" is missing, as no conversation is running; name one')
    try:
        found = cortex.conversations.get(wanted)
        found.view()
    except (InvalidSessionError, SessionNotFoundError):
        hint = "leave it out for this conversation" if session else "recall finds sessions"
        raise ValueError(f"there is no session {flat(wanted, _NAMED)!r}; {hint}") from None
    return found


def _gist(conversation: Conversation, wanted: str) -> Gist:
    try:
        return conversation.describe(wanted.strip()).gist
    except GistNotFoundError:
        known = [item.source for item in conversation.view() if not item.is_message]
        shown = ", ".join(flat(str(each), _NAMED) for each in known[-_OFFERED:])
        there = f"there are {shown}" if shown else "it has none"
        raise ValueError(
            f"{conversation.session} has no summary {flat(wanted, _NAMED)!r}; {there}"
        ) from None


def _is_now(hit: Found, conversation: Conversation, session: Session | None) -> bool:
    """Whether a hit belongs to the running turn."""
    began = session.turn_began if session is not None else None
    if began is None or began.session != conversation.session:
        return False
    return isinstance(hit.source, int) and hit.source >= began.seq


def _pointers(conversation: Conversation, sources: Sequence[int | str]) -> tuple[str, ...]:
    """Return what is quoted: a message by its pointer, a summary by the lines it stands for."""
    fold = conversation.track.fold
    told = []
    for source in sources:
        seqs = [*fold.messages(source)]
        last = f"-{seqs[-1]}" if seqs[1:] else ""
        told.append(f"{Pointer(conversation.session, seqs[0])}{last}")
    return tuple(dict.fromkeys(told))


def _default() -> int:
    from engramdown.conversation.lookup import GREP as LIMIT

    return LIMIT


# ---- texts ----


def _found_rows(
    conversation: Conversation, pattern: str, hits: Sequence[Found], more: int
) -> Iterator[str]:
    wanted = flat(pattern, _NAMED)
    if not hits:
        yield (
            f"Nothing found for {wanted!r} in {conversation.session}. The very text is looked for, "
            "without wildcards: try less of it, or recall, which also looks into other sessions."
        )
        return
    yield LABEL
    yield f"\n{wanted!r} in {conversation.session}, the newest first:"
    for hit in hits:
        if isinstance(hit.source, str):
            gist = conversation.track.fold.gists[hit.source]
            yield _xml(conversation, gist._replace(text=hit.snippet))
        else:
            below = f" (below {flat(hit.gist, _NAMED)})" if hit.gist else ""
            yield f"- {_head(conversation, hit)}{below}: {flat(hit.snippet, _PIECE)}"
    if more:
        yield f"\n{more:,} more; give a longer text, or a higher limit."
    yield f"\n{_BACK}"


def _expansion_rows(conversation: Conversation, found: Expansion) -> Iterator[str]:
    yield LABEL
    for item in found.items:
        yield ""
        part = " (a part of it)" if item.cut else ""
        if isinstance(item.source, str):
            gist = conversation.track.fold.gists[item.source]
            yield f"{flat(gist.id, _NAMED)}{part}:"
            yield _xml(conversation, gist._replace(text=item.text))
            continue
        yield f"{_head(conversation, item)}{part}:"
        yield from (f"> {row}" for row in inert(item.text).split("\n"))
    yield ""
    name = flat(found.gist, 2 * _NAMED)
    if found.truncated:
        yield f'There is more: call expand with id "{name}" and cursor "{found.cursor}".'
    else:
        yield f"That is the end of what {name} stands for."


def _head(conversation: Conversation, said: Found | Expanded) -> str:
    """Say where, when and by whom a message was said."""
    who = f"{said.role} {flat(said.name, _NAMED)}" if said.name else said.role
    return f"{conversation.session}#{said.source} {said.ts[:16].replace('T', ' ')} {who}"


def _xml(conversation: Conversation, gist: Gist) -> str:
    from engramdown.consolidation.summaries import format_summary

    return format_summary(gist, conversation.session)


def _about(gist: Gist) -> str:
    return f"It has {gist.tokens:,} tokens; what it was made from has {gist.source_tokens:,}."


def _covered(derived: str) -> str:
    return f"You are not shown it: {flat(derived, _NAMED)} was made from it."

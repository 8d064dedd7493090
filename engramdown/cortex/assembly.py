"""What a model is shown for the next step of a conversation, put together.

Promises: reads only, and never waits for a model. What is stable comes first, and is the same from
turn to turn as long as memory is; the conversation follows, only growing; what is another in each
turn stands behind it. The fresh tail is there whole, the newest message of the user with it,
whatever the budget; all else keeps to it. What is not shown is told, with why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.cortex.conversation.around import Around
from engramdown.cortex.conversation.messages import FRAME
from engramdown.cortex.conversation.seen import Seen
from engramdown.cortex.conversation.shown import Shown
from engramdown.cortex.conversation.working import WorkingContext
from engramdown.errors import SessionNotFoundError
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.recollection import Recollection
    from engramdown.cortex.turns import Session

__all__ = ["Wanted", "assemble"]

# Of what is free for earlier messages, what may be spent to tell that some are left out.
_TELL: Final = 8


class Wanted(NamedTuple):
    """What is asked for; see :meth:`engramdown.Cortex.build_context`."""

    budget: int
    fresh_tail: int
    message: str = ""
    subjects: tuple[str, ...] = ()


def assemble(
    cortex: Cortex, recollection: Recollection, session: Session | str, wanted: Wanted
) -> WorkingContext:
    """Return what a model is shown of a session.

    Raises:
        SessionNotFoundError: If there is no such session.
        StoreError: If memory cannot be read, or a template is broken.
    """
    seen, unrecorded = _seen(cortex, session), _unrecorded(session)
    tail = seen.tail(wanted.fresh_tail)
    extra = sum(line.tokens for line in unrecorded)
    free = max(wanted.budget - seen.cost(tail) - extra, 0)
    around = Around(cortex, recollection, session)
    said = wanted.message or "".join(line.text for line in unrecorded) or seen.newest
    parts = around.parts(min(wanted.budget // 2, free), said, wanted.subjects)
    system, aside = around.system(parts), around.aside(parts)
    room = free - estimate_tokens(system) - estimate_tokens(aside)
    choice = seen.chosen(tail, room)
    if choice.left_out:
        told = around.aside(parts, choice.left_out)
        more = estimate_tokens(told) - estimate_tokens(aside)
        if more <= room // _TELL:
            aside, choice = told, seen.chosen(tail, room - more)
    return WorkingContext(
        session=seen.session,
        budget=wanted.budget,
        tokens=estimate_tokens(system) + estimate_tokens(aside) + choice.tokens + extra,
        soul=parts.soul.text if parts.soul else "",
        sections=parts.sections,
        skills=parts.skills.text,
        history=parts.history.text if parts.history else "",
        journal=parts.journal.text,
        messages=(*choice.lines, *unrecorded),
        tail=choice.tail,
        notes=parts.notes.text,
        relevant=parts.relevant.text,
        remembered=parts.relevant.ids,
        recalled=parts.relevant.recalled,
        degraded=around.degraded,
        dropped=(*around.dropped, *choice.dropped),
        system=system,
        aside=aside,
    )


def _seen(cortex: Cortex, session: Session | str) -> Seen:
    """Return the conversation as it is now."""
    chosen = session if isinstance(session, str) else session.id
    track = cortex.conversation(chosen).track
    with track.guard:
        try:
            track.refresh()
        except SessionNotFoundError:
            if isinstance(session, str):
                raise
            return Seen(chosen)  # Nothing was said yet, or nothing is recorded.
        items = track.items()
        messages = (item.source for item in items if isinstance(item.source, int))
        return Seen(chosen, items, {seq: track.message(seq) for seq in messages}, track.fold.gists)


def _unrecorded(session: Session | str) -> tuple[Shown, ...]:
    """Return what the user said in the running turn, if the transcript does not hold it."""
    if isinstance(session, str) or not session.in_turn or session.turn_began is not None:
        return ()
    text = session.asked
    return (Shown(-1, "user", text, FRAME + estimate_tokens(text)),) if text.strip() else ()

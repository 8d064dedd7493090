"""What a model is shown for the next step of a conversation, put together.

Promises: reads only, and never waits for a model. What is stable comes first, and is the same from
turn to turn as long as memory is; the conversation follows, only growing; what is another in each
turn stands behind it. The fresh tail is there whole, the newest message of the user with it,
whatever the budget; all else keeps to it. What is not shown is told, with why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.summaries import Item
from engramdown.context.builder import ContextBuilder, RunningSession
from engramdown.conversation.rendering import Dropped, Shown, WorkingContext
from engramdown.conversation.view import FRAME, Said
from engramdown.cortex.conversation.around import Around
from engramdown.cortex.conversation.seen import Seen
from engramdown.errors import SessionNotFoundError, StoreError
from engramdown.storage.disk import named_errors
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown.conversation.view import Track
    from engramdown.episodes.memory import EpisodicMemory

__all__ = ["Wanted", "assemble"]

# Of what is free for earlier messages, what may be spent to tell that some are left out.
_TELL: Final = 8
_NOT_RECORDED: Final = (
    "nothing of this session is recorded, so what was said before the newest message, and what "
    "tools were asked and gave back, is not known here"
)


class Wanted(NamedTuple):
    """What is asked for; see :meth:`engramdown.Cortex.build_context`."""

    budget: int
    fresh_tail: int
    message: str = ""
    subjects: tuple[str, ...] = ()


def assemble(
    context: ContextBuilder, track: Track, session: RunningSession | str, wanted: Wanted
) -> WorkingContext:
    """Return what a model is shown of a session.

    Args:
        context: What stands around it.
        track: The view of it.
        session: The session, or its id.
        wanted: What is asked for.

    Raises:
        SessionNotFoundError: If there is no such session.
        StoreError: If memory cannot be read, or a template is broken.
    """
    (seen, trouble), unrecorded = (
        _seen(context.scopes.episodes, track, session),
        _unrecorded(session),
    )
    tail = seen.tail(wanted.fresh_tail)
    extra = sum(line.tokens for line in unrecorded)
    free = max(wanted.budget - seen.cost(tail) - extra, 0)
    around = Around(context, session)
    said = wanted.message or "".join(line.text for line in unrecorded) or seen.newest
    parts = around.parts(min(wanted.budget // 2, free), said, wanted.subjects)
    system, aside = around.system(parts), around.aside(parts)
    room = free - estimate_tokens(system) - estimate_tokens(aside)
    left_out, more = seen.left_out(tail, room), 0
    if left_out:
        # A token more, as those that make room for it are left out, too.
        more = estimate_tokens(around.aside(parts, left_out)) - estimate_tokens(aside) + 1
        more = more if more <= room // _TELL else 0
    choice = seen.chosen(tail, room - more)
    if more:
        aside = around.aside(parts, choice.left_out)
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
        dropped=(*trouble, *around.dropped, *choice.dropped),
        system=system,
        aside=aside,
    )


def _seen(
    episodes: EpisodicMemory | None, track: Track, session: RunningSession | str
) -> tuple[Seen, tuple[Dropped, ...]]:
    """Return the conversation as it is now, and what of it could not be read."""
    chosen = session if isinstance(session, str) else session.id
    with track.guard:
        try:
            with named_errors(track.path, "read"):
                track.refresh()
        except SessionNotFoundError:
            if isinstance(session, str):
                raise
            return Seen(chosen), _not_kept(session)
        except StoreError as error:
            if isinstance(session, str):
                raise
            # No trouble with transcripts ends a turn: what was read before is still known.
            trouble = Dropped("messages", chosen, 0, str(error))
            try:
                return _known(episodes, track), (trouble,)
            except KeyError:  # It was about to read everything again.
                return Seen(chosen), (trouble,)
        return _known(episodes, track), ()


def _known(episodes: EpisodicMemory | None, track: Track) -> Seen:
    items = track.items()
    said = {
        item.source: _whole(episodes, item, track.message(item.source))
        for item in items
        if isinstance(item.source, int)
    }
    return Seen(track.session, items, said, track.known_gists())


def _whole(episodes: EpisodicMemory | None, item: Item, message: Said) -> Said:
    """Return a message with all of its text, if all of it is shown."""
    if not message.is_large or item.tokens < message.tokens or episodes is None:
        return message
    return message._replace(text=episodes.whole(message.episode))


def _not_kept(session: RunningSession) -> tuple[Dropped, ...]:
    """Return that nothing is recorded of a session, if that is why nothing is known of it."""
    if not session.in_turn or session.turn_began is not None:
        return ()  # Nothing was said yet.
    return (Dropped("messages", session.id, 0, _NOT_RECORDED),)


def _unrecorded(session: RunningSession | str) -> tuple[Shown, ...]:
    """Return what the user said in the running turn, if the transcript does not hold it."""
    if isinstance(session, str) or not session.in_turn or session.turn_began is not None:
        return ()
    text = session.asked
    return (Shown(-1, "user", text, FRAME + estimate_tokens(text)),) if text.strip() else ()

"""How far a model has come with the card of a session.

Promises: looking writes nothing; what is said holds for the session as it is now, and is what the
next round of the worker goes by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from engramdown.cortex.filling import JOB
from engramdown.episodes.card import CardFiles
from engramdown.errors import SessionNotFoundError
from engramdown.sleep.progress import Mark, SleepState, next_try
from engramdown.storage.disk import Disk
from engramdown.transcripts.sessions import Sessions

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

__all__ = ["CardState", "card_state"]


class CardState(NamedTuple):
    """How far a model has come with a card.

    Attributes:
        name: ``running`` if the session has not ended; ``yours`` if a person has written its page,
            so that no model is asked; ``empty`` if there is nothing to ask about; ``done``;
            ``failed`` if it is tried again, ``given up`` if not before the session goes on; and
            ``pending``.
        tries: How often it failed.
        next_try: From when on it is tried again, UTC, or ``""``.
    """

    name: Literal["running", "pending", "done", "empty", "yours", "failed", "given up"]
    tries: int = 0
    next_try: str = ""


def card_state(scopes: Scopes, session: str) -> CardState:
    """Return how far a model has come with the card of a session of ``cortex``.

    Raises:
        SessionNotFoundError: If there is no such session.
        StoreError: If the state cannot be read.
    """
    memory, disk = scopes.episodes, Disk()
    info = None if memory is None else Sessions(memory.folder, disk).info(session)
    if memory is None or info is None:
        raise SessionNotFoundError(session, "" if memory is None else str(memory.folder))
    root = memory.folder.parent
    pages = CardFiles(root, disk)
    if disk.find(pages.path(session)) is not None:
        return CardState("yours")
    if not info.ended:
        return CardState("running")
    state, mark = SleepState(root), Mark(JOB, session, info.started, info.lines)
    seen, tries = state.seen(mark), state.attempts(mark)
    said = pages.filled(memory.session(session))
    is_filled = said is not None and said.ts >= info.last
    if is_filled or state.done(JOB, session, info.started).seq >= info.lines:
        return CardState("done")
    if seen is not None and seen.outcome == "empty":
        return CardState("empty")
    if tries.times >= scopes.settings.worker.attempts:
        return CardState("given up", tries.times)
    return CardState("failed" if tries.times else "pending", tries.times, next_try(tries))

"""Fills in the cards of sessions with what a model says about them.

A model sees only what may be shown of a session, and no lock is held while it thinks. What it says
about lines that were taken back meanwhile is discarded, and so is text that reads like an order,
since another model may see it. A failure leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.clock import moment
from engramdown.consolidation.summaries import describe
from engramdown.episodes.card import CardFiles, ModelCard
from engramdown.errors import ModelError, SessionNotFoundError
from engramdown.gate.injection import find_instruction
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.scopes import scopes_of
from engramdown.sleep.progress import Mark, SleepState, next_try
from engramdown.storage.disk import Disk
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.visibility import visible

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.scopes import HasScopes, Scopes

# Its name in the ledger, and of its prompt.
JOB: Final = "card"
NO_MODEL: Final = (
    "no model is set; name one as `model` under [consolidation] in the global scope's config.toml"
)


def fill_card(
    scopes: Scopes, episodes: EpisodicMemory, session: str, asking: Asking | None = None
) -> bool:
    """Ask the model of ``scopes`` what a session was about, and keep it for its card.

    Args:
        scopes: Whose model, limits and prompts.
        episodes: The transcripts.
        session: The id of the session.
        asking: The run that it belongs to; by default one of its own.

    Whoever asked with :meth:`engramdown.sleep.background.Workers.on_card` is told of the card.

    Returns:
        Whether the card has it now; not if lines were taken back meanwhile, or none may be shown.

    Raises:
        ModelError: If there is no model, it gives no answer of the form, or one that gives orders.
        SessionNotFoundError: If there is no such session.
        StoreError: If it could not be kept.
    """
    transcript = episodes.session(session)
    lines = visible(transcript.episodes)
    model = (asking or Asking.begin(scopes)).of(JOB)
    if model is None:
        raise ModelError(NO_MODEL, "refused")
    if not lines:
        return False
    said = describe(lines, model, prompts_for(scopes, JOB))
    texts = (said.title, said.one_liner, said.paragraph, said.detailed)
    for text in (*texts, *said.decisions, *said.tags):
        order = find_instruction(text)
        if order:
            raise ModelError(f"{model.name}: the card is refused: a text of it {order}", "refused")
    pages = CardFiles(episodes.folder.parent, Disk())
    kept = ModelCard(moment(), model.name, 0, *said)
    if not pages.fill(transcript, kept, episodes.recorder.lock, episodes.session):
        return False
    scopes.tell_of_card(episodes.card(session))
    return True


# How far a model has come with the card of a session.
#
# Looking writes nothing; what is said holds for the session as it is now, and is what the
# next round of the worker goes by.


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


def card_state(given: Scopes | HasScopes, session: str) -> CardState:
    """Return how far a model has come with the card of a session.

    Args:
        given: Whose sessions; a Cortex will do.
        session: The id of the session.

    Raises:
        SessionNotFoundError: If there is no such session.
        StoreError: If the state cannot be read.
    """
    scopes = scopes_of(given)
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

"""Fills in the cards of sessions with a model's description.

A model sees only the lines that may be shown, and no lock is held while it thinks. A description of
lines that were taken back meanwhile is discarded, and so is text that reads like an order, since
another model may see it. A failure leaves no trace.
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

# The name of the job in the ledger, and of its prompt.
JOB: Final = "card"
NO_MODEL: Final = (
    "no model is set; name one as `model` under [consolidation] in the global scope's config.toml"
)


def fill_card(
    scopes: Scopes, episodes: EpisodicMemory, session: str, asking: Asking | None = None
) -> bool:
    """Ask the model of ``scopes`` what a session was about, and keep the answer for its card.

    The callbacks of :meth:`engramdown.sleep.workers.Workers.on_card` are called with the card.

    Args:
        scopes: The scopes whose model, limits and prompts are used.
        episodes: The transcripts.
        session: The id of the session.
        asking: The run that this belongs to; by default a new one.

    Returns:
        Whether the card has the answer now. It has not if lines were taken back meanwhile, or if
        none may be shown.

    Raises:
        ModelError: If there is no model, or its answer has another form or gives orders.
        SessionNotFoundError: If there is no such session.
        StoreError: If the answer could not be kept.
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
    card = ModelCard(moment(), model.name, 0, *said)
    if not pages.fill(transcript, card, episodes.recorder.lock, episodes.session):
        return False
    scopes.tell_of_card(episodes.card(session))
    return True


class CardState(NamedTuple):
    """How far a model has come with a card, for the session as it is now.

    Attributes:
        name: ``running`` if the session has not ended; ``yours`` if a person has written its page,
            so that no model is asked; ``empty`` if there is nothing to ask about; ``done``;
            ``failed`` if it is tried again, ``given up`` if not before the session goes on; and
            ``pending``.
        tries: How often it failed.
        next_try: When it is tried again, UTC, or ``""``.
    """

    name: Literal["running", "pending", "done", "empty", "yours", "failed", "given up"]
    tries: int = 0
    next_try: str = ""


def card_state(given: Scopes | HasScopes, session: str) -> CardState:
    """Return how far a model has come with the card of a session; this writes nothing.

    Args:
        given: The scopes, or a Cortex.
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

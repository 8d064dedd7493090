"""Fills in the cards of sessions with a model's description.

A model sees only the lines that may be shown, and no lock is held while it thinks. A description of
lines that were taken back meanwhile is discarded, and so is text that reads like an order, since
another model may see it. A failure leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.clock import moment
from engramdown.consolidation.summaries import describe
from engramdown.episodes.card import CardFiles, ModelCard
from engramdown.errors import ModelError
from engramdown.gate.injection import find_instruction
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.storage.disk import Disk
from engramdown.transcripts.visibility import visible

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.scopes import Scopes

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

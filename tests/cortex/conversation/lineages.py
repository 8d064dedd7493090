"""Conversations that were summarised, and whose summaries were.

Promises: summaries of many rounds are three deep and more, made by the real compactor.
"""

from __future__ import annotations

from typing import Final

from engramdown import Cortex
from engramdown.conversation.conversation import Conversation
from tests.cortex.conversation.talks import SESSION, turn

__all__ = ["EMOJI", "covered", "deep", "say", "top"]

EMOJI: Final = "👩‍👩‍👧‍👦"
"""One character, as a person sees it."""


def deep(cortex: Cortex, rounds: int = 17, session: str = SESSION) -> Conversation:
    """Talk and summarise in turns, so tightly that summaries of summaries are summarised."""
    conversation = cortex.conversations.get(session)
    for number in range(rounds):
        for each in range(3):
            turn(cortex, 3 * number + each + 1, session)
        conversation.compact(tail=0, budget=1)
    return conversation


def top(conversation: Conversation) -> str:
    """Return the deepest summary of the view."""
    found = max(
        (item for item in conversation.view() if not item.is_message), key=lambda item: item.depth
    )
    assert isinstance(found.source, str)
    return found.source


def say(cortex: Cortex, *texts: str, session: str = SESSION, role: str = "user") -> None:
    """Record texts."""
    assert cortex.episodes is not None
    for text in texts:
        cortex.episodes.log(session, role, text)


def covered(cortex: Cortex, *texts: str) -> Conversation:
    """Say texts and let one summary stand for them."""
    say(cortex, *texts)
    for number in range(5):
        turn(cortex, number)
    conversation = cortex.conversations.get(SESSION)
    assert conversation.compact(tail=0).gists
    return conversation

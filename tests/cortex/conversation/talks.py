"""Conversations for tests, and models that summarise them as they are told.

Promises: what a model was asked is kept; a model that is told to fail does so each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from engramdown import Cortex
from engramdown.conversation.conversation import Conversation
from engramdown.errors import ModelError

__all__ = ["Summariser", "everything", "following", "talk", "turn"]

SESSION: Final = "20260301-101500-4f2a"


class Summariser:
    """A model that says a text for whatever it is asked.

    Attributes:
        name: Its name.
        asked: What it was asked.
    """

    def __init__(self, say: Callable[[int, str], str] | None = None) -> None:
        """Say ``say(number, question)``, or how many questions there were."""
        self.name = "scripted"
        self.asked: list[str] = []
        self._say = say or (lambda number, _: f"Summary {number}.")
        self._guard = threading.Lock()

    def ask(self, schema: Any, system: str, user: str) -> Any:  # noqa: ANN401 - as the port says
        """Return an answer in the form that is asked for."""
        with self._guard:
            self.asked.append(f"{system}\n{user}")
            number = len(self.asked)
        return schema(text=self._say(number, user))


def broken(_: int, __: str) -> str:
    """Fail as a provider does."""
    raise ModelError("scripted: no connection", "unreachable")


def turn(cortex: Cortex, number: int, session: str = SESSION) -> None:
    """Record a turn: a question, a call and its result, an answer."""
    episodes = cortex.episodes
    assert episodes is not None
    episodes.log(session, "user", f"Question {number}")
    episodes.log(session, "tool_call", '{"n": 1}', name="look", call=f"c{number}")
    episodes.log(session, "tool_result", f"Result {number}", name="look", call=f"c{number}")
    episodes.log(session, "assistant", f"Answer {number}")


def talk(cortex: Cortex, turns: int, session: str = SESSION) -> Conversation:
    """Record a conversation of some turns of four messages each."""
    for number in range(1, turns + 1):
        turn(cortex, number, session)
    return cortex.conversations.get(session)


def following(cortex: Cortex, folder: Path) -> Cortex:
    """Return another cortex on the same scopes, as another process has it."""
    return Cortex.open(project=folder, home=folder / "home", model=cortex.scopes.model)


def everything(conversation: Conversation) -> list[int]:
    """Return each message that the view covers, in order."""
    conversation.track.refresh()
    fold = conversation.track.fold
    return [seq for source in fold for seq in fold.messages(source)]

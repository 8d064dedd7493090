"""A language model at a desk, for the tests of the worker: it answers, or is not there.

Promises: no network; whom it was asked about is kept, in order; what it says can change.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from engramdown import Cortex
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import ModelError

__all__ = ["AWAY", "Desk", "episodes", "spoken"]

T = TypeVar("T", bound=BaseModel)

AWAY = ModelError("nobody is there", "unreachable")
_SESSION = re.compile(r"session (\w+)")


class Desk:
    """A model that fills cards with the name of the session that the lines tell.

    Attributes:
        asked: The form and the session of each call.
        answers: What it answers instead, by session; an error is raised.
        facts: What it answers when it is asked for facts.
        away: Whether it is not there.
        meanwhile: What happens while it thinks.
    """

    name = "desk"

    def __init__(self) -> None:
        """Sit down."""
        self.asked: list[tuple[str, str]] = []
        self.answers: dict[str, Any] = {}
        self.facts: list[dict[str, Any]] = []
        self.away = False
        self.meanwhile: Callable[[], object] = lambda: None

    @property
    def sessions(self) -> list[str]:
        """The sessions that it was asked about."""
        return [session for _, session in self.asked]

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return the answer."""
        del system
        found = _SESSION.search(user)
        session = found[1] if found else ""
        self.asked.append((schema.__name__, session))
        self.meanwhile()
        if self.away:
            raise AWAY
        answer = self.answers.get(session)
        if isinstance(answer, BaseException):
            raise answer
        if schema.__name__ == "FoundFacts":
            return schema.model_validate(
                {"worth_persisting": bool(self.facts), "items": self.facts}
            )
        if schema.__name__ == "Summary":
            return schema.model_validate({"text": f"Session {session} is about Berlin."})
        return schema.model_validate(answer or {"title": f"About {session}"})


def episodes(cortex: Cortex) -> EpisodicMemory:
    """Return the transcripts."""
    found = cortex.episodes
    assert found is not None
    return found


def spoken(
    cortex: Cortex,
    session: str,
    said: str = "I live in Berlin. Deploys are on Mondays.",
    *,
    end: bool = True,
) -> None:
    """Record a session with one exchange."""
    memory = episodes(cortex)
    memory.start_session(session)
    memory.log(session, "user", f"This is session {session}. {said}")
    memory.log(session, "assistant", "I will keep that in mind.")
    if end:
        memory.end(session)
    memory.close()

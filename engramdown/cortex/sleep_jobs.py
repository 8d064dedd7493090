"""The jobs of sleep that learn from a session, behind one small interface.

Promises: a job writes nothing; what a user is said to have stated comes only from sessions that a
user had, not from those that an assistant began.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from engramdown.consolidation.actions import Cell, cells_of
from engramdown.consolidation.replay import (
    Learned,
    replay_and_extract,
    replay_without_model,
    should_replay,
)
from engramdown.cortex.learning import Mistakes, Surprises
from engramdown.cortex.told import Told
from engramdown.transcripts.episode import Episode

if TYPE_CHECKING:
    from engramdown.models.port import LanguageModel

__all__ = ["JOBS", "Job", "Replay", "Statements"]


class Job(Protocol):
    """Learns from what is new in one finished session."""

    @property
    def name(self) -> str:
        """What it is called in the ledger, in the state of sleep and in the summary."""
        ...

    @property
    def asks(self) -> bool:
        """Whether it needs a model."""
        ...

    def is_due(self, told: Told) -> bool:
        """Whether there is anything in it to learn from; decided without a model."""
        ...

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what it teaches. No lock is held.

        Args:
            told: What is new.
            model: The model to ask; a job that ``asks`` learns nothing without one.
            prompts: The prompts that scopes have of their own.

        Raises:
            ModelError: If the model gave no answer of use.
            StoreError: If the ledger or a prompt could not be read or written.
        """
        ...


class Statements:
    """What the user stated outright, and which calls mended others."""

    name: Final = "statements"
    asks: Final = False

    def is_due(self, told: Told) -> bool:
        """Whether anything was said or done."""
        return bool(told.lines)

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what it teaches."""
        del model, prompts
        return replay_without_model(told.session, _with_one_user(told))


class Replay:
    """What a model learns from what was done, if enough was, or any of it went wrong."""

    name: Final = "replay"
    asks: Final = True

    def is_due(self, told: Told) -> bool:
        """Whether it is worth a call."""
        return should_replay(_cells(told))

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what it teaches."""
        if model is None:
            return Learned()
        return replay_and_extract(_cells(told), model, prompts)


JOBS: Final[tuple[Job, ...]] = (Statements(), Mistakes(), Replay(), Surprises())
"""What is learned from each session, in this order; facts about the user come of several."""


def _cells(told: Told) -> list[Cell]:
    return cells_of(told.session, told.lines)


def _with_one_user(told: Told) -> tuple[Episode, ...]:
    """Return the lines, without what a user said where another one spoke: an assistant, a group."""
    if told.by_one_user():
        return told.lines
    return tuple(line for line in told.lines if line.role != "user")

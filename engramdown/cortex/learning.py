"""What is learned beside the conversation: facts about the user, and lessons from what went wrong.

Promises: nothing here writes past the gate, and no lock is held while a model thinks; without a
model the same jobs find less; what somebody else than the user said is no fact about the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engramdown.consolidation import error_lessons, replay
from engramdown.consolidation.actions import by_turn, cells_of
from engramdown.consolidation.facts import (
    Message,
    facts_of_model,
    facts_without_model,
    messages_of,
)
from engramdown.consolidation.replay import Learned
from engramdown.cortex.told import Told
from engramdown.engram import Engram, fact_key, fold
from engramdown.errors import UnusableAnswerError

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.models.port import LanguageModel

__all__ = ["SHOWN", "Identity", "Mistakes", "Surprises", "facts"]

SHOWN: Final = 40
"""So many messages of the user a model is shown at once."""


class Identity:
    """Facts about the user, from what they wrote; what they state outright is found without it."""

    name: Final = "identity"

    def messages(self, told: Told) -> list[Message]:
        """Return what the user wrote; none where somebody else speaks as the user."""
        return messages_of(told.session, told.lines) if told.by_one_user() else []

    def learn(
        self,
        messages: Sequence[Message],
        model: LanguageModel | None,
        prompts: Mapping[str, str],
    ) -> Learned:
        """Return what a model finds, a number of messages at a time."""
        if model is None:
            return Learned()
        found: list[Learned] = []
        useless: list[UnusableAnswerError] = []
        for at in range(0, len(messages), SHOWN):
            try:
                found.append(facts_of_model(messages[at : at + SHOWN], model, prompts))
            except UnusableAnswerError as error:
                useless.append(error)
        if useless and not any(each.engrams for each in found):
            raise useless[0]
        # What the others tell is not lost with one of them.
        return _all([*found, Learned(refusals=tuple(map(str, useless)))])


class Mistakes:
    """How an assistant went wrong, noticed without a model."""

    name: Final = "mistakes"
    asks: Final = False

    def is_due(self, told: Told) -> bool:
        """Whether anything was done."""
        return any(line.role in ("tool_call", "tool_result", "scratchpad") for line in told.lines)

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what was noticed in any turn, each thing once."""
        del model, prompts
        found: dict[str, Engram] = {}
        for turn in by_turn(cells_of(told.session, told.lines)):
            for engram in error_lessons.lessons_of_turn(turn):
                found.setdefault(engram.text, engram)
        return Learned(tuple(found.values()))


class Surprises:
    """What a model learns from calls that did not do what they said, in one call for a session."""

    name: Final = "cerebellum"
    asks: Final = True

    def is_due(self, told: Told) -> bool:
        """Whether any did not."""
        return bool(replay.surprises(cells_of(told.session, told.lines)))

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what it teaches."""
        return replay.lessons_of_turn(cells_of(told.session, told.lines), model, prompts)


def facts(
    scopes: Scopes, messages: str | Iterable[str | Message], *, use_model: bool = True
) -> Learned:
    """Return the facts about the user in messages; see :meth:`Cortex.maybe_update_identity`.

    Raises:
        ModelError: If the model gave no answer of use.
        SettingsError: If the model of the cortex is none.
        StoreError: If a prompt or the ledger could not be read or written.
    """
    from engramdown.gate.model_runs import Asking, prompts_for

    given = [messages] if isinstance(messages, str) else messages
    said = [Message(each) if isinstance(each, str) else each for each in given]
    stated = facts_without_model(said)
    model = Asking.begin(scopes).of(Identity.name) if use_model else None
    if model is None:
        return stated
    prompts = prompts_for(scopes, Identity.name)
    try:
        asked = facts_of_model(said[-SHOWN:], model, prompts)
    except UnusableAnswerError as error:
        # What is stated outright is known without it.
        return Learned(stated.engrams, (str(error),))
    # What is stated outright is surer than what a model makes of it.
    known = {fact_key(engram.text) or fold(engram.text) for engram in stated.engrams}
    more = tuple(engram for engram in asked.engrams if fact_key(engram.text) not in known)
    return Learned(stated.engrams + more, asked.refusals)


def _all(found: Iterable[Learned]) -> Learned:
    """Return what was learned several times as one."""
    kept = list(found)
    return Learned(
        tuple(engram for each in kept for engram in each.engrams),
        tuple(refusal for each in kept for refusal in each.refusals),
    )

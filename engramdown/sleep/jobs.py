"""The jobs that learn from a session: facts about the user, and lessons from mistakes.

A job writes nothing. Nothing here bypasses the gate, and no lock is held while a model thinks.
Without a model the same jobs find less. What somebody other than the user said is not a fact about
the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from engramdown.consolidation import error_lessons, replay
from engramdown.consolidation.actions import Cell, by_turn, cells_of
from engramdown.consolidation.facts import Message, facts_of_model, facts_without_model, messages_of
from engramdown.consolidation.replay import Learned
from engramdown.engram import Engram, fact_key, fold
from engramdown.errors import UnusableAnswerError
from engramdown.transcripts.episode import Episode

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.models.port import LanguageModel

SHOWN: Final = 40
"""So many messages of the user a model is shown at once."""


class Told(NamedTuple):
    """What a job is given.

    Attributes:
        session: The id of the session.
        lines: Its lines that are new to the job and that nobody took out, in order.
        parent: The session that it was begun from, or ``""``.
    """

    session: str
    lines: tuple[Episode, ...]
    parent: str = ""

    def by_one_user(self) -> bool:
        """Whether whoever speaks as the user in it is the user."""
        names = {line.name for line in self.lines if line.role == "user"}
        return not self.parent and len(names) <= 1

    def cells(self) -> list[Cell]:
        """Return what was done in it."""
        return cells_of(self.session, self.lines)


class Identity:
    """Facts about the user, from what they wrote; what they state outright is found without it."""

    name: Final = "identity"

    def messages(self, told: Told) -> list[Message]:
        """Return what the user wrote; none where somebody else speaks as the user."""
        return messages_of(told.session, told.lines) if told.by_one_user() else []

    def learn(
        self, messages: Sequence[Message], model: LanguageModel | None, prompts: Mapping[str, str]
    ) -> Learned:
        """Return what a model finds, a number of messages at a time."""
        engrams: list[Engram] = []
        refusals: list[str] = []
        useless: list[UnusableAnswerError] = []
        for at in range(0, len(messages), SHOWN):
            if model is None:
                break
            try:
                found = facts_of_model(messages[at : at + SHOWN], model, prompts)
                engrams += found.engrams
                refusals += found.refusals
            except UnusableAnswerError as error:
                useless.append(error)
        if useless and not engrams:
            raise useless[0]
        # What the others tell is not lost with one of them.
        return Learned(tuple(engrams), (*refusals, *map(str, useless)))


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
        """Return what it teaches, without what a user said where another one spoke."""
        del model, prompts
        is_one = told.by_one_user()
        lines = tuple(line for line in told.lines if is_one or line.role != "user")
        return replay.replay_without_model(told.session, lines)


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
        for turn in by_turn(told.cells()):
            for engram in error_lessons.lessons_of_turn(turn):
                found.setdefault(engram.text, engram)
        return Learned(tuple(found.values()))


class Replay:
    """What a model learns from what was done, if enough was, or any of it went wrong."""

    name: Final = "replay"
    asks: Final = True

    def is_due(self, told: Told) -> bool:
        """Whether it is worth a call."""
        return replay.should_replay(told.cells())

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what it teaches."""
        return (
            Learned() if model is None else replay.replay_and_extract(told.cells(), model, prompts)
        )


class Surprises:
    """What a model learns from calls that did not do what they said, in one call for a session."""

    name: Final = "cerebellum"
    asks: Final = True

    def is_due(self, told: Told) -> bool:
        """Whether any did not."""
        return bool(replay.surprises(told.cells()))

    def learn(self, told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
        """Return what it teaches."""
        return replay.lessons_of_turn(told.cells(), model, prompts)


JOBS: Final[tuple[Job, ...]] = (Statements(), Mistakes(), Replay(), Surprises())
"""What is learned from each session, in this order; facts about the user come of several."""

"""The jobs that learn from a session: facts about the user, and lessons from mistakes.

A job writes nothing. Nothing here bypasses the gate, and no lock is held while a model thinks.
Without a model the same jobs find less. What somebody other than the user said is not a fact about
the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

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

# So many messages of the user a model is shown at once.
SHOWN: Final = 40


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


# The job that finds facts about the user, in what they wrote in several sessions.
IDENTITY: Final = "identity"


def user_messages(told: Told) -> list[Message]:
    """Return what the user wrote; none where somebody else speaks as the user."""
    return messages_of(told.session, told.lines) if told.by_one_user() else []


def learn_identity(
    messages: Sequence[Message], model: LanguageModel | None, prompts: Mapping[str, str]
) -> Learned:
    """Return the facts that a model finds, a number of messages at a time; without one none."""
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
    model = Asking.begin(scopes).of(IDENTITY) if use_model else None
    if model is None:
        return stated
    prompts = prompts_for(scopes, IDENTITY)
    try:
        asked = facts_of_model(said[-SHOWN:], model, prompts)
    except UnusableAnswerError as error:
        # What is stated outright is known without it.
        return Learned(stated.engrams, (str(error),))
    # What is stated outright is surer than what a model makes of it.
    known = {fact_key(engram.text) or fold(engram.text) for engram in stated.engrams}
    more = tuple(engram for engram in asked.engrams if fact_key(engram.text) not in known)
    return Learned(stated.engrams + more, asked.refusals)


class Job(NamedTuple):
    """Learns from what is new in one finished session.

    Attributes:
        name: What it is called in the ledger, in the state of sleep and in the summary.
        is_due: Whether there is anything in it to learn from; decided without a model.
        learn: Returns what it teaches, given the model and the prompts that scopes have of their
            own. It raises ModelError if the model gave no answer of use, and StoreError if the
            ledger or a prompt could not be read or written.
        asks: Whether it needs a model, and learns nothing without one.
    """

    name: str
    is_due: Callable[[Told], bool]
    learn: Callable[[Told, LanguageModel | None, Mapping[str, str]], Learned]
    asks: bool = False


def _learn_statements(told: Told, model: object, prompts: object) -> Learned:
    del model, prompts
    is_one = told.by_one_user()
    # Without what a user said where another one spoke.
    lines = tuple(line for line in told.lines if is_one or line.role != "user")
    return replay.replay_without_model(told.session, lines)


def _has_calls(told: Told) -> bool:
    return any(line.role in ("tool_call", "tool_result", "scratchpad") for line in told.lines)


def _learn_mistakes(told: Told, model: object, prompts: object) -> Learned:
    del model, prompts
    found: dict[str, Engram] = {}  # Each thing once.
    for turn in by_turn(told.cells()):
        for engram in error_lessons.lessons_of_turn(turn):
            found.setdefault(engram.text, engram)
    return Learned(tuple(found.values()))


def _is_worth_replay(told: Told) -> bool:
    return replay.should_replay(told.cells())


def _learn_replay(told: Told, model: LanguageModel | None, prompts: Mapping[str, str]) -> Learned:
    return Learned() if model is None else replay.replay_and_extract(told.cells(), model, prompts)


def _has_surprises(told: Told) -> bool:
    return bool(replay.surprises(told.cells()))


def _learn_surprises(
    told: Told, model: LanguageModel | None, prompts: Mapping[str, str]
) -> Learned:
    return replay.lessons_of_turn(told.cells(), model, prompts)


# What the user stated outright, and which calls mended others.
STATEMENTS: Final = Job("statements", lambda told: bool(told.lines), _learn_statements)
# How an assistant went wrong, noticed without a model.
MISTAKES: Final = Job("mistakes", _has_calls, _learn_mistakes)
# What a model learns from what was done, if enough was, or any of it went wrong.
REPLAY: Final = Job("replay", _is_worth_replay, _learn_replay, asks=True)
# What a model learns from calls that did not do what they said, in one call for a session.
SURPRISES: Final = Job("cerebellum", _has_surprises, _learn_surprises, asks=True)
# What is learned from each session, in this order; facts about the user come of several.
JOBS: Final = (STATEMENTS, MISTAKES, REPLAY, SURPRISES)

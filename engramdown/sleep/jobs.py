"""The jobs that learn from a session: facts about the user, and lessons from mistakes.

A job writes nothing, so nothing bypasses the gate, and no lock is held while a model thinks.
Without a model the same jobs find less. Words of somebody other than the user are not facts about
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

# How many messages of the user a model is shown at once.
SHOWN: Final = 40
_OF_CALLS: Final = ("tool_call", "tool_result", "scratchpad")


class NewLines(NamedTuple):
    """The lines of a session that are new to a job.

    Attributes:
        session: The id of the session.
        lines: The new lines that may be shown, in order.
        parent: The session that started this one, or ``""``.
    """

    session: str
    lines: tuple[Episode, ...]
    parent: str = ""

    def by_one_user(self) -> bool:
        """Whether only the user speaks as the user."""
        names = {line.name for line in self.lines if line.role == "user"}
        return not self.parent and len(names) <= 1

    def cells(self) -> list[Cell]:
        """Return the actions of the assistant."""
        return cells_of(self.session, self.lines)


# The job that finds facts about the user in their messages of several sessions.
IDENTITY: Final = "identity"


def user_messages(news: NewLines) -> list[Message]:
    """Return the user's messages, or none if somebody else speaks as the user, too."""
    return messages_of(news.session, news.lines) if news.by_one_user() else []


def learn_identity(
    messages: Sequence[Message], model: LanguageModel | None, prompts: Mapping[str, str]
) -> Learned:
    """Return the facts that a model finds, some messages at a time; none without a model."""
    engrams: list[Engram] = []
    refusals: list[str] = []
    unusable: list[UnusableAnswerError] = []
    for at in range(0, len(messages), SHOWN):
        if model is None:
            break
        try:
            learned = facts_of_model(messages[at : at + SHOWN], model, prompts)
            engrams += learned.engrams
            refusals += learned.refusals
        except UnusableAnswerError as error:
            unusable.append(error)
    # One unusable answer does not spoil the others.
    if unusable and not engrams:
        raise unusable[0]
    return Learned(tuple(engrams), (*refusals, *map(str, unusable)))


def facts(
    scopes: Scopes, messages: str | Iterable[str | Message], *, use_model: bool = True
) -> Learned:
    """Return the facts about the user in messages; see :meth:`Cortex.maybe_update_identity`.

    Raises:
        ModelError: If the model gave no usable answer.
        SettingsError: If the model of the cortex is not a model.
        StoreError: If a prompt or the ledger could not be read or written.
    """
    from engramdown.gate.model_runs import Asking, prompts_for

    several = [messages] if isinstance(messages, str) else messages
    said = [Message(each) if isinstance(each, str) else each for each in several]
    stated = facts_without_model(said)
    model = Asking.begin(scopes).of(IDENTITY) if use_model else None
    if model is None:
        return stated
    prompts = prompts_for(scopes, IDENTITY)
    try:
        inferred = facts_of_model(said[-SHOWN:], model, prompts)
    except UnusableAnswerError as error:
        return Learned(stated.engrams, (str(error),))
    # An outright statement is surer than what a model makes of it.
    known = {fact_key(engram.text) or fold(engram.text) for engram in stated.engrams}
    more = tuple(engram for engram in inferred.engrams if fact_key(engram.text) not in known)
    return Learned(stated.engrams + more, inferred.refusals)


class Job(NamedTuple):
    """Learns from the new lines of one finished session.

    Attributes:
        name: Its name in the ledger, in the state of sleep and in the summary.
        is_due: Whether there is anything to learn from; decided without a model.
        learn: Returns what it learned, given the model and the prompts of the scopes. It raises
            ModelError if the model gave no usable answer, and StoreError if the ledger or a prompt
            could not be read or written.
        asks: Whether it needs a model, and is left for later without one.
    """

    name: str
    is_due: Callable[[NewLines], bool]
    learn: Callable[[NewLines, LanguageModel | None, Mapping[str, str]], Learned]
    asks: bool = False


def _learn_statements(news: NewLines, *_: object) -> Learned:
    is_one = news.by_one_user()
    # Without the user's lines if several people speak as the user.
    lines = tuple(line for line in news.lines if is_one or line.role != "user")
    return replay.replay_without_model(news.session, lines)


def _learn_mistakes(news: NewLines, *_: object) -> Learned:
    lessons: dict[str, Engram] = {}  # Each lesson once.
    for turn in by_turn(news.cells()):
        for engram in error_lessons.lessons_of_turn(turn):
            lessons.setdefault(engram.text, engram)
    return Learned(tuple(lessons.values()))


# What the user stated outright, and which calls fixed others.
STATEMENTS: Final = Job("statements", lambda news: bool(news.lines), _learn_statements)
# How an assistant went wrong, noticed without a model.
MISTAKES: Final = Job(
    "mistakes", lambda news: any(line.role in _OF_CALLS for line in news.lines), _learn_mistakes
)
# What a model learns from the assistant's actions, if there were many, or one went wrong.
REPLAY: Final = Job(
    "replay",
    lambda news: replay.should_replay(news.cells()),
    lambda news, *asked: replay.replay_and_extract(news.cells(), *asked),
    asks=True,
)
# What a model learns from the calls of a session that did not do what they should.
SURPRISES: Final = Job(
    "cerebellum",
    lambda news: bool(replay.surprises(news.cells())),
    lambda news, *asked: replay.lessons_of_turn(news.cells(), *asked),
    asks=True,
)
# The jobs that learn from one session each, in this order. Facts about the user need several.
JOBS: Final = (STATEMENTS, MISTAKES, REPLAY, SURPRISES)

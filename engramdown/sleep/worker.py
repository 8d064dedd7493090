"""The background worker: ends sessions, writes cards, finds facts, summarises idle conversations.

It stops between two steps. A failure is reported, and the next round is tried all the same. A step
counts as done when its line is written, so a crash costs at most the answer that was on its way.
One process works on a scope at a time, and a second one reports who does. No lock of memory or of
transcripts is held while a model thinks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, TypeVar

from engramdown import errors
from engramdown.clock import moment, nanoseconds
from engramdown.consolidation.facts import JOB as JOB_WORK_FACTS
from engramdown.consolidation.facts import find_facts, worth_showing
from engramdown.consolidation.summaries import MANUAL, describe, lines_to_show
from engramdown.context.builder import ContextBuilder
from engramdown.conversation.conversations import Conversations
from engramdown.engram import CONFIDENCES, Engram, Scope, fold
from engramdown.episodes.card import CardFiles, ModelCard
from engramdown.episodes.forget import WORK, in_hand
from engramdown.episodes.memory import EpisodicMemory
from engramdown.forks import Event
from engramdown.gate.gate import scope_of
from engramdown.gate.injection import find_instruction
from engramdown.gate.intake import Receipt
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.scopes import scopes_of
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.git_state import known_to_git
from engramdown.sleep.background import Repeating
from engramdown.sleep.progress import Mark, SleepState, is_ripe, next_try
from engramdown.sleep.steps import LASTING, Night, SleepSummary, Steps, Summary
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.episode import stamp_of
from engramdown.transcripts.sessions import Ended, SessionInfo, Sessions, left_open
from engramdown.transcripts.visibility import visible

if TYPE_CHECKING:
    from engramdown.gate.scopes import HasScopes, Scopes
    from engramdown.models.port import LanguageModel


# The file in the folder of a scope that a worker locks for a round.
LOCK: Final = "worker.lock"
NO_MODEL: Final = "no model is set"

_NO_TRANSCRIPTS: Final = "there are no transcripts: the store has no files"

Kind = Literal["orphan", "idle", "empty", "card", "facts", "summary"]


class Deed(NamedTuple):
    """What was done with one session.

    Attributes:
        what: The session was closed because its program ended (``orphan``) or because it was silent
            (``idle``); it is ``empty``; its ``card`` was written; it was searched for ``facts``; or
            it got a ``summary``.
        session: Its id.
        outcome: ``done``, ``failed``, or, in a dry run, ``would``.
        text: Why it failed, or the title of its card.
        receipts: The receipt for each fact.
        messages: How many messages its summary newly covers.
    """

    what: Kind
    session: str
    outcome: Literal["done", "failed", "would"] = "done"
    text: str = ""
    receipts: tuple[Receipt, ...] = ()
    messages: int = 0


@dataclass(slots=True, kw_only=True)
class WorkSummary(Summary):
    """What one round did.

    Attributes:
        deeds: What was done with each session, in order.
        refused: Answers of a model that were not used, and why.
        waits: Why no model was asked, or not any more, or ``""``.
        left: How many sessions wait for a later round because of that, or because a batch was full.
        given_up: How many failed so often that they are left until they go on.
        busy: Who works here already, so that something was left to them, or ``""``.
        failed: Which files could not be read or written, or ``""``.
    """

    deeds: list[Deed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    waits: str = ""
    left: int = 0
    given_up: int = 0
    busy: str = ""
    failed: str = ""

    @property
    def trouble(self) -> str:
        """What went wrong, in one line, or ``""``."""
        wrong = [f"{deed.session}: {deed.text}" for deed in self.deeds if deed.outcome == "failed"]
        return "; ".join(filter(None, [self.failed, *wrong]))


def work_once(
    scopes: Scopes | HasScopes,
    *,
    conversations: Conversations | None = None,
    dry_run: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
    tell: Callable[[Deed], object] = lambda _: None,
    rest: Callable[[float], object] = time.sleep,
) -> WorkSummary:
    """Do one round: close sessions that nobody ended, write cards, look for facts, summarise.

    Args:
        scopes: The scopes, or a Cortex.
        conversations: The running conversations of earlier rounds: pass the same ones again, so
            that only what is new in them is read.
        dry_run: Write nothing and ask no model; report what would be done.
        should_stop: Called before each step; returns whether to stop.
        tell: Called with each deed when it is done; a StoreError or OSError that it raises counts
            as a failure of that step.
        rest: Waits for a number of seconds between two calls of a model.

    Returns:
        What was done, and what failed.

    Raises:
        SettingsError: If the model of the cortex is not a model.
    """
    both = scopes_of(scopes)
    followed = conversations or Conversations(ContextBuilder(both))
    return Round(both, followed, should_stop, tell, rest, dry_run=dry_run).run()


class Worker(Repeating):
    """Works in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the last finished round, or ``None``.
        trouble: What went wrong in the last round, or ``""``.
        rounds: How many rounds have ended.
    """

    def __init__(self, scopes: Scopes, every: float | None = None, patience: float = 10) -> None:
        """Prepare to work on the transcripts of ``scopes``.

        Args:
            scopes: The memory to work on; the thread opens its own copy.
            every: How many seconds to wait between the end of a round and the next; by default as
                set, five minutes.
            patience: How many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        chosen = scopes.settings.worker.every if every is None else every
        if not chosen > 0:
            raise ValueError(f"every is {every}; give a number of seconds above 0")
        super().__init__(scopes, "engramdown-worker", patience, min(chosen, threading.TIMEOUT_MAX))
        self.last: WorkSummary | None = None
        self._followed: Conversations | None = None

    def _round(self, scopes: Scopes, stopping: Event) -> str:
        if self._followed is None or self._followed.scopes is not scopes:
            self._followed = Conversations(ContextBuilder(scopes))
        stops, rest = stopping.is_set, stopping.wait
        self.last = Round(scopes, self._followed, stops, lambda _: None, rest).run()
        return self.last.trouble


@dataclass(slots=True)
class Round:
    """One round over the transcripts of two scopes; it runs once. See :func:`work_once`.

    A session that fails or is empty never keeps the others from their turn.

    Attributes:
        summary: What was done so far, also after an interruption.
    """

    scopes: Scopes
    conversations: Conversations
    should_stop: Callable[[], bool]
    tell: Callable[[Deed], object]
    rest: Callable[[float], object]
    dry_run: bool = False
    summary: WorkSummary = field(init=False)
    _left: set[str] = field(default_factory=set)
    _given_up: set[str] = field(default_factory=set)
    _asking: Asking = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing done; a SettingsError if the model of the scopes is not a model."""
        self.summary = WorkSummary(dry_run=self.dry_run)
        self._asking = Asking.begin(self.scopes).within(self.scopes.settings.worker.timeout)

    def run(self) -> WorkSummary:
        """Do what is due."""
        memory = self.scopes.episodes
        if self.scopes.mode == "off" or memory is None:
            self.summary.skipped = _NO_TRANSCRIPTS if memory is None else "memory is switched off"
            return self.summary
        for store in self.scopes.stores:
            try:
                store.check_folder()
            except errors.StoreError as error:
                self._fail(error)
        if memory.folder.is_dir():
            try:
                # A dry run does not even write who works.
                lock = SleepLock(memory.folder.parent, LOCK)
                with nullcontext() if self.dry_run else lock.hold() as holder:
                    if holder is None:
                        self._work(memory)
                    else:
                        self.summary.busy = str(holder)
            except (errors.StoreError, OSError) as error:
                self._fail(error)
        return self.summary

    def _work(self, memory: EpisodicMemory) -> None:
        """Do what is due for the transcripts."""
        sessions = Sessions(memory.folder, Disk())
        closed = self._close(memory, sessions)
        state = SleepState(memory.folder.parent, dry=self.dry_run)
        chosen = self.scopes.settings
        rest, attempts = partial(self.rest, chosen.worker.pause), chosen.worker.attempts
        questions = Questions(self._asking, state, rest, attempts)
        self.summary.model = questions.model
        infos = self._own(sessions, closed)
        given = (self.scopes, memory, state, questions, self.conversations, self.summary)
        try:
            self._each(Cards(*given), infos)
            if chosen.consolidation.extract_facts:
                facts = Facts(*given)
                self._each(facts, infos)
                if not self.dry_run:
                    facts.forget_done()
            if chosen.worker.idle_minutes > 0 and chosen.conversation.max_tokens != MANUAL:
                self._each(Idle(*given), infos)
            questions.end()
        finally:
            self.summary.spent = self._asking.run.spent
            self.summary.left, self.summary.given_up = len(self._left), len(self._given_up)
            self.summary.waits = questions.why_not if self._left else ""

    def _close(self, memory: EpisodicMemory, sessions: Sessions) -> set[str]:
        """End the sessions that nobody ended; return those that a dry run would have ended."""
        idle = memory.settings.idle_minutes
        if not self.dry_run:
            closes: list[tuple[Kind, Callable[[], Ended]]] = [("orphan", memory.close_orphans)]
            closes += [("idle", memory.close_idle)] if idle else []
            for kind, close in closes:
                if self._stop():
                    break
                ended = close()
                for session in ended.ids:
                    self._tell(Deed(kind, session))
                for session, why in ended.failed.items():
                    self._tell(Deed(kind, session, "failed", why))
            return set()
        would: dict[str, Kind] = {}
        if memory.settings.enabled:
            silent = left_open(sessions, Disk(), idle) if idle else []
            would = {info.id: "idle" for info in silent}
            would |= {info.id: "orphan" for info in left_open(sessions, Disk())}
        for session, what in would.items():
            self._tell(Deed(what, session, "would"))
        return set(would)

    def _own(self, sessions: Sessions, closed: set[str]) -> list[SessionInfo]:
        """Return the sessions that were recorded here, in the order in which they began."""
        infos, errors = self.summary.own_sessions(sessions)
        for error in errors[:1]:
            self._fail(error)
        return [replace(info, ended=moment()) if info.id in closed else info for info in infos]

    # ---- questions to a model ----

    def _each(self, work: Work, infos: Iterable[SessionInfo]) -> None:
        """Do one kind of work for each session that is due, up to a batch of calls."""
        asked, questions = 0, work.questions
        try:
            for info in infos:
                mark = work.mark(info)
                if mark is None:
                    continue
                if self._stop():
                    break
                if not questions.is_due(mark):
                    self._given_up |= {info.id} if questions.is_given_up(mark) else set()
                else:
                    may_ask = asked < self.scopes.settings.worker.batch
                    asked += self._one(work, mark, info, may_ask=may_ask)
        except (errors.StoreError, OSError) as error:
            # If one answer cannot be kept, the next cannot either.
            self._fail(error)
        self.summary.busy = self.summary.busy or work.busy

    def _one(self, work: Work, mark: Mark, info: SessionInfo, *, may_ask: bool) -> bool:
        """Do one kind of work for one session; return whether a model was asked, or would be."""
        may_ask = may_ask and not work.questions.why_not and not work.busy
        if not may_ask and work.what != "summary":
            # Finished sessions are not read to find out whether they wait for a later round: there
            # may be years of them, and only a few running conversations.
            self._left.add(info.id)
            return False
        try:
            try:
                comes = work.prepare(mark, info)
            except errors.SessionNotFoundError:
                raise
            except (errors.StoreError, OSError) as error:
                # A session that cannot be read is tried again later, like one that fails.
                work.questions.failed(mark)
                comes = Deed(work.what, info.id, "failed", str(error))
            if comes == "ask" and not may_ask:
                self._left.add(info.id)
            elif comes == "ask" and self.dry_run:
                self._tell(Deed(work.what, info.id, "would"))
            elif comes == "ask":
                self._ask(work, mark, info)
        except errors.SessionNotFoundError:
            return False  # It was removed meanwhile.
        if isinstance(comes, Deed) and may_ask:
            self._tell(comes)
        return comes == "ask" and may_ask

    def _ask(self, work: Work, mark: Mark, info: SessionInfo) -> None:
        questions = work.questions
        questions.pause()
        if self._stop():
            return
        calls = self._asking.run.spent.calls
        try:
            deed = questions.ask(mark, partial(work.ask, mark, info))
        except errors.ModelError as error:
            deed = Deed(work.what, info.id, "failed", str(error))
        except errors.SessionNotFoundError:
            raise
        except (errors.StoreError, OSError):
            if self._asking.run.spent.calls > calls:
                questions.failed(mark)  # An answer that was paid for and lost counts as a try.
            raise
        if deed is not None:
            self._tell(deed)
        elif questions.why_not or work.busy:
            self._left.add(info.id)

    # ---- what it reports ----

    def _tell(self, deed: Deed) -> None:
        self.summary.deeds.append(deed)
        self.tell(deed)

    def _fail(self, error: Exception) -> None:
        known = self.summary.failed
        self.summary.failed = f"{known}; {error}" if known else str(error)

    def _stop(self) -> bool:
        self.summary.stopped = self.summary.stopped or self.should_stop()
        return self.summary.stopped


T = TypeVar("T")


@dataclass(slots=True)
class Questions:
    """The questions of one round to a model, about one session after the other.

    An unusable answer counts against its session, which is tried again later, but not for ever. A
    model that cannot be reached counts against no session, and is itself tried again later. One
    failure does not keep the next session from being tried, but two in a row that look like an
    unreachable model do.

    Attributes:
        asking: The model, and what may be spent.
        state: The outcomes of earlier questions.
        rest: Pauses between two calls.
        attempts: How often a session is tried.
        model: The name of the model, or ``""``.
        why_not: Why none is asked, or not any more, or ``""``.
    """

    asking: Asking
    state: SleepState
    rest: Callable[[], object]
    attempts: int
    model: str = ""
    why_not: str = ""
    _asked: int = 0
    _doubt: Mark | None = None
    _is_there: bool = False

    def __post_init__(self) -> None:
        """Find out whether there is a model, and whether it may be asked again already."""
        model = self.asking.of("model")
        self.model = "" if model is None else model.name
        self.why_not = "" if self.model else NO_MODEL
        tries = self.state.attempts(self._model_mark)
        if self.model and not is_ripe(tries, moment()):
            then = next_try(tries)[: len("2026-03-01T10:00")].replace("T", " ")
            self.why_not = f"{self.model} gave no answer; it is asked again from {then} UTC on"

    @property
    def _model_mark(self) -> Mark:
        """The mark of the model itself."""
        return Mark("model", self.model)

    def is_due(self, mark: Mark) -> bool:
        """Whether a step is not done, may have a result, and may be tried now."""
        tries = self.state.attempts(mark)
        return self.state.is_open(mark) and tries.times < self.attempts and is_ripe(tries, moment())

    def is_given_up(self, mark: Mark) -> bool:
        """Whether a step has failed so often that it is not tried again."""
        return self.state.is_open(mark) and self.state.attempts(mark).times >= self.attempts

    def pause(self) -> None:
        """Wait before the next call, if there was one."""
        if self._asked:
            self.rest()

    def ask(self, mark: Mark, act: Callable[[], T]) -> T | None:
        """Let ``act`` ask the model about the session of ``mark``.

        Returns:
            What it returns; ``None`` if a limit does not allow a call.

        Raises:
            ModelError: If there is no usable answer, which is recorded.
        """
        self._asked += 1
        try:
            result = act()
        except errors.SpendError as error:
            self.why_not = str(error)
            return None
        except errors.ModelError as error:
            if error.outcome not in LASTING:
                self._answered()
                self.failed(mark)
            elif self._doubt is None:
                # The next session shows whether the model or this session is the reason.
                self._doubt = mark
            else:
                self._is_away()
                self.why_not = str(error)
            raise
        self._answered()
        return result

    def failed(self, mark: Mark) -> None:
        """Count a failure against a session."""
        self.state.add(mark._replace(outcome="failed"))

    def end(self) -> None:
        """End the round: a model that answered no question counts as unreachable."""
        if self._doubt is not None and self._is_there:
            self._answered()
        elif self._doubt is not None:
            self._is_away()

    def _answered(self) -> None:
        """Note that the model can be reached: a session without an answer is then the reason."""
        doubt, self._doubt, self._is_there = self._doubt, None, True
        if doubt is not None:
            self.failed(doubt)
        if self.state.attempts(self._model_mark).times:
            self.state.add(self._model_mark)

    def _is_away(self) -> None:
        self._doubt = None
        self.failed(self._model_mark)


# ---- the kinds of work ----
#
# Each has three methods. ``mark`` returns the mark of a session that is done as it is now, without
# reading it, or ``None`` if this work does not concern it. ``prepare`` reads the session and says
# what comes next, without a model. ``ask`` asks the model and keeps the answer, and returns
# ``None`` if there is no result for now. The last two raise SessionNotFoundError if the session is
# gone, and StoreError or OSError if something cannot be read or kept; ``ask`` also ModelError.

# What comes next for a session: a model is asked, or nothing happens, or this deed was done.
Next = Deed | Literal["ask", "nothing"]


@dataclass(slots=True)
class _Work:
    """What a round passes to a kind of work.

    Attributes:
        busy: Who keeps it from going on, or ``""``.
    """

    scopes: Scopes
    memory: EpisodicMemory
    state: SleepState
    questions: Questions
    conversations: Conversations
    summary: WorkSummary
    busy: str = ""

    def _idle(self, mark: Mark) -> Next:
        """Record that there is nothing to ask about until the session goes on."""
        self.state.add(mark._replace(outcome="idle"))
        return "nothing"


# The name of the job in the ledger, and of its prompt.
CARD: Final = "card"
_NAME_A_MODEL: Final = (
    "no model is set; name one as `model` under [consolidation] in the global scope's config.toml"
)


class Cards(_Work):
    """Cards for the sessions that have ended and have none."""

    what: ClassVar[Kind] = "card"

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return the mark; ``None`` if the session runs, or a person has written its page."""
        if not info.ended or Disk().find(self._pages().path(info.id)) is not None:
            return None
        return Mark(CARD, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo) -> Next:
        """Look for lines to ask about, and for an answer that is there already."""
        transcript = self.memory.session(info.id)
        if not lines_to_show(visible(transcript.episodes)):
            self.state.add(mark._replace(outcome="empty"))
            return Deed("empty", info.id, "would" if self.summary.dry_run else "done")
        said = self._pages().filled(transcript)
        if said is None or said.ts < info.last:
            return "ask"
        self.state.add(mark)  # A process died right after it.
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Write the card."""
        if not fill_card(self.scopes, self.memory, info.id, self.questions.asking):
            return None  # Lines were taken back meanwhile, so the session has changed.
        self.state.add(mark)
        return Deed("card", info.id, text=self.memory.card(info.id).title)

    def _pages(self) -> CardFiles:
        return CardFiles(self.memory.folder.parent, Disk())


def fill_card(
    scopes: Scopes, episodes: EpisodicMemory, session: str, asking: Asking | None = None
) -> bool:
    """Ask the model of ``scopes`` what a session was about, and keep the answer for its card.

    A model sees only the lines that may be shown, and no lock is held while it thinks. A
    description of lines that were taken back meanwhile is discarded, and so is text that reads like
    an order, since another model may see it. A failure leaves no trace. The callbacks of
    :meth:`engramdown.sleep.sleep.Workers.on_card` are called with the card.

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
    model = (asking or Asking.begin(scopes)).of(CARD)
    if model is None:
        raise errors.ModelError(_NAME_A_MODEL, "refused")
    if not lines:
        return False
    said = describe(lines, model, prompts_for(scopes, CARD))
    texts = (said.title, said.one_liner, said.paragraph, said.detailed)
    for text in (*texts, *said.decisions, *said.tags):
        order = find_instruction(text)
        if order:
            refused = f"{model.name}: the card is refused: a text of it {order}"
            raise errors.ModelError(refused, "refused")
    pages = CardFiles(episodes.folder.parent, Disk())
    card = ModelCard(moment(), model.name, 0, *said)
    if not pages.fill(transcript, card, episodes.recorder.lock, episodes.session):
        return False
    scopes.tell_of_card(episodes.card(session))
    return True


# How many seconds one call for facts may take: there is little to read.
_SECONDS: Final = 30.0


@dataclass
class Facts(_Work):
    """Facts from conversations that have ended; off unless set.

    Whether to ask a model is decided without one. Its findings go through the gate like everything
    else, so that a contradiction to a person's words waits for that person. They are recorded until
    they are in memory, so that a crash costs no second call. No sleep runs on the scope meanwhile.
    """

    what: ClassVar[Kind] = "facts"

    def __post_init__(self) -> None:
        """Begin with an empty report."""
        self._root = self.memory.folder.parent
        self._night = Night(self.scopes, self.questions.asking, SleepSummary())

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return the mark; ``None`` if the session runs, or an assistant began it."""
        if not info.ended or info.parent:
            return None
        return Mark(JOB_WORK_FACTS, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo) -> Next:
        """Look whether it is worth asking."""
        news = self._steps(self.state).news(JOB_WORK_FACTS, info)
        # If several people speak, nobody knows whose facts they are.
        if news.by_one_user() and worth_showing(news.lines):
            return "ask"
        return self._idle(mark)

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Look for facts, and put them into memory or the review queue."""
        with SleepLock(self._root).hold() as holder:
            if holder is not None:
                self.busy = str(holder)
                return None
            # Read under the lock, so that nobody else writes there.
            steps = self._steps(SleepState(self._root))
            receipts = steps.report(JOB_WORK_FACTS).receipts
            before = len(receipts)
            if self._is_ours():
                steps.finish()  # What was learned before a crash.
            if steps.state.done(*mark[:3]).seq >= mark.seq:
                return Deed("facts", info.id, receipts=tuple(receipts[before:]))
            model = self.questions.asking.within(_SECONDS).of(JOB_WORK_FACTS)
            return None if model is None else self._learn(steps, info, model)

    def forget_done(self) -> None:
        """Forget the work in hand of a round that was killed when all of it was done.

        Raises:
            StoreError: If it cannot be removed.
        """
        # Checked first, so that a round without work in hand makes no lock.
        if in_hand(self._root, Disk()) and self._is_ours():
            with SleepLock(self._root).hold() as holder:
                if holder is None:
                    self._steps(SleepState(self._root)).forget_done()

    def _learn(self, steps: Steps, info: SessionInfo, model: LanguageModel) -> Deed:
        news = steps.news(JOB_WORK_FACTS, info)
        part = steps.part(JOB_WORK_FACTS, info, news)
        prompts = prompts_for(self.scopes, JOB_WORK_FACTS)
        # Read before a model is asked: a store that cannot be read cannot be written either.
        both = (self.scopes.global_hc, self.scopes.project_hc)
        entries = [entry for store in both for entry in store.entries()]
        facts = find_facts(info.id, worth_showing(news.lines), model, prompts)
        self.summary.refused += facts.refusals
        surer = tuple(each if each.unsaid else reinforced(each, entries) for each in facts.engrams)
        report = steps.report(JOB_WORK_FACTS)
        before, problems = len(report.receipts), len(report.problems)
        failed = ""
        try:
            steps.keep(JOB_WORK_FACTS, [part], facts._replace(engrams=surer))
        except errors.StoreError as error:
            failed = str(error)  # The next round finishes it, without asking again.
        why = "; ".join(filter(None, [failed, *report.problems[problems:]]))
        receipts = tuple(report.receipts[before:])
        return Deed("facts", info.id, "failed" if why else "done", why, receipts)

    def _is_ours(self) -> bool:
        """Whether the work in hand did not come with git."""
        return not known_to_git([self._root / WORK], Disk(durable=False))

    def _steps(self, state: SleepState) -> Steps:
        stores = self.scopes.stores
        scope: Scope = next((each.scope for each in stores if each.root == self._root), "project")
        sessions = Sessions(self.memory.folder, Disk())
        return Steps(self._night, scope, sessions, state, singly=True)


_MINUTE: Final = 60_000_000_000
_DAY: Final = 24 * 60 * _MINUTE
# Nobody meant to end such a session: it may go on.
_UNMEANT: Final = frozenset({"crash_recovery", "idle_timeout", "shutdown"})


class Idle(_Work):
    """Summaries of idle conversations, so that nobody has to wait for one when they go on.

    A conversation that somebody ended is left alone, and so is one that is summarised only when a
    person asks.
    """

    what: ClassVar[Kind] = "summary"

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return the mark; ``None`` if the session is not idle, or will not go on."""
        now = nanoseconds()
        silent = info.last <= stamp_of(
            now - int(self.scopes.settings.worker.idle_minutes * _MINUTE)
        )
        lately = info.last >= stamp_of(now - _DAY)
        may_go_on = not info.ended or (info.reason in _UNMEANT and lately)
        if not silent or not may_go_on or info.parent:
            return None
        return Mark(self.what, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo) -> Next:
        """Look for enough messages that no summary covers."""
        if self._is_long(info):
            return "ask"
        return self._idle(mark)

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Summarise what is older than the newest messages."""
        done = self.conversations.get(info.id).compact(asking=self.questions.asking)
        if not done.gists:
            # There is not enough for a summary, or somebody else was faster.
            self._idle(mark)
            return None
        if not self._is_long(info):
            self.state.add(mark)
        return Deed("summary", info.id, messages=done.messages)

    def _is_long(self, info: SessionInfo) -> bool:
        uncovered = self.conversations.get(info.id).uncovered
        return uncovered >= max(self.scopes.settings.worker.idle_messages, 1)


Work = Cards | Facts | Idle


def reinforced(engram: Engram, entries: Iterable[Entry]) -> Engram:
    """Return ``engram`` with the confidence that the existing memories justify.

    A guess from two conversations becomes *medium*. Nothing that a job learns makes memory surer of
    a person's statement than that person was.

    Args:
        engram: What a job has learned.
        entries: The memories of both scopes.
    """
    same = scope_of(engram), engram.kind, fold(engram.text)
    known = [entry for entry in entries if (entry.scope, entry.kind, entry.fold) == same]
    by_person = [entry for entry in known if entry.by_person]
    if by_person:
        sure = [engram.confidence, *(entry.confidence for entry in by_person)]
        return replace(engram, confidence=max(sure, key=CONFIDENCES.index))
    # Repeating it in one conversation does not count.
    own = _sessions(engram.origin)
    again = any(e.confidence == "low" and not _sessions(e.origin) & own for e in known)
    return replace(engram, confidence="medium") if again and engram.confidence == "low" else engram


def _sessions(origin: str) -> set[str]:
    return {each.partition("#")[0] for each in origin.split(",") if each}

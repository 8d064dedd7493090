"""The background worker: ends sessions, writes cards, finds facts, summarizes idle talk.

It stops between two steps. What goes wrong is kept and reported, and the next round is tried all
the same. A program that exits without stopping it loses nothing: a step counts as done when its
line is written, so a crash anywhere costs at most the answer that was on its way. One process works
on a scope at a time, and whoever comes second is told who does. No lock of memory or of transcripts
is held while a model thinks.
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
from engramdown.consolidation.summaries import MANUAL, lines_to_show
from engramdown.context.builder import ContextBuilder
from engramdown.conversation.conversations import Conversations
from engramdown.engram import CONFIDENCES, Engram, Scope, fold
from engramdown.episodes.card import CardFiles
from engramdown.episodes.forget import WORK, in_hand
from engramdown.episodes.memory import EpisodicMemory
from engramdown.forks import Event
from engramdown.gate.gate import scope_of
from engramdown.gate.intake import Receipt
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.scopes import scopes_of
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.git_state import known_to_git
from engramdown.models.ledger import Spent
from engramdown.sleep.background import Background
from engramdown.sleep.progress import Mark, SleepState, is_ripe, next_try
from engramdown.sleep.session_cards import JOB, fill_card
from engramdown.sleep.steps import LASTING, Night, SleepSummary, Steps
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.episode import stamp_of
from engramdown.transcripts.sessions import Ended, SessionInfo, Sessions, left_open
from engramdown.transcripts.visibility import visible

if TYPE_CHECKING:
    from engramdown.gate.scopes import HasScopes, Scopes
    from engramdown.models.port import LanguageModel


# The file, in the folder of a scope, that a worker holds for the length of a round.
LOCK: Final = "worker.lock"
NO_MODEL: Final = "no model is set"

_NO_TRANSCRIPTS: Final = "there are no transcripts: the store has no files"

Kind = Literal["orphan", "idle", "empty", "card", "facts", "summary"]


class Deed(NamedTuple):
    """What became of one session.

    Attributes:
        what: It was closed, as nobody had (``orphan``) or as it was silent (``idle``); there is
            nothing in it (``empty``); its ``card`` was written; ``facts`` were looked for; or it
            got a ``summary``.
        session: Its id.
        outcome: ``done``, ``failed``, or, in a dry run, ``would``.
        text: Why it failed, or the title of its card.
        receipts: What became of each fact.
        messages: How many messages its summary covers that none covered before.
    """

    what: Kind
    session: str
    outcome: Literal["done", "failed", "would"] = "done"
    text: str = ""
    receipts: tuple[Receipt, ...] = ()
    messages: int = 0


@dataclass(slots=True)
class WorkSummary:
    """What one round did.

    Attributes:
        deeds: What became of each session, in order.
        refused: What a model answered that was not used, and why.
        waits: Why no model was asked, or not any more, or ``""``.
        left: How many sessions wait for a later round because of that, or because of the batch.
        given_up: How many were tried so often that they are left until they go on.
        not_ours: How many sessions git knows: no model is shown them, as they may have come with
            a clone.
        busy: Who works here already, so that something was left to them, or ``""``.
        failed: Which files could not be read or written, or ``""``.
        model: The name of the model, or ``""``.
        spent: What asking it cost.
        skipped: Why nothing at all was done, or ``""``.
        stopped: Whether it was stopped before the end.
        dry_run: Whether nothing was written.
    """

    deeds: list[Deed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    waits: str = ""
    left: int = 0
    given_up: int = 0
    not_ours: int = 0
    busy: str = ""
    failed: str = ""
    model: str = ""
    spent: Spent = field(default_factory=Spent)
    skipped: str = ""
    stopped: bool = False
    dry_run: bool = False

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
        scopes: Whose transcripts; a Cortex will do.
        conversations: The running conversations that earlier rounds looked at: pass the same again,
            so that only what is new in them is read.
        dry_run: Write nothing and ask no model; tell what would be done.
        should_stop: Asked before each step whether to stop.
        tell: Told of each thing that was done, when it is; an error of a file that it raises counts
            as one of the step that it is told of.
        rest: Waits for so many seconds, between two calls of a model.

    Returns:
        What became of everything; what fails is told there.

    Raises:
        SettingsError: If the model of the cortex is none.
    """
    found = scopes_of(scopes)
    kept = conversations or Conversations(ContextBuilder(found))
    return Round(found, kept, should_stop, tell, rest, dry_run=dry_run).run()


class Worker(Background):
    """Works in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the round that ended last, or ``None``.
        trouble: What went wrong in the last round, or ``""``.
        rounds: How many rounds ended.
    """

    def __init__(self, scopes: Scopes, every: float | None = None, patience: float = 10) -> None:
        """Prepare to work on the transcripts of ``scopes``.

        Args:
            scopes: Whose transcripts; it is not used by the thread.
            every: How many seconds lie between the end of a round and the next; by default what is
                set, five minutes.
            patience: For how many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        super().__init__(scopes, "engramdown-worker", patience)
        chosen = scopes.settings.worker.every if every is None else every
        if not chosen > 0:
            raise ValueError(f"every is {every}; give a number of seconds above 0")
        self._every = min(chosen, threading.TIMEOUT_MAX)
        self.last: WorkSummary | None = None
        self.rounds = 0

    def _work(self, scopes: Scopes, stopping: Event) -> None:
        conversations = Conversations(ContextBuilder(scopes))
        stops, rest = stopping.is_set, stopping.wait
        while not stopping.is_set():
            try:
                self.last = Round(scopes, conversations, stops, lambda _: None, rest).run()
                self.trouble = self.last.trouble
            except (errors.EngramdownError, OSError) as error:
                self.trouble = str(error)
            finally:
                self.rounds += 1
            stopping.wait(self._every)


@dataclass(slots=True)
class Round:
    """One round over the transcripts of two scopes; it runs once. See :func:`work_once`.

    A session that fails, or holds nothing, never keeps the others from their turn.

    Attributes:
        summary: What was done so far, also after it was interrupted.
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
        """Begin with nothing done; it is a SettingsError if the model of the scopes is none."""
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
                # A dry run writes not even who works.
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
        state = SleepState(memory.folder.parent)
        chosen = self.scopes.settings
        rest, attempts = partial(self.rest, chosen.worker.pause), chosen.worker.attempts
        questions = Questions(self._asking, state, rest, attempts, self.dry_run)
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
        """End what nobody ended; return what a dry run would have ended."""
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
        found, errors = sessions.survey()
        for error in errors[:1]:
            self._fail(error)
        infos = {sessions.path(info.id): info for info in found}
        strange = known_to_git(infos, Disk(durable=False))
        self.summary.not_ours = len(strange)
        return [
            replace(info, ended=moment()) if info.id in closed else info
            for path, info in infos.items()
            if path not in strange
        ]

    # ---- what a model is asked about ----

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
            # What keeps one answer from being kept keeps the next from it, too.
            self._fail(error)
        self.summary.busy = self.summary.busy or work.busy

    def _one(self, work: Work, mark: Mark, info: SessionInfo, *, may_ask: bool) -> bool:
        """Do one kind of work for one session; return whether a model was asked, or would be."""
        may_ask = may_ask and not work.questions.why_not and not work.busy
        if not may_ask and work.what != "summary":
            # Only conversations, which are few, are read to know whether they wait for a later
            # round: of sessions that ended there may be years.
            self._left.add(info.id)
            return False
        try:
            try:
                comes = work.prepare(mark, info, dry=self.dry_run)
            except errors.SessionNotFoundError:
                raise
            except (errors.StoreError, OSError) as error:
                # What cannot be read is tried again later, like what fails.
                work.questions.failed(mark)
                comes = Deed(work.what, info.id, "failed", str(error))
            if comes == "ask" and not may_ask:
                self._left.add(info.id)
            elif comes == "ask" and self.dry_run:
                self._tell(Deed(work.what, info.id, "would"))
            elif comes == "ask":
                self._ask(work, mark, info)
        except errors.SessionNotFoundError:
            return False  # It was forgotten meanwhile.
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
                questions.failed(mark)  # What was paid for and lost is not paid for for ever.
            raise
        if deed is not None:
            self._tell(deed)
        elif questions.why_not or work.busy:
            self._left.add(info.id)

    # ---- what it tells ----

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

    An answer of no use counts against its session, which is tried again later, and not for ever. A
    model that is not there counts against no session and is itself asked again later. A failure
    never keeps the next session from being tried, but two in a row by which a model is not there
    do.

    Attributes:
        asking: The model, and what may be spent.
        state: What became of earlier questions.
        rest: Pauses between two calls.
        attempts: How often a session is tried.
        dry: Whether nobody is asked and nothing written.
        model: The name of the model, or ``""``.
        why_not: Why none is asked, or not any more, or ``""``.
    """

    asking: Asking
    state: SleepState
    rest: Callable[[], object]
    attempts: int
    dry: bool
    model: str = ""
    why_not: str = ""
    _asked: int = 0
    _doubt: Mark | None = None
    _is_there: bool = False

    def __post_init__(self) -> None:
        """Find out whether there is a model, and whether it may be asked again already."""
        found = self.asking.of("model")
        self.model = "" if found is None else found.name
        self.why_not = "" if self.model else NO_MODEL
        tries = self.state.attempts(self._model_mark)
        if self.model and not is_ripe(tries, moment()):
            then = next_try(tries)[: len("2026-03-01T10:00")].replace("T", " ")
            self.why_not = f"{self.model} gave no answer; it is asked again from {then} UTC on"

    @property
    def _model_mark(self) -> Mark:
        """What is kept of the model itself."""
        return Mark("model", self.model)

    def is_due(self, mark: Mark) -> bool:
        """Whether a step is not done, may give something, and may be tried now."""
        tries = self.state.attempts(mark)
        return self._is_open(mark) and tries.times < self.attempts and is_ripe(tries, moment())

    def is_given_up(self, mark: Mark) -> bool:
        """Whether a step was tried so often that it is not tried again."""
        return self._is_open(mark) and self.state.attempts(mark).times >= self.attempts

    def pause(self) -> None:
        """Wait before the next call, if there was one."""
        if self._asked:
            self.rest()

    def ask(self, mark: Mark, act: Callable[[], T]) -> T | None:
        """Let ``act`` ask the model about the session of ``mark``.

        Returns:
            What it returns; ``None`` if a limit forbids to ask, or there is no time for it.

        Raises:
            ModelError: If there is no answer of use. What that means is written down.
        """
        self._asked += 1
        try:
            found = act()
        except errors.SpendError as error:
            self.why_not = str(error)
            return None
        except errors.ModelError as error:
            if error.outcome not in LASTING:
                self._answered()
                self.failed(mark)
            elif self._doubt is None:
                # Whether it is the model or this session, the next one tells.
                self._doubt = mark
            else:
                self._is_away()
                self.why_not = str(error)
            raise
        self._answered()
        return found

    def failed(self, mark: Mark) -> None:
        """Count a try against a session."""
        if not self.dry:
            self.state.add(mark._replace(outcome="failed"))

    def end(self) -> None:
        """End the round: if the model was there for nobody, it is taken for away."""
        if self._doubt is not None and self._is_there:
            self._answered()
        elif self._doubt is not None:
            self._is_away()

    def _is_open(self, mark: Mark) -> bool:
        seen = self.state.seen(mark)
        said = seen.outcome if seen is not None else ""
        done = self.state.done(mark.job, mark.session, mark.born).seq
        return done < mark.seq and said not in ("empty", "idle")

    def _answered(self) -> None:
        """Take note that the model is there: who got no answer before that is tried less often."""
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
# Each has three methods: ``mark`` returns what counts as done with a session as it is now, ``None``
# if it is none for it, without reading it; ``prepare`` looks at the session without a model and
# says what comes next; ``ask`` asks the model and keeps what it says, and returns ``None`` if
# nothing became of it, for now. The latter two raise SessionNotFoundError if the session is gone,
# and StoreError or OSError if something cannot be read or kept; ``ask`` raises ModelError, too.

# What comes next for a session: a model is asked, or not, and then perhaps there is a deed.
Next = Deed | Literal["ask", "nothing"]


@dataclass(slots=True)
class _Work:
    """What a round has for a kind of work.

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

    def _idle(self, mark: Mark, *, dry: bool) -> Next:
        """Write down that there is nothing to ask about until the session goes on."""
        if not dry:
            self.state.add(mark._replace(outcome="idle"))
        return "nothing"


class Cards(_Work):
    """The cards of one round, for the sessions that ended and have none."""

    what: ClassVar[Kind] = "card"

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it runs, or a person has written its page."""
        if not info.ended or Disk().find(self._pages().path(info.id)) is not None:
            return None
        return Mark(JOB, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether there is anything to ask about, and not an answer already."""
        transcript = self.memory.session(info.id)
        if not lines_to_show(visible(transcript.episodes)):
            if not dry:
                self.state.add(mark._replace(outcome="empty"))
            return Deed("empty", info.id, "would" if dry else "done")
        said = self._pages().filled(transcript)
        if said is None or said.ts < info.last:
            return "ask"
        if not dry:
            self.state.add(mark)  # A process died right behind it.
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Write the card."""
        if not fill_card(self.scopes, self.memory, info.id, self.questions.asking):
            return None  # Lines were taken back meanwhile: it is another session now.
        self.state.add(mark)
        return Deed("card", info.id, text=self.memory.card(info.id).title)

    def _pages(self) -> CardFiles:
        return CardFiles(self.memory.folder.parent, Disk())


# So long one call for facts may take: there is little to read.
_SECONDS: Final = 30.0


@dataclass
class Facts(_Work):
    """The facts of one round, out of conversations that ended; off unless set.

    Whether a model is asked is decided without one. What it finds goes through the gate like
    everything else, so what contradicts a person waits for them, and what is known already is at
    most surer. It is kept until it is in memory, so that a crash costs no second call. No sleep
    runs on the scope meanwhile.
    """

    what: ClassVar[Kind] = "facts"

    def __post_init__(self) -> None:
        """Begin with nothing told."""
        self._root = self.memory.folder.parent
        self._night = Night(self.scopes, self.questions.asking, SleepSummary())

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it runs, or an assistant began it."""
        if not info.ended or info.parent:
            return None
        return Mark(JOB_WORK_FACTS, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether it is worth it to ask."""
        told = self._steps(self.state).told(JOB_WORK_FACTS, info)
        # Where several people speak nobody knows whose facts they are.
        if told.by_one_user() and worth_showing(told.lines):
            return "ask"
        return self._idle(mark, dry=dry)

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Look for facts, and put them into memory or before a person."""
        with SleepLock(self._root).hold() as holder:
            if holder is not None:
                self.busy = str(holder)
                return None
            # Read now that nobody else writes there.
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
        """Forget what a round had in hand that was killed when all of it was done.

        Raises:
            StoreError: If it cannot be forgotten.
        """
        # Looked at first: a round that finds none leaves no lock.
        if in_hand(self._root, Disk()) and self._is_ours():
            with SleepLock(self._root).hold() as holder:
                if holder is None:
                    self._steps(SleepState(self._root)).forget_done()

    def _learn(self, steps: Steps, info: SessionInfo, model: LanguageModel) -> Deed:
        told = steps.told(JOB_WORK_FACTS, info)
        part = steps.part(JOB_WORK_FACTS, info, told)
        prompts = prompts_for(self.scopes, JOB_WORK_FACTS)
        # Read before anybody is asked: what cannot be read cannot be written either.
        both = (self.scopes.global_hc, self.scopes.project_hc)
        entries = [entry for store in both for entry in store.entries()]
        found = find_facts(info.id, worth_showing(told.lines), model, prompts)
        self.summary.refused += found.refusals
        surer = tuple(each if each.unsaid else reinforced(each, entries) for each in found.engrams)
        report = steps.report(JOB_WORK_FACTS)
        before, problems = len(report.receipts), len(report.problems)
        failed = ""
        try:
            steps.keep(JOB_WORK_FACTS, [part], found._replace(engrams=surer))
        except errors.StoreError as error:
            failed = str(error)  # The next round finishes it, without asking again.
        why = "; ".join(filter(None, [failed, *report.problems[problems:]]))
        receipts = tuple(report.receipts[before:])
        return Deed("facts", info.id, "failed" if why else "done", why, receipts)

    def _is_ours(self) -> bool:
        """Whether what is in hand did not come with git."""
        return not known_to_git([self._root / WORK], Disk(durable=False))

    def _steps(self, state: SleepState) -> Steps:
        stores = self.scopes.stores
        scope: Scope = next((each.scope for each in stores if each.root == self._root), "project")
        sessions = Sessions(self.memory.folder, Disk())
        return Steps(self._night, scope, sessions, state, singly=True)


_MINUTE: Final = 60_000_000_000
_DAY: Final = 24 * 60 * _MINUTE
# Nobody meant these as an end: who comes back goes on.
_UNMEANT: Final = frozenset({"crash_recovery", "idle_timeout", "shutdown"})


class Idle(_Work):
    """The idle conversations of one round, so that nobody waits for a summary who goes on.

    A conversation that ended as somebody ended it is left alone, and so is one for which summaries
    are only made when a person asks.
    """

    what: ClassVar[Kind] = "summary"

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it is not idle, or nobody goes on with it."""
        now = nanoseconds()
        silent = info.last <= stamp_of(
            now - int(self.scopes.settings.worker.idle_minutes * _MINUTE)
        )
        lately = info.last >= stamp_of(now - _DAY)
        may_go_on = not info.ended or (info.reason in _UNMEANT and lately)
        if not silent or not may_go_on or info.parent:
            return None
        return Mark(self.what, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether there is enough that no summary covers."""
        if self._is_long(info):
            return "ask"
        return self._idle(mark, dry=dry)

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Summarise what is older than the newest messages."""
        done = self.conversations.get(info.id).compact(asking=self.questions.asking)
        if not done.gists:
            # There is not enough for a summary, or somebody else was faster; until it goes on.
            self._idle(mark, dry=False)
            return None
        if not self._is_long(info):
            self.state.add(mark)
        return Deed("summary", info.id, messages=done.messages)

    def _is_long(self, info: SessionInfo) -> bool:
        uncovered = self.conversations.get(info.id).uncovered
        return uncovered >= max(self.scopes.settings.worker.idle_messages, 1)


Work = Cards | Facts | Idle


def reinforced(engram: Engram, entries: Iterable[Entry]) -> Engram:
    """Return ``engram`` as sure as it may be, given what stands already.

    A guess that two conversations tell is not a guess any more, it becomes *medium*. Nothing that a
    job learns makes memory surer of what a person wrote than that person was.

    Args:
        engram: What a job has learned.
        entries: The memories of both scopes.
    """
    said = scope_of(engram), engram.kind, fold(engram.text)
    known = [entry for entry in entries if (entry.scope, entry.kind, entry.fold) == said]
    theirs = [entry for entry in known if entry.by_person]
    if theirs:
        sure = [engram.confidence, *(entry.confidence for entry in theirs)]
        return replace(engram, confidence=max(sure, key=CONFIDENCES.index))
    # Saying it twice in one conversation is no second word.
    own = _sessions(engram.origin)
    again = any(e.confidence == "low" and not _sessions(e.origin) & own for e in known)
    return replace(engram, confidence="medium") if again and engram.confidence == "low" else engram


def _sessions(origin: str) -> set[str]:
    return {each.partition("#")[0] for each in origin.split(",") if each}

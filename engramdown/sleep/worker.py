"""The background worker: ends sessions, writes cards, finds facts, summarizes idle talk.

It stops between two steps. What goes wrong is kept and reported, and the next round is tried all
the same. A program that exits without stopping it loses nothing, since a round may be cut short
anywhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeVar

from engramdown.clock import moment, nanoseconds
from engramdown.consolidation.cards import lines_to_show
from engramdown.consolidation.facts import JOB as JOB_WORK_FACTS
from engramdown.consolidation.facts import find_facts, worth_showing
from engramdown.consolidation.summaries import MANUAL
from engramdown.context.builder import ContextBuilder
from engramdown.conversation.conversations import Conversations
from engramdown.engram import CONFIDENCES, Engram, Scope, fold
from engramdown.episodes.card import CardFiles
from engramdown.episodes.forget import WORK, in_hand
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import (
    EngramdownError,
    ModelError,
    SessionNotFoundError,
    SpendError,
    StoreError,
)
from engramdown.forks import Event
from engramdown.gate.gate import scope_of
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.scopes import scopes_of
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.git_state import known_to_git
from engramdown.sleep.background import Background
from engramdown.sleep.progress import Mark, SleepState, is_ripe, next_try
from engramdown.sleep.reports import Deed, Kind, SleepSummary, WorkSummary
from engramdown.sleep.session_cards import JOB, fill_card
from engramdown.sleep.steps import LASTING, Night, Place, Steps
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.episode import stamp_of
from engramdown.transcripts.sessions import Ended, SessionInfo, Sessions, left_open
from engramdown.transcripts.visibility import visible

if TYPE_CHECKING:
    from engramdown.gate.scopes import HasScopes, Scopes
    from engramdown.models.port import LanguageModel


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
    calls = Calls(should_stop, tell, rest)
    return Round(scopes_of(scopes), calls, conversations, dry_run=dry_run).run()


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
        calls = Calls(stopping.is_set, lambda _: None, stopping.wait)
        while not stopping.is_set():
            try:
                self.last = Round(scopes, calls, conversations).run()
                self.trouble = self.last.trouble
            except (EngramdownError, OSError) as error:
                self.trouble = str(error)
            finally:
                self.rounds += 1
            stopping.wait(self._every)


# One round of the background worker: what is due for sessions, one small step after the other.
#
# One process works on a scope at a time, and whoever comes second is told who does; a
# step counts as done when its line is written, so a crash anywhere costs at most the answer that
# was on its way; a session that fails, or holds nothing, never keeps the others from their turn; no
# lock of memory or of transcripts is held while a model thinks; a dry run writes nothing and asks
# nobody.

LOCK: Final = "worker.lock"
"""The file, in the folder of a scope, that a worker holds for the length of a round."""

_OFF: Final = "memory is switched off"
_NO_TRANSCRIPTS: Final = "there are no transcripts: the store has no files"


class Calls(NamedTuple):
    """What a round asks and tells while it works.

    Attributes:
        should_stop: Asked before each step.
        tell: Told of each deed.
        rest: Waits for so many seconds between two calls of a model.
    """

    should_stop: Callable[[], bool]
    tell: Callable[[Deed], object]
    rest: Callable[[float], object]


class Round:
    """One round over the transcripts of a cortex; it runs once.

    Attributes:
        summary: What was done so far, also after it was interrupted.
    """

    def __init__(
        self,
        scopes: Scopes,
        calls: Calls,
        conversations: Conversations | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        """Prepare a round.

        Args:
            scopes: Whose transcripts.
            calls: What it asks and tells.
            conversations: Those that earlier rounds looked at.
            dry_run: Write nothing and ask no model; tell what would be done.

        Raises:
            SettingsError: If the model of the cortex is none.
        """
        self.summary = WorkSummary(dry_run=dry_run)
        self._scopes = scopes
        self._calls = calls
        self._conversations = conversations or Conversations(ContextBuilder(scopes))
        self._dry = dry_run
        self._settings = scopes.settings.worker
        self._left: set[str] = set()
        self._given_up: set[str] = set()
        self._asking = Asking.begin(scopes).within(self._settings.timeout)

    def run(self) -> WorkSummary:
        """Do what is due."""
        memory = self._scopes.episodes
        if self._scopes.mode == "off" or memory is None:
            self.summary.skipped = _NO_TRANSCRIPTS if memory is None else _OFF
        else:
            for store in self._scopes.stores:
                try:
                    store.check_folder()
                except StoreError as error:
                    self._fail(error)
            self._look(memory)
        return self.summary

    def _look(self, memory: EpisodicMemory) -> None:
        """Do what is due for the transcripts, if there are any."""
        if memory.folder.is_dir():
            try:
                root = memory.folder.parent
                # A dry run writes not even who works.
                lock = nullcontext() if self._dry else SleepLock(root, LOCK).hold()
                with lock as holder:
                    if holder is None:
                        self._work(memory)
                    else:
                        self.summary.busy = str(holder)
            except (StoreError, OSError) as error:
                self._fail(error)

    def _work(self, memory: EpisodicMemory) -> None:
        sessions = Sessions(memory.folder, Disk())
        closed = self._close(memory, sessions)
        state = SleepState(memory.folder.parent)
        rest = partial(self._calls.rest, self._settings.pause)
        attempts = self._settings.attempts
        questions = Questions(self._asking, state, rest, attempts, dry=self._dry)
        self.summary.model = questions.model
        infos = list(self._own(sessions, closed))
        try:
            for work in self._kinds(memory, state, questions):
                self._each(work, questions, infos)
            questions.end()
        finally:
            self.summary.spent = self._asking.run.spent
            self.summary.left, self.summary.given_up = len(self._left), len(self._given_up)
            self.summary.waits = questions.why_not if self._left else ""

    def _kinds(
        self, memory: EpisodicMemory, state: SleepState, questions: Questions
    ) -> Iterator[Work]:
        yield Cards(self._scopes, memory, state, questions)
        if self._scopes.settings.consolidation.extract_facts:
            facts = Facts(self._scopes, memory, state, questions, self.summary)
            yield facts
            if not self._dry:
                facts.forget_done()
        if Idle.is_wanted(self._scopes):
            yield Idle(self._conversations, state, questions)

    # ---- what nobody ended ----

    def _close(self, memory: EpisodicMemory, sessions: Sessions) -> set[str]:
        """End what nobody ended; return what a dry run would have ended."""
        idle = memory.settings.idle_minutes
        if not self._dry:
            self._closed("orphan", memory.close_orphans)
            if idle:
                self._closed("idle", memory.close_idle)
            return set()
        would: dict[str, Kind] = {}
        if memory.settings.enabled:
            silent = left_open(sessions, Disk(), idle) if idle else []
            would = {info.id: "idle" for info in silent}
            would |= {info.id: "orphan" for info in left_open(sessions, Disk())}
        for session, what in would.items():
            self._tell(Deed(what, session, "would"))
        return set(would)

    def _closed(self, what: Kind, close: Callable[[], Ended]) -> None:
        if self._stop():
            return
        ended = close()
        for session in ended.ids:
            self._tell(Deed(what, session))
        for session, why in ended.failed.items():
            self._tell(Deed(what, session, "failed", why))

    # ---- what a model is asked about ----

    def _own(self, sessions: Sessions, closed: set[str]) -> Iterator[SessionInfo]:
        """Yield the sessions that were recorded here, in the order in which they began."""
        found, errors = sessions.survey()
        for error in errors[:1]:
            self._fail(error)
        infos = {sessions.path(info.id): info for info in found}
        strange = known_to_git(infos, Disk(durable=False))
        self.summary.not_ours = len(strange)
        for path, info in infos.items():
            if path not in strange:
                yield replace(info, ended=moment()) if info.id in closed else info

    def _each(self, work: Work, questions: Questions, infos: Iterable[SessionInfo]) -> None:
        """Do one kind of work for each session that is due, up to a batch of calls."""
        try:
            self._batch(work, questions, infos)
        except (StoreError, OSError) as error:
            # What keeps one answer from being kept keeps the next from it, too.
            self._fail(error)
        self.summary.busy = self.summary.busy or work.busy

    def _batch(self, work: Work, questions: Questions, infos: Iterable[SessionInfo]) -> None:
        asked = 0
        for info in infos:
            mark = work.mark(info)
            if mark is None:
                continue
            if self._stop():
                return
            if not questions.is_due(mark):
                self._given_up |= {info.id} if questions.is_given_up(mark) else set()
            elif questions.why_not or work.busy or asked >= self._settings.batch:
                self._left |= {info.id} if self._waits(work, questions, mark, info) else set()
            else:
                asked += self._one(work, questions, mark, info)

    def _waits(self, work: Work, questions: Questions, mark: Mark, info: SessionInfo) -> bool:
        """Whether a session waits for a later round; only conversations are read to know it.

        They are few. Of sessions that ended there may be years.
        """
        if work.what != "summary":
            return True
        try:
            return self._prepared(work, questions, mark, info) == "ask"
        except SessionNotFoundError:
            return False

    def _one(self, work: Work, questions: Questions, mark: Mark, info: SessionInfo) -> bool:
        """Do one kind of work for one session; return whether a model was asked, or would be."""
        try:
            comes = self._prepared(work, questions, mark, info)
            if comes == "ask":
                if self._dry:
                    self._tell(Deed(work.what, info.id, "would"))
                else:
                    self._ask(work, questions, mark, info)
                return True
        except SessionNotFoundError:
            return False  # It was forgotten meanwhile.
        if isinstance(comes, Deed):
            self._tell(comes)
        return False

    def _prepared(self, work: Work, questions: Questions, mark: Mark, info: SessionInfo) -> Next:
        """Look at a session; one that cannot be read is tried again later, like one that fails."""
        try:
            return work.prepare(mark, info, dry=self._dry)
        except SessionNotFoundError:
            raise
        except (StoreError, OSError) as error:
            questions.failed(mark)
            return Deed(work.what, info.id, "failed", str(error))

    def _ask(self, work: Work, questions: Questions, mark: Mark, info: SessionInfo) -> None:
        questions.pause()
        if self._stop():
            return
        calls = self._asking.run.spent.calls
        try:
            deed = questions.ask(mark, partial(work.ask, mark, info))
        except ModelError as error:
            deed = Deed(work.what, info.id, "failed", str(error))
        except SessionNotFoundError:
            raise
        except (StoreError, OSError):
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
        self._calls.tell(deed)

    def _fail(self, error: Exception) -> None:
        known = self.summary.failed
        self.summary.failed = f"{known}; {error}" if known else str(error)

    def _stop(self) -> bool:
        self.summary.stopped = self.summary.stopped or self._calls.should_stop()
        return self.summary.stopped


# Asking a model about one session after the other, with patience, and what a failure means.
#
# What one round asks stays within one set of limits; between two calls there is a pause;
# an answer of no use counts against its session, which is tried again later, and not for ever; a
# model that is not there counts against no session and is itself asked again later; a failure never
# keeps the next session from being tried, but two in a row by which a model is not there do.

T = TypeVar("T")

NO_MODEL: Final = "no model is set"


class Questions:
    """The questions of one round.

    Attributes:
        asking: The model, and what may be spent.
        model: The name of the model, or ``""``.
        why_not: Why none is asked, or not any more, or ``""``.
    """

    def __init__(
        self,
        asking: Asking,
        state: SleepState,
        rest: Callable[[], object],
        attempts: int,
        *,
        dry: bool,
    ) -> None:
        """Ask in one round.

        Args:
            asking: The model, and what may be spent.
            state: What became of earlier questions.
            rest: Pauses between two calls.
            attempts: How often a session is tried.
            dry: Whether nobody is asked and nothing written.
        """
        self.asking = asking
        self._state = state
        self._rest = rest
        self._attempts = attempts
        self._dry = dry
        self._asked = 0
        self._doubt: Mark | None = None
        self._is_there = False
        found = asking.of("model")
        self.model = "" if found is None else found.name
        self._its = Mark("model", self.model)
        self.why_not = self._resting() if self.model else NO_MODEL

    def is_due(self, mark: Mark) -> bool:
        """Whether a step is not done, may give something, and may be tried now."""
        tries = self._state.attempts(mark)
        return self._is_open(mark) and tries.times < self._attempts and is_ripe(tries, moment())

    def is_given_up(self, mark: Mark) -> bool:
        """Whether a step was tried so often that it is not tried again."""
        return self._is_open(mark) and self._state.attempts(mark).times >= self._attempts

    def pause(self) -> None:
        """Wait before the next call, if there was one."""
        if self._asked:
            self._rest()

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
        except SpendError as error:
            self.why_not = str(error)
            return None
        except ModelError as error:
            self._failed(mark, error)
            raise
        self._answered()
        return found

    def failed(self, mark: Mark) -> None:
        """Count a try against a session."""
        if not self._dry:
            self._state.add(mark._replace(outcome="failed"))

    def end(self) -> None:
        """End the round: if the model was there for nobody, it is taken for away."""
        if self._doubt is not None and self._is_there:
            self._answered()
        elif self._doubt is not None:
            self._is_away()

    def _is_open(self, mark: Mark) -> bool:
        seen = self._state.seen(mark)
        said = seen.outcome if seen is not None else ""
        done = self._state.done(mark.job, mark.session, mark.born).seq
        return done < mark.seq and said not in ("empty", "idle")

    def _resting(self) -> str:
        tries = self._state.attempts(self._its)
        if is_ripe(tries, moment()):
            return ""
        then = next_try(tries)[: len("2026-03-01T10:00")].replace("T", " ")
        return f"{self.model} gave no answer; it is asked again from {then} UTC on"

    def _failed(self, mark: Mark, error: ModelError) -> None:
        if error.outcome not in LASTING:
            self._answered()
            self.failed(mark)
        elif self._doubt is None:
            # Whether it is the model or this session, the next one tells.
            self._doubt = mark
        else:
            self._is_away()
            self.why_not = str(error)

    def _answered(self) -> None:
        """Take note that the model is there: who got no answer before that is tried less often."""
        doubt, self._doubt, self._is_there = self._doubt, None, True
        if doubt is not None:
            self.failed(doubt)
        if self._state.attempts(self._its).times:
            self._state.add(self._its)

    def _is_away(self) -> None:
        self._doubt = None
        self.failed(self._its)


# What the kinds of work have in common that ask a model about one session after the other.
#
# Nothing is done here.

Next = Deed | Literal["ask", "nothing"]
"""What comes next for a session: a model is asked, or not, and then perhaps there is a deed."""


class Work(Protocol):
    """A kind of work."""

    @property
    def what(self) -> Kind:
        """What it is called."""
        ...

    @property
    def busy(self) -> str:
        """Who keeps it from going on, or ``""``."""
        ...

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done with a session as it is now; ``None`` if it is none for it.

        The session is not read for that.
        """
        ...

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look at a session without a model.

        Raises:
            SessionNotFoundError: If it is gone.
            OSError: If it cannot be read; or a :class:`engramdown.errors.StoreError`.
        """
        ...

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Ask the model, and keep what it says; ``None`` if nothing became of it, for now.

        Raises:
            ModelError: If it gave no answer of use.
            SessionNotFoundError: If the session is gone.
            OSError: If it could not be kept; or a :class:`engramdown.errors.StoreError`.
        """
        ...


# Cards for the sessions that ended and have none, by a model.
#
# An empty session is known as such without a model; where a person has written a page
# nobody is asked; a card that stands already, as a process died right behind it, is not asked for
# again.


class Cards:
    """The cards of one round; see :class:`engramdown.sleep.worker.Work`."""

    what: Final[Kind] = "card"
    busy = ""

    def __init__(
        self, scopes: Scopes, memory: EpisodicMemory, state: SleepState, questions: Questions
    ) -> None:
        """Write the cards of the sessions of ``memory``."""
        self._scopes = scopes
        self._memory = memory
        self._state = state
        self._questions = questions
        self._disk = Disk()
        self._pages = CardFiles(memory.folder.parent, self._disk)

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it runs, or a person has written its page."""
        if not info.ended or self._disk.find(self._pages.path(info.id)) is not None:
            return None
        return Mark(JOB, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether there is anything to ask about, and not an answer already."""
        transcript = self._memory.session(info.id)
        if not lines_to_show(visible(transcript.episodes)):
            if not dry:
                self._state.add(mark._replace(outcome="empty"))
            return Deed("empty", info.id, "would" if dry else "done")
        said = self._pages.filled(transcript)
        if said is None or said.ts < info.last:
            return "ask"
        if not dry:
            self._state.add(mark)
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Write the card."""
        if not fill_card(self._scopes, self._memory, info.id, self._questions.asking):
            return None  # Lines were taken back meanwhile: it is another session now.
        self._state.add(mark)
        return Deed("card", info.id, text=self._memory.card(info.id).title)


# Facts out of conversations that ended, by a model, where it is worth it; off unless set.
#
# Whether a model is asked is decided without one; what it finds goes through the gate
# like everything else, so what contradicts a person waits for them, and what is known already is at
# most surer; it is kept until it is in memory, so that a crash costs no second call; no sleep runs
# on the scope meanwhile.

_SECONDS: Final = 30.0
"""So long one call may take: there is little to read."""


class Facts:
    """The facts of one round; see :class:`engramdown.sleep.worker.Work`."""

    what: Final[Kind] = "facts"

    def __init__(
        self,
        scopes: Scopes,
        memory: EpisodicMemory,
        state: SleepState,
        questions: Questions,
        summary: WorkSummary,
    ) -> None:
        """Look for facts in the sessions of ``memory``."""
        self._scopes = scopes
        self._root = memory.folder.parent
        self._sessions = Sessions(memory.folder, Disk())
        self._state = state
        self._questions = questions
        self._summary = summary
        self._night = Night(scopes, questions.asking, SleepSummary())
        self.busy = ""

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it runs, or an assistant began it."""
        if not info.ended or info.parent:
            return None
        return Mark(JOB_WORK_FACTS, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether it is worth it to ask."""
        told = self._steps(self._state).told(JOB_WORK_FACTS, info)
        # Where several people speak nobody knows whose facts they are.
        if told.by_one_user() and worth_showing(told.lines):
            return "ask"
        if not dry:
            self._state.add(mark._replace(outcome="idle"))
        return "nothing"

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
            self._finish(steps)
            if steps.state.done(*mark[:3]).seq >= mark.seq:
                return Deed("facts", info.id, receipts=tuple(receipts[before:]))
            model = self._questions.asking.within(_SECONDS).of(JOB_WORK_FACTS)
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
        prompts = prompts_for(self._scopes, JOB_WORK_FACTS)
        # Read before anybody is asked: what cannot be read cannot be written either.
        both = (self._scopes.global_hc, self._scopes.project_hc)
        entries = [entry for store in both for entry in store.entries()]
        found = find_facts(info.id, worth_showing(told.lines), model, prompts)
        self._summary.refused += found.refusals
        surer = tuple(each if each.unsaid else reinforced(each, entries) for each in found.engrams)
        report = steps.report(JOB_WORK_FACTS)
        before, problems = len(report.receipts), len(report.problems)
        failed = ""
        try:
            steps.keep(JOB_WORK_FACTS, [part], found._replace(engrams=surer))
        except StoreError as error:
            failed = str(error)  # The next round finishes it, without asking again.
        why = "; ".join(filter(None, [failed, *report.problems[problems:]]))
        receipts = tuple(report.receipts[before:])
        return Deed("facts", info.id, "failed" if why else "done", why, receipts)

    def _finish(self, steps: Steps) -> None:
        """Write what was learned before a crash; not what came with git."""
        if self._is_ours():
            steps.finish()

    def _is_ours(self) -> bool:
        return not known_to_git([self._root / WORK], Disk(durable=False))

    def _steps(self, state: SleepState) -> Steps:
        scope: Scope = next(
            (store.scope for store in self._scopes.stores if store.root == self._root), "project"
        )
        return Steps(self._night, Place(scope, self._sessions, state), singly=True)


# Summaries of conversations that are idle, so that nobody waits for them who goes on.
#
# A conversation that ended as somebody ended it is left alone, and so is one for which
# summaries are only made when a person asks; what is written is what the conversation itself would
# write, in its place.

_JOB: Final = "summary"
_MINUTE: Final = 60_000_000_000
_DAY: Final = 24 * 60 * _MINUTE
# Nobody meant these as an end: who comes back goes on.
_UNMEANT: Final = frozenset({"crash_recovery", "idle_timeout", "shutdown"})


class Idle:
    """The idle conversations of one round; see :class:`engramdown.sleep.worker.Work`."""

    what: Final[Kind] = "summary"
    busy = ""

    def __init__(
        self, conversations: Conversations, state: SleepState, questions: Questions
    ) -> None:
        """Summarise conversations at the cost of the round."""
        self._conversations = conversations
        self._questions = questions
        self._state = state
        self._settings = conversations.scopes.settings.worker

    @classmethod
    def is_wanted(cls, scopes: Scopes) -> bool:
        """Whether any conversation is summarised of our own accord."""
        chosen = scopes.settings
        return chosen.worker.idle_minutes > 0 and chosen.conversation.max_tokens != MANUAL

    def mark(self, info: SessionInfo) -> Mark | None:
        """Return what counts as done; ``None`` if it is not idle, or nobody goes on with it."""
        now = nanoseconds()
        silent = info.last <= stamp_of(now - int(self._settings.idle_minutes * _MINUTE))
        lately = info.last >= stamp_of(now - _DAY)
        may_go_on = not info.ended or (info.reason in _UNMEANT and lately)
        if not silent or not may_go_on or info.parent:
            return None
        return Mark(_JOB, info.id, info.started, info.lines)

    def prepare(self, mark: Mark, info: SessionInfo, *, dry: bool) -> Next:
        """Look whether there is enough that no summary covers."""
        if self._conversations.get(info.id).uncovered >= max(self._settings.idle_messages, 1):
            return "ask"
        if not dry:
            self._state.add(mark._replace(outcome="idle"))
        return "nothing"

    def ask(self, mark: Mark, info: SessionInfo) -> Deed | None:
        """Summarise what is older than the newest messages."""
        done = self._conversations.get(info.id).compact(asking=self._questions.asking)
        if not done.gists:
            # There is not enough for a summary, or somebody else was faster; until it goes on.
            self._state.add(mark._replace(outcome="idle"))
            return None
        if self._conversations.get(info.id).uncovered < max(self._settings.idle_messages, 1):
            self._state.add(mark)
        return Deed("summary", info.id, messages=done.messages)


# What is known already and comes again: how sure memory is of it afterwards.
#
# Pure; a guess that two conversations tell is not a guess any more, it becomes *medium*;
# nothing that a job learns makes memory surer of what a person wrote than that person was.


def reinforced(engram: Engram, entries: Iterable[Entry]) -> Engram:
    """Return ``engram`` as sure as it may be, given what stands already.

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
    again = any(entry.confidence == "low" and _is_other(entry, engram) for entry in known)
    return replace(engram, confidence="medium") if again and engram.confidence == "low" else engram


def _is_other(entry: Entry, engram: Engram) -> bool:
    """Whether another conversation told it: saying it twice in one is no second word."""
    return not _sessions(entry.origin) & _sessions(engram.origin)


def _sessions(origin: str) -> set[str]:
    return {each.partition("#")[0] for each in origin.split(",") if each}

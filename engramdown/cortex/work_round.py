"""One round of the background worker: what is due for sessions, one small step after the other.

Promises: one process works on a scope at a time, and whoever comes second is told who does; a step
counts as done when its line is written, so a crash anywhere costs at most the answer that was on
its way; a session that fails, or holds nothing, never keeps the others from their turn; no lock of
memory or of transcripts is held while a model thinks; a dry run writes nothing and asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import moment
from engramdown.cortex.work_asking import Questions
from engramdown.cortex.work_cards import Cards
from engramdown.cortex.work_facts import Facts
from engramdown.cortex.work_idle import Idle
from engramdown.cortex.work_kinds import Next, Work
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import ModelError, SessionNotFoundError, StoreError
from engramdown.gate.model_runs import Asking
from engramdown.hippocampus.git_state import known_to_git
from engramdown.sleep.progress import Mark, SleepState
from engramdown.sleep.reports import Deed, Kind, WorkSummary
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.sessions import Ended, SessionInfo, Sessions, left_open

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

__all__ = ["LOCK", "Calls", "Round"]

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

    def __init__(self, scopes: Scopes, calls: Calls, *, dry_run: bool = False) -> None:
        """Prepare a round.

        Args:
            scopes: Whose transcripts.
            calls: What it asks and tells.
            dry_run: Write nothing and ask no model; tell what would be done.

        Raises:
            SettingsError: If the model of the cortex is none.
        """
        self.summary = WorkSummary(dry_run=dry_run)
        self._scopes = scopes
        self._calls = calls
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
            yield Idle(self._scopes, state, questions)

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

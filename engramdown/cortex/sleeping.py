"""Sleep: whatever is due for memory, step by step, so that it can be stopped anywhere.

Promises: a step that was done is not done again, and one that was cut short is finished by the
next sleep; no lock of memory or of the transcripts is held while a job thinks; a session that runs
is left alone; a model that fails leaves memory as it was, and the summary says why; a dry run
writes nothing and asks nobody.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.consolidation.compaction import crowded
from engramdown.consolidation.learned import Learned
from engramdown.cortex.asking import Asking, prompts_of
from engramdown.cortex.compacting import Compaction
from engramdown.cortex.evidence import harmless
from engramdown.cortex.receipts import Receipt
from engramdown.cortex.sleep_jobs import JOBS, Job, Told
from engramdown.cortex.sleep_lock import SleepLock
from engramdown.cortex.sleep_state import TRIES, Mark, SleepState, Work, digest_of
from engramdown.cortex.sleep_summary import SleepSummary
from engramdown.engram import Engram, Scope
from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import Episode
from engramdown.episodes.live import live
from engramdown.episodes.running import left_open
from engramdown.episodes.sessions import SessionInfo, Sessions
from engramdown.errors import ModelError, SessionNotFoundError, SpendError, StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.store import Hippocampus

if TYPE_CHECKING:
    from engramdown.consolidation.model import Asker
    from engramdown.cortex.cortex import Cortex

__all__ = ["COMPACTION", "Sleep"]

COMPACTION: Final = "compaction"
"""The job that is about the memory of a scope, not about a session."""

_NO_MODEL: Final = "no model is set"
_OFFLINE: Final = "offline"
_OFF: Final = "memory is switched off"
# What the next session would run into, too. Anything else may be about the one that was asked.
_LASTING: Final = frozenset(
    {"timeout", "rate_limited", "server_error", "unreachable", "unauthorized", "missing_sdk"}
)
_SURE: Final = frozenset({"turned-down", "contradiction"})
_DRY: Final[Mapping[str, Literal["encoded", "queued", "discarded"]]] = {
    "encode": "encoded",
    "confirm": "queued",
    "discard": "discarded",
}


class _Place(NamedTuple):
    """A scope whose transcripts are gone through."""

    scope: Scope
    sessions: Sessions
    state: SleepState


class Sleep:
    """One sleep of a cortex; it runs once.

    Attributes:
        summary: What was done so far, also after it was interrupted.
    """

    def __init__(
        self,
        cortex: Cortex,
        *,
        offline: bool = False,
        dry_run: bool = False,
        scope: Scope | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare a sleep.

        Args:
            cortex: Whose memory it is about.
            offline: Ask no model.
            dry_run: Write nothing and ask no model; tell what would be done.
            scope: Only this one; by default both.
            should_stop: Asked before each step.

        Raises:
            SettingsError: If the model of the cortex is none.
        """
        self._cortex = cortex
        self._dry = dry_run
        self._stops = should_stop
        self._asking = Asking.begin(cortex)
        self._why_not = _OFFLINE if offline else ""
        model = self._asking.of(COMPACTION)
        if model is None and not offline:
            self._why_not = _NO_MODEL
        name = model.name if model is not None and not offline else ""
        self.summary = SleepSummary(model=name, dry_run=dry_run)
        self._given_up: dict[str, str] = {}
        self._disk = EpisodeDisk()
        self._stores = [
            store
            for store in reversed(cortex.stores)
            if scope in (None, store.scope) and store.root.is_dir()
        ]

    def count(self) -> int:
        """Return how many steps are due, roughly: others may work on them, too."""
        steps = len(self._stores)
        for store in self._stores:
            place = self._place(store)
            for info in self._finished(place) if place is not None else ():
                steps += sum(self._is_due(job, place, info) for job in JOBS if place is not None)
        return steps

    def run(self, advance: Callable[[int], object] = lambda _: None) -> SleepSummary:
        """Do what is due.

        Args:
            advance: Told after each step how many are done with it.
        """
        if self._cortex.mode == "off":
            self.summary.skipped = _OFF
            return self.summary
        for store in self._stores:
            try:
                # A dry run writes not even who sleeps.
                lock = nullcontext() if self._dry else SleepLock(store.root).hold()
                with lock as holder:
                    if holder is None:
                        self._scope(store, advance)
                    else:
                        self.summary.busy[store.scope] = str(holder)
            except (StoreError, OSError) as error:
                self.summary.failed[store.scope] = str(error)
        return self.summary

    def _scope(self, store: Hippocampus, advance: Callable[[int], object]) -> None:
        place = self._place(store)
        if place is not None:
            self._finish(place)
            for info in self._finished(place):
                self._session(place, info, advance)
        if not self._stop():
            self._compact(store)
            advance(1)

    def _place(self, store: Hippocampus) -> _Place | None:
        """Return the transcripts of a scope, if it is where sessions are recorded."""
        memory = self._cortex.episodes
        if memory is None or memory.folder.parent != store.root:
            return None
        return _Place(store.scope, Sessions(memory.folder, self._disk), SleepState(store.root))

    def _finished(self, place: _Place) -> list[SessionInfo]:
        """Return the sessions that nobody goes on with, in the order in which they began."""
        infos = place.sessions.list()
        silent = {info.id for info in left_open(place.sessions, self._disk)}
        found = [info for info in infos if info.ended or info.id in silent]
        self.summary.running = len(infos) - len(found)
        return found

    def _stop(self) -> bool:
        self.summary.stopped = self.summary.stopped or self._stops()
        return self.summary.stopped

    # ---- sessions ----

    def _finish(self, place: _Place) -> None:
        """Write what a sleep that was cut short had learned, if it still stands there."""
        work = place.state.work()
        if work is None or self._dry:
            return
        mark = work.mark
        lines = self._lines(place, mark.session, work.after, mark.seq)
        known = place.state.done(mark.job, mark.session, mark.born)
        if known.seq < mark.seq and digest_of(lines) == work.digest:
            self._write(place, work)
        else:
            place.state.end()

    def _session(self, place: _Place, info: SessionInfo, advance: Callable[[int], object]) -> None:
        for job in JOBS:
            if not self._is_due(job, place, info):
                continue
            if self._stop():
                return
            if job.asks and (self._why_not or job.name in self._given_up):
                self._skip(place, job)
            else:
                self._step(place, info, job)
            advance(1)

    def _is_due(self, job: Job, place: _Place, info: SessionInfo) -> bool:
        mark = Mark(job.name, info.id, info.started, info.lines)
        known = place.state.done(job.name, info.id, info.started)
        return known.seq < info.lines and place.state.tries(mark) < TRIES

    def _skip(self, place: _Place, job: Job) -> None:
        """Say that a session waits; it is not read, or all of them were read for it each time."""
        report = self.summary.report(place.scope, job.name)
        report.skipped = self._why_not or self._given_up[job.name]
        report.waits = bool(self._why_not)
        report.left += 1

    def _step(self, place: _Place, info: SessionInfo, job: Job) -> None:
        """Let a job learn from what is new in a session, and write it."""
        told = self._told(place, info, job)
        mark = Mark(job.name, info.id, info.started, info.lines)
        learned = Learned()
        if job.is_due(told):
            report = self.summary.report(place.scope, job.name)
            report.steps += 1
            if self._dry and job.asks:
                return
            try:
                learned = self._learned(job, told)
            except ModelError as error:
                self._failed(place, job, mark, error)
                return
            report.refused += learned.refusals
        after = place.state.done(job.name, info.id, info.started).seq
        self._write(place, Work(mark, after, digest_of(told.lines), learned.engrams))

    def _learned(self, job: Job, told: Told) -> Learned:
        model = self._model(job.name) if job.asks else None
        try:
            prompts = prompts_of(self._cortex.stores, job.name) if job.asks else {}
            return job.learn(told, model, prompts)
        finally:
            self.summary.spent = self._asking.run.spent

    def _failed(self, place: _Place, job: Job, mark: Mark, error: ModelError) -> None:
        """Say why a step gave nothing, and whether others would give nothing, too."""
        report = self.summary.report(place.scope, job.name)
        report.steps -= 1
        if isinstance(error, SpendError) or error.outcome in _LASTING:
            self._given_up |= {each.name: str(error) for each in JOBS if each.asks}
            report.skipped = str(error)
            report.left += 1
        else:
            report.problems.append(f"{mark.session}: {error}")
            place.state.add(mark._replace(outcome="failed"))

    def _write(self, place: _Place, work: Work) -> None:
        """Put what was learned into memory, or before a person, and count the step as done.

        Raises:
            StoreError: If any of it could not be written; the next sleep finishes it.
        """
        if self._dry:
            report = self.summary.report(place.scope, work.mark.job)
            report.receipts += [self._would_be(engram) for engram in work.engrams]
            return
        if work.engrams:
            place.state.begin(work)
            receipts = self._cortex.propose([self._careful(each) for each in work.engrams])
            self.summary.report(place.scope, work.mark.job).receipts += receipts
            trouble = next((each for each in receipts if each.action == "failed"), None)
            if trouble is not None:
                raise StoreError(trouble.reason)
        place.state.add(work.mark)
        if work.engrams:
            place.state.end()

    def _careful(self, engram: Engram) -> Engram:
        """Return what may be proposed of what a user said some time ago.

        A sure word of the user's passes the gate whatever stands against it. One that is read in a
        transcript later must not bring back what a person deleted since, nor replace what they
        wrote since.
        """
        if engram.source != "user":
            return engram
        later = replace(engram, source="consolidation")
        return later if self._cortex.encoding_gate(later).code in _SURE else engram

    def _would_be(self, engram: Engram) -> Receipt:
        decision = self._cortex.encoding_gate(self._careful(engram))
        return Receipt(harmless(engram), _DRY[decision.action], decision.reason)

    def _told(self, place: _Place, info: SessionInfo, job: Job) -> Told:
        after = place.state.done(job.name, info.id, info.started).seq
        return Told(info.id, self._lines(place, info.id, after, info.lines), info.parent)

    def _lines(self, place: _Place, session: str, after: int, last: int) -> tuple[Episode, ...]:
        """Return the lines of a session that are new and may be learned from."""
        try:
            episodes = place.sessions.read(session).episodes
        except SessionNotFoundError:
            return ()  # It was forgotten meanwhile.
        return tuple(line for line in live(episodes) if after < line.seq <= last)

    # ---- compaction ----

    def _compact(self, store: Hippocampus) -> None:
        """Compact a scope; a model is asked once about a memory, not again and again."""
        compaction = Compaction.of(self._cortex)
        state = SleepState(store.root)
        entries = store.entries()
        report = self.summary.report(store.scope, COMPACTION)
        asks = bool(crowded(entries, self._cortex.settings.consolidation.threshold))
        asks = asks and state.done(COMPACTION).digest != _digest(entries)
        why_not = self._why_not or next(iter(self._given_up.values()), "")
        if asks and why_not:
            report.skipped, report.left, report.waits = why_not, 1, bool(self._why_not)
        model = None if why_not or self._dry or not asks else self._model(COMPACTION)
        prompts = prompts_of(self._cortex.stores, COMPACTION) if model is not None else {}
        prepared = compaction.prepare(store, model, prompts)
        self.summary.spent = self._asking.run.spent
        done = compaction.carry_out(prepared, self._cortex.mode, dry_run=self._dry)
        report.steps += 1
        report.compacted += [each for each in done if each.operation is not None]
        report.problems += [
            each.reason for each in done if each.operation is None and each.action != "nothing"
        ]
        if any(each.action == "failed" for each in done):
            return
        if model is not None:
            state.add(Mark(COMPACTION, digest=_digest(store.entries())))

    def _model(self, job: str) -> Asker | None:
        return self._asking.of(job)


def _digest(entries: Iterable[Entry]) -> str:
    """Return a digest of a memory; another one if a line of it changes."""
    told = [[entry.id, entry.text, entry.file, entry.heading] for entry in entries]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()

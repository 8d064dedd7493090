"""Sleep: whatever is due for memory, step by step, so that it can be stopped anywhere.

Promises: a step that was done is not done again, and one that was cut short is finished by the
next sleep; no lock of memory or of the transcripts is held while a job thinks; of a session that
runs only what its user said is read, for facts about them; a model that fails leaves memory as it
was, and the summary says why; a dry run writes nothing and asks nobody.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

from engramdown.consolidation.compaction import crowded_files
from engramdown.cortex.sleep_facts import Facts
from engramdown.cortex.sleep_skills import SkillProposals
from engramdown.engram import Scope
from engramdown.errors import StoreError
from engramdown.gate.compaction import Compaction
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.git_state import known_to_git
from engramdown.hippocampus.store import Hippocampus
from engramdown.sleep.jobs import JOBS, Identity, Job
from engramdown.sleep.progress import WORK, Mark, SleepState
from engramdown.sleep.reports import SleepSummary
from engramdown.sleep.steps import Night, Place, Steps
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.sessions import SessionInfo, Sessions, left_open

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

__all__ = ["COMPACTION", "Sleep"]

COMPACTION: Final = "compaction"
"""The job that is about the memory of a scope, not about a session."""

_NO_MODEL: Final = "no model is set"
_NOT_ASKED: Final = "no model was to be asked"
_OFF: Final = "memory is switched off"


class Sleep:
    """One sleep of a cortex; it runs once.

    Attributes:
        summary: What was done so far, also after it was interrupted.
    """

    def __init__(
        self,
        scopes: Scopes,
        *,
        use_model: bool = True,
        dry_run: bool = False,
        scope: Scope | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare a sleep.

        Args:
            scopes: Whose memory it is about.
            use_model: Ask the model, if there is one.
            dry_run: Write nothing and ask no model; tell what would be done.
            scope: Only this one; by default both.
            should_stop: Asked before each step.

        Raises:
            SettingsError: If the model of the cortex is none.
        """
        self._scopes = scopes
        self._stops = should_stop
        asking = Asking.begin(scopes)
        model = asking.of(COMPACTION)
        name = model.name if model is not None and use_model else ""
        self.summary = SleepSummary(model=name, dry_run=dry_run)
        why_not = "" if model is not None else _NO_MODEL
        not_asked = why_not if use_model else _NOT_ASKED
        trial = _trial(scopes) if dry_run else None
        self._night = Night(scopes, asking, self.summary, dry_run, not_asked, trial=trial)
        self._disk = Disk()
        asked = [store for store in reversed(scopes.stores) if scope in (None, store.scope)]
        self._stores = [store for store in asked if store.root.is_dir()]
        self._others = [store for store in asked if not store.root.is_dir()]

    def count(self) -> int:
        """Return how many steps are due, roughly: others may work on them, too."""
        count = len(self._stores)
        for store in self._stores:
            place = self._place(store)
            if place is not None:
                steps, infos = Steps(self._night, place), self._own(place)
                finished = self._finished(place, infos)
                count += sum(steps.is_due(job.name, it) for it in finished for job in JOBS)
                count += sum(steps.is_due(Identity.name, it) for it in self._with_user(infos))
        return count

    def run(self, advance: Callable[[int], object] = lambda _: None) -> SleepSummary:
        """Do what is due.

        Args:
            advance: Told after each step how many are done with it.
        """
        if self._scopes.mode == "off":
            self.summary.skipped = _OFF
            return self.summary
        for store in self._others:
            try:
                store.check_folder()
            except StoreError as error:
                self.summary.failed[store.scope] = str(error)
        for store in self._stores:
            try:
                # A dry run writes not even who sleeps.
                lock = nullcontext() if self._night.dry else SleepLock(store.root).hold()
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
            steps, infos = Steps(self._night, place), self._own(place)
            # What somebody else's sleep had in hand is no more ours than their transcripts are.
            if not known_to_git([store.root / WORK], Disk(durable=False)):
                steps.finish()
            for info in self._finished(place, infos):
                self._session(steps, info, advance)
            Facts(steps, self._night).learn(self._with_user(infos), self._stop, advance)
            if not self._stop():
                SkillProposals(self._night, place, store).look(self._finished(place, infos))
        if not self._stop():
            self._compact(store)
            advance(1)

    def _place(self, store: Hippocampus) -> Place | None:
        """Return the transcripts of a scope, if it is where sessions are recorded."""
        memory = self._scopes.episodes
        if memory is None or memory.folder.parent != store.root:
            return None
        return Place(store.scope, Sessions(memory.folder, self._disk), SleepState(store.root))

    def _own(self, place: Place) -> list[SessionInfo]:
        """Return the sessions that were recorded here: what git knows may be somebody else's."""
        infos, errors = place.sessions.survey()
        if errors:
            # The others are slept on; that this one was not is told.
            self.summary.failed[place.scope] = str(errors[0])
        paths = {place.sessions.path(info.id): info for info in infos}
        strange = known_to_git(paths, Disk(durable=False))
        self.summary.not_ours = len(strange)
        return [info for path, info in paths.items() if path not in strange]

    def _finished(self, place: Place, infos: Sequence[SessionInfo]) -> list[SessionInfo]:
        """Return the sessions that nobody goes on with, in the order in which they began."""
        silent = {info.id for info in left_open(place.sessions, self._disk)}
        found = [info for info in infos if info.ended or info.id in silent]
        self.summary.running = len(infos) - len(found)
        return found

    def _with_user(self, infos: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        """Return the sessions whose user facts are looked for, those that run too; maybe none."""
        return infos if self._scopes.settings.consolidation.identity_every else ()

    def _stop(self) -> bool:
        self.summary.stopped = self.summary.stopped or self._stops()
        return self.summary.stopped

    # ---- sessions ----

    def _session(self, steps: Steps, info: SessionInfo, advance: Callable[[int], object]) -> None:
        for job in JOBS:
            if not steps.is_due(job.name, info):
                continue
            if self._stop():
                return
            self._step(steps, info, job)
            advance(1)

    def _step(self, steps: Steps, info: SessionInfo, job: Job) -> None:
        """Let a job learn from what is new in a session."""
        mark = steps.mark(job.name, info)
        waits = job.asks and bool(self._night.why_not)
        if waits and steps.state.seen(mark):
            steps.skip(job.name, mark)
            return
        told = steps.told(job.name, info)
        parts = [steps.part(job.name, info, told)]
        if not job.is_due(told):
            steps.pass_over(mark)
        elif waits:
            steps.skip(job.name, mark)
        elif job.asks:
            steps.ask(job.name, parts, partial(job.learn, told))
        else:
            steps.keep(job.name, parts, job.learn(told, None, {}))

    # ---- compaction ----

    def _compact(self, store: Hippocampus) -> None:
        """Compact a scope; a model is asked once about a memory, not again and again."""
        memory = self._night.memory
        compaction = Compaction.of(memory)
        state = SleepState(store.root)
        store = next(each for each in memory.stores if each.root == store.root)
        entries = memory.usable(store)
        report = self.summary.report(store.scope, COMPACTION)
        most = self._scopes.settings.of(store.scope).consolidation.threshold
        asks = bool(crowded_files(entries, most))
        asks = asks and state.done(COMPACTION).digest != _digest(entries)
        why_not = self._night.why_not
        if asks and why_not:
            report.skipped, report.left, report.waits = why_not, 1, bool(self._night.not_asked)
        model = (
            None if why_not or self._night.dry or not asks else self._night.asking.of(COMPACTION)
        )
        prompts = {}
        if model is not None:
            prompts = prompts_for(self._scopes, COMPACTION, store.scope)
        prepared = compaction.prepare(store, model, prompts)
        self.summary.spent = self._night.asking.run.spent
        done = compaction.carry_out([prepared], self._scopes.mode, dry_run=self._night.dry)
        report.steps += 1
        report.compacted += [each for each in done if each.operation is not None]
        report.problems += [
            each.reason for each in done if each.operation is None and each.action != "nothing"
        ]
        if any(each.action == "failed" for each in done):
            return
        if model is not None:
            state.add(Mark(COMPACTION, digest=_digest(self._scopes.usable(store))))


def _trial(scopes: Scopes) -> Scopes | None:
    """Return memory in which all can be tried; ``None`` where a store has no files."""
    trial = scopes.reopened()
    try:
        trial.rehearse()
    except StoreError:
        return None
    return trial


def _digest(entries: Iterable[Entry]) -> str:
    """Return a digest of a memory; another one if a line of it changes."""
    told = [[entry.id, entry.text, entry.file, entry.heading] for entry in entries]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()

"""Sleep: does whatever is due for memory, in steps that can be interrupted anywhere.

A finished step is not repeated, and an interrupted one is finished by the next sleep. No lock is
held while a job thinks. Of a session that is still running only the user's words are read, for
facts about them. If a model fails, memory stays as it was and the summary says why. A dry run
writes nothing and asks nobody.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from engramdown import errors
from engramdown.consolidation import procedures
from engramdown.consolidation.actions import cells_of
from engramdown.consolidation.compaction import crowded_files
from engramdown.consolidation.procedures import JOB, Procedure, Step, Wording
from engramdown.context.skill_reader import Skillbook
from engramdown.engram import Scope, pointers
from engramdown.episodes.forget import WORK
from engramdown.gate.compaction import Compaction
from engramdown.gate.intake import Receipt
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.pending import Pending
from engramdown.gate.pending_file import FileQueue, SkillDraft, skill_question
from engramdown.hippocampus import Act, Entry, Hippocampus, step_group
from engramdown.hippocampus.git_state import known_to_git
from engramdown.skills.validation import check_description, check_label, label_of
from engramdown.sleep.jobs import IDENTITY, JOBS, SHOWN, Job, Told, learn_identity, user_messages
from engramdown.sleep.progress import Mark, SleepState
from engramdown.sleep.steps import Night, SleepSummary, Steps
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.sessions import SessionInfo, Sessions, left_open
from engramdown.transcripts.visibility import visible, without_repeats

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

# The job that is about the memory of a scope, not about a session.
COMPACTION: Final = "compaction"

_NOT_ASKED: Final = "no model was to be asked"


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
        not_asked = _NOT_ASKED if not use_model else "" if model is not None else "no model is set"
        self._night = Night(scopes, asking, self.summary, dry_run, not_asked)
        if dry_run:
            # Memory in which all can be tried; there is none where a store has no files.
            trial = scopes.reopened()
            with suppress(errors.StoreError):
                trial.rehearse()
                self._night.trial = trial
        self._disk = Disk()
        asked = [store for store in reversed(scopes.stores) if scope in (None, store.scope)]
        self._stores = [store for store in asked if store.root.is_dir()]
        self._others = [store for store in asked if not store.root.is_dir()]

    def count(self) -> int:
        """Return how many steps are due, roughly: others may work on them, too."""
        count = len(self._stores)
        for store in self._stores:
            steps = self._steps(store)
            if steps is not None:
                infos = self._own(steps)
                finished = self._finished(steps, infos)
                count += sum(steps.is_due(job.name, it) for it in finished for job in JOBS)
                count += sum(steps.is_due(IDENTITY, it) for it in self._with_user(infos))
        return count

    def run(self, advance: Callable[[int], object] = lambda _: None) -> SleepSummary:
        """Do what is due.

        Args:
            advance: Told after each step how many are done with it.
        """
        if self._scopes.mode == "off":
            self.summary.skipped = "memory is switched off"
            return self.summary
        for store in self._others:
            try:
                store.check_folder()
            except errors.StoreError as error:
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
            except (errors.StoreError, OSError) as error:
                self.summary.failed[store.scope] = str(error)
        return self.summary

    def _scope(self, store: Hippocampus, advance: Callable[[int], object]) -> None:
        steps = self._steps(store)
        if steps is not None:
            infos = self._own(steps)
            # What somebody else's sleep had in hand is no more ours than their transcripts are.
            if not known_to_git([store.root / WORK], Disk(durable=False)):
                steps.finish()
            for info in self._finished(steps, infos):
                for job in JOBS:
                    if steps.is_due(job.name, info) and not self._stop():
                        self._step(steps, info, job)
                        advance(1)
            _learn_facts(steps, self._with_user(infos), self._stop, advance)
            if not self._stop():
                SkillProposals(steps, store).look(self._finished(steps, infos))
        if not self._stop():
            self._compact(store)
            advance(1)

    def _steps(self, store: Hippocampus) -> Steps | None:
        """Return the steps in the transcripts of a scope, if it is where sessions are recorded."""
        memory = self._scopes.episodes
        if memory is None or memory.folder.parent != store.root:
            return None
        sessions = Sessions(memory.folder, self._disk)
        return Steps(self._night, store.scope, sessions, SleepState(store.root))

    def _own(self, steps: Steps) -> list[SessionInfo]:
        """Return the sessions that were recorded here: what git knows may be somebody else's."""
        infos, errors = steps.sessions.survey()
        if errors:
            # The others are slept on; that this one was not is told.
            self.summary.failed[steps.scope] = str(errors[0])
        paths = {steps.sessions.path(info.id): info for info in infos}
        strange = known_to_git(paths, Disk(durable=False))
        self.summary.not_ours = len(strange)
        return [info for path, info in paths.items() if path not in strange]

    def _finished(self, steps: Steps, infos: Sequence[SessionInfo]) -> list[SessionInfo]:
        """Return the sessions that nobody goes on with, in the order in which they began."""
        silent = {info.id for info in left_open(steps.sessions, self._disk)}
        found = [info for info in infos if info.ended or info.id in silent]
        self.summary.running = len(infos) - len(found)
        return found

    def _with_user(self, infos: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        """Return the sessions whose user facts are looked for, those that run too; maybe none."""
        return infos if self._scopes.settings.consolidation.identity_every else ()

    def _stop(self) -> bool:
        self.summary.stopped = self.summary.stopped or self._stops()
        return self.summary.stopped

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

    def _compact(self, store: Hippocampus) -> None:
        """Compact a scope; a model is asked once about a memory, not again and again."""
        memory = self._night.memory
        compaction = Compaction(memory)
        state = SleepState(store.root)
        store = next(each for each in memory.stores if each.root == store.root)
        entries = memory.usable(store)
        report = self.summary.report(store.scope, COMPACTION)
        most = self._scopes.settings.of(store.scope).consolidation.threshold
        is_new = state.done(COMPACTION).digest != _digest_of(entries)
        asks = bool(crowded_files(entries, most)) and is_new
        why_not = self._night.why_not
        if asks and why_not:
            report.skipped, report.left, report.waits = why_not, 1, bool(self._night.not_asked)
        is_asked = asks and not why_not and not self._night.dry
        model = self._night.asking.of(COMPACTION) if is_asked else None
        prompts = prompts_for(self._scopes, COMPACTION, store.scope) if model is not None else {}
        prepared = compaction.prepare(store, model, prompts)
        self.summary.spent = self._night.asking.run.spent
        done = compaction.carry_out([prepared], self._scopes.mode, dry_run=self._night.dry)
        report.steps += 1
        report.compacted += [each for each in done if each.operation is not None]
        report.problems += [
            each.reason for each in done if each.operation is None and each.action != "nothing"
        ]
        if model is not None and not any(each.action == "failed" for each in done):
            state.add(Mark(COMPACTION, digest=_digest_of(self._scopes.usable(store))))


def _digest_of(entries: Iterable[Entry]) -> str:
    """Return a digest of a memory; another one if a line of it changes."""
    return _digest([[entry.id, entry.text, entry.file, entry.heading] for entry in entries])


def _digest(told: object) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


# ---- facts about the user, after so many messages of theirs, in however many sessions ----


def _learn_facts(
    steps: Steps,
    infos: Iterable[SessionInfo],
    stops: Callable[[], bool],
    advance: Callable[[int], object],
) -> None:
    """Look for facts about the user, if they have said enough since the last time.

    What was counted is not read again only to be counted. A model is asked once about a message.

    Args:
        steps: The steps of a sleep.
        infos: The sessions, in the order in which they began; those that run, too, as nothing but
            what was said in them is read.
        stops: Asked before each step.
        advance: Told of each session that was counted.
    """
    waiting: list[tuple[SessionInfo, Mark]] = []
    for info in infos:
        if not steps.is_due(IDENTITY, info):
            continue
        if stops():
            return
        mark = steps.mark(IDENTITY, info)
        known = steps.state.seen(mark)
        if known is None:
            known = mark._replace(messages=len(user_messages(steps.told(IDENTITY, info))))
            if known.messages:
                steps.wait(known)
            else:
                steps.pass_over(known)
        waiting += [(info, known)] if known.messages else []
        advance(1)
    for batch in _batches(waiting, steps.night.scopes.settings.consolidation.identity_every):
        if steps.night.why_not:
            steps.skip(IDENTITY, *(mark for _, mark in batch))
        elif stops():
            return
        else:
            read = [(info, steps.told(IDENTITY, info)) for info, _ in batch]
            parts = [steps.part(IDENTITY, info, told) for info, told in read]
            messages = [said for _, told in read for said in user_messages(told)]
            steps.ask(IDENTITY, parts, partial(learn_identity, messages))


def _batches(
    waiting: Iterable[tuple[SessionInfo, Mark]], every: int
) -> Iterator[list[tuple[SessionInfo, Mark]]]:
    """Yield sessions with as many messages as one call shows; few that are left wait for more."""
    batch: list[tuple[SessionInfo, Mark]] = []
    messages = 0
    for info, mark in waiting:
        batch.append((info, mark))
        messages += mark.messages
        if messages >= SHOWN:
            yield batch
            batch, messages = [], 0
    if batch and messages >= every:
        yield batch


# ---- procedures that sleep notices, and proposes as skills ----

# So many skills one sleep proposes.
MOST: Final = 2

_SESSIONS: Final = 40
_WHY_ASKED: Final = "you asked for it to be kept"
_WHY_REPEATED: Final = "the same was done in {count} sessions"


class SkillProposals:
    """The skills that one sleep proposes in one place.

    Nothing is written but lines of ``pending.md``, and never without a person after that. What was
    proposed once is not proposed again, whatever became of it.
    """

    def __init__(self, steps: Steps, store: Hippocampus) -> None:
        """Look at the sessions of ``steps``, and propose in ``store``."""
        self._night = steps.night
        self._steps = steps
        self._store = store
        self._queue = FileQueue(store)

    def look(self, infos: Sequence[SessionInfo]) -> None:
        """Propose what is new in the sessions that have ended, if any has since the last time.

        Raises:
            StoreError: If it could not be written.
        """
        infos = [*infos][-_SESSIONS:]
        digest = _digest([[info.id, info.started, info.lines] for info in infos])
        if not infos or self._steps.state.done(JOB).digest == digest:
            return
        done: dict[str, list[Step]] = {}
        found: list[Procedure] = []
        for info in infos:
            with suppress(errors.SessionNotFoundError):  # It was forgotten meanwhile.
                episodes = self._steps.sessions.read(info.id).episodes
                lines = tuple(without_repeats(line) for line in visible(episodes))
                cells = cells_of(info.id, lines)
                done[info.id] = procedures.steps_of(cells)
                if Told(info.id, lines, info.parent).by_one_user():
                    found += procedures.asked_for(info.id, lines, cells)
        found += procedures.repeated(done)
        for procedure in [*self._new(found)][:MOST]:
            self._propose(procedure)
        if not self._night.dry:
            self._steps.state.add(Mark(JOB, digest=digest))

    def _new(self, found: Sequence[Procedure]) -> Iterator[Procedure]:
        """Yield what was not proposed before; unless somebody asks for it, nor nearly so."""
        known = {of for op, of in self._queue.answered() if op == JOB}
        known |= {*self._steps.state.done_of(JOB)} - {""}
        for procedure in found:
            steps = procedure.digest.split("-")
            others = () if procedure.asked else known
            is_near = any(procedures.alike(steps, of.split("-")) for of in others)
            if not is_near and procedure.digest not in known:
                known.add(procedure.digest)
                yield procedure

    def _propose(self, procedure: Procedure) -> None:
        """Let a person decide on a procedure, in a model's words if there is one."""
        report = self._night.summary.report(self._store.scope, JOB)
        wording = self._worded(procedure)
        if wording is not None:
            try:
                item = self._item(procedure, wording)
            except (errors.InvalidSkillError, errors.SkillRefusedError) as error:
                report.problems.append(str(error))
            else:
                found, hold = "", item.hold
                if not self._night.dry:
                    # A step of this sleep that can be undone.
                    with step_group(Act("sleep", "consolidation", f"{JOB}, {item.of}")):
                        item = self._queue.add([item])[0]
                    found = item.id
                receipt = Receipt(item.engram, "queued", hold, found, self._queue.file)
                report.receipts.append(receipt)
        report.steps += 1
        if not self._night.dry:
            self._steps.state.add(Mark(JOB, session=procedure.digest, seq=1))

    def _worded(self, procedure: Procedure) -> Wording | None:
        """Return a procedure in words; ``None`` if a model says that it is not worth keeping."""
        night = self._night
        plain = Wording(procedure.name, procedure.description, procedure.body)
        model = None if night.why_not or night.dry else night.asking.of(JOB)
        if model is None:
            return plain
        try:
            prompts = prompts_for(night.scopes, JOB, self._store.scope)
            return procedures.write_down(procedure, model, prompts)
        except errors.ModelError as error:
            night.summary.report(self._store.scope, JOB).problems.append(str(error))
            return plain
        finally:
            night.summary.spent = night.asking.run.spent

    def _item(self, procedure: Procedure, wording: Wording) -> Pending:
        """Return what waits for a person, under a label that no skill has.

        Raises:
            InvalidSkillError: If no skill can be made of it.
        """
        label = label_of(wording.label) or label_of(procedure.name)
        known = {each.skill.label for each in Skillbook(self._night.scopes).all.known()}
        numbered = (f"{label[:60]}-{number}" for number in range(2, len(known) + 3))
        free = check_label(next(each for each in (label, *numbered) if each not in known))
        draft = SkillDraft(free, check_description(wording.description), wording.body)
        why = _WHY_ASKED if procedure.asked else _WHY_REPEATED.format(count=procedure.sessions)
        origin = pointers(*procedure.pointers)
        scope = self._store.scope
        return skill_question(draft, scope, of=procedure.digest, origin=origin, why=why)

"""Sleep: does whatever is due for memory, in steps that can be interrupted anywhere.

A finished step is not repeated, and an interrupted one is finished by the next sleep. No lock is
held while a job works. In a session that is still running only the user's messages are read, for
facts about them. If a model fails, memory stays as it was and the summary says why. A dry run
writes nothing and asks no model.

:class:`Workers` starts it, the worker and watching beside a long-running program.
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
from engramdown.forks import Event
from engramdown.gate.compaction import Compaction
from engramdown.gate.intake import Receipt
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.pending import Pending
from engramdown.gate.pending_file import FileQueue, SkillDraft, skill_question
from engramdown.hippocampus import Act, Entry, Hippocampus, step_group
from engramdown.hippocampus.git_state import known_to_git
from engramdown.skills.validation import check_description, check_label, label_of
from engramdown.sleep import jobs
from engramdown.sleep.background import Repeating
from engramdown.sleep.progress import Mark, SleepState
from engramdown.sleep.steps import Night, SleepSummary, Steps
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock, one_call
from engramdown.transcripts.sessions import SessionInfo, Sessions, left_open
from engramdown.transcripts.visibility import visible, without_repeats

if TYPE_CHECKING:
    from engramdown.episodes.card import Card
    from engramdown.gate.scopes import Scopes
    from engramdown.sleep.watcher import News, Watching
    from engramdown.sleep.worker import Worker

# The job for the memory of a whole scope.
COMPACTION: Final = "compaction"

_NOT_ASKED: Final = "no model was to be asked"


class Sleep:
    """One sleep of a cortex; it runs once.

    Attributes:
        summary: What was done so far, also after an interruption.
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
            scopes: The memory to work on.
            use_model: Ask the model, if there is one.
            dry_run: Write nothing and ask no model; report what would be done.
            scope: Work on this scope only; by default on both.
            should_stop: Called before each step; returns whether to stop.

        Raises:
            SettingsError: If the model of the cortex is not a model.
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
            # A copy of memory to try everything in; a store without files has none.
            trial = scopes.reopened()
            with suppress(errors.StoreError):
                trial.dry_run()
                self._night.trial = trial
        self._disk = Disk()
        stores = [store for store in reversed(scopes.stores) if scope in (None, store.scope)]
        self._stores = [store for store in stores if store.root.is_dir()]
        self._others = [store for store in stores if not store.root.is_dir()]

    def count(self) -> int:
        """Return roughly how many steps are due: others may work on them, too."""
        count = len(self._stores)
        for store in self._stores:
            steps = self._steps(store)
            if steps is not None:
                infos = self._own(steps)
                finished = self._finished(steps, infos)
                count += sum(steps.is_due(job.name, it) for it in finished for job in jobs.JOBS)
                count += sum(steps.is_due(jobs.IDENTITY, it) for it in self._with_user(infos))
        return count

    def run(self, advance: Callable[[int], object] = lambda _: None) -> SleepSummary:
        """Do what is due.

        Args:
            advance: Called after each step with the number of steps that it completes.
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
                # A dry run does not even write who sleeps.
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
            # Work in hand that came with git belongs to somebody else, as do their transcripts.
            if not known_to_git([store.root / WORK], Disk(durable=False)):
                steps.finish()
            for info in self._finished(steps, infos):
                for job in jobs.JOBS:
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
        """Return the steps for the transcripts of a scope, if sessions are recorded there."""
        memory = self._scopes.episodes
        if memory is None or memory.folder.parent != store.root:
            return None
        sessions = Sessions(memory.folder, self._disk)
        state = SleepState(store.root, dry=self._night.dry)
        return Steps(self._night, store.scope, sessions, state)

    def _own(self, steps: Steps) -> list[SessionInfo]:
        """Return the sessions that were recorded here; those that git knows may be foreign."""
        infos, errors = self.summary.own_sessions(steps.sessions)
        if errors:
            # The other sessions are still worked on.
            self.summary.failed[steps.scope] = str(errors[0])
        return infos

    def _finished(self, steps: Steps, infos: Sequence[SessionInfo]) -> list[SessionInfo]:
        """Return the sessions that nobody continues, in the order in which they began."""
        silent = {info.id for info in left_open(steps.sessions, self._disk)}
        finished = [info for info in infos if info.ended or info.id in silent]
        self.summary.running = len(infos) - len(finished)
        return finished

    def _with_user(self, infos: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        """Return the sessions to search for facts about the user, including those that run."""
        return infos if self._scopes.settings.consolidation.identity_every else ()

    def _stop(self) -> bool:
        self.summary.stopped = self.summary.stopped or self._stops()
        return self.summary.stopped

    def _step(self, steps: Steps, info: SessionInfo, job: jobs.Job) -> None:
        """Let a job learn from the new lines of a session."""
        mark = steps.mark(job.name, info)
        waits = job.asks and bool(self._night.why_not)
        if waits and steps.state.seen(mark):
            steps.skip(job.name, mark)
            return
        news = steps.news(job.name, info)
        parts = [steps.part(job.name, info, news)]
        if not job.is_due(news):
            steps.pass_over(mark)
        elif waits:
            steps.skip(job.name, mark)
        elif job.asks:
            steps.ask(job.name, parts, partial(job.learn, news))
        else:
            steps.keep(job.name, parts, job.learn(news, None, {}))

    def _compact(self, store: Hippocampus) -> None:
        """Compact a scope; a model is asked only once about the same memory."""
        memory = self._night.memory
        compaction = Compaction(memory)
        state = SleepState(store.root)
        store = next(each for each in memory.stores if each.root == store.root)
        entries = memory.usable(store)
        report = self.summary.report(store.scope, COMPACTION)
        most = self._scopes.settings.of(store.scope).consolidation.threshold
        is_new = state.done(COMPACTION).digest != _digest_of(entries)
        wants_model = bool(crowded_files(entries, most)) and is_new
        why_not = self._night.why_not
        if wants_model and why_not:
            report.skipped, report.left, report.waits = why_not, 1, bool(self._night.not_asked)
        is_asked = wants_model and not why_not and not self._night.dry
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
    """Return a digest of a memory, which changes with any of its lines."""
    return _digest([[entry.id, entry.text, entry.file, entry.heading] for entry in entries])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


# ---- facts about the user, after a number of their messages in any number of sessions ----


def _learn_facts(
    steps: Steps,
    infos: Iterable[SessionInfo],
    stops: Callable[[], bool],
    advance: Callable[[int], object],
) -> None:
    """Look for facts about the user, if they have written enough since the last time.

    A session is not read a second time only to count its messages, and a model is asked only once
    about a message.

    Args:
        steps: The steps of a sleep.
        infos: The sessions, in the order in which they began, including those that run.
        stops: Called before each step; returns whether to stop.
        advance: Called for each session that was counted.
    """
    waiting: list[tuple[SessionInfo, Mark]] = []
    for info in infos:
        if not steps.is_due(jobs.IDENTITY, info):
            continue
        if stops():
            return
        mark = steps.mark(jobs.IDENTITY, info)
        known = steps.state.seen(mark)
        if known is None:
            known = mark._replace(messages=len(jobs.user_messages(steps.news(jobs.IDENTITY, info))))
            if known.messages:
                steps.wait(known)
            else:
                steps.pass_over(known)
        waiting += [(info, known)] if known.messages else []
        advance(1)
    for batch in _batches(waiting, steps.night.scopes.settings.consolidation.identity_every):
        if steps.night.why_not:
            steps.skip(jobs.IDENTITY, *(mark for _, mark in batch))
        elif stops():
            return
        else:
            read = [(info, steps.news(jobs.IDENTITY, info)) for info, _ in batch]
            parts = [steps.part(jobs.IDENTITY, info, news) for info, news in read]
            messages = [message for _, news in read for message in jobs.user_messages(news)]
            steps.ask(jobs.IDENTITY, parts, partial(jobs.learn_identity, messages))


def _batches(
    waiting: Iterable[tuple[SessionInfo, Mark]], every: int
) -> Iterator[list[tuple[SessionInfo, Mark]]]:
    """Yield sessions with as many messages as one call shows; a small rest waits for more."""
    batch: list[tuple[SessionInfo, Mark]] = []
    messages = 0
    for info, mark in waiting:
        batch.append((info, mark))
        messages += mark.messages
        if messages >= jobs.SHOWN:
            yield batch
            batch, messages = [], 0
    if batch and messages >= every:
        yield batch


# ---- procedures that sleep notices, and proposes as skills ----

# How many skills one sleep proposes.
MOST: Final = 2
# How many of the newest sessions are compared.
_SESSIONS: Final = 40
_WHY_ASKED: Final = "you asked for it to be kept"
_WHY_REPEATED: Final = "the same was done in {count} sessions"


class SkillProposals:
    """The skills that one sleep proposes in one scope.

    Only lines of ``pending.md`` are written: the skill itself needs a person's yes. A procedure is
    proposed once, whatever the answer is.
    """

    def __init__(self, steps: Steps, store: Hippocampus) -> None:
        """Look at the sessions of ``steps``, and propose in ``store``."""
        self._night = steps.night
        self._steps = steps
        self._store = store
        self._queue = FileQueue(store)

    def look(self, infos: Sequence[SessionInfo]) -> None:
        """Propose new procedures of the finished sessions, if one has ended since the last time.

        Raises:
            StoreError: If it could not be written.
        """
        infos = [*infos][-_SESSIONS:]
        digest = _digest([[info.id, info.started, info.lines] for info in infos])
        if not infos or self._steps.state.done(JOB).digest == digest:
            return
        done: dict[str, list[Step]] = {}
        candidates: list[Procedure] = []
        for info in infos:
            with suppress(errors.SessionNotFoundError):  # It was removed meanwhile.
                episodes = self._steps.sessions.read(info.id).episodes
                lines = tuple(without_repeats(line) for line in visible(episodes))
                cells = cells_of(info.id, lines)
                done[info.id] = procedures.steps_of(cells)
                if jobs.NewLines(info.id, lines, info.parent).by_one_user():
                    candidates += procedures.asked_for(info.id, lines, cells)
        candidates += procedures.repeated(done)
        for procedure in [*self._new(candidates)][:MOST]:
            self._propose(procedure)
        self._steps.state.add(Mark(JOB, digest=digest))

    def _new(self, candidates: Sequence[Procedure]) -> Iterator[Procedure]:
        """Yield what was not proposed before, nor anything like it that nobody asked for."""
        known = {of for op, of in self._queue.answered() if op == JOB}
        known |= {*self._steps.state.done_of(JOB)} - {""}
        for procedure in candidates:
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
                pending_id, hold = "", item.hold
                if not self._night.dry:
                    # A step of this sleep that can be undone.
                    with step_group(Act("sleep", "consolidation", f"{JOB}, {item.of}")):
                        item = self._queue.add([item])[0]
                    pending_id = item.id
                receipt = Receipt(item.engram, "queued", hold, pending_id, self._queue.file)
                report.receipts.append(receipt)
        report.steps += 1
        self._steps.state.add(Mark(JOB, session=procedure.digest, seq=1))

    def _worded(self, procedure: Procedure) -> Wording | None:
        """Return a procedure in words, or ``None`` if a model says it is not worth keeping."""
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
        """Return the question for a person, under a label that no skill has.

        Raises:
            InvalidSkillError: If it cannot become a skill.
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


# ---- what runs beside a long-running program ----


class Sleeper(Repeating):
    """Sleeps in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        last: The summary of the last finished sleep, or ``None``.
        trouble: Why the last sleep ended with an error, or ``""``.
    """

    def __init__(self, scopes: Scopes, every: float = 3600, patience: float = 10) -> None:
        """Prepare to sleep on ``scopes``.

        Args:
            scopes: The memory to work on; the thread opens its own copy.
            every: How many seconds to wait between the end of a sleep and the next.
            patience: How many seconds the end of a ``with`` block waits for a step to end.
        """
        super().__init__(scopes, "engramdown-sleep", patience, every)
        self.last: SleepSummary | None = None

    @property
    def slept(self) -> int:
        """How many sleeps have ended."""
        return self.rounds

    def _round(self, scopes: Scopes, stopping: Event) -> str:
        with one_call():
            self.last = Sleep(scopes, should_stop=stopping.is_set).run()
        return "; ".join(self.last.failed.values())


class Workers:
    """Starts work in the background on two scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Work on ``scopes``."""
        self._scopes = scopes

    def __call__(self, every: float | None = None, patience: float = 10) -> Worker:
        """Return a context manager that does routine work while a program runs.

        It closes sessions that nobody ended, writes cards, looks for facts if that is set, and
        summarises idle conversations.

        Args:
            every: How many seconds to wait between the end of a round and the next; by default as
                set, five minutes.
            patience: How many seconds the end of a ``with`` block waits for a step to end.

        Raises:
            ValueError: If ``every`` is not above 0.
        """
        from engramdown.sleep.worker import Worker

        return Worker(self._scopes, every, patience)

    def sleeper(self, every: float = 3600, patience: float = 10) -> Sleeper:
        """Return a context manager that sleeps in the background while a program runs.

        Args:
            every: How many seconds to wait between the end of a sleep and the next.
            patience: How many seconds the end of a ``with`` block waits for a step to end.
        """
        return Sleeper(self._scopes, every, patience)

    def watch(self, on_change: Callable[[list[News]], object]) -> Watching:
        """Return a context manager that watches memory while a program runs.

        It takes in hand edits as they happen, and carries out ticked lines.

        Args:
            on_change: Called with what happened, in a thread of its own.

        Raises:
            StoreError: If no store has files.
        """
        from engramdown.sleep.watcher import Watching

        return Watching(self._scopes, on_change)

    def fill_card(self, session: str) -> bool:
        """Ask the model what a session was about, and keep the answer for the session's card.

        Args:
            session: The id of the session.

        Returns:
            Whether the card has the answer now. It has not if lines were taken back meanwhile, or
            if none may be shown.

        Raises:
            ModelError: If there is no model, or its answer has another form or gives orders.
            SessionNotFoundError: If there is no such session.
            StoreError: If the answer could not be kept.
        """
        from engramdown.sleep.worker import fill_card

        if self._scopes.episodes is None:
            raise errors.SessionNotFoundError(session, "a scope without files")
        return fill_card(self._scopes, self._scopes.episodes, session)

    def on_card(self, callback: Callable[[Card], object]) -> None:
        """Call ``callback`` with each card that a model fills in, as soon as it is on the disk.

        The call comes from the thread that made the card, which may be the worker's or the
        sleeper's. If it raises, that becomes a ``RuntimeWarning``, and the card stays.

        Example:
            >>> import tempfile, engramdown
            >>> cortex = engramdown.Cortex.open(tempfile.mkdtemp(), tempfile.mkdtemp())
            >>> cortex.worker.on_card(lambda card: print(card.title, card.tags))
        """
        self._scopes.on_card(callback)

"""The steps of a sleep: what a job learns from new lines, and how that enters memory.

No lock is held while a job works. What it learned from lines that were removed or changed meanwhile
is not written. A step counts as done when its result is in memory or waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from engramdown.consolidation.replay import Learned
from engramdown.engram import Scope
from engramdown.errors import ModelError, SessionNotFoundError, SpendError, StoreError
from engramdown.gate.compaction import CompactionReceipt
from engramdown.gate.gate import holds_secret, without_secrets
from engramdown.gate.intake import Receipt
from engramdown.gate.model_runs import Asking, prompts_for
from engramdown.gate.updates import take_in
from engramdown.hippocampus import Act, step_group
from engramdown.hippocampus.git_state import known_to_git
from engramdown.models.ledger import Spent
from engramdown.sleep.jobs import NewLines
from engramdown.sleep.progress import TRIES, Mark, Part, SleepState, Work, digest_of
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import Episode
from engramdown.transcripts.sessions import SessionInfo, Sessions
from engramdown.transcripts.visibility import visible, without_repeats

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.models.port import LanguageModel

# Failures that the next session would meet as well; others may be about a single session.
LASTING: Final = frozenset(
    {"timeout", "rate_limited", "server_error", "unreachable", "unauthorized", "missing_sdk"}
)

_DRY: Final[Mapping[str, Literal["encoded", "queued", "discarded"]]] = {
    "encode": "encoded",
    "confirm": "queued",
    "discard": "discarded",
}


# Learns with a model, given the prompts of the scopes.
Learning = Callable[["LanguageModel | None", Mapping[str, str]], Learned]


@dataclass(slots=True)
class JobReport:
    """What one job did in one scope.

    Attributes:
        scope: The scope.
        job: Its name.
        steps: How many sessions it went through, or 1 for a job about the whole scope.
        receipts: The receipts for what it learned.
        compacted: The receipts for the operations of a compaction.
        refused: Answers of a model that were not used, and why.
        problems: Why steps failed.
        skipped: Why it did not run, or not to its end; ``""`` if it did.
        left: How many steps wait because of that.
        waits: Whether this is intended: no model is set, or none should be asked.
    """

    scope: Scope
    job: str
    steps: int = 0
    receipts: list[Receipt] = field(default_factory=list)
    compacted: list[CompactionReceipt] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    skipped: str = ""
    left: int = 0
    waits: bool = False


@dataclass(slots=True, kw_only=True)
class Summary:
    """What any background work reports.

    Attributes:
        not_ours: How many sessions git knows. Nothing is learned from them and no model sees them,
            as they may have come with a clone, and are then somebody else's words.
        model: The name of the model, or ``""``.
        spent: What the model cost.
        skipped: Why nothing at all was done, or ``""``.
        stopped: Whether it was stopped before the end.
        dry_run: Whether nothing was written.
    """

    not_ours: int = 0
    model: str = ""
    spent: Spent = field(default_factory=Spent)
    skipped: str = ""
    stopped: bool = False
    dry_run: bool = False

    def own_sessions(self, sessions: Sessions) -> tuple[list[SessionInfo], list[OSError]]:
        """Return the sessions that were recorded here, the oldest first, and what is unreadable."""
        infos, errors = sessions.survey()
        paths = {sessions.path(info.id): info for info in infos}
        foreign = known_to_git(paths, Disk(durable=False))
        self.not_ours = len(foreign)
        return [info for path, info in paths.items() if path not in foreign], errors


@dataclass(slots=True, kw_only=True)
class SleepSummary(Summary):
    """What a sleep did.

    Attributes:
        jobs: The reports of each job in each scope.
        busy: Who sleeps on a scope already, so that nothing was done there.
        failed: The scopes whose files could not be read or written, and why.
        running: How many sessions still run, and were left alone.
    """

    jobs: list[JobReport] = field(default_factory=list)
    busy: dict[Scope, str] = field(default_factory=dict)
    failed: dict[Scope, str] = field(default_factory=dict)
    running: int = 0

    def report(self, scope: Scope, job: str) -> JobReport:
        """Return the report of a job in a scope."""
        known = next((it for it in self.jobs if (it.scope, it.job) == (scope, job)), None)
        if known is None:
            known = JobReport(scope, job)
            self.jobs.append(known)
        return known


@dataclass(slots=True)
class Night:
    """The state of one sleep.

    Attributes:
        scopes: The memory it works on.
        asking: The model, and what may be spent.
        summary: What was done so far.
        dry: Whether nothing is written and no model is asked.
        not_asked: Why no model should be asked, or ``""``.
        given_up: Why no model is asked any more, or ``""``.
        trial: In a dry run the memory as it would be by now, if all stores have files.
    """

    scopes: Scopes
    asking: Asking
    summary: SleepSummary
    dry: bool = False
    not_asked: str = ""
    given_up: str = ""
    trial: Scopes | None = None

    @property
    def memory(self) -> Scopes:
        """The memory to compare with: in a dry run it has what was learned before."""
        return self.trial or self.scopes

    @property
    def why_not(self) -> str:
        """Why no model is asked now, or ``""``."""
        return self.not_asked or self.given_up


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of one sleep in one place.

    Attributes:
        night: The state of the sleep.
        scope: The scope of the transcripts.
        sessions: The transcripts.
        state: What was done with them.
        singly: Whether to try memories one by one if they cannot be written together, so that one
            bad memory does not keep the others out.
    """

    night: Night
    scope: Scope
    sessions: Sessions
    state: SleepState
    singly: bool = False

    def mark(self, job: str, info: SessionInfo) -> Mark:
        """Return the mark of a job that has gone through a session as it is now."""
        return Mark(job, info.id, info.started, info.lines)

    def is_due(self, job: str, info: SessionInfo) -> bool:
        """Whether a session has lines that are new to a job and may be enough for it."""
        mark = self.mark(job, info)
        return self.state.is_open(mark) and self.state.attempts(mark).times < TRIES

    def report(self, job: str) -> JobReport:
        """Return the report of a job in this scope."""
        return self.night.summary.report(self.scope, job)

    def news(self, job: str, info: SessionInfo) -> NewLines:
        """Return the lines of a session that are new to a job."""
        after = self._after(self.mark(job, info))
        return NewLines(info.id, self._lines(info.id, after, info.lines), info.parent)

    def part(self, job: str, info: SessionInfo, news: NewLines) -> Part:
        """Return the part of a session that a step has read."""
        mark = self.mark(job, info)
        return Part(mark, self._after(mark), digest_of(news.lines))

    def skip(self, job: str, *marks: Mark) -> None:
        """Report that steps wait for a model, and record it so that nobody reads them again."""
        report = self.report(job)
        report.skipped = self.night.why_not
        report.waits = bool(self.night.not_asked)
        report.left += len(marks)
        self.wait(*marks)

    def wait(self, *marks: Mark) -> None:
        """Record which steps wait."""
        new = [mark._replace(outcome="waits") for mark in marks]
        new = [mark for mark in new if self.state.seen(mark) != mark]
        if new:
            self.state.add(*new)

    def pass_over(self, mark: Mark) -> None:
        """Record that there is too little to learn from, until the session goes on."""
        self.state.add(mark._replace(outcome="idle"))

    def ask(self, job: str, parts: Sequence[Part], learn: Learning) -> None:
        """Let a job learn with a model; in a dry run only count the steps."""
        night, report = self.night, self.report(job)
        if night.dry:
            report.steps += len(parts)
            return
        marks = [part.mark for part in parts]
        try:
            prompts = prompts_for(night.scopes, job)
            learned = learn(night.asking.of(job), prompts)
        except ModelError as error:
            if isinstance(error, SpendError) or error.outcome in LASTING:
                night.given_up = str(error)
                self.skip(job, *marks)
            else:
                report.problems.append(f"{_named(marks)}: {error}")
                self.state.add(*(mark._replace(outcome="failed") for mark in marks))
        except StoreError as error:
            # A prompt of the scope is broken. Other jobs have other prompts.
            report.skipped = str(error)
            report.left += len(parts)
        else:
            self.keep(job, parts, learned)
        finally:
            night.summary.spent = night.asking.run.spent

    def keep(self, job: str, parts: Sequence[Part], learned: Learned) -> None:
        """Put what a job learned into memory or the review queue, and count the step as done.

        Raises:
            StoreError: If any of it could not be written; the next sleep finishes it.
        """
        report = self.report(job)
        report.steps += len(parts)
        report.refused += learned.refusals
        work = Work(tuple(parts), learned.engrams, learned.taken_back)
        marks = [part.mark for part in parts]
        if self.night.dry:
            report.receipts += self._would_be(work)
        elif not work.engrams and not work.taken_back:
            self.state.add(*marks)
        else:
            # The lines are checked after the work is recorded: whoever removes lines later removes
            # the record, too. Secrets stay out of it, as no gate guards it.
            clean = tuple(each for each in work.engrams if not holds_secret(each))
            self.state.begin(work._replace(engrams=clean))
            if self._is_unchanged(work):
                self._propose(job, work)
            else:
                self.state.end()
                report.problems.append(f"{_named(marks)}: was changed meanwhile")

    def finish(self) -> None:
        """Write what an interrupted sleep had learned, if the lines it learned from still exist."""
        if self.night.dry:
            return
        work = self.state.work()
        if work is not None and work.parts and self._is_open(work) and self._is_unchanged(work):
            self._propose(work.parts[0].mark.job, work)
        else:
            self.state.end()

    def forget_done(self) -> None:
        """Forget the work in hand of a sleep that was killed when all of it was done."""
        work = self.state.work()
        if work is None or not self._is_open(work):
            self.state.end()

    def _is_open(self, work: Work) -> bool:
        return any(self._after(part.mark) < part.mark.seq for part in work.parts)

    def _is_unchanged(self, work: Work) -> bool:
        """Whether the lines that something was learned from are unchanged."""
        return all(
            digest_of(self._lines(part.mark.session, part.after, part.mark.seq)) == part.digest
            for part in work.parts
        )

    def _propose(self, job: str, work: Work) -> None:
        last = ", ".join(f"{part.mark.session}#{part.mark.seq}" for part in work.parts)
        engrams, scopes = work.engrams, self.night.scopes
        # The same words if it is done again after a kill, so that the steps belong together.
        with step_group(Act("sleep", "consolidation", f"{job}, up to {last}")):
            receipts = take_in(scopes, engrams, work.taken_back)
            if self.singly and len(engrams) > 1:
                for at, engram in enumerate(engrams):
                    if receipts[at].action == "failed":
                        receipts[at : at + 1] = take_in(scopes, [engram])
        self.report(job).receipts += receipts
        for receipt in receipts:
            if receipt.action == "failed":
                raise StoreError(receipt.reason)
        self.state.add(*(part.mark for part in work.parts))
        self.state.end()

    def _would_be(self, work: Work) -> list[Receipt]:
        if self.night.trial is not None:
            return take_in(self.night.trial, work.engrams, work.taken_back)
        decisions = map(self.night.scopes.encoding_gate, work.engrams)
        return [
            Receipt(without_secrets(engram), _DRY[decision.action], decision.reason)
            for engram, decision in zip(work.engrams, decisions, strict=True)
        ]

    def _after(self, mark: Mark) -> int:
        """Return the number of the last line that a job has read in a session."""
        return self.state.done(mark.job, mark.session, mark.born).seq

    def _lines(self, session: str, after: int, last: int) -> tuple[Episode, ...]:
        """Return the lines of a session that are new and may be learned from."""
        try:
            episodes = self.sessions.read(session).episodes
        except SessionNotFoundError:
            return ()  # It was removed meanwhile.
        return tuple(
            without_repeats(line) for line in visible(episodes) if after < line.seq <= last
        )


def _named(marks: Iterable[Mark]) -> str:
    """Return the names of the sessions that a step is about."""
    first, *others = (mark.session for mark in marks)
    return f"{first} and {len(others)} more" if others else first

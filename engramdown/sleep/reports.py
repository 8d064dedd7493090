"""Reports of a sleep and of a round of the worker: what was done, what was left, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from engramdown.engram import Scope
from engramdown.gate.compaction import CompactionReceipt
from engramdown.gate.intake import Receipt
from engramdown.models.ledger import Spent


@dataclass(slots=True)
class JobReport:
    """What one job did in one scope.

    Attributes:
        scope: The scope.
        job: Its name.
        steps: How many sessions it went through, or 1 for a job about the whole scope.
        receipts: What became of what it learned.
        compacted: What became of the operations of a compaction.
        refused: What a model answered that was not used, and why.
        problems: Why steps gave nothing.
        skipped: Why it did not run, or stopped before all was done; ``""`` if all was.
        left: How many steps wait because of that.
        waits: Whether that is as it should be: no model is set, or none was to be asked.
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


@dataclass(slots=True)
class SleepSummary:
    """What a sleep did.

    Attributes:
        jobs: What each job did in each scope.
        busy: Who sleeps on a scope already, so that nothing was done there.
        failed: The scopes whose files could not be read or written, and why.
        running: How many sessions run, and were left alone.
        not_ours: How many sessions git knows: nothing is learned from them, as they may have come
            with a clone, and what is said in them is somebody else's word.
        model: The name of the model, or ``""``.
        spent: What asking it cost.
        skipped: Why nothing at all was done, or ``""``.
        stopped: Whether it was stopped before the end.
        dry_run: Whether nothing was written.
    """

    jobs: list[JobReport] = field(default_factory=list)
    busy: dict[Scope, str] = field(default_factory=dict)
    failed: dict[Scope, str] = field(default_factory=dict)
    running: int = 0
    not_ours: int = 0
    model: str = ""
    spent: Spent = field(default_factory=Spent)
    skipped: str = ""
    stopped: bool = False
    dry_run: bool = False

    def report(self, scope: Scope, job: str) -> JobReport:
        """Return the report of a job in a scope."""
        found = next((it for it in self.jobs if (it.scope, it.job) == (scope, job)), None)
        if found is None:
            found = JobReport(scope, job)
            self.jobs.append(found)
        return found


# What one round of the background worker did, session by session, and what it left for later.
#
# What was not done is there as plainly as what was.

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

"""``engramdown sleep``, ``worker`` and ``compact``: do what is due for memory, now or in rounds.

What was done is reported even after an interruption. If another process sleeps on a scope already,
it is named, and that is not an error. A dry run writes nothing.

A compaction is shown before a person says yes, and applied as it was shown, in one step. Changes to
what a person wrote wait in pending.md, whatever the answer is.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown.cli import output, process, views
from engramdown.cli.access import open_cortex, open_quietly
from engramdown.cli.commands import given, pass_place, scoped, show
from engramdown.cli.layout import Line, line
from engramdown.cli.output import DONE, REFUSED, STOPPED, STORE_FAILED, RefusalError, bar
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.clock import local
from engramdown.engram import Scope
from engramdown.hippocampus import REFUSED as NO_GLOBAL
from engramdown.language import visible
from engramdown.lazy import texts

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.consolidation import Row, Ruling
    from engramdown.gate import CompactionReceipt, Prepared, Receipt
    from engramdown.sleep import Deed, JobReport, SleepSummary, WorkSummary

TITLE: Final = "Sleeping"
NOTHING: Final = "nothing is due"
NOTHING_ELSE: Final = "nothing else is due"
WAS_STOPPED: Final = "stopped; the next `engramdown sleep` goes on there"
STOPPING: Final = "stopping after this step; Ctrl-C again stops at once"
# The words of this module, by what they are about and a code.
_WORDS: Final = texts(__file__)
_HINTS: Final = {"no model is set": " (`model` under [consolidation] in the global config.toml)"}
_MOST_LEARNED: Final = 20
# Of each thing that a worker does: its noun, what was done, what would be done, and the style.
_ENDED: Final = ("end", "Ended", "Would end", "where")
_DEEDS: Final = {
    "orphan": _ENDED,
    "idle": _ENDED,
    "empty": ("card", "Empty", "Empty", "dim"),
    "card": ("card", "Card", "Would ask for the card", "good"),
    "facts": ("facts", "Facts", "Would ask for facts", "good"),
    "summary": ("summary", "Summary", "Would summarise", "good"),
}
_WHY_ENDED: Final = {"orphan": "nobody had", "idle": "it was silent"}
_STDERR: Final = 2


@click.command()
@click.option("--no-model", is_flag=True, help="Ask no model: do only what works without one.")
@click.option("--dry-run", is_flag=True, help="Write nothing, ask no model; say what is due.")
@scoped("Only memory for all projects.", "Only this project.")
def sleep(
    place: Place, /, *, no_model: bool, dry_run: bool, scope: Scope | None, **_: object
) -> None:
    """Learn from finished sessions, and compact memory: whatever is due.

    What you stated and what went wrong is learned without a model; with one, also what was done,
    and facts about you. You can stop it at any moment: the next one goes on there.
    """
    cortex = open_cortex(place)
    from engramdown.sleep import Sleep

    sleeping = Sleep(cortex.scopes, use_model=not no_model, dry_run=dry_run, scope=scope)
    try:
        with bar(TITLE, sleeping.count(), uneven=True) as advance:
            sleeping.run(advance)
    except KeyboardInterrupt:
        sleeping.summary.stopped = True
    summary = sleeping.summary
    show([] if summary.skipped else _sleep_lines(summary), serializers.sleep_data(summary))
    if summary.skipped:
        raise RefusalError(views.OFF)
    for name, reason in summary.failed.items():
        process.complain(f"{serializers.SCOPE_NAMES[name]}: {reason}")
    if summary.stopped:
        raise Exit(STOPPED)
    if summary.failed:
        raise Exit(STORE_FAILED)
    # A job that only waits for a model has not failed.
    failed = any(each.problems or (each.skipped and not each.waits) for each in summary.jobs)
    raise Exit(REFUSED if failed else DONE)


def _sleep_lines(summary: SleepSummary) -> Iterator[Line]:
    for report in summary.jobs:
        yield from _job_lines(report)
    yield from _waiting_lines(summary.jobs)
    for scope, holder in summary.busy.items():
        text = f"{serializers.SCOPE_NAMES[scope]}: {holder} sleeps here already; nothing to do"
        yield line((text, "warn"), hang=2)
    if summary.running:
        yield line((f"{counted(summary.running, 'session')} still running; left alone", "dim"))
    if summary.not_ours:
        passed = counted(summary.not_ours, "session")
        yield line((f"{passed} known to git; not learned from", "dim"))
    yield from _cost_lines(summary)
    if summary.stopped:
        yield line((WAS_STOPPED, "warn"))
    elif not (any(map(_job_did, summary.jobs)) or summary.busy or summary.failed):
        # What failed or waits is still due.
        is_due = any(each.skipped or each.problems or each.refused for each in summary.jobs)
        yield line((NOTHING_ELSE if is_due else NOTHING, "dim"))


def _waiting_lines(reports: Iterable[JobReport]) -> Iterator[Line]:
    """Yield what was left, once for each reason; dim if it only waits for a model."""
    by_reason: dict[tuple[str, bool], list[str]] = {}
    for each in reports:
        if each.skipped:
            what = "crowded files" if each.job == "compaction" else counted(each.left, "session")
            waiting = by_reason.setdefault((each.skipped, each.waits), [])
            waiting.append(f"{_WORDS[f'job {each.job}']} ({what})")
    for (reason, waits), jobs in by_reason.items():
        hint = _HINTS.get(reason, "")
        text = f"left for later, as {reason}{hint}: {', '.join(dict.fromkeys(jobs))}"
        yield line((text, "dim" if waits else "warn"), hang=2)


def _job_lines(report: JobReport) -> Iterator[Line]:
    did, job = _job_did(report), _WORDS[f"job {report.job}"]
    if did:
        name = f"{job} ({serializers.SCOPE_NAMES[report.scope]})"
        yield line((name, "strong"), f": {did}", hang=2)
        for text in _learned(report.receipts):
            yield line((text, "dim"), indent=2, hang=4)
    for note in (*report.problems, *report.refused):
        yield line((f"{job}: {note}", "warn"), hang=2)


def _job_did(report: JobReport) -> str:
    """Say what a job did, or ``""`` if it found nothing to do."""
    actions = [_WORDS[f"became {each.action}"] for each in report.receipts]
    for each in report.compacted:
        applied = each.operation if each.action == "applied" else None
        actions.append(_WORDS[f"operation {applied.name}" if applied else f"became {each.action}"])
    counts = _counts(actions)
    if report.job == "compaction":
        return counts
    return f"{counted(report.steps, 'session')}, {counts or 'nothing new'}" if report.steps else ""


def _counts(actions: Iterable[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in Counter(actions).items())


def _learned(receipts: Sequence[Receipt]) -> Iterator[str]:
    """Name the first of what is new, and say which facts are kept in another scope."""
    new = [each for each in receipts if each.action in ("encoded", "queued")]
    for each in new[:_MOST_LEARNED]:
        yield f"{_WORDS[f'became {each.action}']}: {' '.join(each.engram.text.split())}"
    if new[_MOST_LEARNED:]:
        yield f"… and {len(new) - _MOST_LEARNED:,} more; `engramdown history` shows them"
    if any(NO_GLOBAL in each.reason for each in receipts):
        yield f"facts about you are kept in this project: {NO_GLOBAL}"


def _cost_lines(summary: SleepSummary | WorkSummary) -> Iterator[Line]:
    calls, tokens = summary.spent.calls, summary.spent.tokens
    if calls:
        yield line((f"{counted(calls, 'call')} of {summary.model}, {tokens} tokens", "dim"))


# ---- the worker ----


@click.command()
@click.option("--once", is_flag=True, help="Do one round, and end.")
@click.option(
    "--every",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Rest so long between two rounds; by default the setting, 300.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each round.")
@click.option(
    "--dry-run", is_flag=True, help="Write nothing, ask no model; say what one round would do."
)
@pass_place
def worker(
    place: Place, /, *, once: bool, every: float | None, as_json: bool, dry_run: bool
) -> None:
    """See to sessions, round after round, until you stop it.

    It ends sessions that nobody ended. With a model it also writes the cards of ended sessions,
    summarises idle conversations and, if `extract_facts` is set, looks for facts. Ctrl-C stops it
    after the current step.
    """
    cortex = open_quietly(place, "any")
    if cortex.mode == "off":
        raise RefusalError(views.OFF)
    pause = cortex.scopes.settings.worker.every if every is None else every
    stop = _Stop()
    rounds = _Rounds(cortex, stop, as_json, dry_run)
    with process.handling(stop.handle, "SIGINT", "SIGTERM"):
        if once or dry_run:
            summary = rounds.run_one(last=True)
            failed = any(deed.outcome == "failed" for deed in summary.deeds)
            raise Exit(STORE_FAILED if summary.failed else REFUSED if failed else DONE)
        if output.is_person() and not as_json:
            output.show([line((f"working every {pause:g} seconds; Ctrl-C stops", "dim"))])
        while not stop.is_asked:
            rounds.run_one()
            stop.wait(pause)
    raise Exit(DONE)


class _Stop:
    """Whether a signal asked to stop.

    Attributes:
        is_asked: Whether to stop.
        at_work: Whether a step is under way, which is finished first.
    """

    def __init__(self) -> None:
        self.at_work = False
        self.is_asked = False
        # Unlike an event, it may be set by a signal that interrupts the wait for it.
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()

    def ask(self) -> None:
        """Ask to stop."""
        self.is_asked = True
        self._bell.put(None)

    def wait(self, seconds: float) -> None:
        """Wait for some seconds, or until somebody asks to stop."""
        at_work, self.at_work = self.at_work, False
        if not self.is_asked:
            with contextlib.suppress(queue.Empty):
                self._bell.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        self.at_work = at_work

    def handle(self, number: int, _: FrameType | None) -> None:
        """Let a signal ask to stop, and a second Ctrl-C stop at once."""
        if self.is_asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.ask()
        if self.at_work:
            # Not through sys.stderr: the signal may have interrupted a write to it.
            with contextlib.suppress(OSError):
                os.write(_STDERR, f"{STOPPING}\n".encode())


@dataclass
class _Rounds:
    """The rounds of one call."""

    cortex: Cortex
    stop: _Stop
    as_json: bool
    dry_run: bool
    noted: Sequence[str] = ()
    broken: OSError | None = None

    def run_one(self, *, last: bool = False) -> WorkSummary:
        """Do a round and report it."""
        from engramdown.sleep import work_once

        if self.dry_run and not self.as_json:
            output.show([line((views.DRY_RUN, "warn"))])
        self.stop.at_work = True
        summary = work_once(
            self.cortex,
            conversations=self.cortex.conversations,
            dry_run=self.dry_run,
            should_stop=lambda: self.stop.is_asked,
            tell=self._report,
            rest=self.stop.wait,
        )
        self.stop.at_work = False
        if self.broken is not None:
            raise self.broken
        if self.as_json:
            click.echo(json.dumps(serializers.round_data(summary)))
        else:
            self._note_undone(summary)
            if last:
                is_due = summary.deeds or summary.busy or summary.failed or summary.left
                idle = [] if is_due or summary.stopped else [line((NOTHING, "dim"))]
                output.show([*_cost_lines(summary), *idle])
        process.flush()
        return summary

    def _report(self, deed: Deed) -> None:
        if self.as_json:
            return
        try:
            output.show(_deed_lines(deed))
            process.flush()
        except OSError as error:  # Nobody reads any more; the current step is finished first.
            self.broken = error
            self.stop.ask()

    def _note_undone(self, summary: WorkSummary) -> None:
        """Say on stderr what was not done, but not again what the last round said."""
        notes = [*dict.fromkeys(self.cortex.scopes.notices()), *_undone(summary)]
        for text in notes:
            if text not in self.noted:
                output.note(text)
        if summary.failed and summary.failed not in self.noted:
            process.complain(summary.failed)
        self.noted = [*notes, summary.failed]


def _deed_lines(deed: Deed) -> Iterator[Line]:
    noun, done, would, style = _DEEDS[deed.what]
    verb = would if deed.outcome == "would" else done
    came = ""
    if deed.what == "card":
        came = deed.text
    elif deed.what == "facts" and deed.outcome == "done":
        became = _counts(_WORDS[f"became {each.action}"] for each in deed.receipts)
        came = became or "nothing worth keeping"
    elif deed.what == "summary" and deed.outcome == "done":
        came = counted(deed.messages, "message")
    about = f"{came} ({deed.session})" if came else deed.session
    if deed.what in _WHY_ENDED:
        about = f"{deed.session}, as {_WHY_ENDED[deed.what]}"
    if deed.outcome == "failed":
        verb, style, about = "Failed", "warn", f"{noun} of {deed.session}: {deed.text}"
    time = local(datetime.now(UTC)).strftime("%H:%M:%S")
    yield line((f"{time}  ", "dim"), (verb, style), f": {about}", hang=4)
    for text in _learned(deed.receipts):
        yield line((text, "dim"), indent=10, hang=12)


def _undone(summary: WorkSummary) -> Iterator[str]:
    """Yield what was left undone, and why."""
    if summary.busy:
        yield f"{summary.busy} works or sleeps here already; the rest is tried again later"
    left = counted(summary.left, "session")
    if summary.waits:
        yield f"left for later, as {summary.waits}{_HINTS.get(summary.waits, '')}: {left}"
    elif summary.left and not summary.busy:
        yield f"left for the next round: {left}"
    if summary.given_up:
        yield f"{counted(summary.given_up, 'session')} failed too often; left until they go on"
    if summary.not_ours:
        yield f"{counted(summary.not_ours, 'session')} known to git; shown to no model"
    yield from summary.refused


# ---- compaction ----

_STYLES: Final = {"-": "bad", "+": "good", "?": "dim", "=": "", "": "where"}
ASK: Final = "Apply this?"
ASK_LATER: Final = "Put these questions into pending.md?"
NEEDS_YES: Final = (
    "compacting needs a person's yes; --dry-run shows what would change, --yes applies"
)
_UNDO: Final = (
    "",
    "; `engramdown undo` takes it back",
    "; each scope is a step of its own: `engramdown undo`, twice, takes them back",
)
_RESULTS: Final = ("applied", "queued", "refused", "passed over", "failed")


@click.command()
@click.option("--yes", is_flag=True, help="Apply without asking.")
@click.option("--no-model", is_flag=True, help="Ask no model: only duplicates and expired ones.")
@scoped("Only memory for all projects.", "Only this project.", dry_run=True)
def compact(
    place: Place, /, *, scope: Scope | None, as_json: bool, dry_run: bool, **_: object
) -> None:
    """Say the same in fewer memories: shows the diff, asks, and applies it as one step.

    Duplicates and expired memories go to the archive. With a model, files that hold more than
    `threshold` memories are compacted: it proposes what to merge, replace and move. About what
    you wrote, confirmed or pinned it only asks, in pending.md.
    """
    cortex = open_cortex(place)
    if cortex.mode == "off":
        raise RefusalError(views.OFF)
    output.check(NEEDS_YES)
    from engramdown.gate import Compaction

    compaction = Compaction(cortex.scopes)
    use_model = not given()["no_model"]
    if use_model and cortex.needs_compaction():
        _note_model(cortex)
    prepared = compaction.prepare_all(scope, use_model=use_model)
    lines = [] if as_json else [*_plan_lines(prepared)]
    if dry_run:
        cortex.scopes.dry_run()
    else:
        output.show(lines)
        if any(each.apply for each in prepared):
            output.ask(ASK)
        elif any(each.propose for each in prepared):
            output.ask(ASK_LATER)
    receipts = compaction.carry_out(prepared, cortex.mode, approved=True)
    changes = cortex.scopes.planned_changes() if dry_run else []
    if not dry_run:
        lines = [*_result_lines(receipts)]
    elif not process.is_terminal(sys.stdout):
        # The diff of the files is for programs: a person has seen that of the memories.
        lines += output.planned_lines(changes)
    planned = serializers.planned_data(changes)
    data = serializers.compaction_data(prepared, receipts, planned, dry_run=dry_run)
    show(lines, data)
    operations = [each for each in receipts if each.operation is not None]
    scopes = [each.action for each in receipts if each.operation is None]
    if any(each.action == "failed" for each in operations):
        raise Exit(output.STORE_FAILED)
    raise Exit(output.REFUSED if "failed" in scopes or "refused" in scopes else 0)


def _note_model(cortex: Cortex) -> None:
    """Say that a model is about to be asked, which takes a while, or that one could be set."""
    settings = cortex.scopes.settings.consolidation
    model = cortex.scopes.model or settings.model
    if model:
        name = model if isinstance(model, str) else type(model).__name__
        output.note(f"asking {name}; this can take a while")
    else:
        output.note(
            f"a file holds more than {settings.threshold} memories; a model could say the same in "
            "fewer: name one as `model` under [consolidation] in the global config.toml"
        )


def _plan_lines(prepared: Iterable[Prepared]) -> Iterator[Line]:
    """Yield the plan that a person says yes to."""
    for each in prepared:
        name = serializers.SCOPE_NAMES[each.store.scope]
        if each.problem:
            yield line(f"{name}: {each.problem}", hang=2)
            yield from _contradiction_lines(each)
            continue
        yield line((name, "strong"))
        if each.apply:
            yield line(("Apply", "strong"), indent=2)
            yield from _rows(each.diff())
        waiting = "Waits for you in pending.md", "yours to decide", each.propose
        for title, because, rulings in (waiting, ("Left as it is", "not done", each.refused)):
            yield from _ruling_lines(each, title, because, rulings)
        yield from _contradiction_lines(each)
        yield line()


def _contradiction_lines(prepared: Prepared) -> Iterator[Line]:
    """Yield every two memories of which only one can hold, and what to do about them."""
    if prepared.contradictions:
        yield line(("Only one of the two can hold, so you decide", "strong"), indent=2)
    for pair in prepared.contradictions:
        for entry in pair:
            where = f"{entry.disk_file}:{entry.line}"
            yield line(visible(entry.text), (f"  {where}  {entry.id}", "id"), indent=4, hang=6)
        one, other = (entry.id for entry in pair)
        text = f"  `engramdown forget {one}` or `engramdown forget {other}`, or edit one of them"
        yield line((text, "warn"), indent=4, hang=6)


def _ruling_lines(
    prepared: Prepared, title: str, because: str, rulings: Sequence[Ruling]
) -> Iterator[Line]:
    from engramdown.consolidation import diff

    if rulings:
        yield line((title, "strong"), indent=2)
    for ruling in rulings:
        yield from _rows(diff([ruling.operation], prepared.entries))
        yield line((f"  {because}: {ruling.why}", "warn"), indent=4, hang=6)


def _rows(rows: Iterable[Row]) -> Iterator[Line]:
    for row in rows:
        mark = " " if row.mark == "?" else row.mark
        parts = [(f"{mark} {row.text}" if mark else row.text, _STYLES[row.mark])]
        parts += [(f"  {row.id}", "id")] if row.id else []
        yield line(*parts, indent=4, hang=6)


def _result_lines(receipts: Sequence[CompactionReceipt]) -> Iterator[Line]:
    done = [each for each in receipts if each.operation is not None]
    for each in done:
        if each.operation is not None and each.action in ("failed", "passed over"):
            text = f"{', '.join(each.operation.ids)}: {each.action}: {each.reason}"
            yield line((text, "warn"), hang=2)
    actions = sorted((each.action for each in done), key=_RESULTS.index)
    scopes = {each.scope for each in done if each.action == "applied"}
    result = _counts(_WORDS[f"became {action}"] for action in actions)
    text = f"{result}{_UNDO[len(scopes)]}." if result else "Nothing to compact."
    yield line((text, "good"), hang=2)

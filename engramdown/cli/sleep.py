"""``engramdown sleep`` and ``engramdown worker``: do what is due for memory, now or in rounds.

What was done is reported even after an interruption. If somebody sleeps on a scope already, they
are named, and that is no error. A dry run writes nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import messages, output, process
from engramdown.cli.access import open_cortex, open_quietly
from engramdown.cli.commands import json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, pick
from engramdown.cli.output import DONE, REFUSED, STOPPED, STORE_FAILED, RefusalError, bar
from engramdown.cli.process import Place
from engramdown.clock import local
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.consolidation import Name
    from engramdown.gate import CompactionReceipt, Receipt
    from engramdown.sleep import Deed, JobReport, SleepSummary, WorkSummary


@click.command()
@click.option("--no-model", is_flag=True, help="Ask no model: only what works without one.")
@click.option("--dry-run", is_flag=True, help="Write nothing, ask no model; say what is due.")
@scope_options("Only memory for all projects.", "Only this project.")
@json_option
@pass_place
def sleep(
    place: Place, /, *, no_model: bool, dry_run: bool, scope: Scope | None, as_json: bool
) -> None:
    """Learn from finished sessions, and compact memory: whatever is due.

    What you stated and what went wrong is learned without a model; with one also what was done,
    and facts about you. It can be stopped at any moment: the next one goes on there.
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
    if as_json:
        output.print_json(_data(summary))
    elif not summary.skipped:
        output.screen().show(_lines(summary))
    if summary.skipped:
        raise RefusalError(messages.OFF)
    for name, reason in summary.failed.items():
        process.complain(failed(messages.SCOPE_NAMES[name], reason))
    raise Exit(_exit_code(summary))


def _exit_code(summary: SleepSummary) -> int:
    if summary.stopped:
        return STOPPED
    if summary.failed:
        return STORE_FAILED
    return REFUSED if any(map(_gave_nothing, summary.jobs)) else DONE


def _gave_nothing(report: JobReport) -> bool:
    """Whether a step failed; that no model is set, or none was to be asked, is no failure."""
    return bool(report.problems) or (bool(report.skipped) and not report.waits)


# ---- for a person ----


def _lines(summary: SleepSummary) -> Iterator[Line]:
    if summary.dry_run:
        yield line((messages.DRY_RUN, "warn"))
    for report in summary.jobs:
        yield from _job(report)
    for text, is_waiting in left(summary.jobs):
        yield line((text, "dim" if is_waiting else "warn"), hang=2)
    for scope, holder in summary.busy.items():
        yield line((busy(messages.SCOPE_NAMES[scope], holder), "warn"), hang=2)
    told = (running(summary.running), not_ours(summary.not_ours), spent(summary))
    for text in told:
        yield from [line((text, "dim"))] if text else []
    if summary.stopped:
        yield line((WAS_STOPPED, "warn"))
    elif not (any(map(job_did, summary.jobs)) or summary.busy or summary.failed):
        # What failed or waits is due still.
        is_told = any(each.skipped or each.problems or each.refused for each in summary.jobs)
        yield line((NOTHING_ELSE if is_told else NOTHING, "dim"))


def _job(report: JobReport) -> Iterator[Line]:
    did, job = job_did(report), JOBS[report.job]
    if did:
        name = f"{job} ({messages.SCOPE_NAMES[report.scope]})"
        yield line((name, "strong"), f": {did}", hang=2)
        for text in learned(report.receipts):
            yield line((text, "dim"), indent=2, hang=4)
    for note in (*report.problems, *report.refused):
        yield line((f"{job}: {note}", "warn"), hang=2)


# ---- for programs ----


def _data(summary: SleepSummary) -> dict[str, Any]:
    return {
        **pick(summary, "dry_run stopped skipped model"),
        "spent": summary.spent._asdict(),
        **pick(summary, "running not_ours busy failed"),
        "jobs": [
            {
                **pick(report, "scope job steps left skipped problems refused"),
                "receipts": [
                    *map(_receipt, report.receipts),
                    *map(_operation, report.compacted),
                ],
            }
            for report in summary.jobs
        ],
    }


def _receipt(receipt: Receipt) -> dict[str, str]:
    return {
        "action": receipt.action,
        "reason": receipt.reason,
        "id": receipt.id,
        "text": receipt.engram.text,
        "from": receipt.engram.origin,
    }


def _operation(receipt: CompactionReceipt) -> dict[str, Any]:
    operation = receipt.operation
    return {
        "action": receipt.action,
        "reason": receipt.reason,
        "id": receipt.id,
        "operation": operation.name if operation is not None else "",
        "ids": list(operation.ids) if operation is not None else [],
    }


TITLE: Final = "Sleeping"
NOTHING: Final = "nothing is due"
NOTHING_ELSE: Final = "nothing else is due"
WAS_STOPPED: Final = "stopped; the next `engramdown sleep` goes on there"
JOBS: Final = {
    "statements": "what you stated, what a failure taught",
    "mistakes": "what went wrong",
    "replay": "what was done",
    "identity": "facts about you",
    "cerebellum": "what went otherwise",
    "skill": "procedures",
    "compaction": "compaction",
    "facts": "facts in conversations",
}
_BECAME: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "queued": "waiting in pending.md",
    "discarded": "left out",
    "forgotten": "forgotten",
    "failed": "failed",
    "refused": "left as it is",
    "passed over": "passed over, as somebody changed it meanwhile",
}
_OPERATIONS: Final[Mapping[Name, str]] = {
    "drop": "archived as duplicates",
    "merge": "merged",
    "supersede": "archived as replaced",
    "move": "moved to another topic",
    "expire": "archived as expired",
}
_HINTS: Final = {"no model is set": " (`model` under [consolidation] in the global config.toml)"}
_MOST: Final = 20


def became(receipts: Iterable[Receipt]) -> list[str]:
    """Say what became of how many of what was learned."""
    found = Counter(_BECAME[each.action] for each in receipts)
    return [f"{count} {what}" for what, count in found.items()]


def job_did(report: JobReport) -> str:
    """Say what a job did, or ``""`` if it found nothing to do."""
    actions = [_BECAME[each.action] for each in report.receipts]
    actions += [_went(each) for each in report.compacted]
    became = Counter(actions)
    told = [f"{count} {what}" for what, count in became.items()]
    if report.job == "compaction":
        return ", ".join(told)
    return ", ".join([_sessions(report.steps), *(told or ["nothing new"])]) if report.steps else ""


def left(reports: Iterable[JobReport]) -> Iterator[tuple[str, bool]]:
    """Say what was left, once for each reason; and whether it only waits for a model."""
    by_reason: dict[tuple[str, bool], list[JobReport]] = {}
    for report in reports:
        if report.skipped:
            by_reason.setdefault((report.skipped, report.waits), []).append(report)
    for (reason, waits), several in by_reason.items():
        what = dict.fromkeys(map(_left, several))
        yield f"left for later, as {reason}{_HINTS.get(reason, '')}: {', '.join(what)}", waits


def learned(receipts: Sequence[Receipt]) -> Iterator[str]:
    """Name what is new, of very much only the first; and say what is kept in another scope."""
    new = [each for each in receipts if each.action in ("encoded", "queued")]
    for each in new[:_MOST]:
        yield f"{_BECAME[each.action]}: {' '.join(each.engram.text.split())}"
    if new[_MOST:]:
        yield f"… and {len(new) - _MOST:,} more; `engramdown history` shows them"
    if kept := messages.kept_here(receipts):
        yield kept


def busy(name: str, holder: str) -> str:
    """Say that somebody else is at it."""
    return f"{name}: {holder} sleeps here already; nothing to do"


def failed(name: str, reason: str) -> str:
    """Say that a scope could not be read or written."""
    return f"{name}: {reason}"


def spent(summary: SleepSummary) -> str:
    """Say what it cost, or ``""``."""
    calls, tokens = summary.spent.calls, summary.spent.tokens
    if not calls:
        return ""
    return f"{calls} {'call' if calls == 1 else 'calls'} of {summary.model}, {tokens} tokens"


def not_ours(count: int) -> str:
    """Say that sessions were passed over that may be somebody else's."""
    return f"{_sessions(count)} known to git; not learned from" if count else ""


def running(count: int) -> str:
    """Say which sessions were left alone, or ``""``."""
    return f"{_sessions(count)} still running; left alone" if count else ""


def _left(report: JobReport) -> str:
    of = "crowded files" if report.job == "compaction" else _sessions(report.left)
    return f"{JOBS[report.job]} ({of})"


def _went(receipt: CompactionReceipt) -> str:
    """Say what became of an operation."""
    if receipt.action == "applied" and receipt.operation is not None:
        return _OPERATIONS[receipt.operation.name]
    return _BECAME[receipt.action]


def _sessions(count: int) -> str:
    return f"{count} {'session' if count == 1 else 'sessions'}"


_STYLES: Final = {"empty": "dim", "idle": "where", "orphan": "where"}
_STDERR: Final = 2


@click.command()
@click.option("--once", is_flag=True, help="Do one round, and end.")
@click.option(
    "--every",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Rest so long between two rounds (default: what is set, 300).",
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

    It ends sessions that nobody ended. With a model it also writes the cards of those that ended,
    summarises conversations that are idle and, if `extract_facts` is set, looks for facts. Ctrl-C
    stops it after the step that it is at.
    """
    cortex = open_quietly(place, "any")
    if cortex.mode == "off":
        raise RefusalError(messages.OFF)
    pause = cortex.scopes.settings.worker.every if every is None else every
    stop = _Stop()
    working = _Working(cortex, stop, as_json=as_json, dry_run=dry_run)
    with stop.listening():
        if once or dry_run:
            raise Exit(_worker_exit_code(working.round(last=True)))
        if output.is_person() and not as_json:
            output.fast_screen().show([line((begins(pause), "dim"))])
        while not stop.is_asked():
            working.round()
            stop.wait(pause)
    raise Exit(DONE)


class _Stop:
    """Whether a signal asked to stop.

    Attributes:
        at_work: Whether there is a step that is finished first.
    """

    def __init__(self) -> None:
        self.at_work = False
        self._asked = False
        # An event must not be set by a signal that comes while it is waited for; this may.
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()

    def is_asked(self) -> bool:
        """Whether to stop."""
        return self._asked

    def ask(self) -> None:
        """Ask to stop."""
        self._asked = True
        self._bell.put(None)

    def wait(self, seconds: float) -> None:
        """Wait so long, or until somebody asks to stop."""
        at_work, self.at_work = self.at_work, False
        if not self._asked:
            with contextlib.suppress(queue.Empty):
                self._bell.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        self.at_work = at_work

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Let signals ask to stop in a ``with`` block."""
        before = {number: signal.signal(number, self._hear) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, _: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.ask()
        if self.at_work:
            # Not through sys.stderr: a signal may come while that is written to.
            with contextlib.suppress(OSError):
                os.write(_STDERR, f"{STOPPING}\n".encode())


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class _Working:
    """The rounds of one call."""

    def __init__(self, cortex: Cortex, stop: _Stop, *, as_json: bool, dry_run: bool) -> None:
        self._cortex = cortex
        self._stop = stop
        self._as_json = as_json
        self._dry_run = dry_run
        self._noted: list[str] = []
        self._broken: OSError | None = None

    def round(self, *, last: bool = False) -> WorkSummary:
        """Do a round, and tell of it."""
        from engramdown.sleep import work_once

        if self._dry_run and not self._as_json:
            output.screen().show([line((messages.DRY_RUN, "warn"))])
        self._stop.at_work = True
        summary = work_once(
            self._cortex,
            conversations=self._cortex.conversations,
            dry_run=self._dry_run,
            should_stop=self._stop.is_asked,
            tell=self._tell,
            rest=self._stop.wait,
        )
        self._stop.at_work = False
        if self._broken is not None:
            raise self._broken
        if self._as_json:
            click.echo(json.dumps(_work_data(summary)))
        else:
            self._note(summary)
            if last:
                output.fast_screen().show(_ending(summary))
        process.flush()
        return summary

    def _tell(self, deed: Deed) -> None:
        if self._as_json:
            return
        try:
            output.fast_screen().show(_deed_lines(deed))
            process.flush()
        except OSError as error:  # Nobody reads any more. What is being done is finished first.
            self._broken = error
            self._stop.ask()

    def _note(self, summary: WorkSummary) -> None:
        """Say on stderr what was not done; what lasts is said once."""
        notices = dict.fromkeys(self._cortex.scopes.notices())
        for text in (*notices, *notes(summary)):
            if text not in self._noted:
                output.note(text)
        if summary.failed and summary.failed not in self._noted:
            process.complain(summary.failed)
        self._noted = [*notices, *notes(summary), summary.failed]


def _worker_exit_code(summary: WorkSummary) -> int:
    if summary.failed:
        return STORE_FAILED
    return REFUSED if any(deed.outcome == "failed" for deed in summary.deeds) else DONE


def _deed_lines(deed: Deed) -> Iterator[Line]:
    style = "warn" if deed.outcome == "failed" else _STYLES.get(deed.what, "good")
    time = local(datetime.now(UTC)).strftime("%H:%M:%S")
    yield line((f"{time}  ", "dim"), (verb(deed), style), f": {about(deed)}", hang=4)
    for text in learned_facts(deed):
        yield line((text, "dim"), indent=10, hang=12)


def _ending(summary: WorkSummary) -> Iterator[Line]:
    cost = round_cost(summary)
    if cost:
        yield line((cost, "dim"))
    if not (summary.deeds or summary.busy or summary.failed or summary.left or summary.stopped):
        yield line((NOTHING, "dim"))


def _work_data(summary: WorkSummary) -> dict[str, Any]:
    return {
        "dry_run": summary.dry_run,
        "stopped": summary.stopped,
        "model": summary.model,
        "spent": summary.spent._asdict(),
        **pick(summary, "busy failed waits left given_up not_ours refused"),
        "done": [
            {
                **pick(deed, "what session outcome text messages"),
                "receipts": [
                    {"action": each.action, "reason": each.reason, "id": each.id}
                    | {"text": each.engram.text, "from": each.engram.origin}
                    for each in deed.receipts
                ],
            }
            for deed in summary.deeds
        ],
    }


STOPPING: Final = "stopping after this step; Ctrl-C again stops at once"

_NOUNS: Final = {
    "orphan": "end",
    "idle": "end",
    "empty": "card",
    "card": "card",
    "facts": "facts",
    "summary": "summary",
}
_VERBS: Final = {
    "orphan": "Ended",
    "idle": "Ended",
    "empty": "Empty",
    "card": "Card",
    "facts": "Facts",
    "summary": "Summary",
}
_WOULD: Final = {
    "orphan": "Would end",
    "idle": "Would end",
    "empty": "Empty",
    "card": "Would ask for the card",
    "facts": "Would ask for facts",
    "summary": "Would summarise",
}
_ENDED: Final = {"orphan": "nobody had", "idle": "it was silent"}
_HINT: Final = " (`model` under [consolidation] in the global config.toml)"
_MINUTE: Final = 60


def begins(every: float) -> str:
    """Say how often it works.

    >>> begins(300), begins(7.5)
    ('working every 5 minutes; Ctrl-C stops', 'working every 7.5 seconds; Ctrl-C stops')
    """
    minutes = every / _MINUTE
    often = f"{every:g} seconds" if every % _MINUTE else f"{minutes:g} minutes"
    return f"working every {'minute' if minutes == 1 else often}; Ctrl-C stops"


def verb(deed: Deed) -> str:
    """Say in a word or two what was done, or would be."""
    if deed.outcome == "failed":
        return "Failed"
    return (_WOULD if deed.outcome == "would" else _VERBS)[deed.what]


def about(deed: Deed) -> str:
    """Say what came of it, and of which session."""
    if deed.outcome == "failed":
        return f"{_NOUNS[deed.what]} of {deed.session}: {deed.text}"
    if deed.what in _ENDED:
        return f"{deed.session}, as {_ENDED[deed.what]}"
    came = ""
    if deed.what == "card":
        came = deed.text
    elif deed.what == "facts" and deed.outcome == "done":
        came = ", ".join(became(deed.receipts)) or "nothing worth keeping"
    elif deed.what == "summary" and deed.outcome == "done":
        came = f"{deed.messages} {'message' if deed.messages == 1 else 'messages'}"
    return f"{came} ({deed.session})" if came else deed.session


def learned_facts(deed: Deed) -> Iterator[str]:
    """Name the facts that are new."""
    return learned(deed.receipts)


def notes(summary: WorkSummary) -> Iterator[str]:
    """Say what was left undone, and why."""
    if summary.busy:
        yield f"{summary.busy} works or sleeps here already; what is left is tried again later"
    if summary.waits:
        hint = _HINT if summary.waits == "no model is set" else ""
        yield f"left for later, as {summary.waits}{hint}: {_sessions(summary.left)}"
    elif summary.left and not summary.busy:
        yield f"left for the next round: {_sessions(summary.left)}"
    if summary.given_up:
        yield f"{_sessions(summary.given_up)} tried too often; left until they go on"
    if summary.not_ours:
        yield f"{_sessions(summary.not_ours)} known to git; shown to no model"
    yield from summary.refused


def round_cost(summary: WorkSummary) -> str:
    """Say what a round cost, or ``""``."""
    calls, tokens = summary.spent.calls, summary.spent.tokens
    if not calls:
        return ""
    return f"{calls} {'call' if calls == 1 else 'calls'} of {summary.model}, {tokens} tokens"

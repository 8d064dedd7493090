"""``engramdown sleep``: do what is due for memory.

Promises: what was done is told even when it is interrupted; whoever sleeps on a scope already is
named, and that is no error; a dry run writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from engramdown.cli import messages, output, process
from engramdown.cli import sleep_messages as said
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line
from engramdown.cli.output import DONE, REFUSED, STOPPED, STORE_FAILED, RefusalError, bar
from engramdown.cli.process import Place
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown.cortex.compacting import CompactionReceipt
    from engramdown.cortex.receipts import Receipt
    from engramdown.cortex.sleep_summary import JobReport, SleepSummary


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
    from engramdown.cortex.sleeping import Sleep

    sleeping = Sleep(cortex, use_model=not no_model, dry_run=dry_run, scope=scope)
    try:
        with bar(said.TITLE, sleeping.count(), uneven=True) as advance:
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
        process.complain(said.failed(messages.SCOPE_NAMES[name], reason))
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
    for text, is_waiting in said.left(summary.jobs):
        yield line((text, "dim" if is_waiting else "warn"), hang=2)
    for scope, holder in summary.busy.items():
        yield line((said.busy(messages.SCOPE_NAMES[scope], holder), "warn"), hang=2)
    told = (said.running(summary.running), said.not_ours(summary.not_ours), said.spent(summary))
    for text in told:
        yield from [line((text, "dim"))] if text else []
    if summary.stopped:
        yield line((said.STOPPED, "warn"))
    elif not (any(map(said.did, summary.jobs)) or summary.busy or summary.failed):
        # What failed or waits is due still.
        is_told = any(each.skipped or each.problems or each.refused for each in summary.jobs)
        yield line((said.NOTHING_ELSE if is_told else said.NOTHING, "dim"))


def _job(report: JobReport) -> Iterator[Line]:
    did, job = said.did(report), said.JOBS[report.job]
    if did:
        name = f"{job} ({messages.SCOPE_NAMES[report.scope]})"
        yield line((name, "strong"), f": {did}", hang=2)
        for text in said.learned(report.receipts):
            yield line((text, "dim"), indent=2, hang=4)
    for note in (*report.problems, *report.refused):
        yield line((f"{job}: {note}", "warn"), hang=2)


# ---- for programs ----


def _data(summary: SleepSummary) -> dict[str, Any]:
    return {
        "dry_run": summary.dry_run,
        "stopped": summary.stopped,
        "skipped": summary.skipped,
        "model": summary.model,
        "spent": summary.spent._asdict(),
        "running": summary.running,
        "not_ours": summary.not_ours,
        "busy": summary.busy,
        "failed": summary.failed,
        "jobs": [
            {
                "scope": report.scope,
                "job": report.job,
                "steps": report.steps,
                "left": report.left,
                "skipped": report.skipped,
                "problems": report.problems,
                "refused": report.refused,
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

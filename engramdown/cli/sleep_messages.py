"""What the program says when it sleeps.

Promises: pure; plain words; what was not done is said as plainly as what was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown.cortex.receipts import Receipt
    from engramdown.cortex.sleep_summary import JobReport, SleepSummary

__all__ = [
    "JOBS",
    "NOTHING",
    "STOPPED",
    "TITLE",
    "busy",
    "did",
    "failed",
    "learned",
    "notes",
    "running",
    "spent",
]

TITLE: Final = "Sleeping"
NOTHING: Final = "nothing is due"
STOPPED: Final = "stopped; the next `engramdown sleep` goes on there"
JOBS: Final = {
    "statements": "what you stated",
    "mistakes": "what went wrong",
    "replay": "what was done",
    "identity": "facts about you",
    "cerebellum": "what went otherwise",
    "compaction": "compaction",
}
_BECAME: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "queued": "waiting in pending.md",
    "discarded": "left out",
    "forgotten": "forgotten",
    "failed": "failed",
    "applied": "applied",
    "refused": "left as it is",
    "passed over": "passed over, as somebody changed it meanwhile",
}


def did(report: JobReport) -> str:
    """Say what a job did, or ``""`` if it found nothing to do."""
    actions: list[str] = [each.action for each in report.receipts]
    actions += [each.action for each in report.compacted]
    became = Counter(_BECAME[action] for action in actions)
    told = [f"{count} {what}" for what, count in became.items()]
    if report.job == "compaction":
        return ", ".join(told)
    return ", ".join([_sessions(report.steps), *(told or ["nothing new"])]) if report.steps else ""


def notes(report: JobReport) -> Iterator[str]:
    """Say what a job did not do, and why."""
    if report.skipped:
        what = "crowded files" if report.job == "compaction" else _sessions(report.left)
        yield f"left for later: {what} ({report.skipped})"
    yield from report.problems
    yield from report.refused


def learned(receipts: Iterable[Receipt]) -> Iterator[str]:
    """Name what is new."""
    for each in receipts:
        if each.action in ("encoded", "queued"):
            yield f"{_BECAME[each.action]}: {' '.join(each.engram.text.split())}"


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


def running(count: int) -> str:
    """Say which sessions were left alone, or ``""``."""
    return f"{_sessions(count)} still running; left alone" if count else ""


def _sessions(count: int) -> str:
    return f"{count} {'session' if count == 1 else 'sessions'}"

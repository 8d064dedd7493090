"""What the program says when it sleeps.

Promises: pure; plain words; what was not done is said as plainly as what was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engramdown.cli import messages

if TYPE_CHECKING:
    from engramdown.consolidation.plan import Name
    from engramdown.cortex.compacting import CompactionReceipt
    from engramdown.cortex.receipts import Receipt
    from engramdown.cortex.sleep_summary import JobReport, SleepSummary


TITLE: Final = "Sleeping"
NOTHING: Final = "nothing is due"
NOTHING_ELSE: Final = "nothing else is due"
STOPPED: Final = "stopped; the next `engramdown sleep` goes on there"
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


def did(report: JobReport) -> str:
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

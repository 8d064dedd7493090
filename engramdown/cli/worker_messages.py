"""What ``worker`` says.

Promises: pure; one thing that was done is one sentence; what was not done is said as plainly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engramdown.cli import sleep_messages

if TYPE_CHECKING:
    from engramdown.cortex.work_summary import Deed, WorkSummary


NOTHING: Final = "nothing is due"
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
        came = ", ".join(sleep_messages.became(deed.receipts)) or "nothing worth keeping"
    elif deed.what == "summary" and deed.outcome == "done":
        came = f"{deed.messages} {'message' if deed.messages == 1 else 'messages'}"
    return f"{came} ({deed.session})" if came else deed.session


def learned(deed: Deed) -> Iterator[str]:
    """Name the facts that are new."""
    return sleep_messages.learned(deed.receipts)


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


def spent(summary: WorkSummary) -> str:
    """Say what a round cost, or ``""``."""
    calls, tokens = summary.spent.calls, summary.spent.tokens
    if not calls:
        return ""
    return f"{calls} {'call' if calls == 1 else 'calls'} of {summary.model}, {tokens} tokens"


def _sessions(count: int) -> str:
    return f"{count} {'session' if count == 1 else 'sessions'}"

"""What ``engramdown stats`` says.

Promises: pure; plain words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engramdown.consolidation.asking.calls import OUTCOMES

MODELS: Final = "calls of language models, for all projects"


def cost(asked: Mapping[str, int]) -> str:
    """Say what some calls cost.

    >>> cost({"tokens_in": 1200, "tokens_out": 80, "ms": 2340})
    '1,200 tokens in, 80 out, 2.3 s'
    """
    seconds = asked["ms"] / 1000
    return f"{asked['tokens_in']:,} tokens in, {asked['tokens_out']:,} out, {seconds:,.1f} s"


def outcome(name: str) -> str:
    """Say how calls ended.

    >>> outcome("timeout"), outcome("of a newer program")
    ('no answer in time', 'of a newer program')
    """
    return OUTCOMES.get(name, name)


def switched_off(what: Sequence[str]) -> str:
    """Say what the project switches off.

    >>> switched_off(["recording (episodes.enabled)"])
    "switched off by this project's config.toml: recording (episodes.enabled)"
    """
    return f"switched off by this project's config.toml: {', '.join(what)}"


def window(spent: Mapping[str, Any]) -> str:
    """Say what was spent lately.

    >>> window({"hours": 24.0, "calls": 3, "tokens": 4100})
    'in the last 24 hours: 3 calls, 4,100 tokens'
    """
    calls = "1 call" if spent["calls"] == 1 else f"{spent['calls']:,} calls"
    return f"in the last {spent['hours']:g} hours: {calls}, {spent['tokens']:,} tokens"


def slept(at: str) -> str:
    """Say when sleep last got something done.

    >>> slept("2026-03-01 10:00")
    'sleep last got a step done on 2026-03-01 10:00'
    """
    if not at:
        return "nothing was slept on yet; `engramdown sleep` learns from finished sessions"
    return f"sleep last got a step done on {at}"


def torn_lines(count: int) -> str:
    """Say that lines of the ledger cannot be read."""
    lines = "1 line of ledger.jsonl is" if count == 1 else f"{count} lines of ledger.jsonl are"
    return f"{lines} cut short and not counted"


TRANSCRIPT_TOTALS: Final = {
    "sessions": "sessions in the transcripts",
    "episodes": "episodes in them",
    "episode_bytes": "bytes of transcripts",
}


def degraded(reason: str) -> str:
    """Say that something is not being recorded.

    >>> degraded("no space")
    'Memory is degraded: no space'
    """
    return f"Memory is degraded: {reason}"


NO_DATE: Final = "without a date"
OLDER: Final = "older"
STATS_GROUPS: Final = {
    "by_file": "by file",
    "by_kind": "by kind",
    "by_source": "by source",
    "by_basis": "by how it is known",
    "by_age": "by age",
}
STATS_TOTALS: Final = {
    "pending": "waiting in pending.md",
    "archived": "retired, in archive.md",
    "context_tokens": "tokens of context",
    "history_steps": "steps in the journal",
    "history_bytes": "bytes of journal",
}


def up_to(name: str) -> str:
    """Name a class of age."""
    return f"up to {name}"


def count_title(count: int) -> str:
    """Say how many memories there are."""
    return f"{count} {'memory' if count == 1 else 'memories'}"

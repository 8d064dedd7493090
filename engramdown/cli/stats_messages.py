"""What ``engramdown stats`` says.

Promises: pure; plain words.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "NO_DATE",
    "OLDER",
    "STATS_GROUPS",
    "STATS_TOTALS",
    "TRANSCRIPT_TOTALS",
    "count_title",
    "degraded",
    "up_to",
]

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

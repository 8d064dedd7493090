"""What ``engramdown stats`` says about transcripts.

Promises: pure; plain words.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TRANSCRIPT_TOTALS", "degraded"]

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

"""What can be set about the background worker, in the table ``[worker]``.

Promises: nothing here reads a file; each value is checked before it is used. Only the global scope
may say anything of it: the worker is the person's, and what it spends is theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from engramdown.checks import Check, amount, count, positive

__all__ = ["WORKER_SETTINGS", "WorkerSettings"]


class WorkerSettings(NamedTuple):
    """What can be set about the background worker.

    Attributes:
        every: How many seconds lie between the end of a round and the next.
        timeout: How long one call about a session may take, in seconds; never longer than what
            holds for every call.
        pause: How many seconds lie between two calls.
        batch: About how many sessions of each kind a model is asked in one round.
        attempts: How often a session is tried whose answers are of no use.
        idle_minutes: Silence after which an open conversation is summarised; 0 is never.
        idle_messages: How many of its messages no summary must cover for that.
    """

    every: float = 300
    timeout: float = 60
    pause: float = 5
    batch: int = 10
    attempts: int = 5
    idle_minutes: float = 30
    idle_messages: int = 5


WORKER_SETTINGS: Final[Mapping[str, Check]] = {
    "every": positive,
    "timeout": positive,
    "pause": amount,
    "batch": count,
    "attempts": count,
    "idle_minutes": amount,
    "idle_messages": count,
}
"""Each setting of the table, with what checks it."""

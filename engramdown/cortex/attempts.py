"""When what failed is tried again: later each time.

Promises: pure; each wait is twice as long as the one before, up to a longest one; a clock that was
put back, or a time that is none, makes nobody wait.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

__all__ = ["FIRST_WAIT", "LONGEST_WAIT", "NEVER", "Attempts", "is_ripe", "next_try"]

FIRST_WAIT: Final = 300.0
"""Seconds after the first failure."""
LONGEST_WAIT: Final = 3600.0
"""Seconds that are waited at most, however often it failed."""

_MOST_DOUBLINGS: Final = 20


class Attempts(NamedTuple):
    """How often something failed.

    Attributes:
        times: So often.
        last: When it did so last, ISO 8601 in UTC, or ``""``.
    """

    times: int = 0
    last: str = ""


NEVER: Final = Attempts()
"""What has not failed."""


def next_try(attempts: Attempts) -> str:
    """Return from when on it is tried again, as ``last`` is written; ``""`` for at once.

    >>> next_try(Attempts(2, "2026-03-01T10:00:00.000000Z"))
    '2026-03-01T10:10:00.000000Z'
    """
    last = _moment(attempts.last)
    if not attempts.times or last is None:
        return ""
    doubled = FIRST_WAIT * 2 ** min(attempts.times - 1, _MOST_DOUBLINGS)
    try:
        then = last + timedelta(seconds=min(doubled, LONGEST_WAIT))
    except OverflowError:  # the last hour that there is
        return ""
    return then.isoformat(timespec="microseconds").replace("+00:00", "Z")


def is_ripe(attempts: Attempts, now: str) -> bool:
    """Whether it may be tried now.

    Args:
        attempts: How often it failed.
        now: The time, as ``last`` is written.
    """
    then = next_try(attempts)
    return not then or then <= now or attempts.last > now


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None

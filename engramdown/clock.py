"""The one place that reads the clock.

Dates are the person's, moments are UTC; pure modules are given either as an argument.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

# The length of a day, 2026-02-27; a time is longer.
_DAY = 10


def today() -> date:
    """Return the date where the user is."""
    return local(datetime.now(UTC)).date()


def local(moment: datetime) -> datetime:
    """Return ``moment`` as the person's clock shows it; one without a zone already is.

    A ``TZ`` of a day or more, which is a mistake, counts as UTC, like an unknown zone.
    """
    try:
        return moment.astimezone()
    except ValueError:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_of(text: str, *, end: bool = False) -> datetime:
    """Return a day or a time of the person's clock, as ISO 8601 has it.

    Args:
        text: The day or the time.
        end: Take a day for its last moment, not for its first.

    Raises:
        ValueError: If it is neither.
        OverflowError: If no clock goes so far.
    """
    found = datetime.fromisoformat(text)
    if end and len(text) <= _DAY:
        found += timedelta(days=1, microseconds=-1)
    # Converted last: a day on which the clock changes has 23 or 25 hours.
    return local(found)


def moment() -> str:
    """Return this moment in UTC, ISO 8601 with microseconds and a ``Z``."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def nanoseconds() -> int:
    """Return the time since 1970, in nanoseconds."""
    return time.time_ns()

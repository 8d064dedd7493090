"""The one place that reads the clock.

Dates are the person's, moments are UTC; pure modules are given either as an argument.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime


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


def moment() -> str:
    """Return this moment in UTC, ISO 8601 with microseconds and a ``Z``."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def nanoseconds() -> int:
    """Return the time since 1970, in nanoseconds."""
    return time.time_ns()

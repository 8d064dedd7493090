"""Which lines a recall may return at all.

Promises: events are never recalled; what was recalled once (``memory_read``) is no new experience
and only comes when it is asked for. No I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from engramdown.transcripts.episode import ROLES

__all__ = ["USUAL", "Wanted", "time_from", "wanted"]

_NEVER: Final = ROLES.index("event")
_ON_DEMAND: Final = ROLES.index("memory_read")
USUAL: Final = frozenset(range(len(ROLES))) - {_NEVER, _ON_DEMAND}
"""The roles that are recalled when none is asked for, by their place among ``ROLES``."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400_000_000
_AGES: Final = 10_000_000
"""Days that are more than there have been."""
_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1


class Wanted(NamedTuple):
    """What was asked for beside the words.

    Attributes:
        roles: The places of the roles among ``ROLES``.
        since: The earliest time, in microseconds since 1970.
        until: The latest time; it belongs to what is wanted.
        session: The id of the only session, or ``""`` for all.
        now: What "last week" in the words is counted from; it filters nothing.
    """

    roles: frozenset[int] = USUAL
    since: int = _FIRST
    until: int = _LAST
    session: str = ""
    now: datetime | None = None

    def takes(self, role: int, ts: int) -> bool:
        """Whether a line of this role and time is wanted."""
        return role in self.roles and self.since <= ts <= self.until

    def has_range(self) -> bool:
        """Whether a time was asked for, from which or to which."""
        return (self.since, self.until) != (_FIRST, _LAST)

    def takes_all(self) -> bool:
        """Whether nothing was asked for that not every question asks for."""
        return self._replace(now=None) == Wanted()


def wanted(
    now: datetime,
    *,
    days_back: float | None = None,
    session: str | None = None,
    role: str | Iterable[str] | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
) -> Wanted:
    """Return what is wanted, in terms of the index.

    Args:
        now: The time.
        days_back: How many days back at most.
        session: The id of the only session.
        role: The only role, or several.
        since: The earliest time or day, also as ISO 8601; without a zone it is UTC, as a day is.
        until: The latest time or day, which belongs to it.

    Raises:
        ValueError: If a role, a time or a number of days is none.
    """
    first = _FIRST
    if days_back is not None:
        if not days_back >= 0:
            raise ValueError(f"days_back is {days_back!r}; give a number of days, 0 or more")
        first = max(int(_microseconds(now) - min(days_back, _AGES) * _DAY), _FIRST)
    if since is not None:
        first = max(first, _microseconds(time_from("since", since)))
    last = _LAST
    if until is not None:
        end = time_from("until", until)
        last = _microseconds(end) + (0 if isinstance(end, datetime) else _DAY - 1)
    return Wanted(_roles(role), first, last, session or "", now)


def time_from(name: str, value: object) -> date:
    """Return the day or the time that a caller gives, also as ISO 8601.

    Args:
        name: What the caller calls it.
        value: What was given.

    Raises:
        ValueError: If it is none.

    >>> time_from("since", "2026-02-27")
    datetime.date(2026, 2, 27)
    """
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        for read in (date.fromisoformat, datetime.fromisoformat):
            with suppress(ValueError):
                return read(value)
    allowed = "a date, a datetime, or a text such as 2026-02-27 or 2026-02-27T10:15:00Z"
    raise ValueError(f"{name} is {value!r}; give {allowed}")


def _roles(role: str | Iterable[str] | None) -> frozenset[int]:
    if role is None:
        return USUAL
    names = [role] if isinstance(role, str) else list(role)
    for name in names:
        if name not in ROLES or name == "event":
            known = ", ".join(each for each in ROLES if each != "event")
            raise ValueError(f"{name!r} is no role that is recalled; use one of {known}")
    return frozenset(place for place, name in enumerate(ROLES) if name in names)


def _microseconds(at: date) -> int:
    moment = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day, tzinfo=UTC)
    known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (known - _EPOCH) // timedelta(microseconds=1)

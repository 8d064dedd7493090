"""The clock on the wall by which the days of the journal begin.

Promises: a zone that is none is told, and the clock of the system counts instead; a day of 23 or
25 hours is a day.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from engramdown.clock import local

__all__ = ["Clock", "zone"]


class Clock:
    """Tells what day it is where the person is.

    Attributes:
        notice: Why another zone counts than the one that was asked for, or ``""``.
    """

    def __init__(self, name: str = "") -> None:
        """Follow the zone of this IANA name, or by default the system."""
        self._zone, self.notice = zone(name)

    def local(self, moment: datetime) -> datetime:
        """Return a moment as the clock on the wall shows it; without a zone it is that already."""
        if self._zone is None:
            return local(moment)
        return moment.astimezone(self._zone) if moment.tzinfo else moment.replace(tzinfo=self._zone)


def zone(name: str) -> tuple[tzinfo | None, str]:
    """Return the zone of this IANA name, ``None`` for that of the system, and a notice.

    >>> zone("Europe/Berlin")[0], zone("")
    (zoneinfo.ZoneInfo(key='Europe/Berlin'), (None, ''))
    >>> zone("Mars/Olympus")
    (None, "timezone 'Mars/Olympus' is not known here; the clock of the system counts")
    """
    if not name:
        return None, ""
    # Imported here: hardly anybody sets another zone.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name), ""
    except (ValueError, OSError, LookupError):  # no such name, no name, or no zones at all
        return None, f"timezone {name!a} is not known here; the clock of the system counts"

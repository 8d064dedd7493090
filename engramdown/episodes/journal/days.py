"""Days of the journal: their files, and what they are called.

Promises: pure; names are English, wherever it runs.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

__all__ = ["SUFFIX", "day_of", "file_of", "named_in", "title"]

SUFFIX: Final = ".md"

_NAME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
_NAMED: Final = re.compile(r"(?<![0-9-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9-])")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def file_of(day: date) -> str:
    """Return the name of the file of a day.

    >>> file_of(date(2026, 2, 27))
    '2026-02-27.md'
    """
    return f"{day.isoformat()}{SUFFIX}"


def day_of(name: str) -> date | None:
    """Return the day of a file of this name, or ``None`` for another file.

    >>> day_of("2026-02-27.md"), day_of("2026-02-30.md"), day_of("notes.md")
    (datetime.date(2026, 2, 27), None, None)
    """
    found = _NAME.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def title(day: date, today: date) -> str:
    """Return what a day is called: ``Today``, ``Yesterday`` or ``Monday, January 2``.

    >>> title(date(2026, 2, 26), date(2026, 2, 27)), title(date(2026, 1, 2), date(2026, 2, 27))
    ('Yesterday', 'Friday, January 2')
    """
    ago = today.toordinal() - day.toordinal()
    if ago in (0, 1):
        return ("Today", "Yesterday")[ago]
    return f"{_DAYS[day.weekday()]}, {_MONTHS[day.month - 1]} {day.day}"


def named_in(query: str) -> tuple[list[date], str]:
    """Return the days that a question names, and the rest of it.

    >>> named_in("deploys of 2026-02-27 and 2026-02-30")
    ([datetime.date(2026, 2, 27)], 'deploys of  and 2026-02-30')
    """
    days: list[date] = []

    def taken(found: re.Match[str]) -> str:
        day = day_of(f"{found[0]}{SUFFIX}")
        days.extend([] if day is None else [day])
        return found[0] if day is None else ""

    return days, _NAMED.sub(taken, query)

"""Days of the journal: their files, and what they are called.

Promises: pure; names are English, wherever it runs.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

__all__ = ["SUFFIX", "day_of", "file_of", "spoken", "title"]

SUFFIX: Final = ".md"

_NAME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
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


def spoken(day: date) -> str:
    """Return the words by which one may ask for a day.

    >>> spoken(date(2026, 2, 27))
    '2026-02-27 Friday February'
    """
    return f"{day.isoformat()} {_DAYS[day.weekday()]} {_MONTHS[day.month - 1]}"

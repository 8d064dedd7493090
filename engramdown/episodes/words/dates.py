"""When a question is about: months, years, days, and "three weeks ago".

Promises: any string may be passed; linear time; what is named is named once, however often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

__all__ = ["NO_DATES", "Dates", "read_dates"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LEAP_YEAR: Final = 2000
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NAMED: Final = "|".join(_MONTHS)
_DAY: Final = r"([0-9]{1,2})(?:st|nd|rd|th)?"
_MONTH: Final = rf"\b(?:{_NAMED})\b"
_DAY_MONTH: Final = rf"\b{_DAY}(?: of)?,? ({_NAMED})\b"
_MONTH_DAY: Final = rf"\b({_NAMED}),? {_DAY}\b"
_NUMERIC: Final = r"\b(?:19|20)[0-9]{2}-(0[1-9]|1[0-2])-([0-3][0-9])\b"
_YEAR: Final = r"\b(?:19|20)[0-9]{2}\b"
# The month, and not the verb: after a preposition, beside a number, or written large in a sentence.
_MAY: Final = (
    r"\b(?:in|of|since|until|last|this|next|early|late|mid) may\b"
    r"|\bmay [0-9]|[0-9](?:st|nd|rd|th)? may\b"
)
_DIGIT: Final = re.compile("[0-9]")
_LARGE_MAY: Final = re.compile(r"(?<=[a-z,] )May\b")

_UNITS: Final = {"day": 1, "week": 7, "month": 30.5, "year": 365.25}
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {
    **{word: number for number, word in enumerate(_NUMBERS, 1)},
    **dict.fromkeys(("a", "an"), 1),
    **dict.fromkeys(("couple of", "a couple of"), 2),
    **dict.fromkeys(("few", "a few"), 3),
}
_COUNT: Final = "|".join(sorted(_COUNTS, key=len, reverse=True))
_AGO: Final = rf"\b([0-9]{{1,3}}|{_COUNT}) (day|week|month|year)s? ago\b"
_WITHIN: Final = rf"\b(?:last|past) (?:([0-9]{{1,3}}|{_COUNT}) )?(day|week|month|year)s?\b"
_SINCE: Final = {"today": 1, "yesterday": 2, "this morning": 1, "this week": 7}
# What every ASCII text holds that one of these three matches.
_HINTS: Final = ("ago", "last", "past", "day", "this")
_NEAR: Final = rf"\b({'|'.join(_SINCE)})\b"


class Dates(NamedTuple):
    """What a question says about time.

    Attributes:
        months: From 1.
        years: All of four digits.
        days: Months and days.
        span: From when to when, in seconds since 1970.
    """

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[tuple[int, int]] = frozenset()
    span: tuple[float, float] | None = None

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return bool(self.months or self.years or self.span)

    def is_then(self, at: float) -> bool:
        """Whether ``at`` lies in the month, the year and the span that are named."""
        if self.span and not self.span[0] <= at < self.span[1]:
            return False
        day = _EPOCH + timedelta(seconds=at)
        in_month = not self.months or day.month in self.months
        return in_month and (not self.years or day.year in self.years)

    def is_that_day(self, at: float) -> bool:
        """Whether ``at`` is a day that is named, or the day after it, when people tell of it."""
        if not self.days:
            return False
        day = _EPOCH + timedelta(seconds=at)
        before = date(_LEAP_YEAR, day.month, day.day) - timedelta(days=1)
        return not self.days.isdisjoint({(day.month, day.day), (before.month, before.day)})


NO_DATES: Final = Dates()
"""What a question says that names no time."""


def read_dates(text: str, now: datetime | None = None) -> Dates:
    """Return what ``text`` says about time.

    Args:
        text: A question.
        now: What "last week" is counted from; without it such words name no time.

    >>> sorted(read_dates("What happened on 7 May 2023, or in june?").months)
    [5, 6]
    """
    named = _read(_MONTH).search(text) is not None
    numbers = _DIGIT.search(text) is not None
    days = frozenset(_days(text, named=named)) if numbers else frozenset()
    months = frozenset(_named_months(text)) if named else frozenset()
    years = frozenset(int(year) for year in _read(_YEAR).findall(text)) if numbers else frozenset()
    span = _span(text, now) if now and _hints_at_span(text) else None
    return Dates(months | {month for month, _ in days}, years, days, span)


@cache
def _read(pattern: str) -> re.Pattern[str]:
    # Most questions name no time, and all these patterns take milliseconds to compile.
    return re.compile(pattern, re.IGNORECASE)


def _named_months(text: str) -> Iterator[int]:
    for match in _read(_MONTH).finditer(text):
        name = match[0].lower()
        if name != "may" or _read(_MAY).search(text) or _LARGE_MAY.search(text):
            yield _MONTHS.index(name) + 1


def _days(text: str, *, named: bool) -> Iterator[tuple[int, int]]:
    if named:
        for match in _read(_DAY_MONTH).finditer(text):
            yield _MONTHS.index(match[2].lower()) + 1, int(match[1])
        for match in _read(_MONTH_DAY).finditer(text):
            yield _MONTHS.index(match[1].lower()) + 1, int(match[2])
    for match in _read(_NUMERIC).finditer(text):
        yield int(match[1]), int(match[2])


def _hints_at_span(text: str) -> bool:
    folded = text.lower()
    return not text.isascii() or any(hint in folded for hint in _HINTS)


def _span(text: str, now: datetime) -> tuple[float, float] | None:
    """Return the time that is named by its distance from ``now``."""
    day = 86_400.0
    end = now.timestamp()
    if found := _read(_AGO).search(text):
        unit = _UNITS[found[2].lower()] * day
        middle = end - _count(found[1]) * unit
        return middle - unit / 2, middle + unit / 2 + day
    if found := _read(_WITHIN).search(text):
        # "last week" may be any of the last fourteen days, "the last three weeks" are three.
        count = _count(found[1]) if found[1] else 2
        return end - count * _UNITS[found[2].lower()] * day, end + day
    if found := _read(_NEAR).search(text):
        return end - _SINCE[found[1].lower()] * day, end + day
    return None


def _count(text: str) -> int:
    return _COUNTS.get(text.lower()) or int(text)

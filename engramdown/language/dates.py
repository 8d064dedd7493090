"""When a question is about: months, years, days, "three weeks ago", and "last summer".

Promises: any string may be passed; linear time; what is named is named once, however often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

__all__ = ["COUNTS", "NO_DATES", "UNITS", "Dates", "Span", "counts_from_event", "read_dates"]

Span = tuple[float, float]
"""From when to when, in seconds since 1970; the end is no part of it."""
UNITS: Final = {"day": 1, "week": 7, "month": 30.5, "year": 365.25}
"""Days."""
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COUNTS: Final = {
    **{word: number for number, word in enumerate(_NUMBERS, 1)},
    **dict.fromkeys(("a", "an"), 1),
    **dict.fromkeys(("couple of", "a couple of"), 2),
    **dict.fromkeys(("few", "a few"), 3),
}
"""How many each of these words is."""

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

_COUNT: Final = "|".join(sorted(COUNTS, key=len, reverse=True))
_AGO: Final = rf"\b([0-9]{{1,3}}|{_COUNT}) (day|week|month|year)s? ago\b"
_WITHIN: Final = rf"\b(?:last|past) (?:([0-9]{{1,3}}|{_COUNT}) )?(day|week|month|year)s?\b"
_SINCE: Final = {
    **dict.fromkeys(("today", "this morning"), 1),
    **dict.fromkeys(("yesterday", "last night"), 2),
    **dict.fromkeys(("the other day", "this week"), 7),
}
_WEEK: Final = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_WEEKDAY: Final = rf"\blast ({'|'.join(_WEEK)})day\b"
_SEASONS: Final = {
    "spring": (3, 4, 5),
    "summer": (6, 7, 8),
    "winter": (12, 1, 2),
    **dict.fromkeys(("autumn", "fall"), (9, 10, 11)),
}
_SEASON: Final = (
    rf"\b(?:last|this|past|that|in|during|over|early|late|mid) (?:the )?({'|'.join(_SEASONS)})\b"
)
_LATEST: Final = rf"\b(last|this|past) ({_NAMED}|{'|'.join(_SEASONS)})\b"
# What every ASCII text holds that one of these three matches.
_HINTS: Final = ("ago", "last", "past", "day", "this")
_SIGNS: Final = (
    *(" before ", " after ", " prior to ", " following "),
    *("day of ", "week of ", "month of ", "year of "),
)
_NEAR: Final = rf"\b({'|'.join(_SINCE)})\b"


class Dates(NamedTuple):
    """What a question says about time.

    Attributes:
        months: From 1.
        years: All of four digits.
        days: Months and days.
        span: A time that is named by its distance from now.
        latest: Of the months, those of the year that "last March" means.
        near: Times that are named by their distance from an event, each a possible one.
    """

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[tuple[int, int]] = frozenset()
    span: Span | None = None
    latest: Span | None = None
    near: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return bool(self.months or self.years or self.span or self.near)

    def is_then(self, at: float) -> bool:
        """Whether ``at`` lies near an event, or in the month, the year and the span named."""
        if any(first <= at < last for first, last in self.near):
            return True
        if self.span and not self.span[0] <= at < self.span[1]:
            return False
        if not (self.months or self.years):
            return self.span is not None
        day = _EPOCH + timedelta(seconds=at)
        in_month = not self.months or day.month in self.months
        return in_month and (not self.years or day.year in self.years)

    def is_that_day(self, at: float) -> bool:
        """Whether ``at`` is a day that is named, or the day after it, when people tell of it.

        "Last March" names days, too.
        """
        if self.latest and self.latest[0] <= at < self.latest[1]:
            return True
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
    months |= frozenset(_season_months(text))
    years = frozenset(int(year) for year in _read(_YEAR).findall(text)) if numbers else frozenset()
    months |= {month for month, _ in days}
    if now is None or not _hints_at_span(text):
        return Dates(months, years, days)
    return Dates(months, years, days, _span(text, now), _latest(text, now) if months else None)


def counts_from_event(text: str) -> bool:
    """Whether ``text`` may say when something was by its distance from something else.

    :func:`engramdown.recall.query.read_anchor` tells; this is quick, and enough to know
    that most questions do not.
    """
    folded = text.lower()
    return any(sign in folded for sign in _SIGNS)


@cache
def _read(pattern: str) -> re.Pattern[str]:
    # Most questions name no time, and all these patterns take milliseconds to compile.
    # In ASCII, so that what is found stands in the tables here: a Turkish i is none of theirs.
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


def _named_months(text: str) -> Iterator[int]:
    for match in _read(_MONTH).finditer(text):
        name = match[0].lower()
        if name != "may" or _read(_MAY).search(text) or _LARGE_MAY.search(text):
            yield _MONTHS.index(name) + 1


def _season_months(text: str) -> Iterator[int]:
    folded = text.lower()
    if any(season in folded for season in _SEASONS):
        for match in _read(_SEASON).finditer(text):
            yield from _SEASONS[match[1].lower()]


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
        unit = UNITS[found[2].lower()] * day
        middle = end - _count(found[1]) * unit
        return middle - unit / 2, middle + unit / 2 + day
    if found := _read(_WITHIN).search(text):
        # "last week" may be any of the last fourteen days, "the last three weeks" are three.
        count = _count(found[1]) if found[1] else 2
        return end - count * UNITS[found[2].lower()] * day, end + day
    if found := _read(_WEEKDAY).search(text):
        back = (now.weekday() - _WEEK.index(found[1].lower()) - 1) % 7 + 1
        start = (now - timedelta(days=back)).replace(hour=0, minute=0, second=0, microsecond=0)
        return start.timestamp(), start.timestamp() + 2 * day
    if found := _read(_NEAR).search(text):
        return end - _SINCE[found[1].lower()] * day, end + day
    return None


def _latest(text: str, now: datetime) -> Span | None:
    """Return the month or season that is over last, or, if it is called "this", has begun last."""
    found = _read(_LATEST).search(text)
    if not found:
        return None
    name = found[2].lower()
    months = _SEASONS[name] if name in _SEASONS else (_MONTHS.index(name) + 1,)
    started = found[1].lower() == "this"
    start, end = _stretch(now.year, months)
    while now < (start if started else end):
        start, end = _stretch(start.year - 1, months)
    return start.timestamp(), end.timestamp()


def _stretch(year: int, months: Sequence[int]) -> tuple[datetime, datetime]:
    """Return when months in a row begin and end; ``year`` is that of the first."""
    start = datetime(year, months[0], 1, tzinfo=UTC)
    return start, (start + timedelta(days=31 * len(months))).replace(day=1)


def _count(text: str) -> int:
    return COUNTS.get(text.lower()) or int(text)

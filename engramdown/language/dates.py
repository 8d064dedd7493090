"""Reads the time that a question is about.

It may name months, years, days and seasons, say "three weeks ago" or "last summer", or count from
an event: "two weeks before the release". Any string may be passed; repeated times are returned
once; linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import islice, takewhile
from typing import Final, NamedTuple

from engramdown.language.words import STOP_WORDS, word_set
from engramdown.lazy import compiled

# The beginning and the end in seconds since 1970; the end is excluded.
Span = tuple[float, float]

_DAY: Final = 86_400.0
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = {"day": 1, "week": 7, "month": 30.5, "year": 365.25}
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {
    **{word: number for number, word in enumerate(_NUMBERS, 1)},
    **dict.fromkeys(("a", "an"), 1),
    **dict.fromkeys(("couple of", "a couple of"), 2),
    **dict.fromkeys(("few", "a few"), 3),
}
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SEASONS: Final = {
    "spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "fall": (9, 10, 11),
    "winter": (12, 1, 2),
}  # fmt: skip
_WEEK: Final = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
# How many days back each of these reaches.
_SINCE: Final = {
    "today": 1, "this morning": 1, "yesterday": 2, "last night": 2, "the other day": 7,
    "this week": 7,
}  # fmt: skip

_NAMED: Final = "|".join(_MONTHS)
_NUMBER: Final = r"([0-9]{1,2})(?:st|nd|rd|th)?"
_DAY_MONTH: Final = rf"\b{_NUMBER}(?: of)?,? ({_NAMED})\b"
_MONTH_DAY: Final = rf"\b({_NAMED}),? {_NUMBER}\b"
_NUMERIC: Final = r"\b(?:19|20)[0-9]{2}-(0[1-9]|1[0-2])-([0-3][0-9])\b"
# The month, and not the verb: after a preposition, beside a number, or written large in a sentence.
_MAY: Final = (
    r"\b(?:in|of|since|until|last|this|next|early|late|mid) may\b"
    r"|\bmay [0-9]|[0-9](?:st|nd|rd|th)? may\b"
)
_LARGE_MAY: Final = re.compile(r"(?<=[a-z,] )May\b")
_SEASON: Final = (
    rf"\b(?:last|this|past|that|in|during|over|early|late|mid) (?:the )?({'|'.join(_SEASONS)})\b"
)
_COUNT: Final = "|".join(sorted(_COUNTS, key=len, reverse=True))
_AGO: Final = rf"\b([0-9]{{1,3}}|{_COUNT}) (day|week|month|year)s? ago\b"
_WITHIN: Final = rf"\b(?:last|past) (?:([0-9]{{1,3}}|{_COUNT}) )?(day|week|month|year)s?\b"
_WEEKDAY: Final = rf"\blast ({'|'.join(_WEEK)})day\b"
_NEAR: Final = rf"\b({'|'.join(_SINCE)})\b"
_LATEST: Final = rf"\b(last|this|past) ({_NAMED}|{'|'.join(_SEASONS)})\b"
# Every ASCII text that one of the last five matches contains one of these.
_HINTS: Final = ("ago", "last", "past", "day", "this")

_UNIT: Final = "(day|week|month|year)"
_APART: Final = (
    rf"\b(?:([0-9]{{1,3}}|{_COUNT}) {_UNIT}s?|the {_UNIT}) (before|after|prior to|following) "
)
_OF: Final = rf"\b(?:in|during|on) the {_UNIT} of "
_SIGNS: Final = (
    *(" before ", " after ", " prior to ", " following "),
    *("day of ", "week of ", "month of ", "year of "),
)
_WORD: Final = re.compile(r"[^\W_]+|[.;:?!()]")
_ENDS: Final = word_set(
    ". ; : ? ! ( ) and or but did do does was were is are had has have will would can could "
    "should what who when where why how"
)
# Words that name an event, and seconds until some time from which a year can still be counted.
_LONGEST: Final = 6
_LAST: Final = 250e9


class Dates(NamedTuple):
    """The times in a question.

    Attributes:
        months: From 1.
        years: All of four digits.
        days: Months and days.
        span: A time that is named by its distance from now.
        latest: The month in the year that "last March" means.
        near: Possible times that are named by their distance from an event.
    """

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[tuple[int, int]] = frozenset()
    span: Span | None = None
    latest: Span | None = None
    near: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        """Whether it has any."""
        return bool(self.months or self.years or self.span or self.near)

    def is_then(self, at: float) -> bool:
        """Whether ``at`` is near an event, or in the month, the year and the span."""
        if any(first <= at < last for first, last in self.near):
            return True
        if self.span and not self.span[0] <= at < self.span[1]:
            return False
        if not (self.months or self.years):
            return self.span is not None
        day = _day(at)
        in_month = not self.months or day.month in self.months
        return in_month and (not self.years or day.year in self.years)

    def is_that_day(self, at: float) -> bool:
        """Whether ``at`` is a named day, or the day after it, when people talk about it.

        "Last March" names days, too.
        """
        if self.latest and self.latest[0] <= at < self.latest[1]:
            return True
        if not self.days:
            return False
        day = _day(at)
        # In a leap year, so that February 29 has a next day.
        before = date(2000, day.month, day.day) - timedelta(days=1)
        return not self.days.isdisjoint({(day.month, day.day), (before.month, before.day)})


# The times of a question that names none.
NO_DATES: Final = Dates()


def read_dates(text: str, now: datetime | None = None) -> Dates:
    """Return the times in ``text``.

    Args:
        text: A question.
        now: The moment from which "last week" is counted; without it such words are ignored.

    >>> sorted(read_dates("What happened on 7 May 2023, or in june?").months)
    [5, 6]
    """
    folded = text.lower()
    numbers = any(digit in text for digit in "0123456789")
    days = frozenset(_days(text)) if numbers else frozenset()
    years = _read(r"\b(?:19|20)[0-9]{2}\b").findall(text) if numbers else []
    months = {month for month, _ in days}.union(_named_months(text))
    if any(season in folded for season in _SEASONS):
        months.update(*(_SEASONS[name.lower()] for name in _read(_SEASON).findall(text)))
    hint = not text.isascii() or any(hint in folded for hint in _HINTS)
    named = Dates(frozenset(months), frozenset(map(int, years)), days)
    if now is None or not hint:
        return named
    return named._replace(span=_span(text, now), latest=_latest(text, now))


def _read(pattern: str) -> re.Pattern[str]:
    # Most questions name no time, and all these patterns take milliseconds to compile.
    # In ASCII, so that every match is in the tables: a Turkish i is not.
    return compiled(pattern, re.IGNORECASE | re.ASCII)


def _day(at: float) -> date:
    return (_EPOCH + timedelta(seconds=at)).date()


def _named_months(text: str) -> Iterator[int]:
    for name in map(str.lower, _read(rf"\b(?:{_NAMED})\b").findall(text)):
        if name != "may" or _read(_MAY).search(text) or _LARGE_MAY.search(text):
            yield _MONTHS.index(name) + 1


def _days(text: str) -> Iterator[tuple[int, int]]:
    day_month, month_day = _read(_DAY_MONTH).findall(text), _read(_MONTH_DAY).findall(text)
    for month, day in (*((month, day) for day, month in day_month), *month_day):
        yield _MONTHS.index(month.lower()) + 1, int(day)
    for month, day in _read(_NUMERIC).findall(text):
        yield int(month), int(day)


def _span(text: str, now: datetime) -> Span | None:
    """Return the time whose distance from ``now`` is named."""
    end = now.timestamp()
    if found := _read(_AGO).search(text):
        unit = _UNITS[found[2].lower()] * _DAY
        middle = end - _count(found[1]) * unit
        return middle - unit / 2, middle + unit / 2 + _DAY
    if found := _read(_WITHIN).search(text):
        # "last week" may be any of the last fourteen days, "the last three weeks" are three.
        count = _count(found[1]) if found[1] else 2
        return end - count * _UNITS[found[2].lower()] * _DAY, end + _DAY
    if found := _read(_WEEKDAY).search(text):
        back = (now.weekday() - _WEEK.index(found[1].lower()) - 1) % 7 + 1
        start = (now - timedelta(days=back)).replace(hour=0, minute=0, second=0, microsecond=0)
        return start.timestamp(), start.timestamp() + 2 * _DAY
    if found := _read(_NEAR).search(text):
        return end - _SINCE[found[1].lower()] * _DAY, end + _DAY
    return None


def _count(text: str) -> int:
    return _COUNTS.get(text.lower()) or int(text)


def _latest(text: str, now: datetime) -> Span | None:
    """Return the last month or season that is over, or, if it is called "this", has begun."""
    found = _read(_LATEST).search(text)
    if not found:
        return None
    which, name = found[1].lower(), found[2].lower()
    months = _SEASONS[name] if name in _SEASONS else (_MONTHS.index(name) + 1,)
    for year in (now.year, now.year - 1, now.year - 2):
        start = datetime(year, months[0], 1, tzinfo=UTC)
        end = (start + timedelta(days=31 * len(months))).replace(day=1)
        if now >= (start if which == "this" else end):
            break
    return start.timestamp(), end.timestamp()


# ---- times that are counted from an event ----


class Anchor(NamedTuple):
    """A time that is counted from an event.

    Attributes:
        event: The words that name the event.
        first: Days from the event to the beginning of that time; negative before it.
        last: Days from the event to its end.
    """

    event: str
    first: float
    last: float


def read_anchor(text: str) -> Anchor | None:
    """Return the event that ``text`` counts a time from, if it does.

    >>> read_anchor("What broke two weeks before the release?")
    Anchor(event='release', first=-18.0, last=-10.0)
    >>> read_anchor("Who called the day after we moved to Bonn?").event
    'moved Bonn'
    """
    folded = text.lower()
    if not any(sign in folded for sign in _SIGNS):
        return None
    if found := _read(_APART).search(text):
        count, unit, only, side = (part and part.lower() for part in found.groups())
        length = _UNITS[unit or only]
        # "The week before" is any day of it; "two weeks before" is about then.
        first, last = _about(_count(count), length) if count else (-1.0, length + 1.0)
        if side in {"before", "prior to"}:
            first, last = -last, -first
    elif found := _read(_OF).search(text):
        first, last = _about(0, _UNITS[found[1].lower()])
    else:
        return None
    event = _event(text[found.end() :])
    return Anchor(event, first, last) if event else None


def spans_from(anchor: Anchor, turns: Iterable[tuple[float, str]]) -> tuple[Span, ...]:
    """Return the times that ``anchor`` may mean, given the turns about its event.

    A turn is about a day that it names, or else about the time of the turn.

    Args:
        anchor: The event that a question counts from.
        turns: The time of each of these turns, in seconds since 1970, and its text.
    """
    spans = (span for at, text in turns for span in _when(at, text))
    return tuple((start + anchor.first * _DAY, end + anchor.last * _DAY) for start, end in spans)


def _about(count: int, length: float) -> Span:
    middle, slack = count * length, (length + 1) / 2
    return middle - slack, middle + slack


def _event(text: str) -> str:
    """Return the words at the beginning of ``text`` that name an event."""
    phrase = takewhile(lambda word: word.lower() not in _ENDS, _WORD.findall(text))
    words = (word for word in phrase if word.lower() not in STOP_WORDS)
    return " ".join(islice(words, _LONGEST))


def _when(at: float, text: str) -> Iterator[Span]:
    if not 0 <= at < _LAST:
        yield at, at
        return
    said = _EPOCH + timedelta(seconds=at)
    dates = read_dates(text, said)
    if not dates.days:
        yield dates.span or (at, at)
    for month, day in sorted(dates.days):
        # The day of the year that is nearest to when it was said, unless a year was named.
        days = []
        for year in dates.years or (said.year - 1, said.year, said.year + 1):
            with suppress(ValueError):  # no such day
                days.append(datetime(year, month, day, tzinfo=UTC))
        if days:
            start = min(days, key=lambda one: abs(one - said)).timestamp()
            yield start, start + _DAY

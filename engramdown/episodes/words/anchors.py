"""Times that are told by their distance from an event: "two weeks before the release".

Promises: any string may be passed; linear time; no clock. Which turns tell of the event is for
others to find; here is what their times mean for the question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from engramdown.language.dates import COUNTS, UNITS, Span, read_dates
from engramdown.language.words import STOP_WORDS, word_set

__all__ = ["Anchor", "Told", "near", "read_anchor"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400.0
_UNIT: Final = "(day|week|month|year)"
_COUNT: Final = "|".join(sorted(COUNTS, key=len, reverse=True))
_APART: Final = (
    rf"\b(?:([0-9]{{1,3}}|{_COUNT}) {_UNIT}s?|the {_UNIT}) (before|after|prior to|following) "
)
_OF: Final = rf"\b(?:in|during|on) the {_UNIT} of "
_WORD: Final = re.compile(r"[^\W_]+|[.;:?!()]")
_ENDS: Final = word_set(
    ". ; : ? ! ( ) and or but did do does was were is are had has have will would can could "
    "should what who when where why how"
)
_LAST: Final = 250e9
"""Seconds until some time from which a year can still be counted."""
_LONGEST: Final = 6
"""Words that name an event."""


class Anchor(NamedTuple):
    """A time that is told from an event.

    Attributes:
        event: What names it.
        first: Days from the event to the beginning of that time; below zero is before it.
        last: And to its end.
    """

    event: str
    first: float
    last: float

    @property
    def is_dated(self) -> bool:
        """Whether what names the event is its day."""
        return bool(read_dates(self.event).days)


class Told(NamedTuple):
    """A turn that tells of an event.

    Attributes:
        at: When it was said, in seconds since 1970.
        text: What was said.
    """

    at: float
    text: str


def read_anchor(text: str) -> Anchor | None:
    """Return the event that ``text`` counts a time from, if it does.

    >>> read_anchor("What broke two weeks before the release?")
    Anchor(event='release', first=-18.0, last=-10.0)
    >>> read_anchor("Who called the day after we moved to Bonn?").event
    'moved Bonn'
    """
    if found := _read(_APART).search(text):
        count, unit, only, side = (part and part.lower() for part in found.groups())
        length = UNITS[unit or only]
        # "The week before" is any day of it; "two weeks before" is about then.
        first, last = _about(count, length) if count else (-1.0, length + 1.0)
        if side in {"before", "prior to"}:
            first, last = -last, -first
    elif found := _read(_OF).search(text):
        first, last = _about("0", UNITS[found[1].lower()])
    else:
        return None
    event = _event(text[found.end() :])
    return Anchor(event, first, last) if event else None


def near(anchor: Anchor, told: Iterable[Told]) -> tuple[Span, ...]:
    """Return the times that ``anchor`` may mean, given the turns that tell of its event.

    A turn tells of a day that it names, or else of the time when it was said.
    """
    spans = (span for one in told for span in _when(one))
    return tuple((start + anchor.first * _DAY, end + anchor.last * _DAY) for start, end in spans)


def _about(count: str, length: float) -> tuple[float, float]:
    middle = (COUNTS[count] if count in COUNTS else int(count)) * length
    slack = (length + 1) / 2
    return middle - slack, middle + slack


def _event(text: str) -> str:
    """Return the words at the beginning of ``text`` that name an event."""
    words: list[str] = []
    for word in _WORD.findall(text):
        if word.lower() in _ENDS or len(words) == _LONGEST:
            break
        if word.lower() not in STOP_WORDS:
            words.append(word)
    return " ".join(words)


def _when(told: Told) -> Iterator[Span]:
    if not 0 <= told.at < _LAST:
        yield told.at, told.at
        return
    said = _EPOCH + timedelta(seconds=told.at)
    dates = read_dates(told.text, said)
    for month, day in sorted(dates.days):
        yield from _nearest(said, month, day, dates.years)
    if not dates.days:
        yield dates.span or (told.at, told.at)


def _nearest(said: datetime, month: int, day: int, years: Collection[int]) -> Iterator[Span]:
    """Yield the day of the year that is nearest to when it was said, unless a year was named."""
    days = []
    for year in years or (said.year - 1, said.year, said.year + 1):
        try:
            days.append(datetime(year, month, day, tzinfo=UTC))
        except ValueError:  # no such day
            continue
    if days:
        start = min(days, key=lambda one: abs(one - said)).timestamp()
        yield start, start + _DAY


@cache
def _read(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII)

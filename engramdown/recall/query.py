"""What kind of answer a question waits for, and whether a turn looks like one.

Promises: any string may be passed; linear time; a cue only ever speaks for a turn, so that text in
a language without cues here loses nothing but the help.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from engramdown.language.dates import COUNTS, NO_DATES, UNITS, Dates, Span, read_dates
from engramdown.language.terms import Term, indexed, term, words
from engramdown.language.words import STOP_WORDS, word_set

__all__ = [
    "MOST_TERMS",
    "Anchor",
    "Query",
    "Told",
    "Want",
    "asks",
    "nameless",
    "near",
    "read_anchor",
    "read_query",
    "says_i",
    "says_name",
    "says_number",
    "says_reason",
    "says_time",
    "says_wish",
    "told",
    "wants",
]

Want = Literal["time", "number", "name", "reason", "advice"]
"""When was it, how many, who or which, why, what should I do."""

_NUMBERS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_DAYS: Final = "mon|tues|wednes|thurs|fri|satur|sun"
_MONTHS: Final = "january|february|march|april|june|july|august|september|october|november|december"

# No word begins with ``\b`` here: what begins with a character is found several times as fast.
_WANTS: Final[Mapping[Want, str]] = {
    "time": r"(?:when|(?:what|which) (?:date|day|month|year|time|week)|how long ago)",
    "number": r"how (?:many|much|long|old|often|far)",
    "name": (
        r"(?:who|whose|where|which|names?|what (?:[a-z]+ ){0,3}(?:cit(?:y|ies)|countr(?:y|ies)"
        r"|places?|books?|movies?|films?|games?|songs?|bands?|teams?|compan(?:y|ies)|states?"
        r"|authors?|titles?|series|shows?|brands?|artists?|schools?))"
    ),
    "reason": r"(?:why|reasons?|purpose|what made|motivat[a-z]+|inspir[a-z]+)",
    "advice": (
        r"(?:should|suggest|recommend|advi[cs]e|tips|best way|help me|if i|how would you"
        r"|how (?:can|do) i|(?:can|could) you help|what (?:are some|do i need))"
    ),
}
_TIME: Final = (
    r"(?:yesterday|today|tomorrow|tonight|last|next|ago|recently|weekend|[0-9]{4}"
    rf"|(?:day|week|month|year)s?|(?:{_DAYS})day|{_MONTHS})"
)
_NUMBER: Final = rf"(?:[0-9][0-9,.]*|{_NUMBERS}|twice|once|dozen|couple|several)"
_REASON: Final = r"(?:because|cause|since|so that|to help|in order|inspired|wanted to|reason)"
_WISH: Final = r"(?:(?<=\A )\s*(?:always|never|please|when i ask)|prefer[a-z]*)"
_I: Final = r"(?:i|m[ey]|we|our)"
# A capital letter inside a sentence.
_NAME: Final = re.compile(r" (?<=[a-z,;:] )[\"\u201c]?(?!I')([A-Z][\w&-]+)")
_END: Final = 80


def wants(question: str) -> frozenset[Want]:
    """Return what kinds of answer ``question`` waits for.

    >>> sorted(wants("How many days ago should I have paid?"))
    ['advice', 'number']
    """
    return frozenset(want for want, cue in _WANTS.items() if _says(cue, question))


def asks(text: str) -> bool:
    """Whether a turn ends with a question, or nearly so."""
    return "?" in text[-_END:]


def told(text: str) -> float:
    """Return how much of ``text`` is no question, from 0 to 1.

    >>> told("Nice!"), told("So? Yes."), told("Why?")
    (1.0, 0.625, 0.0)
    """
    asked = 0
    for part in text.split("?")[:-1]:
        asked += len(part) - max(part.rfind("."), part.rfind("!"))
    return 1 - asked / len(text) if asked else 1.0


def says_name(text: str, known: Collection[str]) -> bool:
    """Whether ``text`` has a name that is none of ``known``, which are in lower case."""
    return any(found[1].lower() not in known for found in _NAME.finditer(text))


def says_reason(text: str) -> bool:
    """Whether ``text`` says why."""
    return _says(_REASON, text)


def says_time(text: str) -> bool:
    """Whether ``text`` has an expression of time."""
    return _says(_TIME, text)


def says_number(text: str) -> bool:
    """Whether ``text`` has a number."""
    return _says(_NUMBER, text)


def says_wish(text: str) -> bool:
    """Whether ``text`` is a standing wish, said to an assistant."""
    return _says(_WISH, text)


def says_i(text: str) -> bool:
    """Whether somebody speaks of themselves."""
    return _says(_I, text)


def _says(cue: str, text: str) -> bool:
    return _read(cue).search(f" {text.lower()}") is not None


@cache
def _read(cue: str) -> re.Pattern[str]:
    # What is not asked for need not be compiled, which takes longer than to search.
    return re.compile(rf"[^a-z0-9_]{cue}(?![a-z0-9_])")


# Times that are told by their distance from an event: "two weeks before the release".
#
# Promises: any string may be passed; linear time; no clock. Which turns tell of the event is for
# others to find; here is what their times mean for the question.

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
    if found := _read_anchors(_APART).search(text):
        count, unit, only, side = (part and part.lower() for part in found.groups())
        length = UNITS[unit or only]
        # "The week before" is any day of it; "two weeks before" is about then.
        first, last = _about(count, length) if count else (-1.0, length + 1.0)
        if side in {"before", "prior to"}:
            first, last = -last, -first
    elif found := _read_anchors(_OF).search(text):
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
def _read_anchors(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


# What a question asks for, beyond its words.
#
# Promises: every string is a question; the same string, speakers and time give the same
# :class:`Query`; linear time; at most :data:`MOST_TERMS` terms, whatever was pasted.

MOST_TERMS: Final = 32
"""A pasted log has thousands of words; what is asked stands at its beginning or its end."""

_QUOTED: Final = re.compile(r'["\u201c]([^"\u201c\u201d]+)["\u201d]')
_NAMED: Final = re.compile(r"([^\W_]+)(?:['\u2019][sS]\b)?")
_AROUND: Final = " \t\n.?!\"'\u201c\u201d"


class Query(NamedTuple):
    """A question, taken apart.

    Attributes:
        text: What was asked.
        terms: What to look for, each once, in the order of the question.
        names: The speakers it is about, in lower case. They are no terms: a speaker's name
            stands in what others say, and hardly ever in what they say themselves.
        dates: The times that it names.
        wants: What kind of answer it waits for.
        phrases: What stands in quotation marks, and the question itself if it has several words:
            a turn that says one of them word by word comes first.
    """

    text: str
    terms: tuple[Term, ...]
    names: frozenset[str] = frozenset()
    dates: Dates = NO_DATES
    wants: frozenset[Want] = frozenset()
    phrases: tuple[str, ...] = ()


def read_query(text: str, speakers: Collection[str] = (), now: datetime | None = None) -> Query:
    """Take a question apart.

    Args:
        text: Any string.
        speakers: The names of those who speak in the transcripts; roles are no names.
        now: What "last week" is counted from; without it such words name no time.
    """
    asked = words(text)
    names = _names(text, asked, speakers)
    spoken = {word for name in names for word in _spelling(name)}
    return Query(
        text,
        _terms(asked, spoken),
        names,
        read_dates(text, now),
        wants(text),
        tuple(_phrases(text)),
    )


def nameless(text: str, speakers: Collection[str]) -> str:
    """Return a question without the speakers that it is about, as far as something is left.

    >>> nameless("What did Ada's brother give Ben?", {"Ada", "Ben"})
    'What did brother give ?'
    """
    names = _names(text, words(text), speakers)
    spoken = {word for name in names for word in _spelling(name)} - STOP_WORDS
    left = _NAMED.sub(lambda said: "" if spoken.issuperset(words(said[1])) else said[0], text)
    return " ".join(left.split()) if words(left) else text


def _names(text: str, asked: Iterable[str], speakers: Collection[str]) -> frozenset[str]:
    said = frozenset(asked) - STOP_WORDS
    folded = text.lower()
    return frozenset(name.lower() for name in speakers if _is_named(name, said, folded))


def _is_named(name: str, said: frozenset[str], text: str) -> bool:
    if indexed(name) != name:  # no spaces: it is named as a whole
        return name.lower() in text
    return not said.isdisjoint(_spelling(name))


@lru_cache(maxsize=4096)
def _spelling(name: str) -> frozenset[str]:
    return frozenset(words(name))


def _terms(asked: list[str], spoken: Collection[str]) -> tuple[Term, ...]:
    kept = [word for word in _whole(asked) if word not in STOP_WORDS]
    telling = [word for word in kept if word not in spoken] or kept or asked
    by_stem: dict[tuple[str, ...], Term] = {}
    for word in telling:
        by_stem.setdefault(term(word).stems, term(word))
    terms = list(by_stem.values())
    if len(terms) > MOST_TERMS:
        terms = terms[: MOST_TERMS // 2] + terms[-MOST_TERMS // 2 :]
    return tuple(terms)


def _whole(asked: Sequence[str]) -> Iterator[str]:
    """Yield the words, of scripts without spaces only the pairs where there are any."""
    for at, word in enumerate(asked):
        alone = len(word) > 1 or indexed(word) == word
        if alone or not any(
            word in other for other in asked[max(at - 1, 0) : at + 2] if other != word
        ):
            yield word


def _phrases(text: str) -> Iterator[str]:
    whole = text.strip(_AROUND)
    for part in (whole, *_QUOTED.findall(text)):
        if len(words(part)) > 1:
            yield part.lower()

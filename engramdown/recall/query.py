"""What a question asks for: its words, whom it is about, when, what kind of answer; and hits.

Every string is a question; the same string, speakers and time give the same :class:`Query`; linear
time; at most :data:`MOST_TERMS` terms, whatever was pasted. A sign of an answer (:func:`says`) only
ever speaks for a turn, so that text in a language without signs here loses nothing but the help.

Which lines may be hits at all says :class:`Wanted`: events never are; what was recalled once
(``memory_read``) is not new, and only comes if its role is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import accumulate
from typing import Final, Literal, NamedTuple, get_args

from engramdown.clock import nanoseconds
from engramdown.language.dates import NO_DATES, Dates, read_dates
from engramdown.language.kindred import kindred
from engramdown.language.terms import Term, indexed, term, tokens, words
from engramdown.language.words import STOP_WORDS
from engramdown.lazy import texts
from engramdown.transcripts.episode import ROLES, Pointer

# When was it, how many, who or which, what should I do; what the assistant said, what was it all.
Want = Literal["time", "number", "name", "advice", "reply", "summary"]
# What an answer may hold: a time, a number, a standing wish, an order that stands, or an *I*.
Sign = Literal["time", "number", "wish", "order", "first person"]

_WANTS: Final[tuple[Want, ...]] = get_args(Want)
# A capital letter inside a sentence.
_NAME: Final = re.compile(r" (?<=[a-z,;:] )[\"\u201c]?(?!I')([A-Z][\w&-]+)")
_END: Final = 80


def wants(question: str) -> frozenset[Want]:
    """Return what kinds of answer ``question`` waits for.

    >>> sorted(wants("How many days ago should I have paid?"))
    ['advice', 'number']
    """
    folded = f" {question.lower()}"
    return frozenset(want for want in _WANTS if _pattern(f"asks {want}").search(folded))


def says(sign: Sign, text: str) -> bool:
    """Whether ``text`` holds a sign of an answer.

    >>> says("number", "We bought twelve"), says("time", "We bought twelve")
    (True, False)
    """
    return _pattern(f"says {sign}").search(f" {text.lower()}") is not None


def says_name(text: str, known: Collection[str]) -> bool:
    """Whether ``text`` has a name that is not among ``known``, which are in lower case."""
    return any(found[1].lower() not in known for found in _NAME.finditer(text))


def asks(text: str) -> bool:
    """Whether a turn ends with a question, or nearly so."""
    return "?" in text[-_END:]


def statement_share(text: str) -> float:
    """Return how much of ``text`` is not a question, from 0 to 1.

    >>> statement_share("Nice!"), statement_share("So? Yes."), statement_share("Why?")
    (1.0, 0.625, 0.0)
    """
    parts = text.split("?")[:-1]
    asked = sum(len(part) - max(part.rfind("."), part.rfind("!")) for part in parts)
    return 1 - asked / len(text) if asked else 1.0


@cache
def _pattern(name: str) -> re.Pattern[str]:
    # What is not asked for need not be compiled, which takes longer than to search. Nor does it
    # begin with ``\b``: what begins with a character is found several times as fast.
    return re.compile(rf"[^a-z0-9_](?:{texts(__file__)[name]})(?![a-z0-9_])")


# A pasted log has thousands of words; what is asked is at its beginning or its end.
MOST_TERMS: Final = 32

_QUOTED: Final = re.compile(r'["\u201c]([^"\u201c\u201d]+)["\u201d]')
_NAMED: Final = re.compile(r"([^\W_]+)(?:['\u2019][sS]\b)?")
_AROUND: Final = " \t\n.?!\"'\u201c\u201d"


class Query(NamedTuple):
    """A question, taken apart.

    Attributes:
        text: What was asked.
        terms: What to look for, each once, in the order of the question.
        names: The speakers it is about, in lower case. They are not terms: a speaker's name
            is in what others say, and hardly ever in what they say themselves.
        dates: The times that it names.
        wants: What kind of answer it waits for.
        phrases: What is quoted, and the question itself if it has several words:
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
        speakers: The names of those who speak in the transcripts; roles are not names.
        now: What "last week" is counted from; without it such words name no time.
    """
    asked = words(text)
    names = _names(text, asked, speakers)
    said = [part for part in (text.strip(_AROUND), *_QUOTED.findall(text)) if len(words(part)) > 1]
    return Query(
        text,
        _terms(asked, {word for name in names for word in _spelling(name)}),
        names,
        read_dates(text, now),
        wants(text),
        tuple(part.lower() for part in said),
    )


def nameless(text: str, speakers: Collection[str]) -> str:
    """Return a question without the names of speakers, unless nothing would be left.

    >>> nameless("What did Ada's brother give Ben?", {"Ada", "Ben"})
    'What did brother give ?'
    """
    names = _names(text, words(text), speakers)
    spoken = {word for name in names for word in _spelling(name)} - STOP_WORDS
    left = _NAMED.sub(lambda said: "" if spoken.issuperset(words(said[1])) else said[0], text)
    return " ".join(left.split()) if words(left) else text


def _names(text: str, asked: Iterable[str], speakers: Collection[str]) -> frozenset[str]:
    said, lowered = frozenset(asked) - STOP_WORDS, text.lower()
    # What has no spaces between its words is named as a whole.
    return frozenset(
        name.lower()
        for name in speakers
        if (
            name.lower() in lowered
            if indexed(name) != name
            else not said.isdisjoint(_spelling(name))
        )
    )


@lru_cache(maxsize=4096)
def _spelling(name: str) -> frozenset[str]:
    return frozenset(words(name))


def _terms(asked: list[str], spoken: Collection[str]) -> tuple[Term, ...]:
    kept = []
    for at, word in enumerate(asked):
        # Of scripts without spaces only the pairs, where there are any.
        alone = len(word) > 1 or indexed(word) == word
        beside = [other for other in asked[max(at - 1, 0) : at + 2] if other != word]
        if word not in STOP_WORDS and (alone or not any(word in other for other in beside)):
            kept.append(word)
    found = map(term, [word for word in kept if word not in spoken] or kept or asked)
    by_stem: dict[tuple[str, ...], Term] = {}
    for each in found:
        by_stem.setdefault(each.stems, each)
    terms = list(by_stem.values())
    if len(terms) > MOST_TERMS:
        terms = terms[: MOST_TERMS // 2] + terms[-MOST_TERMS // 2 :]
    return tuple(terms)


# ---- how much of a question a text holds ----

# How many of the first are looked at to see how good the best is, and characters of each.
_BEST: Final = 10
_HELD: Final = 20_000


def share_held(query: str, text: str) -> float:
    """Return how much of what was asked for a text holds, from 0 to 1.

    A word that stands for another one counts less than that.

    >>> share_held("red boat", "A boat"), share_held("red boat", "The boat is red")
    (0.5, 1.0)
    """
    terms = _asked(query)
    if not terms:
        return float(bool(query.strip()) and query.strip().casefold() in text.casefold())
    held = frozenset(tokens(text[:_HELD]))
    worth = sum(each.weight * _share(each, held) for each in terms)
    return worth / sum(each.weight for each in terms)


def similarities(query: str, ranked: Sequence[tuple[str, float]]) -> list[float]:
    """Return how near ranked texts are to a question, by words, from 0 to 1 and falling.

    Scores are comparable within one ranking only. So the best is worth as much of the question as
    the first texts hold, and the others less than that, as their scores are less.

    Args:
        query: The question.
        ranked: Texts, the best first, with their scores.

    >>> similarities("red boat", [("A red boat", 8.0), ("A boat", 4.0)])
    [1.0, 0.5]
    """
    best = max((share_held(query, text) for text, _ in ranked[:_BEST]), default=0.0)
    most = max((score for _, score in ranked), default=0.0) or 1.0
    return [*accumulate((best * min(score / most, 1.0) for _, score in ranked), min)]


@lru_cache(maxsize=64)
def _asked(query: str) -> tuple[Term, ...]:
    return read_query(query).terms


def _share(each: Term, held: frozenset[str]) -> float:
    """Return 1 if one of ``held`` is a form of a term, or what a word that stands for it counts."""
    if not held.isdisjoint(stem for word in each.words for stem in tokens(word)):
        return 1.0
    others = (other for form in each.stems for other in kindred(form).items())
    return max((worth for word, worth in others if not held.isdisjoint(tokens(word))), default=0.0)


# ---- which lines may be hits ----

# The roles that are recalled when none is asked for, by their place among `ROLES`.
USUAL: Final = frozenset(range(len(ROLES))) - {ROLES.index("event"), ROLES.index("memory_read")}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400_000_000
# Days that are more than there have been.
_AGES: Final = 10_000_000
_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1


class Wanted(NamedTuple):
    """The filters of a question.

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
        """Whether there is an earliest or a latest time."""
        return (self.since, self.until) != (_FIRST, _LAST)

    def takes_all(self) -> bool:
        """Whether there is no filter."""
        return self._replace(now=None) == Wanted()


def wanted(
    now: datetime | None = None,
    *,
    days_back: float | None = None,
    session: str | None = None,
    role: str | Iterable[str] | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
) -> Wanted:
    """Return filters in terms of the index.

    Args:
        now: The time, by default that of the clock.
        days_back: How many days back at most.
        session: The id of the only session.
        role: The only role, or several.
        since: The earliest time or day, also as ISO 8601; without a zone it is UTC, as a day is.
        until: The latest time or day, which belongs to it.

    Raises:
        ValueError: If a role, a time or a number of days is invalid.
    """
    now = now or datetime.fromtimestamp(nanoseconds() / 1e9, UTC)
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
    roles = USUAL
    if role is not None:
        names = [role] if isinstance(role, str) else list(role)
        for name in names:
            if name not in ROLES or name == "event":
                known = ", ".join(each for each in ROLES if each != "event")
                raise ValueError(f"{name!r} is not a role that can be recalled; use one of {known}")
        roles = frozenset(map(ROLES.index, names))
    return Wanted(roles, first, last, session or "", now)


def time_from(name: str, value: object) -> date:
    """Return the day or the time that a caller gives, also as ISO 8601.

    Args:
        name: What the caller calls it.
        value: What was given.

    Raises:
        ValueError: If it is neither.

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


def _microseconds(at: date) -> int:
    moment = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day, tzinfo=UTC)
    known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (known - _EPOCH) // timedelta(microseconds=1)


# ---- results ----

Mode = Literal["best", "exact"]


class Hit(NamedTuple):
    """An episode that was found.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        time: When it was said, UTC, as it is in the transcript.
        role: Who or what speaks.
        name: The tool or the speaker.
        text: What the line says.
        snippet: The piece of it around what was found.
        score: How well it answers; comparable within one recall only.
        newer: Where somebody says that it is outdated, ``<session>#<seq>``, or ``""``.
    """

    session: str
    seq: int
    time: str
    role: str
    name: str
    text: str
    snippet: str
    score: float
    newer: str = ""

    @property
    def pointer(self) -> Pointer:
        """Where it is, ``<session>#<seq>``."""
        return Pointer(self.session, self.seq)


class Hits(list[Hit]):
    """What was found.

    Attributes:
        notes: What could not be asked, and why.
    """

    notes: tuple[str, ...] = ()


class Message(NamedTuple):
    """An episode beside a hit.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        time: When it was said, UTC.
        role: Who or what speaks.
        name: The tool or the speaker.
        text: What the line says, or its beginning.
        truncated: Whether that is not all.
    """

    session: str
    seq: int
    time: str
    role: str
    name: str
    text: str
    truncated: bool


class Context(NamedTuple):
    """What was said around a hit.

    Attributes:
        before: What was said before it, in its order.
        after: What was said after it.
        more_before: How many more messages belong to it before these.
        more_after: And after.
    """

    before: Sequence[Message]
    after: Sequence[Message]
    more_before: int
    more_after: int

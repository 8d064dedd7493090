"""What a question asks for, beyond its words.

Promises: every string is a question; the same string, speakers and time give the same
:class:`Query`; linear time; at most :data:`MOST_TERMS` terms, whatever was pasted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from engramdown.episodes.words.cues import Want, wants
from engramdown.language.dates import NO_DATES, Dates, read_dates
from engramdown.language.terms import Term, indexed, term, words
from engramdown.language.words import STOP_WORDS

__all__ = ["MOST_TERMS", "Query", "nameless", "read_query"]

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

"""What a question asks for, beyond its words.

Promises: every string is a question; the same string and speakers give the same
:class:`Query`; linear time; at most :data:`MOST_TERMS` terms, whatever was pasted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engramdown.episodes.cues import Want, wants
from engramdown.episodes.terms import Term, term, words
from engramdown.words import STOP_WORDS

__all__ = ["MOST_TERMS", "Query", "read_query"]

MOST_TERMS: Final = 32
"""A pasted log has thousands of words; what is asked stands at its beginning or its end."""

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
_QUOTED: Final = re.compile(r'["\u201c]([^"\u201c\u201d]+)["\u201d]')
_AROUND: Final = " \t\n.?!\"'\u201c\u201d"
_MAY: Final = re.compile(r"(?<!\A)\bMay\b|\A *May [0-9]")


@dataclass(frozen=True, slots=True)
class Query:
    """A question, taken apart.

    Attributes:
        text: What was asked.
        terms: What to look for, each once, in the order of the question.
        names: The speakers it is about, in lower case. They are no terms: a speaker's name
            stands in what others say, and hardly ever in what they say themselves.
        months: The months that it names, from 1.
        years: The years that it names.
        wants: What kind of answer it waits for.
        phrases: What stands in quotation marks, and the question itself if it has several words:
            a turn that says one of them word by word comes first.
    """

    text: str
    terms: tuple[Term, ...]
    names: frozenset[str] = frozenset()
    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    wants: frozenset[Want] = frozenset()
    phrases: tuple[str, ...] = ()


def read_query(text: str, speakers: Collection[str] = ()) -> Query:
    """Take a question apart.

    Args:
        text: Any string.
        speakers: The names of those who speak in the transcripts; roles are no names.
    """
    asked = words(text)
    names = _names(asked, speakers)
    spoken = {word for name in names for word in words(name)}
    return Query(
        text,
        _terms(asked, spoken),
        names,
        frozenset(_months(text, asked)),
        frozenset(int(word) for word in asked if _YEAR.fullmatch(word)),
        wants(text),
        tuple(_phrases(text)),
    )


def _names(asked: Iterable[str], speakers: Collection[str]) -> frozenset[str]:
    said = frozenset(asked) - STOP_WORDS
    return frozenset(name.lower() for name in speakers if said.intersection(words(name)))


def _terms(asked: list[str], spoken: Collection[str]) -> tuple[Term, ...]:
    kept = [word for word in asked if word not in STOP_WORDS]
    telling = [word for word in kept if word not in spoken] or kept or asked
    terms = list(dict.fromkeys(term(word) for word in telling))
    if len(terms) > MOST_TERMS:
        terms = terms[: MOST_TERMS // 2] + terms[-MOST_TERMS // 2 :]
    return tuple(terms)


def _months(text: str, asked: Iterable[str]) -> Iterable[int]:
    """Yield the months that are named; *may* is one only where it looks like it."""
    said = frozenset(asked)
    for number, name in enumerate(_MONTHS, 1):
        if name in said and (name != "may" or _MAY.search(text)):
            yield number


def _phrases(text: str) -> Iterator[str]:
    whole = text.strip(_AROUND)
    for part in (whole, *_QUOTED.findall(text)):
        if len(words(part)) > 1:
            yield part.lower()

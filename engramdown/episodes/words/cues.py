"""What kind of answer a question waits for, and whether a turn looks like one.

Promises: any string may be passed; linear time; a cue only ever speaks for a turn, so that text in
a language without cues here loses nothing but the help.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final, Literal

__all__ = [
    "Want",
    "asks",
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

_WANTS: Final[Mapping[Want, str]] = {
    "time": r"\b(?:when|(?:what|which) (?:date|day|month|year|time|week)|how long ago)\b",
    "number": r"\bhow (?:many|much|long|old|often|far)\b",
    "name": (
        r"\b(?:who|whose|where|which|names?|what (?:\w+ ){0,3}(?:cit(?:y|ies)|countr(?:y|ies)"
        r"|places?|books?|movies?|films?|games?|songs?|bands?|teams?|compan(?:y|ies)|states?"
        r"|authors?|titles?|series|shows?|brands?|artists?|schools?))\b"
    ),
    "reason": r"\b(?:why|reasons?|purpose|what made|motivat\w+|inspir\w+)\b",
    "advice": (
        r"\b(?:should|suggest|recommend|advi[cs]e|tips|best way|help me|if i|how would you"
        r"|how (?:can|do) i|(?:can|could) you help|what (?:are some|do i need))\b"
    ),
}
_TIME: Final = (
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|recently|weekend|[0-9]{4}"
    rf"|(?:day|week|month|year)s?|(?:{_DAYS})day|{_MONTHS})\b"
)
_NUMBER: Final = rf"\b(?:[0-9][0-9,.]*|{_NUMBERS}|twice|once|dozen|couple|several)\b"
_REASON: Final = r"\b(?:because|'?cause|since|so that|to help|in order|inspired|wanted to|reason)\b"
_WISH: Final = r"\A\s*(?:always|never|please|when i ask)\b|\bprefer"
_I: Final = re.compile(r"\b(?:[Ii]|[Mm][eEyY]|[Ww][eE]|[Oo][uU][rR])\b")
# A capital letter inside a sentence.
_NAME: Final = re.compile(r"(?<=[a-z,;:] )[\"\u201c]?(?!I')([A-Z][\w&-]+)")
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]?")
_END: Final = 80


def wants(question: str) -> frozenset[Want]:
    """Return what kinds of answer ``question`` waits for.

    >>> sorted(wants("How many days ago should I have paid?"))
    ['advice', 'number']
    """
    return frozenset(want for want, cue in _WANTS.items() if _read(cue).search(question))


def asks(text: str) -> bool:
    """Whether a turn ends with a question, or nearly so."""
    return "?" in text[-_END:]


def told(text: str) -> float:
    """Return how much of ``text`` is no question, from 0 to 1.

    >>> told("Nice!"), told("So? Yes."), told("Why?")
    (1.0, 0.625, 0.0)
    """
    if "?" not in text:
        return 1.0
    asked = sum(len(part) for part in _SENTENCE.findall(text) if part.endswith("?"))
    return 1 - asked / len(text)


def says_name(text: str, known: Collection[str]) -> bool:
    """Whether ``text`` has a name that is none of ``known``, which are in lower case."""
    return any(name.lower() not in known for name in _NAME.findall(text))


def says_reason(text: str) -> bool:
    """Whether ``text`` says why."""
    return _read(_REASON).search(text) is not None


def says_time(text: str) -> bool:
    """Whether ``text`` has an expression of time."""
    return _read(_TIME).search(text) is not None


def says_number(text: str) -> bool:
    """Whether ``text`` has a number."""
    return _read(_NUMBER).search(text) is not None


def says_wish(text: str) -> bool:
    """Whether ``text`` is a standing wish, said to an assistant."""
    return _read(_WISH).search(text) is not None


def says_i(text: str) -> bool:
    """Whether somebody speaks of themselves."""
    return _I.search(text) is not None


@cache
def _read(cue: str) -> re.Pattern[str]:
    # What is not asked for need not be compiled, which takes longer than to search.
    return re.compile(cue, re.IGNORECASE)

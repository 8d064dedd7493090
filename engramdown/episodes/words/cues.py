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

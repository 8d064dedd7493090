"""Finds the kind of a memory in its words.

Promises: pure; every text has a kind; what is not plainly a rule or a fact about the user is a
lesson. Only English is known: in other languages an option says the kind.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.engram import Kind

__all__ = ["kind_of"]

# What may stand before a rule without changing its kind.
_OPENERS: Final = re.compile(
    r"(?:please|remember|note|rule|from now on|going forward|to|that|you|we|should|must)[,:]?\s+"
)
_RULES: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("always", re.compile(r"(?:always|make sure|ensure)\b")),
    ("never", re.compile(r"(?:never|don't|do not|avoid|(?:must|should) (?:not|never))\b")),
    ("when", re.compile(r"(?:when|whenever|if)\b")),
)
_ABOUT_USER: Final = re.compile(
    r"(?:i am|i'm|i prefer|i like|i dislike|i hate|i love|i live|i work|call me|i go by"
    r"|my (?:\w+ )?(?:name|pronouns|time ?zone|locale|location|language|job|role|title|employer"
    r"|company|team|birthday|email|e-mail|editor|shell|keyboard|operating system) (?:is|are))\b"
)
_FACT: Final = re.compile(
    r"(?:name|pronouns|time ?zone|locale|location|language|role|employer|birthday):\s"
)
_MOST_OPENERS: Final = 6
_BEGINNING: Final = 200


def kind_of(text: str) -> Kind:
    """Return the kind that the words of ``text`` say: a rule, a fact about the user, or a lesson.

    >>> kind_of("Always run the linter"), kind_of("My name is Ada"), kind_of("CI takes 9 minutes")
    ('always', 'profile', 'lesson')
    """
    words = " ".join(text[:_BEGINNING].replace("\u2019", "'").casefold().split()) + " "
    words = words.lstrip("\"'*_-> ")
    if _ABOUT_USER.match(words) or _FACT.match(words):
        return "profile"
    # Openers are taken off one by one: "Please remember to always ...".
    for _ in range(_MOST_OPENERS):
        for kind, pattern in _RULES:
            if pattern.match(words):
                return kind
        opener = _OPENERS.match(words)
        if opener is None:
            break
        words = words[opener.end() :]
    return "lesson"

"""What a form of words is: a pattern at the beginning of a clause, and what it says.

Promises: what is kept of a clause is a piece of it; patterns are bounded, so that a clause costs
what its length costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from engramdown.engram import Confidence, Kind

__all__ = [
    "DONT",
    "FROM_NOW",
    "LASTING",
    "SCREEN",
    "Form",
    "Said",
    "first_said",
    "is_passing",
    "is_reported",
    "pattern",
    "reading",
    "slips",
]


class Said(NamedTuple):
    """What a clause says.

    Attributes:
        kind: The kind of memory.
        confidence: What the form deserves.
        start: Where that begins which is kept.
        end: Where it ends.
        label: What is put before it: ``Always``, ``Name:``, or nothing.
    """

    kind: Kind
    confidence: Confidence
    start: int
    end: int
    label: str = ""


Form = Callable[[str, int], Said | None]
"""Reads a sentence in small letters from an offset on, where a clause begins."""


def first_said(forms: tuple[Form, ...], words: str, at: int) -> Said | None:
    """Return what the first form that fits says."""
    return next((said for form in forms if (said := form(words, at))), None)


BLANK: Final = "\ue000"
"""Stands for each character of a quotation or of code within a sentence; it counts as a letter."""

DONT: Final = r"(?:do not|don't|dont|don t|do n't)"
"""How an order forbids."""

FROM_NOW: Final = (
    r"(?:from (?:now|here|today|this (?:point|moment|day))(?: on(?:wards?)?| forward)?(?: out)?"
    r"|in (?:all |any )?future (?:sessions?|answers?|chats?|conversations?|replies|messages"
    r"|projects"
    r"|prs|commits|e-?mails|reports|drafts)|(?:going|moving) forwards?|henceforth|hereafter"
    r"|in (?:the )?future|as of (?:now|today)|(?:starting|beginning) (?:now|today|immediately)"
    r"|for (?:all )?(?:the )?future(?: \w{2,12})?|next time|for next time|effective immediately)"
)
"""How an order says that it stands."""

SCREEN: Final = (
    r"(?:customers? (?:adds?|checks? out|clicks?|enters?|hovers?|logs?|opens?|press(?:es)?|scrolls?"
    r"|selects?|signs?|submits?|taps?|types?|uploads?|visits?)|user|visitor|player|button|row|column|page|screen|form|field|cart|popup"
    r"|pop-up|dialog|modal|menu|input|enem(?:y|ie)"
    r"|level|score|item|queue|timer|order|tab|card|checkbox|widget|node|request body"
    r"|session expires|token expires|robot|bot|game|app)s?\b"
)
"""What a program shows that somebody wants to have built: an order about it is a specification."""


# Up to where a clause goes of which only a piece is kept, or all but a question behind it.
_PIECE: Final = r"[^,;:(]*"
_CLAUSE: Final = (
    r".*?(?=,? (?:(?:and|but|so) )?(?:can|could|would|will|what|how|do|is|are|should) (?:you|i"
    r"|we|the|it)"
    r"\b|, which\b|\Z)"
)


def reading(
    kind: Kind, confidence: Confidence, text: str, label: str = "", *, lasting: bool = False
) -> Form:
    """Return the form of which ``text`` is the pattern.

    What is kept begins with the group ``kept``, or where the clause does; behind a label, it ends
    with that group, too. Unless it is ``lasting``, nothing is read that is said for a while.
    """

    def read(words: str, at: int) -> Said | None:
        found = pattern(text).match(words, at)
        if found is None:
            return None
        kept = "kept" if "kept" in found.re.groupindex else 0
        clause = pattern(_PIECE if label else _CLAUSE).match(words, at)
        if not lasting and clause is not None and is_passing(clause[0]):
            return None
        end = found.end(kept) if label else len(words)
        return Said(kind, confidence, found.start(kept), end, label)

    return read


@cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern; "don't" and "I've" may lack their apostrophe."""
    return re.compile(text.replace("n't", "n'?t").replace("'ve", "'?ve"))


def slips(word: str) -> str:
    """Return a pattern for a word and its slips of the pen behind the first letter.

    A letter is left out, or two that differ have changed places.

    >>> slips("keep")
    '(?:keep|kep|kee|kepe)'
    """
    places = range(1, len(word))
    shorter = [word[:at] + word[at + 1 :] for at in places]
    swapped = [word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in places]
    return f"(?:{'|'.join(dict.fromkeys([word, *shorter, *swapped]))})"


LASTING: Final = (
    "repo|repository|project|code ?base|code|app|machine|laptop|team|computer|house|family|office"
    "|company|service|chat|conversation"
)
"""What stays the same, so that an order about *this* one stands."""

_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# What is said for a while, or for one thing.
_PASSING: Final = (
    r"\b(?:for (?:now|today|the moment|the time being|a (?:moment|minute|while|second|bit|sec"
    r"|day|week))"
    r"|(?:in|for) (?:this|that) (?:chat|conversation|session|thread|message) only"
    r"|(?:only|just) (?:in|for) (?:this|that) \w+"
    r"|right now|this (?:time|once|morning|afternoon|evening|week|weekend|month|year|one)"
    r"|just (?:this )?once"
    r"|for (?:this|that) (?:one|time|task|file|pr|commit|change|once|job|run|ticket|session"
    r"|feature|case)\b"
    r"|(?:in|on|at|for) (?:the )?(?:line|step|question|cell|row|column|slide|page|section|paragraph"
    r"|chapter|figure|table|exercise|problem|part|item|task|ticket|issue)s? #?\d+"
    r"|in the (?:dream|example|film|movie|poem|scene|snippet|story)"
    r"|today|tonight|at the moment|currently|temporarily|as a one-off|one last time)\b"
)
_SOON: Final = (
    r"\b(?:tomorrow|yesterday|yet|until|till|next (?:week|month)|later|in a (?:minute|bit|sec"
    r"|second|moment|while)"
    rf"|(?:by|on|before|next) (?:{_DAY}(?!s)|noon|lunch|\d)|(?:go|get) (?:back|home)|at \d"
    rf"|(?<!from )now"
    rf"|this(?! (?:{LASTING})\b))\b"
)


def is_passing(words: str, *, firm: bool = False) -> bool:
    """Whether something is said for a while or for one thing.

    Args:
        words: What is said, in small letters.
        firm: Whether it is said as *always* or *never* say it, so that "until" and "on Sunday"
            belong to it.

    >>> is_passing("skip the linter this time"), is_passing("merge until it is green", firm=True)
    (True, False)
    """
    return bool(pattern(_PASSING).search(words) or (not firm and pattern(_SOON).search(words)))


# What turns the rest of a sentence into somebody else's words, or into a thought.
_REPORTED: Final = (
    r"\b(?:in the (?:movie|film|book|story|game|play|dream|example|scene|script|song)|from the"
    r"|per the|her|his|their|its|whose|readme|docs|manual|handbook|website|changelog"
    r"|says?|saying|told (?!you\b)|tells?|writes?|wrote|written|asks?|asked|according"
    r"|reads|repl(?:y|ied)"
    r"|prints?|printed|thinks?|thought|wants?|wanted|claims?|claimed|insists?|insisted|imagine"
    r"|imagined|suppose"
    r"|pretend|assume|assuming|what if|if|let's say|say|for (?:example|instance)|e\.g\."
    r"|hypothetical(?:ly)?|would"
    r"|could|might|whether|why|how|wonder|whispers?|shouts?|sings?|called|titled|labelled"
    r"|labeled|rename|change"
    r"|add|play|queue|put|write|implement|create|make|build|oh sure|yeah right|sure|brilliant"
    r"|wow|clearly|lol"
    r"|function|method|class|script|robot|story|poem)\b|(?<!i )\bsaid\b"
    r"|(?<!\bi )(?<!already )\btold\b"
)


# What somebody announces his own words with; behind any other colon stands an example or a text.
_ANNOUNCES: Final = (
    r"\b(?:rules?|things?|notes?|reminders?|requests?|preferences?|important|remember|also"
    r"|please|ps"
    r"|guidelines?|conventions?|me|clear|once|though|reference|future|instructions?|said|told you"
    r"|wishe?s?|points?|feedback|corrections?|always|everywhere|mind|this|following|again|sacred"
    r"|one|two|three|[0-9]|first|second|lastly|finally)\W*:\s*\Z"
)


def is_reported(lead: str) -> bool:
    """Whether what stands before a clause makes it somebody else's words, a thought or a task.

    >>> is_reported("she said: "), is_reported("good, but "), is_reported("example: ")
    (True, False, True)
    """
    if lead.rstrip().endswith(":") and not pattern(_ANNOUNCES).search(lead):
        return True
    return bool(pattern(_REPORTED).search(lead))

"""The forms of words in which somebody asks to remember a thing.

Promises: what is to be done ("remember to buy milk") is no memory, nor is what the words only look
like ("remember me?"); linear time.
"""

from __future__ import annotations

from typing import Final

from engramdown.consolidation.statements.forms import Form, pattern, reading, slips

__all__ = ["REMINDERS", "remembered"]

_REMEMBER: Final = (
    r"(?:(?:(?:can|could|would|will) (?:you|u) |i (?:need|want|'d like|would like) you to "
    r"|you (?:should|must|need to) |just so you |just |(?:here's "
    r"|let me tell you )?something to )?(?:please |pls |always )?"
    rf"(?:(?:{slips('remember')}|rember|memori[sz]e)(?: this| the following)?"
    r"(?: for (?:next time|later|the future))?(?: that\b|[:,]| -)?"
    r"|keep in mind(?: that\b|[:,])?|keep this in mind[:,]|bear in mind(?: that\b|[:,])?"
    r"|(?:make|take) (?:a )?note(?: that\b|[:,]| of this:)|(?:do not|don't|dont"
    r"|never) forget(?: that\b|[:,])?"
    r"|(?:add|save|commit|store|put|write|note) (?:this |it )?(?:down )?(?:to|in"
    r"|into) (?:your |the )?(?:long-term )?(?:memory|notes)(?:[:,]| that\b)|(?:save|store) this[:,]"
    r"|(?:a )?note (?:for later|for the future|to self|for next time)[:,]"
    r"|for (?:future|later) reference[:,]?|you should know(?: that\b|[:,])"
    r"|fyi,? for (?:the future|later|next time)[:,]?"
    r"|for the record[:,]|remember this[:,]))"
    r"(?P<next>(?: next time| for next time| later)?[:,]?(?: that)?) (?P<rest>)"
)
# After these a fact follows, whatever it looks like.
_CLEARLY: Final = r"[^\n]*\b(?:in mind|memory|notes|that|note|reference)\b"
# A remembered thing has a verb, else it is "remember the milk".
_VERB: Final = (
    r"\b(?:is|are|was|were|has|have|had|uses?|needs?|takes?|runs?|lives?|can|cannot|can't|must"
    r"|should|will|won't|does|doesn't|do|don't"
    r"|expires?|works?|owns?|wants?|likes?|prefers?|gets?|goes|starts?|ends?|opens?|closes?"
    r"|costs?|requires?|means?|stands?|comes?|only"
    r"|always|never|isn't|aren't|(?:\w{3,})s)\b|'s |'re |'m "
)
_TO_DO: Final = r"(?:to|when|how|what|why|if|about|from|too|well)\b"
_NO_FACT: Final = (
    r"(?:me|when|how|what|who|where|why|which|the (?:time|milk|name|day|days)"
    r"|that|this|it|them|those|these|to|if|anything|everything|nothing|us|him|her)\b(?! is| are|'s)"
)
# What people cheer each other up with.
_PEP_TALK: Final = (
    r"(?:you(?:'re|'ve| are| got| can| don't have)|it's (?:never|about|ok|okay|important"
    r"|always)|every \w+ (?:step|victory|day|has)|i'm always|there's always|- )\b"
)
_SENTENCE: Final = r"\S+ \S+ \S+ \S"


def remembered(words: str, at: int) -> int:
    """Return where that begins which shall be remembered, or -1.

    >>> remembered("remember that ci is slow", 0), remembered("remember the milk", 0)
    (14, -1)
    """
    found = pattern(_REMEMBER).match(words, at)
    if found is None:
        return -1
    start = found.start("rest")
    rest = words[start:]
    if pattern(_TO_DO).match(rest) or pattern(_PEP_TALK).match(rest):
        return -1
    asked = found[0].rstrip()
    told = asked.endswith((" that", ":", ",")) and pattern(_SENTENCE).match(rest)
    if pattern(_NO_FACT).match(rest) and not told:
        return -1
    clear = pattern(_CLEARLY).match(asked) and " " in rest
    verb = pattern(_VERB).search(rest) and rest.count(" ") > 1
    return start if clear or verb else -1


_REMINDER: Final = (
    r"(?!(?:you|i|we|please|to|do|don't|can|could|will|would|this|that|it|if|when)\b)[^\n]{8,200}?,"
    r" (?:please |so )?(?:remember|keep in mind|don't forget|never forget)(?: that| this| it)?\Z"
)
REMINDERS: Final[tuple[Form, ...]] = (reading("lesson", "high", _REMINDER),)
"""What is told first: "the port is 5433, remember that"."""

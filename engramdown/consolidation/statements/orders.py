"""The forms of words that give an order outright: always, never, stop, no more.

Promises: an order is found only where a clause begins with it, so that a description ("the test
always fails"), a question and a story about others are none; linear time.
"""

from __future__ import annotations

from typing import Final

from engramdown.consolidation.statements.forms import (
    DONT,
    FROM_NOW,
    SCREEN,
    Form,
    Said,
    is_passing,
    pattern,
    slips,
)
from engramdown.consolidation.statements.verbs import is_order
from engramdown.engram import Kind

__all__ = ["ORDERS", "TO_YOU"]

_YOU: Final = r"(?:you|u|we|ya)"
_MUST: Final = (
    rf"(?:{_YOU}(?: (?:should|must|have to|need to|ought to|shall|will|had better|are to"
    r"|are supposed to)|'ll|'d better|'re to)|must|should|shall)"
)
_I_WANT: Final = (
    r"(?:(?:i|we)(?:'d| would| do| really)? (?:want|need|expect|like|prefer|ask|love) "
    rf"{_YOU} to)"
)
_IMPORTANT: Final = "important|essential|crucial|vital|imperative|critical|necessary|best"
_CARE: Final = (
    rf"(?:(?:make|be|making) (?:very |absolutely )?sure(?: that)?(?: {_YOU}| to)?"
    rf"|ensure(?: that)?(?: {_YOU})?|see to it that {_YOU}|(?:try|remember|take care) to"
    rf"|let's|lets|let us|it(?:'s| is) (?:\w{{2,12}} )?(?:{_IMPORTANT})"
    rf"(?: for you)?(?: that {_YOU}| to| {_YOU})?|please|kindly)"
)
TO_YOU: Final = rf"(?:(?:{_MUST}|{_I_WANT}|{_CARE})(?: please| pls| also)? )"
"""What stands before an order: "you should", "I want you to", "make sure to"."""

_NO_MATTER: Final = (
    r"(?:please|pls|without (?:any )?exceptions?|no exceptions?|no matter what|at all times"
    r"|(?:if|where|when|whenever|wherever) possible|and i mean (?:always|never|it)"
    r"|under (?:any|all|no) circumstances?|in any case|on any account|whatever happens)"
)
"""What may stand between *always* or *never* and the order, and adds nothing."""

_ALWAYS: Final = (
    rf"(?P<to>{TO_YOU}|we )?(?:al+ways|{slips('always')})(?:(?:,| and)? (?:always|forever))*"
    rf"(?:,? {_NO_MATTER})*(?P<colon>:)?,?(?: |\Z)(?P<rest>)"
)
_NEVER: Final = (
    rf"(?P<to>{TO_YOU}|we |you may |you(?:'re| are) (?=never (?:allowed )?to\b))?"
    rf"(?:{slips('never')}(?:,? (?:ever|again))*"
    rf"(?:,? {_NO_MATTER})*[,:]? |{DONT} (?:you )?ever |{DONT},? {_NO_MATTER},? )"
    r"(?P<may>allowed to |to )?(?P<rest>)"
)
_MAY_NOT: Final = (
    r"(?:you (?:must|may|shall) not|you mustn't|you(?: are|'re) not (?:allowed|permitted) to) "
    r"(?!(?:actually|agree|always|be|believe|care|come|even|exist|expect|feel|find|get|happen|have"
    r"|hear|know|like|mind|need|notice|realize|recogni[sz]e|remember|see|think|understand|want"
    r"|work|yet)\b)(?P<rest>)"
)
"""How an order forbids once and for all; "you can't" and "you may not know" only describe."""


_WILL: Final = r"(?P<we>we)?(?:you)?(?:'ll| will| shall) \Z"
_FATE: Final = (
    r"(?:be|believe|feel|find|forget|get|guess|have|know|learn|love|meet|regret|see|understand|walk"
    r"|win)\b"
)


def _foretells(to: str | None, rest: str) -> bool:
    """Whether "you will never guess" and "we will always have it" only tell what comes."""
    will = pattern(_WILL).match(to or "")
    return will is not None and bool(will["we"] or pattern(_FATE).match(rest))


def _always(words: str, at: int) -> Said | None:
    """Read "always …", "you should always …", "we always …"."""
    found = pattern(_ALWAYS).match(words, at)
    if found is None:
        return None
    start = found.start("rest")
    rest = words[start:]
    sure = found["to"] not in (None, "we ")
    if is_passing(rest, firm=True) or not rest.strip() or _foretells(found["to"], rest):
        return None
    ordered = found["colon"] is not None or is_order(rest, surely=sure)
    return Said("always", "high", start, len(words), "Always") if ordered else None


def _never(words: str, at: int) -> Said | None:
    """Read "never …", "you must never …", "we never …", "don't ever …"."""
    found = pattern(_NEVER).match(words, at)
    if found is None:
        return None
    rest = words[found.start("rest") :]
    # Few words but verbs stand behind it, if others follow.
    sure = found["to"] != "we " and (found["to"] is not None or " " in rest)
    if is_passing(rest, firm=True) or not is_order(rest, surely=sure):
        return None
    if _foretells(found["to"], rest):
        return None
    return Said("never", "high", found.start("rest"), len(words), "Never")


def _may_not(words: str, at: int) -> Said | None:
    """Read "you must not …", "you are not allowed to …"."""
    found = pattern(_MAY_NOT).match(words, at)
    if found is None:
        return None
    rest = words[found.start("rest") :]
    if is_passing(rest) or not is_order(rest):
        return None
    return Said("never", "medium", found.start("rest"), len(words), "Never")


# ---- what I want ----

_WANT: Final = (
    r"(?:i|we) (?P<how>always|never) (?:ever )?(?:want|need|expect|wish)\b(?! to (?:know|go|be)\b)"
)
_NOT_WANT: Final = (
    rf"(?:i|we) (?P<how>{DONT}) (?:ever (?:want|wanna)\b|(?:want|wanna|need) [^\n]+"
    rf" (?:ever again|again|any ?more|ever|{FROM_NOW})\Z)"
)


def _wanted(words: str, at: int) -> Said | None:
    """Read "I never want …", "I always want …", "I don't want … ever again"."""
    found = pattern(_WANT).match(words, at) or pattern(_NOT_WANT).match(words, at)
    if found is None or is_passing(words[at:]):
        return None
    return Said("always" if found["how"] == "always" else "never", "high", at, len(words))


# ---- not again ----

_AGAIN: Final = (
    rf"(?:{TO_YOU}?{DONT}|{TO_YOU}not|you (?:should|must|may)(?: not|n't)|(?:you )?mustn't) "
    r"(?!worry|bother|mind|panic|wait|be\b|make me\b"
    r"|tell me you\b)(?P<rest>[^\n]+?),? (?:ever again|again|any ?more|ever"
    rf"|at all|no matter what|under any circumstances?|{FROM_NOW})\b"
    r"(?!,? (?:i'm|i am|we're|we are|it's|the [\w-]+ is|yet|still|before|until)\b)"
)
_STOP: Final = (
    r"(?:stop|quit|cease|refrain from) (?!being\b)\w+ing\b"
    r" (?!(?:the|that|this|it)\b|[^\n]* and )(?=\S)"
)
_NO: Final = (
    rf"no (?:more )?[\w -]{{2,40}}?,? (?:ever|{FROM_NOW})\b"
    r"|no more (?!(?:questions?|time|ideas?|info|problems?|errors?|issues?|bugs?|today)\b)"
    r"[\w-]+(?: (?!left\b)[\w-]+)?(?: in [\w ]{3,30})?\Z"
    r"|no (?!(?:one|idea|need|problem|way|luck|changes?|errors?|results?|new|longer)\b)"
    r"[\w-]+(?: [\w-]+)? in (?:this|our|my) (?:repo|repository|project|code ?base|house)\Z"
)
_NEVER_EVER: Final = (
    r"(?:under no circumstances?|in no case|on no account|at no time),? "
    r"(?:(?:should|must|may|do|are) (?:you|we) )?"
)


def _not_again(words: str, at: int) -> Said | None:
    """Read "don't … again", "don't … anymore", "do not … in future"."""
    found = pattern(_AGAIN).match(words, at)
    if found is None or is_passing(words[at:]) or not is_order(found["rest"], surely=True):
        return None
    return Said("never", "high", found.start("rest"), len(words), "Never")


def _stop(words: str, at: int) -> Said | None:
    """Read "stop doing …", "no more …", "no … ever"."""
    stops = pattern(_STOP).match(words, at)
    if is_passing(words[at:]) or not (stops or pattern(_NO).match(words, at)):
        return None
    return Said("never", "medium" if stops else "high", at, len(words))


_IN_REPLIES: Final = (
    rf"(?:please )?{DONT} [^\n]+ (?:in|at the (?:end|start) of) (?:your|any|all|every|each"
    rf"|my)(?: of your)?"
    r" (?:replies|reply|answers?|responses?|messages?|e?-?mails?|commit messages|comments|code)\b"
    rf"|(?:please )?{DONT} [^\n]+ (?:every|each) (?:single )?time\Z"
)


def _in_replies(words: str, at: int) -> Said | None:
    """Read "don't … in your replies", "don't … every time"."""
    found = pattern(_IN_REPLIES).match(words, at)
    if found is None or is_passing(words[at:]):
        return None
    return Said("never", "medium", at, len(words))


def _no_circumstances(words: str, at: int) -> Said | None:
    """Read "under no circumstances …"."""
    found = pattern(_NEVER_EVER).match(words, at)
    if found is None or not is_order(words[found.end() :], surely=True):
        return None
    return Said("never", "high", found.end(), len(words), "Never")


# ---- what must be ----

# What an assistant makes again and again.
_MADE: Final = (
    r"(?:your |my |our )?(?:(?:commit messages|variable names|file names|class names|function names"
    r"|branch names|pr titles|docstrings|code comments|answers|replies|responses|summaries"
    r"|explanations|commits|pull requests|prs|e-?mails|recipes|itineraries|meal plans|reports)\b)"
)
_EVERYTHING: Final = (
    r"(?:all|every|each|any) [\w -]{2,40}?(?: must| should| ha(?:s|ve) to| needs? to) "
    r"(?:(?P<no>never|not) )?(?!have (?:\w+ed|been|gone|come|lost|left)\b)\w"
    rf"|{_MADE}(?: must| should| have to| need to) (?P<nor>not )?(?:have (?!been\b)|use|start|end"
    r"|contain|include|follow|fit|stay|go|list|be (?!(?:back|done|easy|fine|gone|good|here|ok|okay"
    r"|ready|there|working)\b))"
    r"|(?!(?:the|this|that|it|he|she|they|i|you|we|there|a|an|my|your|our)\b)[\w -]{2,40}?s"
    r" (?:must|should|may|are to|need to|have to) (?:always|(?P<nay>never)) \w"
)
_ABOUT_A_SCREEN: Final = rf"(?:\w+ )?(?:[\w-]+ )?{SCREEN}"


def _everything(words: str, at: int) -> Said | None:
    """Read "all … must …", "… must never …", if it is not about what a program shows."""
    found = pattern(_EVERYTHING).match(words, at)
    if found is None or is_passing(words[at:]) or pattern(_ABOUT_A_SCREEN).match(words, at):
        return None
    forbids = found["no"] or found["nor"] or found["nay"]
    kind: Kind = "never" if forbids else "always"
    return Said(kind, "medium", at, len(words))


ORDERS: Final[tuple[Form, ...]] = (
    _always,
    _never,
    _may_not,
    _wanted,
    _not_again,
    _in_replies,
    _no_circumstances,
    _stop,
    _everything,
)

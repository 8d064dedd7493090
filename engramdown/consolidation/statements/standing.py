"""The forms of words that say that an order stands: from now on, the rule here, we use, instead.

Promises: an order is found only where a clause begins with it; one that is for now or for one thing
is none; linear time.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.consolidation.statements.forms import (
    DONT,
    FROM_NOW,
    Form,
    Said,
    is_passing,
    pattern,
)
from engramdown.consolidation.statements.orders import TO_YOU
from engramdown.consolidation.statements.verbs import VERBS, is_order
from engramdown.engram import Confidence, Kind
from engramdown.language.words import word_set

__all__ = ["STANDING"]

_PLACES: Final = (
    "repo|repository|repositories|project|projects|code ?base|codebases|team|chat|chats"
    "|conversation|conversations|session|sessions|answer|answers|reply|replies|response|responses"
)
_IN_GENERAL: Final = (
    r"(?:as a (?:general )?rule(?: of thumb)?|by default|at all times|without exception|in general"
    r"|(?:in|across|for) (?:this|our|my|all(?: of)?(?: my| our)?|every|each|any)(?: of my| of our)?"
    rf" (?:{_PLACES})(?: of mine| of ours)?(?! only\b)|everywhere|whenever possible"
    r"|wherever possible)"
)
_FROM: Final = rf"(?:so )?(?:{FROM_NOW}|(?P<soft>{_IN_GENERAL}))(?P<mark>[,:]| -)? "
_POLITE: Final = (
    r"(?:(?:please|pls|just|also|only|i want you to|i'd like you to|you should|you must|you) )*"
)
_NO_MORE: Final = (
    rf"(?:{DONT} (?:ever )?|no more |no (?!problem|worries|idea|need|one|thanks)|avoid |stop "
    r"|never |not )"
)
_CASE: Final = r"(?:when|whenever|if|every time|each time|before|after)\b"
_WISH: Final = (
    r"(?:i (?:want|need|expect|prefer|would like)|i'd (?:like|prefer)"
    r"|we (?:use|will use|always|do)|let's)\b"
)
_SUBJECT: Final = r"(?:i|it|things|he|she|they|there|this|that|we|the|my|our|a|an)(?:'\w+)?\b"
_STATE: Final = (
    r"(?!(?:i|it|he|she|they|there|this|that|things|who|what)\b)[\w ,-]{3,50}"
    r" (?:are|go|goes|must|should"
    r"|get|gets|need|needs|have to|has to|stays?|is to|only\Z)\b"
)


def _standing(words: str, at: int) -> Said | None:
    """Read "from now on …", "in future …", "as a rule …"."""
    found = pattern(_FROM).match(words, at)
    if found is None:
        return None
    start = _after(_POLITE, words, found.end())
    rest = words[start:]
    kind = _kind_of(rest, found)
    if kind is None or is_passing(rest, firm=True):
        return None
    confidence: Confidence = "medium" if found["soft"] and kind == "always" else "high"
    return Said(kind, confidence, start, len(words))


def _kind_of(rest: str, found: re.Match[str]) -> Kind | None:
    if pattern(_CASE).match(rest):
        return "when"
    if pattern(_NO_MORE).match(rest):
        return "never"
    surely = bool(found["mark"]) and not found["soft"] and not pattern(_SUBJECT).match(rest)
    ordered = is_order(rest, surely=surely)
    wished = pattern(_WISH).match(rest) or (not found["soft"] and pattern(_STATE).match(rest))
    return "always" if ordered or wished else None


def _after(what: str, words: str, at: int) -> int:
    found = pattern(what).match(words, at)
    return found.end() if found else at


# ---- … from now on ----

_ASKED: Final = rf"(?:{TO_YOU}|(?:please|pls|just|only|i want|let's) )*"
_ON: Final = (
    rf"[^\n]{{3,}}?[, ] ?(?:{FROM_NOW}|at all times|by default|without exception|as a rule)\b"
)
_HELP: Final = r"(?:help|tell|show|teach|explain|give me (?:some|a few)? ?(?:tips|advice|ideas))\b"
_WORK: Final = (
    r"(?:commits?|push|pushes|pull requests?|prs?|merges?|releases?|deploys?|deployments?|answers?"
    r"|repl(?:y|ies)|responses?|messages?|e?-?mails?|sessions?|changes?|edits?|steps?|meetings?"
    r"|meals?|tasks?|conversations?|summar(?:y|ies))\b"
)
_EACH: Final = (
    r"[^\n]{3,}? (?:before|after|in|on|for|with|to|at the end of|at the start of)"
    rf" (?:every|each|all|any)(?: single)?(?: of)?(?: my| your| our| new)? {_WORK}"
    r"|(?:write|sign|answer|start|end|begin|finish|prefix|title|name|keep|format)"
    r" (?:all|every|each)(?: single)?(?: of)?(?: my| your| our)? "
)
_STYLE: Final = (
    rf"(?P<not>{DONT} )?(?P<verb>use|write|keep|prefer|avoid|name|format|indent|follow|wrap"
    r"|stick to|address|call)"
    rf" [^\n]{{2,80}}? {_IN_GENERAL}"
)


_REPLIES: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|summaries|explanations|commits|commit messages|functions"
    r"|messages|variable names|prs|pull requests)\b"
)
_KEEP: Final = (
    rf"(?:keep|make) (?:all |your |the |my |all your )?{_REPLIES} (?!as\b|open\b|for\b)\w"
)
_PREFER: Final = r"prefer (?!(?:the|this|that|it|these|those|a|an|my|not|to)\b)[^\W\d]"
_AVOID: Final = r"avoid (?!(?:the|this|that|it|these|those|him|her|them|a|an|my)\b)[^\W\d]"


def _standing_behind(words: str, at: int) -> Said | None:
    """Read "… from now on", "… before every commit", "… in this project", behind an order."""
    start = _after(_ASKED, words, at)
    rest = words[start:]
    if is_passing(rest) or pattern(_SUBJECT).match(rest):
        return None
    ordered = is_order(rest)
    if pattern(_ON).match(rest) and (start > at or ordered) and not pattern(_HELP).match(rest):
        return Said("always", "high", start, len(words))
    style = pattern(_STYLE).match(rest)
    if style is not None:
        kind: Kind = "never" if style["not"] or style["verb"] == "avoid" else "always"
        return Said(kind, "medium", start, len(words))
    if pattern(_AVOID).match(rest) and not words[:start].endswith("and "):
        return Said("never", "medium", start, len(words))
    if pattern(_PREFER).match(rest) and not words[:start].endswith("and "):
        return Said("always", "medium", start, len(words))
    each = ordered and (pattern(_EACH).match(rest) or pattern(_KEEP).match(rest))
    return Said("always", "medium", start, len(words)) if each else None


_BEHIND: Final = (
    r"(?!(?:it|he|she|they|you|that|this|there|same|as|please|i(?! want))\b)[^\n]{3,80}?,? ?,"
    r"(?: please,?)? (?:always|every (?:single )?time|without (?:fail|exception)|no exceptions)"
    r"(?:,? please)?\Z"
)
_TOLD: Final = r"[^\n]* (?:is|are|was|were|fails?|has|crashe?s?|happens?) "


def _behind(words: str, at: int) -> Said | None:
    """Read "…, always" and "…, every time"."""
    found = pattern(_BEHIND).match(words, at)
    if (
        words[:at].endswith(", ")
        or found is None
        or is_passing(words[at:])
        or pattern(_TOLD).match(words, at)
    ):
        return None
    return Said("always", "high", at, len(words))


# ---- the rule here is … ----

_RULE: Final = (
    r"(?P<own>(?:(?:it(?:'s| is)|the|our|my|a|one|another|house|general|golden|team|basic|simple"
    r"|important|new|project)(?: |'s ))*)(?:rule|policy|convention|standard|guideline|agreement"
    r"|standing order)(?: of thumb)?(?: #?\d)?"
    r"(?P<where> (?:here|around here|(?:for|in|on) (?!the\b)(?:[\w-]+ ?){1,4}?))?"
    r"(?P<is>:| is:?| is that| says:?) ?(?:that |to |we )?(?=\S)"
    r"|it(?:'s| is) our (?:policy|rule|convention) to (?=\S)"
)
_FORBIDS: Final = rf"(?P<verb>never|{DONT}|not to|not)? ?(?:no )?"
_TROUBLE: Final = (
    r"(?:\w+ed|broken|wrong|unclear|clear|too|very|simple|stupid|silly|fine|ok|okay|good|bad|hard"
    r"|easy|missing|confusing|so|still|also|just|only)\b"
)


def _rule(words: str, at: int) -> Said | None:
    """Read "the rule here is …", "rule: …", "our policy is to …"."""
    found = pattern(_RULE).match(words, at)
    if found is None:
        return None
    ours = (
        found["is"] not in (" is", " says")
        or found["where"]
        or pattern(r"our |my |house ").match(found["own"])
    )
    start = found.end()
    rest = words[start:]
    kind = _kind_of_rule(rest)
    if not ours or kind is None or is_passing(rest, firm=True):
        return None
    return Said(kind, "high", start, len(words))


def _kind_of_rule(rest: str) -> Kind | None:
    if pattern(_CASE).match(rest):
        return "when"
    if pattern(rf"(?:no|never|{DONT}|not)\b").match(rest):
        plain = rest.startswith("no ")
        return "never" if plain or is_order(rest[_after(_FORBIDS, rest, 0) :]) else None
    return None if pattern(_TROUBLE).match(rest) else "always"


# ---- we use … here ----

_HERE: Final = (
    r"\b(?:here|around here|at \w+|(?:in|on|for|throughout|across) (?:this|our|the) (?:\w+ )?"
    r"(?:repo|repository|project|code ?base|team|app|service|company))\b"
)
_WE: Final = (
    r"(?:(?:in|for) (?:this|our) (?:repo|repository|project|code ?base|team|app|service|monorepo)"
    r",? )?(?:here,? )?we (?P<no>do not |don't |dont |never |avoid )?"
    r"(?:only |all |just |generally |normally |strictly )?(?P<verb>\w+)\b"
)
# "we use it here", "we use Redis here and it crashed"
_TOLD_OF_IT: Final = (
    r" (?:an?|the|it|this|that|them|these|those)\b|[^\n]* (?:and|but) (?:it|they|that|this)\b"
)
_IT: Final = (
    r"(?:this|our|the) (?:repo|repository|project|code ?base|team|app|monorepo|service|company)"
    r" (?:only )?(?:uses (?!too|a lot|lots|more|less|so|\d)|follows |requires |targets |sticks to "
    r"|is (?:written|built) (?:in|with|on) |runs on )"
    r"|(?!the|this|these|those|all|most|some)[\w-]+s in (?:this|our)"
    r" (?:repo|repository|project|code ?base|team) (?:are|live|go|use|have|need|follow) "
)
_OURS: Final = word_set(
    "use format indent write follow name work keep stick deploy release test commit squash rebase "
    "avoid store target lint prefer put run build ship pin spell branch merge review tag log "
    "document"
)


def _we_use(words: str, at: int) -> Said | None:
    """Read "we use … here", "this project uses …"."""
    if is_passing(words[at:]):
        return None
    if pattern(_IT).match(words, at):
        return Said("always", "medium", at, len(words))
    found = pattern(_WE).match(words, at)
    if (
        found is None
        or found["verb"] not in (VERBS if found["no"] else _OURS)
        or pattern(_TOLD_OF_IT).match(words, found.end())
        or not pattern(_HERE).search(words, at)
    ):
        return None
    return Said("never" if found["no"] else "always", "medium", at, len(words))


# ---- no, … instead ----

_THING: Final = (
    r"(?!(?:a|an|the|that|this|these|those|it|another|your|other|one|my|what|whatever|whichever"
    r"|which|mine|yours) )"
    r"[^\s,;]+(?: [^\s,;]+){0,4}?"
)
_INSTEAD: Final = (
    r"(?:you should |you must |please |we )?(?:use|go with|switch to|write|take|prefer|do) "
    rf"{_THING}(?:,? (?:instead|rather)(?: of| than)?\b|,? (?:and )?not )"
    rf"|(?!{_SUBJECT}|[\w ]*\b(?:\w+ed|uses|using|did|got|should|would)\b){_THING} instead of"
    rf" {_THING}\Z|instead of {_THING},? (?:please )?use {_THING}\Z"
    rf"|not {_THING}(?:,| -|:) (?:but |please )?use {_THING}\Z"
)
# Behind a "no" also "use the staging key instead", but not "use the other one instead".
_WRONG: Final = r"(?:\A|[\s,;:.!-])(?:no|nope|nah|wrong|incorrect|not quite)[,;:.!\s-]+\Z"
_THE_THING: Final = (
    r"(?:the|an?|your|our) (?!(?:other|one|first|second|third|last|same|old|new|previous|next"
    r"|former|latter|original|different|\w+ one|\w+est)\b)[^\s,;]+(?: [^\s,;]+){0,4}?"
)
_NO_USE: Final = (
    rf"(?:please )?use (?:{_THE_THING}|{_THING}) instead(?: of [^\s,;]+(?: [^\s,;]+){{0,4}}?)?\Z"
)
_STICK: Final = (
    r"(?:let's |please |we )?(?:stick (?:with|to)|standardi[sz]e on) (?!(?:it|that|this|the)\b)\S"
)
_SAID: Final = (
    r"(?:i|we)(?:'ve| have)? (?:already |just |explicitly )?(?P<how>told you|asked you|said)"
    r"(?: before| already| twice)?(?P<to>:| to| not to| never to| don't| do not)[ ,]+"
)


def _corrected(words: str, at: int) -> Said | None:
    """Read "use … instead", "use …, not …", "stick to …"."""
    if is_passing(words[at:]):
        return None
    if pattern(_STICK).match(words, at):
        return Said("always", "medium", at, len(words))
    denied = pattern(_WRONG).search(words[:at]) and pattern(_NO_USE).match(words, at)
    instead = denied or pattern(_INSTEAD).match(words, at)
    return Said("always", "low", at, len(words)) if instead else None


def _told(words: str, at: int) -> Said | None:
    """Read "I told you to …", "I told you not to …"."""
    found = pattern(_SAID).match(words, at)
    if found is None or is_passing(words[at:]) or not is_order(words[found.end() :]):
        return None
    if found["to"] in (":", " to"):
        told = found["how"] != "said" or found["to"] == ":"
        return Said("always", "medium", found.end(), len(words)) if told else None
    return Said("never", "medium", found.end(), len(words), "Never")


STANDING: Final[tuple[Form, ...]] = (
    _rule,
    _standing,
    _standing_behind,
    _we_use,
    _told,
    _corrected,
    _behind,
)

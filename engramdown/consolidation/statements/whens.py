"""The forms of words that give an order for a case: "when …, …", "before …, …", "ask me before …".

Promises: a case that comes once ("when you are done", "if it fails") makes no rule, and neither
does a specification ("when the user clicks …"); linear time.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.consolidation.statements.forms import SCREEN, Form, Said, is_passing, pattern
from engramdown.consolidation.statements.verbs import is_order

__all__ = ["WHENS"]

_EVERY_TIME: Final = r"(?:whenever|every ?time|each time|any ?time)(?: that)?"
# What breaks again and again; what is done is done once.
_BREAKS: Final = (
    r"the (?:tests?|build|linter|ci|pipeline|type ?checker|compiler|suite|deploy|deployment"
    r"|release)"
    r" (?:fails?|breaks?|complains?|crash|crashes|warns?|times out|(?:is|are) (?:red|broken|flaky))"
)
# Who or what a case is about that may come again.
_ANY_CASE: Final = (
    rf"(?:{_BREAKS}|it(?:'s| is) (?:after|before|past|late|early|dark|raining|a|an|the weekend"
    rf"|\w+day)|(?:you|i|we|one|someone|somebody|something|anything|anyone|nothing"
    rf"|people)(?:'re|'m"
    r"| are| am|'ve)?"
    r"|there(?:'s| is| are)|it comes to|in doubt|unsure|not sure|asked|an?|any|my|no|two"
    r"|several|\w{3,}ing"
    r"|(?!this|was|has|is)\w{2,}s|the [\w-]+(?: \w+)? changes)\b"
)
# Verbs at which the order begins where no comma stands before it.
_BARE: Final = (
    r"(?:(?:you (?:should|must|have to) )?(?:use|run|add|ask|make|put|tell|text|show|send|give"
    r"|keep|write|call|check|do not|don't|never|always|include|skip|remind|stop|start|set|turn"
    r"|reply|answer|update|create|prefer|notify|warn|explain|pick|choose|let me know"
    r"|double-check|remove|say|speak|read|save|commit|format|confirm"
    r"|avoid|please|cite|collect|list|log|mark|open|record|repeat|store|summari[sz]e|translate))"
)
# "For every new file, …", "with German customers, …"
_KIND_OF_THING: Final = (
    r"(?:(?:every|each|any|all|new) \w|(?!the|this|these|those|that|my|your|two|three|some"
    r"|other|future|minutes|seconds|hours|days|weeks|starters|details|thanks|reasons|questions"
    r"|others|us|cases|terms|its|his)(?:[\w-]+ ){0,2}?"
    r"(?:\w{2,}s|code|css|html|sql|yaml|json|markdown|prose|homework|correspondence)(?: (?:to"
    r"|from|with|for|about|in|on|of) [^,]{2,40}?)?"
    rf"(?=,| {_BARE}\b))"
)
_ONCE: Final = (
    r"(?:you(?:'re| are)? (?:all )?(?:done|finished|ready|back|through|set|there|arrive|finish"
    r"|want|like|can|could|please|have (?:time|a (?:chance|minute|moment)|any)|need (?:help"
    r"|anything|assistance|me|to talk|more)|get (?:a|the|to|there|home|back))"
    r"|i(?:'m| am)? (?:back|done|home|ready|away|out|gone|get|come|return|arrive|finish|was"
    r"|had|can|could|were|said|told|should)"
    r"|(?:possible|needed|necessary|ready|done|so|not)\b|we(?:'re| are)? (?:done|ready"
    r"|finished|start|meet|were|had)"
    r"|something like|an? (?:bit|lot|few|while|moment)\b)"
)
_IF: Final = (
    rf"(?:{_BREAKS}|you(?:'re| are)? (?:ever )?(?:unsure|not sure|uncertain|in doubt|stuck"
    r"|aren't (?:sure|certain)"
    rf"|get stuck"
    r"|don't (?:know|understand|have)|can't (?:find|tell|decide)|cannot|(?:find|spot|encounter"
    r"|discover|come across|run into|see"
    r"|notice) (?:an?|any|something|anything|\w+s)|touch|change|add|are asked|think|write|use"
    r"|need (?!help|anything|more|me)|have to|must|feel)"
    r"|in doubt|unsure|not sure|something|anything|anyone|someone|nobody|(?:told|asked"
    r"|specified|stated) otherwise|an?|any|my|no|two"
    r"|three|both|several|multiple"
    r"|there(?:'s| is) an?|there(?:'s| is| are) no"
    r"|i(?:'m| am)? (?:ever )?(?:ask|say|send|mention|type|write|paste|give|share|request|use"
    r"|don't (?:say|specify|answer|reply))|(?!this|was|has|is|its)\w{3,}s)\b"
)
_DOING: Final = (
    r"(?:an? (?!(?:while|moment|minute|second|bit|day|week|month|year|few|lot)\b)\w+"
    r"|(?!something|anything|nothing|everything|evening|morning|starting|spring|string)\w{3,}ing"
    r"|every|each|any"
    r"|you (?!start|begin|do|go|continue|leave|get|answer this)\w+"
    r"|we (?!start|begin|do|go|continue|leave|talk|meet)\w+)\b"
)
_PLEASE: Final = (
    r"(?:(?:then|please|pls|just|always|also|i want you to|i'd like you to"
    r"|you should|you must|make sure (?:you|to)|be sure to|remember to|don't forget to|never|don't"
    r"|do not|dont) )*"
)
_BEFORE_A_NOUN: Final = (
    r"(?:to|you|i|we|they|it|he|she|and|or|a|an|the|can|will|must|should"
    r"|my|your|not|of|in|for|with|don't|me|always|never|also|that)"
)


_CASE: Final = (
    rf"(?:(?P<often>{_EVERY_TIME})|when|(?P<rare>if(?: ever)?|in case|unless)"
    r"|(?P<time>before|after|once|while|as soon as)|(?P<each>for|in|on|with)) "
)
_THIS: Final = r"\bthis\b(?! (?:repo|project|code|app))"
_ON_A_SCREEN: Final = rf"(?:an?|any|the|all|every|each|two)? ?(?:[\w-]+ )?{SCREEN}|the user\b"
_COMMA: Final = r"(?:,(?: then)?| then| -+) "
# "keywords go uppercase", "no classes": what shall be, without a verb of order.
_SHALL: Final = r"(?:no|only) \w|[\w-]+s (?:go|are|must|should|stay) "


_COURTESY: Final = r"(?:please |just )*(?:let (?:me|us) know|feel free|(?:just )?shout)\b"


def _when(words: str, at: int) -> Said | None:
    """Read "when …, do …" and "if …, do …"."""
    found = pattern(_CASE).match(words, at)
    if found is None or pattern(_ON_A_SCREEN).match(words, found.end()):
        return None
    order = _order_in(words, found.end())
    once = is_passing(words[at:], firm=True) or pattern(_THIS).search(words, at, max(order, at))
    if order < 0 or once or not _may_return(words, found):
        return None
    if found["rare"] and pattern(_COURTESY).match(words, order):
        return None
    return Said("when", "medium" if found["rare"] else "high", at, len(words))


def _may_return(words: str, found: re.Match[str]) -> bool:
    """Whether a case may come again."""
    if pattern(_ONCE).match(words, found.end()):
        return False
    groups = {"often": r"", "rare": _IF, "time": _DOING, "each": _KIND_OF_THING}
    allowed = next((what for group, what in groups.items() if found[group]), _ANY_CASE)
    return pattern(allowed).match(words, found.end()) is not None


def _order_in(words: str, case: int) -> int:
    """Return where the order begins behind a case, or -1."""
    for comma in pattern(_COMMA).finditer(words, case):
        if _orders(words, comma.end()):
            return comma.end()
    for bare in pattern(rf"(?<= ){_BARE}\b (?=\S)").finditer(words, case):
        before = words[case : bare.start()].split()
        told = len(before) > 1 or words[case : bare.start() - 1].endswith("ing")
        if told and not pattern(_BEFORE_A_NOUN + r"\Z").match(before[-1]):
            return bare.start()
    return -1


def _polite(words: str, at: int) -> int:
    found = pattern(_PLEASE).match(words, at)
    return found.end() if found else at


def _orders(words: str, at: int) -> bool:
    start = _polite(words, at)
    if is_order(words[start:], surely=start > at):
        return True
    return pattern(_SHALL).match(words, at) is not None


# ---- do … whenever … ----

_WHENEVER: Final = rf"[^\n]{{3,}}? (?:{_EVERY_TIME}|if ever) (?!(?:this|it|he|she)\b)\w"
_ASK: Final = (
    r"(?:ask|check with|warn|notify|tell|alert|consult|confirm with) (?:me|us)?"
    rf"(?: first| for \w+)?,? ?(?:before {_DOING}|when (?!{_ONCE}){_ANY_CASE}|if (?!{_ONCE}){_IF})"
)


def _order_first(words: str, at: int) -> Said | None:
    """Read "do … whenever …", "ask me before …"."""
    start = _polite(words, at)
    rest = words[start:]
    forever = pattern(r"[^\n]*\b(?:always|never)\b").match(words[at:start])
    if forever or not is_order(rest) or is_passing(rest, firm=True):
        return None
    if pattern(_WHENEVER).match(rest):
        return Said("when", "high", at, len(words))
    asked = pattern(_ASK).match(rest) and not is_passing(rest)
    return Said("when", "medium", at, len(words)) if asked else None


WHENS: Final[tuple[Form, ...]] = (_when, _order_first)
"""In the order in which they are tried."""

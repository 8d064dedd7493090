"""The forms of words in which somebody tells what he prefers.

Promises: a preference between things at hand ("I prefer the second one", "I like it") is none, and
neither is a wish ("I'd like to book a flight"); linear time.
"""

from __future__ import annotations

from typing import Final

from engramdown.consolidation.statements.forms import BLANK, Form, reading

__all__ = ["PREFERENCES"]

# What is before both, or is to be done.
_AT_HAND: Final = (
    r"(?:not\b(?! to (?!say\b|answer\b|tell\b|talk\b))|it\b|that\b(?! (?:you|people|we)\b)"
    r"|this\b|these\b|those\b|them\b"
    r"|both\b|neither\b|either\b|none\b"
    r"|all\b|your\b|you\b(?! (?:answered|avoided|called|explained|gave|kept|listed|showed|told"
    r"|used|wrote|to|not|did|do|ask|use|keep|were|would|write|answer|call|always"
    r"|never))|how\b|when\b|what\b|where\b|if it\b|option\b|version\b|variant\b|plan [a-z]\b"
    r"|number\b|his\b|her\b|their\b"
    r"|(?:the )?(?:first|second|third|fourth|last|latter|former|other|new|old|previous|next"
    r"|current|original|one|way|idea|look|layout|design|approach|version|result|output|food"
    r"|place|color|colour|name|title|tone|ending|blue|red|green)\b"
    r"|\w+day\b|to (?:admit|be (?:a|the|that|picky|annoying)|bother|disturb|interrupt|say)\b"
    r"|\w+ing (?:to|with) you\b"
    r"|the \w+ (?:one|version|option|approach|variant|layout|design|idea)\b|a different"
    r"|another\b|to (?:wait|stop|leave|see|talk|start|finish|do (?:it|this|that)|know|go|hear"
    r"|book|order|have|buy|get|ask|think|believe|discuss|call)\b|wait\b|stop\b|do (?:it"
    r"|this|that)\b|die\b|go\b|start\b|talk\b|just\b|be\b|work on\b|have (?:the|it|this)\b"
    r"|see\b|hear\b|finish\b|fix\b|leave\b|sleep\b|stay\b|skip\b|eat\b|take the\b|keep (?:it"
    r"|this|that)\b|so much|\ue000)"
)
_ADVERBS: Final = (
    r"(?: (?:really|generally|usually|strongly|much|always|also|personally|definitely|still|do"
    r"|tend to|absolutely|just|greatly|very much))*"
)
_PREFER: Final = (
    rf"i(?P<would>'d|d| would)?{_ADVERBS}(?: would)?{_ADVERBS} (?:prefer|rather)"
    rf" (?(would)(?!the\b))(?:(?:it )?(?:if|when) (?:you|people|answers) |(?!{_AT_HAND}))\S"
)
_LIKE: Final = (
    rf"i{_ADVERBS} (?:like|love|enjoy|hate|dislike|can't stand|cannot stand|can't bear|detest"
    r"|don't like|do not like|dont like|don't enjoy)"
    rf" (?:(?:it )?(?:if|when) you |(?!{_AT_HAND})(?!(?:the|an?|that)\b))\S"
)
_PREFERENCE: Final = (
    r"my (?:(?:strong |personal |general )?preference (?:is|would be)"
    r"|(?:favou?rite|preferred) (?!part|line|bit|quote|scene|thing|moment|one)[\w-]+"
    rf"(?: [\w-]+)? (?:is|are)) (?!{BLANK}|(?:not|that|this|it|when|how|where|what|gone"
    rf"|broken)\b)\S"
)
_WISH: Final = (
    r"(?:i'd|i would) (?:really |much )?(?:appreciate|like|love|prefer) it if you (?!could\b)\S"
    r"|it(?:'d| would) be (?:\w+ )?(?:great|nice|good|better|helpful|best|cool) if you"
    r" (?!could\b)\S"
    r"|i(?:'d like| would like| want| like) (?:my|all(?: of)?(?: my)?|every) [\w ]{2,30}?s"
    r" (?:in|as|with|without|to be|sorted|formatted|written|kept)\b"
)
_ANSWERS: Final = (
    r"(?:i|we) (?:want|need|expect) (?:(?!the|these|those|this|my|more|some|any)[\w-]+ )?"
    r"(?:answers|responses|replies|summaries|explanations|commit messages|code examples"
    r"|reports)\b"
)
_FAN: Final = (
    r"i(?:'m| am) (?:not |no |a |an |such |really |big |huge |great |much of )*fan of"
    rf" (?!{_AT_HAND})\S"
)

PREFERENCES: Final[tuple[Form, ...]] = tuple(
    reading("profile", "medium", text)
    for text in (_PREFER, _WISH, _LIKE, _PREFERENCE, _FAN, _ANSWERS)
)
"""In the order in which they are tried."""

"""Which of two statements says that the other has another value by now.

A judge that has learned from pairs says how likely that is; see :mod:`engramdown.language.judge`.
To put what is newer first in general does more harm than good: two that merely look alike are about
two things as a rule (*runner ci-03 has 24 GB, runner ci-06 has 48*). Any strings may be passed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engramdown.language.judge import judge, may_differ, share_a_value
from engramdown.lazy import compiled

# What says that something has changed.
_VERBS: Final = (
    "mov relocat switch swapp trad chang replac supersed port migrat convert transferr renam"
    " rebrand rais lower increas decreas reduc cut bump doubl halv trebl tripl extend shorten trimm"
    " slow loosen tighten lift postpon delay reschedul cancell dropp scrapp ditch abandon"
    " abolish deprecat discontinu stopp quit resign retir unplugg upgrad downgrad shift settl"
    " repaint redecorat rewritt rewrit correct revert restor adopt introduc hir promot appoint"
    " elect split bought sold becam turn push taken took hand pass expir divorc marri"
)
_CHANGED: Final = (
    r"\b(?:now(?! on\b)|nowadays|these days|by now|meanwhile|lately|no longer|any ?more|as of|since"
    r"|instead|at the moment|after all|turns out|it's been|from (?!now\b)\w+(?: \w+)? on(?:wards?)?"
    r"|changed \w+ mind|renames|replaces|supersedes|takes over|(?:the|a) (?:switch|move|change) to"
    rf"|(?:{'|'.join(_VERBS.split())})(?:e?d|en)?(?= )"
    r"|went (?:up|down|to|from)|gr[eo]wn? (?:to|by)|fell to|brought (?:\w+ ){0,4}forward"
    r"|put (?:\w+ ){0,3}(?:up|down|back|off)|got (?:a |the )?new|got \w+ed"
    r"|(?:is|are) (?:out|in|being)(?=[,.;]| \w+ed)|couldn't|could not|that makes|in favou?r of)"
    r"(?!\w)"
)
# Hits that are asked whether they are outdated, and among how many of the best by what.
_FIRST: Final = 10
_MOST: Final = 60
# How likely two must differ for the newer one to come first.
_LIKELY: Final = 0.5


def says_change(text: str) -> bool:
    """Whether a text says that something is another way than it was: *now*, *moved*, *no longer*.

    >>> says_change("We moved to GitLab"), says_change("We use GitLab")
    (True, False)
    """
    return compiled(_CHANGED, re.IGNORECASE).search(text) is not None


def newer_first(
    found: Sequence[tuple[str, str]], question: str
) -> tuple[list[int], dict[int, int]]:
    """Put what says that another hit is outdated before that one.

    Args:
        found: When each hit was said, in a form that sorts, and what it says, the best first.
        question: What they answer; who names a value gets what has it first.

    Returns:
        The places of the hits in their new order, and by which each outdated one is replaced.
    """
    order = list(range(len(found)))
    replaced: dict[int, int] = {}
    for at, (when, older) in enumerate(found[:_FIRST]):
        later = {
            other: (judge(older, text, question).differ + judge(older, text).differ) / 2
            for other, (said, text) in enumerate(found[:_MOST])
            if said > when and may_differ(older, text)
        }
        other = max(later, key=lambda place: (later[place], -place), default=at)
        if later.get(other, 0.0) > _LIKELY:
            replaced[at] = other
            is_below = order.index(other) > order.index(at)
            if is_below and not share_a_value(question, older):
                order.remove(other)
                order.insert(order.index(at), other)
    return order, replaced

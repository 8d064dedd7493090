"""Which of two statements says that the other has another value by now.

That is so only if its own words say so (*moved*, *no longer*, *not 9:30*), or if it says all that
the other says, with another value. Two that merely look alike are about two things as a rule
(*runner ci-03 has 24 GB, runner ci-06 has 48*), and to put what is newer first in general does more
harm than good. Any strings may be passed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from engramdown.language.terms import stem, words
from engramdown.language.words import STOP_WORDS, word_set
from engramdown.lazy import compiled

# What says that something has changed, what may say so, and what says that it has not: that
# something holds once, or beside the other.
_VERBS: Final = (
    "mov relocat switch swapp trad chang replac supersed port migrat convert transferr renam"
    " rebrand rais lower increas decreas reduc cut bump doubl halv trebl tripl extend shorten trimm"
    " slow loosen tighten lift postpon delay reschedul cancell dropp scrapp ditch abandon"
    " abolish deprecat discontinu stopp quit resign retir unplugg upgrad downgrad shift settl"
    " repaint redecorat rewritt rewrit correct revert restor adopt introduc hir promot appoint"
    " elect split bought sold becam turn push taken took hand pass expir divorc marri"
)
_CHANGED: Final = (
    r"\b(?:now|nowadays|these days|by now|meanwhile|lately|no longer|any ?more|as of|since|instead"
    r"|at the moment|after all|turns out|it's been|from \w+(?: \w+)? on(?:wards?)?|changed \w+ mind"
    r"|renames|replaces|supersedes|takes over|(?:the|a) (?:switch|move|change) to"
    rf"|(?:{'|'.join(_VERBS.split())})(?:e?d|en)?(?= )"
    r"|went (?:up|down|to|from)|gr[eo]wn? (?:to|by)|fell to|brought (?:\w+ ){0,4}forward"
    r"|put (?:\w+ ){0,3}(?:up|down|back|off)|got (?:a |the )?new|got \w+ed"
    r"|(?:is|are) (?:out|in|being)(?=[,.;]| \w+ed)|couldn't|could not|that makes|in favou?r of)"
    r"(?!\w)"
)
_MAYBE: Final = (
    r"\b(?:new|belongs? to|left|cut|added|merged|closed|gone|from \w+ on|another|ended|used to"
    r"|removed|(?:rather than|not) \S+$)(?!\w)"
)
_BESIDE: Final = (
    r"\b(?:also|too|as well|in addition|besides|tomorrow|tonight|once|only|just this|this time"
    r"|for (?:the|this) (?:day|week)|on (?:\w{3,6}|wednes)days)\b"
)
_TOKEN: Final = re.compile(r"[^\s,;!?()\[\]\"\u201c\u201d]+")
_EDGE: Final = ".:'`*_\u2019"
# What is counted, and when; *ci-03* and *mx1* are names.
_NUMBER: Final = re.compile(r"[0-9][0-9.,:/-]*(?:st|nd|rd|th|[a-z%]{1,2})?")
_SPELT: Final = word_set(
    "one two three four five six seven eight nine ten eleven twelve noon midnight half monday "
    "tuesday wednesday thursday friday saturday sunday january february march april june july "
    "august september october november december"
)
_LONGEST: Final = 160
# How much of a statement must be shared by one that says that something has changed, or may say so.
_SURELY: Final = 0.25
_PERHAPS: Final = 0.4
# Hits that are asked whether they are outdated, and among how many of the best by what.
_FIRST: Final = 10
_MOST: Final = 100


def certainty(newer: str, older: str, worth: Callable[[str], float] = lambda _: 1.0) -> float:
    """Return how much of ``older`` another statement is about that says it with another value.

    It is 0 if ``newer`` is no such statement, else up to 1.

    Args:
        newer: A statement.
        older: One that was made before.
        worth: What a stem is worth that both hold.

    >>> old = "Standup is at 9:30"
    >>> certainty("Standup got moved to 10:15", old), certainty("Standup is at 10:15", old)
    (1.0, 1.0)
    >>> certainty("Lunch is at 12:15", old), certainty("Tomorrow, standup is at 11", old)
    (0.0, 0.0)
    """
    mine, theirs = _read(newer), _read(older)
    shared = mine.words & theirs.words
    if mine.is_beside or (mine.least > 1 and not shared) or not theirs.words:
        return 0.0
    is_changed = mine.least <= 1
    has_changed = is_changed and _differ(newer, older)
    if has_changed is None:
        return 0.0
    has_other = bool(mine.values - theirs.values)
    if not is_changed:
        is_other = has_other and bool(theirs.values) and theirs.words <= mine.words
    elif theirs.values:
        is_other = has_other
    else:
        is_other = not mine.values and not mine.words <= theirs.words
    share = sum(map(worth, shared)) / sum(map(worth, theirs.words))
    if is_other and share >= min(mine.least, 1.0):
        return share
    return max(share, 0.1) if has_changed else 0.0


def _differ(newer: str, older: str) -> bool | None:
    # Few texts say that something has changed, and the first search is to load little.
    from engramdown.language.meaning import differ

    return differ(newer, older)


def says_change(text: str) -> bool:
    """Whether a text says that something is another way than it was: *now*, *moved*, *no longer*.

    >>> says_change("We moved to GitLab"), says_change("We use GitLab")
    (True, False)
    """
    return _says(_CHANGED, text)


def _says(pattern: str, text: str) -> bool:
    return compiled(pattern, re.IGNORECASE).search(text) is not None


def newer_first(
    found: Sequence[tuple[str, str]],
    question: str,
    worth: Callable[[str], float] = lambda _: 1.0,
) -> tuple[list[int], dict[int, int]]:
    """Put what says that another hit is outdated before that one.

    Args:
        found: When each hit was said, in a form that sorts, and what it says, the best first.
        question: What they answer; who names a value gets what has it first.
        worth: What a stem is worth; see :func:`certainty`.

    Returns:
        The places of the hits in their new order, and by which each outdated one is replaced.
    """
    order = list(range(len(found)))
    replaced: dict[int, int] = {}
    named = {said.strip(_EDGE).removesuffix("s") for said in _TOKEN.findall(question.lower())}
    for at, (when, older) in enumerate(found[:_FIRST]):
        later = {
            other: certainty(text, older, worth)
            for other, (said, text) in enumerate(found[:_MOST])
            if said > when
        }
        other = max(later, key=lambda place: (later[place], -place), default=at)
        if later.get(other):
            replaced[at] = other
            is_named = not named.isdisjoint(_read(older).values)
            if order.index(other) > order.index(at) and not is_named:
                order.remove(other)
                order.insert(order.index(at), other)
    return order, replaced


class _Statement(NamedTuple):
    """A text: its words, the values beside these, and how it stands to other statements.

    What it shares with another must be at least so much of that for this one to replace it; more
    than 1 where nothing says that anything has changed.
    """

    words: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    least: float = 2.0
    is_beside: bool = False


@lru_cache(4096)
def _read(text: str) -> _Statement:
    if len(text) > _LONGEST or "?" in text:  # it says many things, or states nothing
        return _Statement()
    values: list[str] = []
    others: list[str] = []
    is_free = True
    for said in _TOKEN.findall(text.lower()):
        token = said.strip(_EDGE)
        # Behind a noun a number is a part of its name: *chapter 3*.
        is_value = _is_value(token) and (is_free or not token[:1].isdigit())
        (values if is_value else others).append(token)
        is_free = is_value or token in STOP_WORDS or said.endswith(":")
    return _Statement(
        frozenset(stem(word) for word in words(" ".join(others)) if word not in STOP_WORDS),
        frozenset(value.removesuffix("s") for value in values),
        _SURELY if says_change(text) else _PERHAPS if _says(_MAYBE, text) else 2.0,
        _says(_BESIDE, text),
    )


def _is_value(token: str) -> bool:
    return bool(_NUMBER.fullmatch(token)) or token.removesuffix("s") in _SPELT

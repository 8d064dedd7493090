"""Small words that turn a claim: *was* and *is*, *or* and *and*, *his* and *her*.

Promises: pure, symmetric, any string may be passed. What adds nothing is listed; every other small
word counts, because what is not known to be harmless may be the point.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engramdown.language.claims import Claim, read
from engramdown.language.words import is_inflected, word_set

__all__ = ["DOING", "asks", "is_number", "turns"]

# Negations are compared by what they govern, and opposites by name.
_COMPARED: Final = word_set("not no never none nothing cannot avoid avoids without only must")
_HARMLESS: Final = word_set(
    "a an the is are am be been being it its there this that these those which who you your i me "
    "my we us our user do does get gets got should please ensure sure ever always also too just "
    "own every all each any so then and as s because use uses used using prefer prefers preferred "
    "preferring choose chooses chosen choosing instead rather than over remember needs to of"
)
# Harmless where one text has them, and not where each has another one.
_WHOSE: Final = word_set("your you i me my we us our user")
# They stand for one another in too many sentences to keep two of these apart, but may matter.
_LIKE: Final = word_set(
    "in on at for by with per into during within when while if from well now them"
)
_ROLES: Final = _LIKE | {"of"}
# What is done: to run a test is not to write it. Beside no such word it may go without saying.
DOING: Final = {
    word: words.split()[0]
    for words in (
        "run runs running execute executes executed executing",
        "write writes written writing",
        "make makes made making",
        "give gives given giving",
        "keep keeps kept keeping live lives lived living store stores stored storing",
        "need needed require requires required",
        "have has having",
        "allowed",
        "user",
    )
    for word in words.split()
}
"""The forms of such words, each with the plain one."""

_USED_TO: Final = "used to "
# Beside one of these a form in -ed is no past tense: errors are logged.
_PASSIVE: Final = word_set("is are be been being am get gets was were s")
_AGENTS: Final = ("er", "ers")
_PAST: Final = word_set("made kept")


def turns(a: str, b: str) -> str:
    """Return the small words in which two texts differ so that they may say two things, or ``""``.

    >>> turns("The user was vegan", "The user is vegan")
    'a small word (none / was)'
    >>> turns("Write the tests", "Run the tests"), turns("On a Friday", "on Fridays")
    ('a word (run / write)', '')
    """
    mine, theirs = _apart(a, b)
    turning = _turning(mine), _turning(theirs)
    if any(turning):
        return _told("a small word", *turning)
    if ("by" in mine and theirs & _ROLES) or ("by" in theirs and mine & _ROLES):
        return _told("a small word", mine & _ROLES, theirs & _ROLES)
    doing = mine & DOING.keys(), theirs & DOING.keys()
    if all(doing) and {DOING[each] for each in doing[0]} != {DOING[each] for each in doing[1]}:
        return _told("a word", *doing)
    if done_by := _done_by(a, b) | _done_by(b, a):
        return f"a word ({', '.join(sorted(done_by))})"
    return "what was, and what is" if _is_past(a, b) or _is_past(b, a) else ""


def asks(a: str, b: str) -> bool:
    """Whether a small word or a spelling is a reason to let a person look at two texts.

    >>> asks("Meet in the office", "Meet at the office"), asks("Use a cache", "Use the cache")
    (True, False)
    """
    mine, theirs = _apart(a, b)
    if (mine | theirs) - _HARMLESS or (mine & _WHOSE and theirs & _WHOSE):
        return True
    one, other = set(read(a).words), set(read(b).words)
    return _other_forms(one, other) or _other_forms(other, one)


def _other_forms(words: set[str], others: set[str]) -> bool:
    """Whether some of ``words`` stands among ``others`` in another form than its plural."""
    return any(not any(is_number(word, other) for other in others) for word in words - others)


def is_number(word: str, other: str) -> bool:
    """Whether one word is the plural, or the third person, of the other.

    >>> is_number("test", "tests"), is_number("test", "tested")
    (True, False)
    """
    longer = max(word, other, key=len)
    return is_inflected(word, other) and longer.endswith("s")


def _apart(a: str, b: str) -> tuple[set[str], set[str]]:
    """Return the small words of each text that have no form in the other."""
    one, other = read(a), read(b)
    return (
        _unlike(_small(one), other.every) - _COMPARED,
        _unlike(_small(other), one.every) - _COMPARED,
    )


def _small(claim: Claim) -> set[str]:
    marked = set[str]().union(*claim.marks.values())
    return claim.every - set(claim.words) - marked


def _unlike(words: Iterable[str], others: Iterable[str]) -> set[str]:
    return {word for word in words if not any(is_inflected(word, other) for other in others)}


def _is_past(a: str, b: str) -> bool:
    """Whether ``a`` tells as past what ``b`` tells as present."""
    if (_USED_TO in a.casefold()) > (_USED_TO in b.casefold()):
        return True
    mine, theirs = read(a).every, read(b).every
    # To feed is no past, either.
    ends = {word for word in mine - theirs if word.endswith("ed") and not word.endswith("eed")}
    past = ends | ((mine - theirs) & _PAST)
    if not past or mine & _PASSIVE:
        return False
    return any(_one_verb(word, other) for word in past for other in theirs - mine)


def _done_by(a: str, b: str) -> set[str]:
    """Return the words of ``a`` for who does, or does more, what ``b`` names: parser, faster."""
    mine, theirs = read(a).every, read(b).every
    return {
        word
        for word in mine - theirs
        if word.endswith(_AGENTS)
        # An offer is no agent: it is what is offered.
        and any(
            is_inflected(word, each) and not each.startswith(word.removesuffix("s"))
            for each in theirs
            if not each.endswith(_AGENTS)
        )
    }


def _one_verb(word: str, other: str) -> bool:
    return is_inflected(word, other) or DOING.get(word, word) == DOING.get(other)


def _turning(words: set[str]) -> set[str]:
    return words - _HARMLESS - _LIKE - DOING.keys()


def _told(what: str, *sides: set[str]) -> str:
    return f"{what} ({' / '.join(sorted(', '.join(sorted(side)) or 'none' for side in sides))})"

"""Information loss: what one text says and another does not, so that no two become one unseen.

Pure, total, no model. Every answer is the reason in words, or ``""`` where nothing speaks against
it. In doubt there is a reason: a question too many costs a look, a merge too many loses a memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Final

from engramdown.consolidation.utterances import own_words
from engramdown.engram import fact_key, fold
from engramdown.language.claims import LONGEST, Claim, Mark, read
from engramdown.language.similarity import (
    DOING,
    asks,
    differs_in_substance,
    is_number,
    is_rewording,
    signs_apart,
    similarity_of,
    turns,
)
from engramdown.language.synonyms import plain
from engramdown.language.words import same_word, word_key, word_set

# Names of days and months that are no other word, too.
_DATES: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july "
    "august september october november december today tomorrow yesterday tonight"
)
_EXACT: Final[tuple[Mark, ...]] = ("number", "version", "path")
# Of the words of a memory that goes, so many at least stand in what stays for it.
_COVERED: Final = 2 / 3
_SHOWN: Final = 3
# How what somebody says of themselves is told of them.
_OF_USERS: Final = word_set(
    "user users person they their them prefer prefers preferred like likes love loves want wants "
    "use uses work works live lives have has be is are"
)
# What ends one statement of a message: a sign, or a word behind which another begins.
_CLAUSE: Final = re.compile(
    r"[.!?;\n\u2026\u3002\uff01\uff1f\uff1b]+(?=\s|\Z|[^\x00-\x7f])|\b(?:no|nein|non|nee|nej|n\xe3o),"
    r"|\b(?:but|aber|sondern|mais|pero|sino|maar|now|instead|jetzt|maintenant|ahora)\b"
    r"|,\s+(?=(?:i|i'm|my|we|it|ich|mein|meine|wir|je|mon|ma|yo|mi|io|eu|ik)\b)",
    re.IGNORECASE,
)
_ENDED: Final = word_set(
    "stopped quit abandoned dropped dropping former formerly previously hate hates hated dislike "
    "dislikes disliked ehemals fr\u00fcher"
)
_USED_TO: Final = re.compile(r"\b(?:used to|no longer|an(?:y )?more)\b", re.IGNORECASE)
# What is longer is hardly one claim, and is a duplicate only word for word.
_LONGEST_CLAIM: Final = 1000


def is_duplicate(a: str, b: str) -> bool:
    """Whether two texts say the same, as far as can be told without a model.

    Other forms, orders and fillers, contractions, common abbreviations and synonyms, a slip of the
    pen. Nothing may be added: "tests run in CI" is not "slow tests run in CI".

    >>> is_duplicate("Execute the tests before pushing", "Before you push, run tests")
    True
    >>> is_duplicate("Run the tests before pushing", "Run all tests twice before pushing")
    False
    """
    if fold(a) == fold(b):
        return True
    if max(len(a), len(b)) > _LONGEST_CLAIM:
        return False
    one, other = plain(a), plain(b)
    same = is_rewording(one, other) and similarity_of(one, other) == 1.0
    return same and not differs(a, b)


def likeness_key(text: str) -> Hashable:
    """Return what is equal for all texts that :func:`is_duplicate` takes for the same."""
    if len(text) > _LONGEST_CLAIM:
        return fold(text)
    claim = read(plain(text))
    marks = frozenset((kind, mark) for kind in _EXACT for mark in claim.marked(kind))
    return frozenset(map(word_key, claim.words)), marks


def is_near_exact(a: str, b: str) -> bool:
    """Whether two texts are the same words, in whatever order and number: nobody has to be asked.

    A word that stands for another, a slip of the pen or another small word is a reason to ask.

    >>> is_near_exact("Use uv for installs.", "use  UV for install")
    True
    >>> is_near_exact("Use uv for installs", "Use uv for fresh installs")
    False
    """
    if fold(a) == fold(b):
        return True
    if max(len(a), len(b)) > LONGEST:
        return False
    # Of two inflected words both may be right; which of two spellings is, a person knows.
    one, other = plain(a, likely=False), plain(b, likely=False)
    same = is_rewording(one, other) and similarity_of(one, other) == 1.0
    return same and not differs(a, b) and not asks(one, other)


def differs(a: str, b: str) -> str:
    """Return why a person has to decide whether two memories are one.

    They differ in a number, a version, a path, a name, a date, a negation, an order of words, or in
    one place of otherwise equal words. Symmetric but for the order in the words of the reason.

    >>> differs("The build uses cmake", "The build uses bazel")
    'a word (cmake / bazel)'
    >>> differs("Retry 3 times", "Retry 3 times, please")
    ''
    """
    if fold(a) == fold(b):
        return ""
    if max(len(a), len(b)) > LONGEST:
        return "the length: too much to compare"
    a, b = plain(a), plain(b)
    found = differs_in_substance(a, b) or _dates(a, b) or exchanged_words(a, b)
    return found or turns(a, b) or signs_apart(a, b)


def exchanged_words(a: str, b: str) -> str:
    """Return the words that stand in one place of two otherwise equal texts, or ``""``.

    Two texts that have no word in common differ in all of them.
    """
    one, other = read(a), read(b)
    mine, theirs = one.words, other.words
    if mine and theirs and len(_missing(mine, other)) == len(mine):
        return _a_word(mine, theirs)
    here, there = _in_one_place(mine, theirs)
    if not here:
        # To write may go without saying, but not where another text says to read.
        here, there = _in_one_place(_placed(one), _placed(other))
        here, there = (here, there) if {*here, *there} & {*mine, *theirs} else ([], [])
    # The same words in another order are one claim unless they changed their parts.
    apart = not all(_holds(there, word) for word in here) or len(here) != len(there)
    return _a_word(here, there) if apart else _exchanged(mine, theirs)


def _exchanged(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """Return the words that have changed both their form and their order, or ``""``.

    "Mails are signed" says to sign mails, but to merge what is tested is not to test merges.
    """
    here = [word for word in mine if word not in theirs]
    there = [word for word in theirs if word not in mine]
    turned = len(here) == len(there) > 1 and not any(map(same_word, here, there))
    # Beside one verb that became a participle, plurals may come and go.
    verbs = sum(not any(is_number(word, each) for each in there) for word in here)
    return _a_word(here, there) if turned and verbs != 1 else ""


def _in_one_place(
    mine: Sequence[str], theirs: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return what differs between two texts that begin and end alike, or nothing."""
    start = _alike(mine, theirs)
    end = _alike(mine[start:][::-1], theirs[start:][::-1])
    here, there = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    alike = here and there and start + end >= max(len(here), len(there))
    return (here, there) if alike else ((), ())


def _placed(claim: Claim) -> list[str]:
    return [DOING.get(word, word) for word, _ in claim.places]


def _a_word(here: Sequence[str], there: Sequence[str]) -> str:
    shown = (
        " ".join(side[:_SHOWN]) + (" …" if len(side) > _SHOWN else "") for side in (here, there)
    )
    return f"a word ({' / '.join(shown)})"


def left_out(text: str, kept: str) -> str:
    """Return what ``kept`` does not say of ``text``: its first word, or a good part of it.

    A first word may be a name, which nothing tells from another word that begins a sentence.
    """
    words = list(dict.fromkeys(read(plain(text)).words))
    missing = _missing(words, read(plain(kept)))
    if len(missing) > len(words) * (1 - _COVERED) or (missing[:1] and missing[0] == words[0]):
        return f"leaves out {_quoted(missing)}"
    return ""


def invented(text: str, originals: Sequence[str]) -> str:
    """Return the words of a merged ``text`` that none of its originals says: one may be a name."""
    claims = [read(form) for each in originals for form in (each, plain(each))]
    said = {word for claim in claims for word in (*claim.words, *claim.every)}
    words = dict.fromkeys(read(text).words)
    missing = [word for word in words if not (_holds(said, word) or _holds(said, plain(word)))]
    return f"says what none of them says: {_quoted(missing)}" if missing else ""


def unsaid(text: str, originals: Sequence[str]) -> str:
    """Return what a fact says that none of the texts says from which it is said to come, or ``""``.

    A number, a version, a path or a name of it has to stand there, and of its other words two of
    three, in any form, and with a negation only if the fact has one. The key of a fact and words
    that only speak of the user need not. What a text asks, supposes, or says of somebody else does
    not count; see :func:`~engramdown.consolidation.utterances.own_words`.

    >>> unsaid("Editor: Helix", ["I use vim"]), unsaid("Editor: vim", ["vim is my home"])
    ("'helix'", '')
    >>> unsaid("Editor: vim", ["I don't use vim any more."])
    'a negation'
    """
    key, _, value = text.partition(": ") if fact_key(text) else ("", "", text)
    now = read(value)
    own = [words for each in originals for words in own_words(each, text)]
    pieces = [each[at : at + LONGEST] for each in own for at in range(0, len(each), LONGEST)]
    claims = [read(form) for each in pieces for form in (each, plain(each))]
    said = {word for claim in claims for word in (*claim.words, *claim.every)}
    marks = {mark for claim in claims for kind in _EXACT for mark in claim.marked(kind)}
    exact = [mark for kind in _EXACT for mark in sorted(now.marked(kind)) if mark not in marks]
    names = [name for name in sorted(now.marked("name")) if not _holds(said, name)]
    words = [word for word in dict.fromkeys(now.words) if word not in _OF_USERS]
    missing = [word for word in words if not (_holds(said, word) or _holds(said, plain(word)))]
    if exact or names:
        return _quoted([*exact, *names])
    if len(missing) > len(words) * (1 - _COVERED):
        return _quoted(missing)
    numbers = now.marked("number")
    if not (words or now.marks):
        return "" if any(fold(value) in fold(each) for each in own) else _quoted([value])
    for claim in claims:
        # It may have other numbers than these before the words of the key.
        counts = {claim.counts[word] for word in read(key).words if word in claim.counts}
        if counts and numbers and counts.isdisjoint(numbers):
            return "a number"
    # A negation counts that stands in a clause with most of the words of the fact.
    clauses = [part for each in pieces for part in _CLAUSE.split(plain(each)) if part.strip()]
    held = [sum(_holds(read(part).every, one) for one in {*words, *numbers}) for part in clauses]
    most = max(held, default=0)
    told = {_negates(part) for part, count in zip(clauses, held, strict=True) if count == most}
    return "a negation" if most and _negates(text) not in told else ""


def _negates(text: str) -> bool:
    claim = read(text)
    return bool(claim.negations or not claim.every.isdisjoint(_ENDED) or _USED_TO.search(text))


def changed(text: str, originals: Sequence[str]) -> str:
    """Return the number, name or the like that a merged ``text`` loses, adds or turns around.

    >>> changed("Retry 5 times", ["Retry 3 times", "retry 3 times!"])
    'a number is lost (3)'
    """
    if len(text) > LONGEST or any(len(each) > LONGEST for each in originals):
        return "the length: too much to compare"
    now, before = read(text), [read(each) for each in originals]
    for kind in _EXACT:
        were = {mark for claim in before for mark in claim.marked(kind)}
        found = _told(f"a {kind}", were - now.marked(kind), now.marked(kind) - were)
        if found:
            return found
    names = {name for claim in before for name in claim.marked("name")}
    said = {word for claim in before for word in claim.every}
    lost = {name for name in names if not _holds(now.every, name)}
    added = {name for name in now.marked("name") if not _holds(said, name)}
    dates = {word for claim in before for word in _dates_of(claim)}
    return (
        _told("a name", lost, added)
        or _told("a date", dates - _dates_of(now), _dates_of(now) - dates)
        or _negation(now, before)
        or _turned(text, originals)
    )


def _negation(now: Claim, before: Sequence[Claim]) -> str:
    were = any(claim.negations for claim in before)
    if were == bool(now.negations):
        return ""
    return f"a negation is {'lost' if were else 'added'}"


def _turned(text: str, originals: Sequence[str]) -> str:
    """Return what a text turns around of originals that agree with each other."""
    first = originals[0]
    if any(differs_in_substance(first, each) for each in originals[1:]):
        return ""  # Then it cannot agree with all of them, and a person decides anyway.
    found = (differs_in_substance(each, text) for each in originals)
    # Another order of words is often the same claim; a person looks at it.
    turned = next((each for each in found if each not in ("", "an order")), "")
    return f"{turned} is changed" if turned else ""


def _told(what: str, lost: Iterable[str], added: Iterable[str]) -> str:
    for how, words in (("lost", sorted(lost)), ("added", sorted(added))):
        if words:
            return f"{what} is {how} ({', '.join(words[:_SHOWN])})"
    return ""


def _dates(a: str, b: str) -> str:
    here, there = _dates_of(read(a)), _dates_of(read(b))
    if here == there:
        return ""
    sides = (", ".join(sorted(side)) or "none" for side in (here - there, there - here))
    return f"a date ({' / '.join(sides)})"


def _dates_of(claim: Claim) -> set[str]:
    words = (*claim.every, *claim.words)
    return {name for word in words if (name := word.removesuffix("s")) in _DATES}


def _missing(words: Sequence[str], claim: Claim) -> list[str]:
    """Return those of ``words`` that have no form in a text."""
    said = {*claim.words, *claim.every}
    return [word for word in words if not _holds(said, word)]


def _holds(words: Collection[str], wanted: str) -> bool:
    # To look for the word itself in a set is nothing beside comparing it with each of many.
    return wanted in words or any(same_word(word, wanted) for word in words)


def _alike(words: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words two texts begin with alike."""
    at = 0
    for word, other in zip(words, others, strict=False):
        if not same_word(word, other):
            break
        at += 1
    return at


def _quoted(words: Sequence[str]) -> str:
    more = ", …" if len(words) > _SHOWN else ""
    return f"{', '.join(map(repr, words[:_SHOWN]))}{more}"

"""Information loss: what one text says and another does not, so that no merge loses it unseen.

Pure, total, without a model. Every answer is a reason in words, or ``""`` if nothing speaks against
a merge. In doubt there is a reason: a needless question costs a look, a wrong merge a memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Final

from engramdown.consolidation.synonyms import plain
from engramdown.consolidation.utterances import own_words
from engramdown.engram import fact_key, fold
from engramdown.language import similarity
from engramdown.language.claims import LONGEST, Claim, Mark, read
from engramdown.language.words import same_word, word_key, word_set

# Names of days and months that have no other meaning.
_DATES: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july "
    "august september october november december today tomorrow yesterday tonight"
)
_EXACT: Final[tuple[Mark, ...]] = ("number", "version", "path")
# The share of a memory's words that its replacement must have.
_COVERED: Final = 2 / 3
_SHOWN: Final = 3
# Words that turn a user's statement about themselves into one about the user.
_OF_USERS: Final = word_set(
    "user users person they their them prefer prefers preferred like likes love loves want wants "
    "use uses work works live lives have has be is are"
)
# The end of one statement in a message: a sign, or a word that begins another statement.
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
# A longer text is hardly a single claim, and is a duplicate only word for word.
_LONGEST_CLAIM: Final = 1000


def is_duplicate(a: str, b: str) -> bool:
    """Whether two texts say the same, as far as this can be known without a model.

    They may differ in forms, orders and fillers, contractions, common abbreviations and synonyms,
    and by a typing error. Nothing may be added: "tests run in CI" is not "slow tests run in CI".

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
    same = similarity.is_rewording(one, other) and similarity.similarity_of(one, other) == 1.0
    return same and not differs(a, b)


def likeness_key(text: str) -> Hashable:
    """Return a key that is equal for all texts that :func:`is_duplicate` considers the same."""
    if len(text) > _LONGEST_CLAIM:
        return fold(text)
    claim = read(plain(text))
    marks = frozenset((kind, mark) for kind in _EXACT for mark in claim.marked(kind))
    return frozenset(map(word_key, claim.words)), marks


def is_near_exact(a: str, b: str) -> bool:
    """Whether two texts have the same words, in any order and number, so that nobody is asked.

    A synonym, a typing error or another small word is a reason to ask.

    >>> is_near_exact("Use uv for installs.", "use  UV for install")
    True
    >>> is_near_exact("Use uv for installs", "Use uv for fresh installs")
    False
    """
    if fold(a) == fold(b):
        return True
    if max(len(a), len(b)) > LONGEST:
        return False
    # Two inflections may both be right, but only a person knows which of two spellings is.
    one, other = plain(a, likely=False), plain(b, likely=False)
    same = similarity.is_rewording(one, other) and similarity.similarity_of(one, other) == 1.0
    return same and not differs(a, b) and not similarity.asks(one, other)


def differs(a: str, b: str) -> str:
    """Return why a person has to decide whether two memories are one.

    They differ in a number, a version, a path, a name, a date, a negation, the order of words, or
    in one place of otherwise equal words. Symmetric except for the order of words in the reason.

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
    found = similarity.differs_in_substance(a, b) or _dates(a, b) or exchanged_words(a, b)
    return found or similarity.turns(a, b) or similarity.signs_apart(a, b)


def exchanged_words(a: str, b: str) -> str:
    """Return the words in the one place where two texts differ, or ``""``.

    Two texts without a common word differ in all words.
    """
    one, other = read(a), read(b)
    mine, theirs = one.words, other.words
    if mine and theirs and len(_missing(mine, other)) == len(mine):
        return _a_word(mine, theirs)
    here, there = _in_one_place(mine, theirs)
    if not here:
        # "Write" may be implied, but not where the other text says "read".
        here, there = _in_one_place(_placed(one), _placed(other))
        here, there = (here, there) if {*here, *there} & {*mine, *theirs} else ([], [])
    # The same words in another order are the same claim unless they swapped their parts.
    apart = not all(_holds(there, word) for word in here) or len(here) != len(there)
    return _a_word(here, there) if apart else _exchanged(mine, theirs)


def _exchanged(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """Return the words that differ in both form and order, or ``""``.

    "Mails are signed" says to sign mails, but merging tested changes is not testing merges.
    """
    here = [word for word in mine if word not in theirs]
    there = [word for word in theirs if word not in mine]
    turned = len(here) == len(there) > 1 and not any(map(same_word, here, there))
    # Besides one verb that became a participle, plurals may come and go.
    verbs = sum(not any(similarity.is_number(word, each) for each in there) for word in here)
    return _a_word(here, there) if turned and verbs != 1 else ""


def _in_one_place(
    mine: Sequence[str], theirs: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words between an equal beginning and an equal end of two texts, or nothing."""
    start = _alike(mine, theirs)
    end = _alike(mine[start:][::-1], theirs[start:][::-1])
    here, there = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    alike = here and there and start + end >= max(len(here), len(there))
    return (here, there) if alike else ((), ())


def _placed(claim: Claim) -> list[str]:
    return [similarity.DOING.get(word, word) for word, _ in claim.places]


def _a_word(here: Sequence[str], there: Sequence[str]) -> str:
    shown = (
        " ".join(side[:_SHOWN]) + (" …" if len(side) > _SHOWN else "") for side in (here, there)
    )
    return f"a word ({' / '.join(shown)})"


def left_out(text: str, kept: str) -> str:
    """Return what ``kept`` leaves out of ``text``, if that is its first word or a good part of it.

    A first word may be a name, and looks like any other word that begins a sentence.
    """
    words = list(dict.fromkeys(read(plain(text)).words))
    missing = _missing(words, read(plain(kept)))
    if len(missing) > len(words) * (1 - _COVERED) or (missing[:1] and missing[0] == words[0]):
        return f"leaves out {_quoted(missing)}"
    return ""


def invented(text: str, originals: Sequence[str]) -> str:
    """Return the words of a merged ``text`` that none of its originals has: one may be a name."""
    claims = [read(form) for each in originals for form in (each, plain(each))]
    said = {word for claim in claims for word in (*claim.words, *claim.every)}
    words = dict.fromkeys(read(text).words)
    missing = [word for word in words if not (_holds(said, word) or _holds(said, plain(word)))]
    return f"says what none of them says: {_quoted(missing)}" if missing else ""


def unsaid(text: str, originals: Sequence[str]) -> str:
    """Return what a fact says that none of its originals says, or ``""``.

    They must have its numbers, versions, paths and names, two thirds of its other words in any
    form, and a negation only if the fact has one. The key of a fact, and words that only refer to
    the user, may be missing. What an original asks, supposes, or says of somebody else does not
    count; see :func:`~engramdown.consolidation.utterances.own_words`.

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
        # The same key may have other numbers there.
        counts = {claim.counts[word] for word in read(key).words if word in claim.counts}
        if counts and numbers and counts.isdisjoint(numbers):
            return "a number"
    # A negation counts in the clauses that have most of the words of the fact.
    clauses = [part for each in pieces for part in _CLAUSE.split(plain(each)) if part.strip()]
    held = [sum(_holds(read(part).every, one) for one in {*words, *numbers}) for part in clauses]
    most = max(held, default=0)
    signs = {_negates(part) for part, count in zip(clauses, held, strict=True) if count == most}
    return "a negation" if most and _negates(text) not in signs else ""


def _negates(text: str) -> bool:
    claim = read(text)
    return bool(claim.negations or not claim.every.isdisjoint(_ENDED) or _USED_TO.search(text))


def changed(text: str, originals: Sequence[str]) -> str:
    """Return the number, name or the like that a merged ``text`` loses, adds or reverses.

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
    """Return what a text reverses in originals that agree with each other."""
    first = originals[0]
    if any(similarity.differs_in_substance(first, each) for each in originals[1:]):
        return ""  # It cannot agree with all of them, and a person decides anyway.
    found = (similarity.differs_in_substance(each, text) for each in originals)
    # Another order of words is often the same claim, and a person looks at it anyway.
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
    """Return those of ``words`` of which a text has no form."""
    said = {*claim.words, *claim.every}
    return [word for word in words if not _holds(said, word)]


def _holds(words: Collection[str], wanted: str) -> bool:
    # Looking up the word itself is far cheaper than comparing it with each word.
    return wanted in words or any(same_word(word, wanted) for word in words)


def _alike(words: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words at the beginning of two texts are alike."""
    at = 0
    for word, other in zip(words, others, strict=False):
        if not same_word(word, other):
            break
        at += 1
    return at


def _quoted(words: Sequence[str]) -> str:
    more = ", …" if len(words) > _SHOWN else ""
    return f"{', '.join(map(repr, words[:_SHOWN]))}{more}"

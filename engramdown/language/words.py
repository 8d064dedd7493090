"""The words that every search of ours leaves out or takes apart.

Any string may be passed; linear time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Final

from engramdown.lazy import compiled


def word_set(words: str) -> frozenset[str]:
    """Return the words of a table that is written as running text, to be read and kept in order."""
    return frozenset(words.split())


# English words that say little about what a text is about; contractions are in parts.
STOP_WORDS: Final = word_set(
    "a about ain also am an and any are aren as at be because been being both but by can "
    "cannot could couldn d did didn do does doesn doing don down during each either etc every "
    "few for from had hadn has hasn have haven having he her here hers him his how i if in "
    "into is isn it its just ll m may me might more most much must my no nor not now of off "
    "on once only onto or other our ours out over own please re s same shall she should "
    "shouldn so some such t than that the their theirs them then there these they this those "
    "through to too under until up us ve very was wasn we were weren what when where whether "
    "which while who whom why will with won would wouldn you your yours always never"
)

# Words for numbers, each with the number in digits.
NUMBERS: Final = {
    word: str(number)
    for number, words in {
        2: "two twice", 3: "three thrice", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight",
        9: "nine", 10: "ten", 11: "eleven", 12: "twelve dozen", 13: "thirteen", 14: "fourteen",
        15: "fifteen", 16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen",
        20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy",
        80: "eighty", 90: "ninety", 100: "hundred hundreds", 1000: "thousand thousands",
        10**6: "million millions", 10**9: "billion billions", 0.5: "half halves",
    }.items()
    for word in words.split()
}  # fmt: skip
# English, then German, French, Spanish, Italian, Portuguese, Dutch, Russian, Polish, Chinese and
# the Korean syllables that negate; then rarer words of these, Nordic languages and Romanian.
NEGATIONS: Final = word_set(
    "not no never none nothing nor neither cannot avoid avoids forbid forbidden refuse stop "
    "dont doesnt didnt cant wont isnt arent shouldnt mustnt nicht nie niemals kein keine "
    "keinen keiner ne pas jamais nunca non mai não niet nooit geen не никогда нет nigdy 不 没 沒 "
    "别 別 勿 無 无 未 莫 禁 않 없 못 "
    "keinem keines nichts niemand nirgends weder kaum aucun aucune rien nul ninguno ninguna ningún "
    "nadie nada tampoco ni nessun nessuno nessuna niente nulla nem nenhum nenhuma ninguém inte "
    "aldrig ingen inget inga ikke aldri ingenting nu niciodată ei älä żaden нельзя "
    "hardly scarcely barely rarely seldom"
)
# Pairs of words of which a claim and its opposite hold one each.
OPPOSITES: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in word_set(
        "enable/disable enabled/disabled on/off before/after allow/deny allow/forbid always/never "
        "ascending/descending short/long public/private first/last oldest/newest old/new "
        "open/close add/remove include/exclude more/less more/fewer minimum/maximum start/stop "
        "increase/decrease upper/lower true/false yes/no accept/reject all/some every/some "
        "high/low fast/slow light/dark left/right above/below over/under in/out up/down "
        "most/least to/from into/from must/may must/might must/can should/may should/might "
        "always/sometimes"
    )
)

# Scripts that write no space between words, and Korean, which glues particles to them.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED: Final = f"([{UNSPACED}])"
# No letter of the west, nor a dash or a quotation mark: those are in most texts.
_MAYBE_UNSPACED: Final = "[^\x00-\u0dff\u1e00-\u2e7f]"


def spaced(text: str) -> str:
    """Return ``text`` with a space around each character of a script that writes none.

    >>> spaced("use 日本語")
    'use  日  本  語 '
    """
    if text.isascii() or not compiled(_MAYBE_UNSPACED).search(text):
        return text
    return compiled(_UNSPACED).sub(r" \1 ", text)


# When two words are forms of one, for ranking and for comparing memories.
#
# Any string may be passed; linear time; :func:`same_word` is symmetric, and two words
# that it accepts begin with the same three characters (or are equal), so that a search by
# :func:`word_key` misses none of them.
#
# Inflection is seen by comparing two words, not by cutting one: they agree at the start, and what
# is left of both belongs to one way of inflecting (open / opened / opening). A plain limit on the
# length of the common start was tried first; it takes ``strict`` for ``string`` and ``public`` for
# ``publish``, which in a memory are different claims. The good stemmers would be a dependency, and
# SQLite's cannot be asked about one word without a table.

_KEY_LENGTH: Final = 3
# The ways of inflecting: open, opens, opened; write, writing; study, studies.
_ENDINGS: Final = (
    frozenset(
        ["", "s", "es", "ed", "ing", "ings", "er", "ers", "ly", "ment", "ments", "ion", "ions"]
    ),
    frozenset(["", "ation", "ations"]),
    frozenset(["e", "es", "ed", "er", "ers", "ing", "ings", "ion", "ions", "ation", "able"]),
    frozenset(["y", "ies", "ied", "ier", "ily"]),
)
_TYPO_LENGTH: Final = 6
_TYPO_RATIO: Final = 0.8
_LONG: Final = 9
# One letter apart, and words of their own.
_TWO_WORDS: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "desert/dessert", "personal/personnel", "complement/compliment", "stationary/stationery",
        "complementary/complimentary", "planing/planning", "staring/starring", "scared/scarred",
        "immorality/immortality", "ingenious/ingenuous", "http/https", "ftp/ftps", "imap/imaps",
        "ldap/ldaps", "new/news",
    )
)  # fmt: skip


def word_key(word: str) -> str:
    """Return what every word shares that :func:`same_word` accepts for ``word``."""
    return word[:_KEY_LENGTH]


@lru_cache(maxsize=4096)
def same_word(one: str, other: str) -> bool:
    """Whether two folded words are forms of one word, or one is the other with a typo.

    >>> same_word("deploy", "deploying"), same_word("recieve", "receive")
    (True, True)
    >>> same_word("strict", "string"), same_word("pip", "pipx"), same_word("stateful", "stateless")
    (False, False, False)
    """
    return is_inflected(one, other) or (
        _common_start(one, other) >= _KEY_LENGTH and _mistyped(one, other)
    )


def is_inflected(one: str, other: str) -> bool:
    """Whether two folded words are forms of one word, both of them spelled right.

    >>> is_inflected("deploy", "deploying"), is_inflected("recieve", "receive")
    (True, False)
    """
    if one == other:
        return True
    if frozenset((one, other)) in _TWO_WORDS:
        return False
    start = _common_start(one, other)
    return start >= _KEY_LENGTH and _inflected(one, other, start)


def is_everyday(word: str) -> bool:
    """Whether a folded word is one that people say to an assistant about anything.

    >>> is_everyday("fixing"), is_everyday("hello"), is_everyday("linter")
    (True, True, False)
    """
    return any(is_inflected(word, each) for each in _everyday().get(word_key(word), ()))


@cache
def _everyday() -> Mapping[str, Sequence[str]]:
    table = Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8")
    forms: dict[str, list[str]] = {}
    for word in table.split():
        forms.setdefault(word_key(word), []).append(word)
    return forms


def _common_start(one: str, other: str) -> int:
    at = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        at += 1
    return at


def _inflected(one: str, other: str, start: int) -> bool:
    # Without the e or y, or with a doubled consonant: cach-e / cach-ed, run / run-ning.
    if _one_way(one[start:], other[start:]):
        return True
    if one[start - 1] in "ey" and start > _KEY_LENGTH:
        return _one_way(one[start - 1 :], other[start - 1 :])
    shorter, longer = sorted((one, other), key=len)
    doubled = longer[start : start + 1] == shorter[start - 1]
    return doubled and len(shorter) < len(longer) and _one_way(shorter[start:], longer[start + 1 :])


def _one_way(one: str, other: str) -> bool:
    return any(one in endings and other in endings for endings in _ENDINGS)


def _mistyped(one: str, other: str) -> bool:
    """Whether only vowels or doubled letters are wrong: content and contest are two words.

    Of a long word a letter may be missing, or two may have changed places.
    """
    from difflib import SequenceMatcher

    if min(len(one), len(other)) < _TYPO_LENGTH or abs(len(one) - len(other)) > 1:
        return False
    pair = frozenset((one.removesuffix("s"), other.removesuffix("s")))
    if one[-1] != other[-1] or pair in _TWO_WORDS:
        return False
    if min(len(one), len(other)) >= _LONG and _slipped(*sorted((one, other), key=len)):
        return True
    if _consonants(one) != _consonants(other):
        return False
    # The ratio depends on the order of the two, and being the same word does not.
    first, second = sorted((one, other))
    return SequenceMatcher(None, first, second).ratio() >= _TYPO_RATIO


def _slipped(shorter: str, longer: str) -> bool:
    """Whether one letter is missing, or two letters beside each other have changed places."""
    at = _common_start(shorter, longer)
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    swapped = longer[:at] + longer[at : at + 2][::-1] + longer[at + 2 :]
    return shorter == swapped


def _consonants(word: str) -> str:
    """Return the consonants of ``word``, each once where it is doubled."""
    return "".join(char for char, _ in groupby(char for char in word if char not in "aeiou"))

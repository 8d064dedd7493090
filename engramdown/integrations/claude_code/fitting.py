"""Which memories are about what was said, so that a prompt is given no junk. No I/O.

Promises: any text may be passed; the order is kept; a memory that shares only everyday words with
what was said is left out, however well it ranks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from engramdown.language.words import STOP_WORDS, UNSPACED, is_inflected, spaced, word_key, word_set

__all__ = ["ENOUGH", "fitting", "is_telling", "shared"]

ENOUGH: Final = 1.5
"""What the words that two texts share have to weigh."""

_WORD: Final = re.compile(r"[^\W_]+")
_LONE: Final = re.compile(f"[{UNSPACED}]")
_SHORT: Final = 3
_LITTLE: Final = 0.5
_FULL: Final = 1.0
_RARE: Final = 1.5
_RARE_COUNT: Final = 2
_RARE_SHARE: Final = 0.05
_MOST_WORDS: Final = 200
# What people say to a coding agent whatever it is about.
_EVERYDAY: Final = word_set(
    "add adding another bug build call change check code create day delete do done edit error "
    "everything explain fail fails failing file files find first fix following function get give "
    "go good handle help implement improve issue keep know last let like line lines list look "
    "make method module name need new next ok old one open part problem project put read refactor "
    "remove rename repo result return review right run running second see set show simple sorry "
    "start stop sure task tell test tests text thank thanks thing things time today try two type "
    "update use used using value version want way word work works write writing wrong yes you"
)


def fitting(said: str, texts: Sequence[str], rare_among: int = 0) -> list[int]:
    """Return the positions of the texts that are about what was ``said``.

    Args:
        said: What a person wrote, or what a tool said.
        texts: Memories.
        rare_among: How many memories there are, if ``texts`` are only those that hold a word of it.

    >>> fitting("deploy to staging", ["Staging runs on port 8081", "Deploy from main only"])
    [0, 1]
    >>> fitting("please fix the failing test", ["Run the tests before a push", "Use uv"])
    []
    """
    words = _words(said)
    there = [frozenset(_words(text)) for text in texts]
    hits = [[word for word in words if _holds(each, word)] for each in there]
    counts = Counter(word for each in hits for word in each)
    most = max(_RARE_COUNT, int(max(rare_among, len(texts)) * _RARE_SHARE))
    return [
        at
        for at, each in enumerate(hits)
        if sum(_weight(word, counts[word] <= most) for word in each) >= ENOUGH
    ]


def is_telling(said: str) -> bool:
    """Whether any memory could be about what was ``said``.

    >>> is_telling("thanks, go on"), is_telling("staging?")
    (False, True)
    """
    return sum(_weight(word, is_rare=True) for word in _words(said)) >= ENOUGH


def shared(said: str, text: str) -> float:
    """Return what the words weigh that two texts share, where nothing tells what is rare.

    >>> shared("the linter is red", "Which linter do we use?"), shared("hello", "")
    (1.0, 0)
    """
    there = frozenset(_words(text))
    return sum(_weight(word, is_rare=False) for word in _words(said) if _holds(there, word))


def _weight(word: str, is_rare: bool) -> float:  # noqa: FBT001 - one of two kinds of word
    everyday = word in _EVERYDAY or any(is_inflected(word, each) for each in _near(word))
    if len(word) <= _SHORT or everyday:
        # A short name, such as of a tool, tells more together with another word.
        return _LITTLE
    return _RARE if is_rare else _FULL


def _near(word: str) -> Iterable[str]:
    return _BY_KEY.get(word_key(word), ())


def _holds(words: frozenset[str], word: str) -> bool:
    return word in words or any(
        word_key(each) == word_key(word) and is_inflected(word, each) for each in words
    )


def _words(text: str) -> list[str]:
    """Return the words that say what a text is about, each once."""
    found = (word.casefold() for word in _WORD.findall(spaced(text)))
    told = dict.fromkeys(word for word in found if _tells(word))
    return list(told)[:_MOST_WORDS]


def _tells(word: str) -> bool:
    return word not in STOP_WORDS and (len(word) > 1 or bool(_LONE.match(word)))


_BY_KEY: Final = {
    key: [word for word in sorted(_EVERYDAY) if word_key(word) == key]
    for key in {word_key(word) for word in _EVERYDAY}
}

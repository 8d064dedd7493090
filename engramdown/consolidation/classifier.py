"""How likely a sentence is a rule, a fact about the project or one about its writer, or nothing.

A linear model over words, pairs of words and the shape of a sentence, for what no form of words
decides. English only. Its weights are learned by ``python -m benchmarks.classifier`` from sentences
under ``tests/corpora``; pure Python, no network, some 50 microseconds a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from engramdown.language.characters import BLANK
from engramdown.language.judge import chances_of, weights_in
from engramdown.language.words import STOP_WORDS, word_set

# What a sentence may be, in the order of the weights.
CLASSES: Final = ("nothing", "rule", "lesson", "profile")
# Features are hashed into so many rows, of one signed byte a class.
ROWS: Final = 1 << 16
# What a byte of one is worth.
STEP: Final = 1 / 24
WEIGHTS: Final = Path(__file__).parent / "languages" / "english.weights"

# What is only shown, in marks of code or quotation, is one token.
_TOKEN: Final = re.compile(rf"[^\W\d_]+(?:'[^\W\d_]+)?|\d[\d.:,]*|{BLANK}+|[^\w\s]")
# Endings that tell what an unknown word may be.
_ENDINGS: Final = ("ing", "ed", "ly", "s")
_HEAD: Final = 4
_ALIKE: Final = {**dict.fromkeys("0123456789", "#"), BLANK: BLANK}


class Chances(NamedTuple):
    """How likely a sentence is each of four things; together one."""

    nothing: float
    rule: float
    lesson: float
    profile: float


def chances(words: str, signs: Iterable[str] = ()) -> Chances:
    """Return how likely a sentence is each thing.

    Args:
        words: The sentence in small letters.
        signs: What else is known of it: what a form of words takes it for, and what is around it.

    >>> chances("the build is red again").nothing > 0.5
    True
    >>> chances("no abbreviations in variable names").rule > 0.5
    True
    """
    weights = weights_in(WEIGHTS, len(CLASSES))
    return Chances(*chances_of(rows_of(words, signs), weights, STEP))


def rows_of(words: str, signs: Iterable[str] = ()) -> set[int]:
    """Return the rows of the features of a sentence in small letters, and of its signs."""
    features = (*_features(words), *map("={}".format, signs))
    return {crc32(each.encode(errors="ignore")) % ROWS for each in features}


def _features(words: str) -> Iterator[str]:
    found = _TOKEN.findall(words)
    tokens = [_ALIKE.get(token[0], token) for token in found]
    shapes = [*map(_shape, tokens)]
    yield from tokens
    yield from map("{} {}".format, tokens, tokens[1:])
    yield from map("2{} {}".format, shapes, shapes[1:])
    yield from map("3{} {} {}".format, shapes, shapes[1:], shapes[2:])
    for at, (token, shape) in enumerate(zip(tokens[:_HEAD], shapes, strict=False)):
        yield f"at{at}{token}"
        yield f"is{at}{shape}"
    yield f"head{' '.join(shapes[:3])}"
    yield f"head{' '.join(shapes[:2])}"
    yield f"tail{' '.join(shapes[-1:])}"
    yield f"tail{' '.join(shapes[-2:])}"
    yield f"long{min(len(tokens) // 3, 6)}"


@cache
def _shape(token: str) -> str:
    """Return a small word as it is, and of another one its ending."""
    if token in _SMALL or not token[0].isalpha():
        return token
    return next(
        (f"~{end}" for end in _ENDINGS if token.endswith(end) and len(token) > len(end) + 2), "~"
    )


_SMALL: Final = STOP_WORDS | word_set(
    "don't i'm it's i've we're that's let's isn't use need want like make sure new any still again "
    "today yesterday tomorrow week month year ago last next name get got been had"
)

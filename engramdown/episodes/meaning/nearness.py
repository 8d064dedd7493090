"""How near two texts are by their vectors, and how two rankings become one.

Promises: vectors may have any length, and only those of one length are compared; the same vectors
give the same order, with numpy or without. No I/O.
"""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Hashable, Sequence
from math import isfinite, sqrt
from operator import mul
from typing import Final, TypeVar

__all__ = ["fused", "nearness", "packed"]

_BY_WORDS: Final = (1.0, 5)
_BY_MEANING: Final = (0.7, 15)
"""What the first of a ranking is worth, and how slowly the next are worth less; docs/recall.md."""
_DIGITS: Final = 5
"""Of a nearness; beyond them it depends on who adds up."""

_T = TypeVar("_T", bound=Hashable)


def packed(vector: Sequence[float]) -> bytes:
    """Return a vector of length 1 in the same direction, four bytes a number.

    Raises:
        ValueError: If it is no vector.
    """
    numbers = [float(one) for one in vector]
    if not numbers or not all(map(isfinite, numbers)):
        raise ValueError("an embedding is empty, or holds what is no number")
    largest = max(map(abs, numbers)) or 1.0
    small = [one / largest for one in numbers]
    length = sqrt(sum(map(mul, small, small))) or 1.0
    return array("f", [one / length for one in small]).tobytes()


def nearness(question: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return how near each of ``vectors`` is to ``question``, from -1 to 1.

    Args:
        question: As :func:`packed` returned it.
        vectors: The same, of the same length.
    """
    try:
        # By its name, so that nobody needs it to be there.
        numpy = importlib.import_module("numpy")
    except ImportError:
        asked = array("f", question)
        found = [sum(map(mul, asked, array("f", vector))) for vector in vectors]
    else:
        table = numpy.frombuffer(b"".join(vectors), dtype=numpy.float32)
        rows = table.reshape(len(vectors), -1).astype(numpy.float64)
        found = (rows @ numpy.frombuffer(question, dtype=numpy.float32)).tolist()
    return [round(one, _DIGITS) for one in found]


def fused(by_words: Sequence[_T], by_meaning: Sequence[_T]) -> dict[_T, float]:
    """Return the score of everything that stands in a ranking: by its ranks alone.

    >>> scores = fused(["a", "b"], ["b", "c"])
    >>> sorted(scores, key=scores.__getitem__, reverse=True)
    ['b', 'a', 'c']
    """
    scores: dict[_T, float] = {}
    for ranking, (worth, slowly) in ((by_words, _BY_WORDS), (by_meaning, _BY_MEANING)):
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + worth / (slowly + rank)
    return scores

"""Learns the weights of the linear models, which sum the rows of the features that a text has.

Logistic regression, by adaptive steps; the same examples in the same order give the same weights.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["Array", "Example", "learned", "save", "softmax"]

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Example(NamedTuple):
    """The rows of the features of a text, the number of its class, and how much it counts."""

    rows: np.ndarray[tuple[int], np.dtype[np.int64]]
    kind: int
    worth: float = 1.0


def learned(
    examples: Sequence[Example], decay: Array, kinds: int, *, rounds: int, rate: float
) -> Array:
    """Return the weights that tell the classes apart, by row and class.

    Args:
        examples: What is learned from.
        decay: How much each row is pulled to zero when it is met, as a column.
        kinds: How many classes there are.
        rounds: How often all examples are gone through.
        rate: How long a step is.
    """
    dice = random.Random(1)
    weights = np.zeros((len(decay), kinds))
    squares = np.full((len(decay), kinds), 1e-2)
    order = [*examples]
    for _ in range(rounds):
        dice.shuffle(order)
        for rows, kind, worth in order:
            held = weights[rows]
            slope = softmax(held.sum(0))
            slope[kind] -= 1
            step = slope * worth + decay[rows] * held
            squares[rows] += step * step
            weights[rows] = held - rate * step / np.sqrt(squares[rows])
    return weights


def softmax(sums: Array) -> Array:
    """Return how likely each class is, by the sums of its weights."""
    powers: Array = np.exp(sums - sums.max())
    powers /= powers.sum()
    return powers


def save(path: Path, weights: Array, step: float) -> None:
    """Write the weights as signed bytes, each of which is worth ``step``."""
    path.write_bytes(np.clip(np.round(weights / step), -127, 127).astype(np.int8).tobytes())

"""Vectors are compared by their direction, and rankings by their ranks."""

from __future__ import annotations

import random
import sys
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.recall.vectors import fused, nearness, packed

VECTORS = st.lists(
    st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3).filter(any), min_size=1, max_size=9
)


@given(VECTORS)
def test_a_packed_vector_has_length_1(vectors: list[list[float]]) -> None:
    for vector in vectors:
        made = packed(vector)
        assert len(made) == 4 * len(vector)
        assert nearness(made, [made]) == [pytest.approx(1, abs=1e-5)]


@pytest.mark.parametrize("vector", [[], [float("nan")], [float("inf"), 1.0]])
def test_what_is_no_vector_is_refused(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="empty, or holds what is no number"):
        packed(vector)


def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    assert nearness(packed([1, 2]), [packed([0, 0])]) == [0.0]


def test_the_real_numpy_gives_the_same() -> None:
    pytest.importorskip("numpy")
    dice = random.Random(1)
    blocks = [packed([dice.uniform(-1, 1) for _ in range(384)]) for _ in range(50)]
    found = nearness(blocks[0], blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)
        assert nearness(blocks[0], blocks) == found


def test_without_numpy_it_is_counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = nearness(packed([1, 0]), [packed([2, 0]), packed([0, 3]), packed([-1, -1])])
    assert found == [1.0, 0.0, -0.70711]


class Table:
    """As much of numpy's array as is used."""

    def __init__(self, numbers: Sequence[float]) -> None:
        """Hold numbers, in one row."""
        self.numbers = numbers
        self.rows = 1

    def reshape(self, rows: int, _: int) -> Table:
        self.rows = rows
        return self

    def astype(self, _: object) -> Table:
        return self

    def __matmul__(self, other: Table) -> Table:
        """Multiply each row with a vector."""
        size = len(self.numbers) // self.rows
        parts = [self.numbers[at * size : (at + 1) * size] for at in range(self.rows)]
        return Table([sum(map(float.__mul__, part, other.numbers)) for part in parts])

    def tolist(self) -> list[float]:
        return list(self.numbers)


class Numpy:
    """As much of numpy as is used."""

    float32 = "f"
    float64 = "d"

    @staticmethod
    def frombuffer(data: bytes, dtype: str) -> Table:
        return Table(array(dtype, data).tolist())


def test_with_numpy_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", Numpy)
    found = nearness(packed([1, 0]), [packed([2, 0]), packed([0, 3]), packed([-1, -1])])
    assert found == [1.0, 0.0, -0.70711]


def test_what_stands_in_both_rankings_comes_first() -> None:
    scores = fused(["a", "b"], ["c", "b"])
    assert sorted(scores, key=scores.__getitem__, reverse=True) == ["b", "a", "c"]
    assert fused([], []) == {}


def test_the_first_by_words_comes_before_what_meaning_alone_finds() -> None:
    words, meaning = [f"w{at}" for at in range(9)], [f"m{at}" for at in range(9)]
    scores = fused(words, meaning)
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    assert order[:10] == [*words[:9], "m0"]

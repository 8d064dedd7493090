"""The classifier knows for what they are sentences that no form of words knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.classifier import CLASSES, ROWS, WEIGHTS, chances, rows_of
from engramdown.consolidation.sentences import weighed
from tests.tables import every


@every(
    "words, expected",
    [
        ("the build is red again", "nothing"),
        ("rename the helper and rerun the tests", "nothing"),
        ("no passwords in log files", "rule"),
        ("every invoice needs a number", "rule"),
        ("the vendor's sandbox is wiped every sunday", "lesson"),
        ("i teach physics at a vocational school", "profile"),
    ],
)
def test_it_tells_apart_what_is_said(words: str, expected: str) -> None:
    (clause,) = weighed(words)
    chance = chances(*clause)._asdict()
    assert max(chance, key=chance.__getitem__) == expected


@given(st.text())
def test_any_text_has_chances_that_are_one_together(text: str) -> None:
    assert sum(chances(text)) == pytest.approx(1)
    assert all(row < ROWS for row in rows_of(text))


def test_there_is_a_weight_for_each_row_and_class() -> None:
    assert WEIGHTS.stat().st_size == ROWS * len(CLASSES)

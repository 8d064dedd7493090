"""`engramdown.language.meaning`: what contradicts a statement, and what says it again.

`meaning.tsv` has pairs: what the second is to the first (it cannot hold beside it, can hold beside
it, says it again, says something else), what the pair tries, and the two.
"""

from __future__ import annotations

import re
from itertools import product
from unittest.mock import Mock

import pytest
from hypothesis import given

from engramdown.language import meaning
from engramdown.language.meaning import (
    Statements,
    contradict,
    read_meaning,
    says_again,
    sort_of,
)
from tests.cortex.entries import any_text
from tests.language import table
from tests.tables import every


@every("what, known, text", table("meaning.tsv"))
def test_two_statements(what: str, known: str, text: str) -> None:
    assert contradict(known, text) == contradict(text, known)
    if what in ("contradict", "together"):
        assert contradict(known, text) == (what == "contradict")
    if what in ("again", "other", "contradict"):
        assert says_again(text, known) == (what == "again")


@given(any_text, any_text)
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert contradict(one, other) == contradict(other, one)
    assert not contradict(one, one)


def test_many_statements_are_searched_as_two_are_compared() -> None:
    rows = table("meaning.tsv")
    texts = [text for row in rows for text in row.values[1:]]
    known = Statements(texts)
    assert [*known.pairs(contradict)] == [
        (at, later)
        for later, text in enumerate(texts)
        for at in range(later)
        if contradict(texts[at], text)
    ]
    assert [*known.contradicted("Use poetry")][:1] == [texts.index("Use uv")]
    assert all(
        at in [*known.said_again(text)]
        for at, text in enumerate(texts)
        if read_meaning(text).concepts
    )


@pytest.mark.slow
def test_one_is_compared_with_few_of_many_that_are_alike() -> None:
    known = Statements(
        f"Room {at} of the house is green, and {at} is its number" for at in range(2_500)
    )
    compared = Mock(return_value=False)
    assert not [*known.pairs(compared)]
    assert compared.call_count <= 40 * 1_000


def test_other_numbers_tell_two_apart_as_a_closer_look_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = [text for row in table("meaning.tsv") for text in row.values[1:]]
    texts = [text for text in told if re.search(r"\d|two|three|five|half|twice", text)]
    texts += ["Room 3 is green", "room  3 is GREEN.", "Room three is green", "Room 30 is green"]
    pairs = [*product(texts, texts)]
    again = [says_again.__wrapped__(*pair) for pair in pairs]
    assert 0 < sum(again) < len(pairs)
    monkeypatch.setattr(f"{meaning.__name__}._numbers", lambda _: (0,))
    assert [says_again.__wrapped__(*pair) for pair in pairs] == again


def test_of_two_with_other_numbers_little_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{meaning.__name__}.is_rewording", Mock(side_effect=AssertionError))
    assert not says_again("Moor at pier 3 only", "Moor at pier 4 only")


def test_a_word_is_of_a_sort_in_any_form() -> None:
    assert sort_of("Thursdays") == sort_of("thu") == "WEEKDAY"
    assert sort_of("get_users") == ""

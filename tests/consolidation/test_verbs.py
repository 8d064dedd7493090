"""What begins as an order does."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_reader import is_order


@pytest.mark.parametrize(
    "words",
    ["push to main", "also please run it", "dry-run it", "rebase-merge", "namespacify the x"],
)
def test_a_plain_form_begins_an_order(words: str) -> None:
    assert is_order(words)


@pytest.mark.parametrize(
    "words",
    ["", "...", "mind", "the same", "pushes", "pushed", "pushing", "see it fail", "get an error"],
)
def test_another_form_and_what_happens_to_one_begin_none(words: str) -> None:
    assert not is_order(words)
    assert not is_order(words, surely=True)


def test_an_unknown_word_is_a_verb_where_an_order_is_sure() -> None:
    assert not is_order("kotlinise")
    assert is_order("kotlinise", surely=True)
    assert is_order("canvas", surely=True)

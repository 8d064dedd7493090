"""The estimate of tokens."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from engramdown.tokens import estimate_tokens
from tests import laws, strategies


@pytest.mark.parametrize(
    "text, tokens",
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("a", 1, id="one"),
        pytest.param("abcd", 1, id="four"),
        pytest.param("abcde", 2, id="five"),
        pytest.param("é", 1, id="two-bytes"),
        pytest.param("记忆", 2, id="six-bytes"),
        pytest.param("abc记", 2, id="mixed-rounds-up-once"),
        pytest.param("\U0001f600", 2, id="four-bytes"),
        pytest.param("\udc80", 1, id="half-a-character"),
    ],
)
def test_an_estimate(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(strategies.any_text, strategies.any_text)
@example("abc", "d")
@example("记", "a")
def test_a_whole_costs_no_more_than_its_parts(first: str, second: str) -> None:
    laws.joining_costs_no_more(first, second)

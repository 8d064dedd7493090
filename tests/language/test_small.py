"""`engramdown.language.similarity`: small words that turn a claim."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.language.similarity import asks, turns
from tests.cortex.entries import any_text


@pytest.mark.parametrize(
    "a, b, why",
    [
        pytest.param("He pays Ann", "She pays Ann", "a small word (he / she)", id="who"),
        pytest.param("a or b", "a and b", "a small word (none / or)", id="or"),
        pytest.param("Due by noon", "Due at noon", "a small word (at / by)", id="by"),
        pytest.param("Run tests", "Make tests", "a word (make / run)", id="doing"),
        pytest.param("The user lives in Rome", "The store lives in Rome", "a word (store / user)",
                     id="user"),
        pytest.param("The user used to smoke", "The user smokes", "what was, and what is",
                     id="used-to"),
        pytest.param("Ann approved it", "Ann approves it", "what was, and what is", id="past"),
        pytest.param("Ann kept it", "Ann keeps it", "what was, and what is", id="irregular-past"),
        pytest.param("Mock the parser", "Mock the parse", "a word (parser)", id="who-does-it"),
    ],
)  # fmt: skip
def test_what_may_turn_a_claim_is_told(a: str, b: str, why: str) -> None:
    assert turns(a, b) == turns(b, a) == why


@pytest.mark.parametrize(
    "a, b, asked",
    [
        pytest.param("Use a cache", "The cache is used", False, id="harmless"),
        pytest.param("Meet in Rome", "Meet at Rome", True, id="preposition"),
        pytest.param("Errors are logged", "Log errors", True, id="passive"),
        pytest.param("Feed the cat", "Feed the cats", False, id="plural"),
        pytest.param("Offer a discount", "A discount is offered", True, id="no-agent"),
        pytest.param("Seed the lawn", "Seeding the lawn", True, id="no-past"),
        pytest.param("Keep it in Rome", "It lives in Rome", True, id="one-thing-to-do"),
        pytest.param("Feed the cat", "Feed cats and dogs", True, id="more"),
        pytest.param("Feed my cat", "Feed the cat", False, id="whose-else"),
        pytest.param("Feed my cat", "Feed your cat", True, id="whose"),
        pytest.param("Mock the fast parser", "Mock the fast parsers", False, id="two-agents"),
    ],
)
def test_what_turns_nothing_may_still_be_asked_about(a: str, b: str, asked: bool) -> None:  # noqa: FBT001 - the expected answer
    assert turns(a, b) == ""
    assert asks(a, b) == asks(b, a) == asked


@given(any_text, any_text)
def test_any_two_texts_are_compared_alike_from_both_sides(a: str, b: str) -> None:
    assert turns(a, b) == turns(b, a)
    assert asks(a, b) == asks(b, a)
    assert turns(a, a) == ""
    assert not asks(a, a)

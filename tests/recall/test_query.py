"""What kind of answer is waited for, and what looks like one."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given

from engramdown.recall.query import Sign, asks, says, says_name, told, wants
from tests.episodes.strategies import texts


@pytest.mark.parametrize(
    "question, found",
    [
        pytest.param("When did she move?", {"time"}, id="when"),
        pytest.param("What month was it?", {"time"}, id="what-month"),
        pytest.param("How many cats?", {"number"}, id="how-many"),
        pytest.param("What should I pack?", {"advice"}, id="should"),
        pytest.param("What are some good tools?", {"advice"}, id="what-are-some"),
        pytest.param("Where does she live?", {"name"}, id="where"),
        pytest.param("What was the first book?", {"name"}, id="what-book"),
        pytest.param("What on whenever?", set(), id="nothing"),
        pytest.param("", set(), id="empty"),
    ],
)
def test_wants(question: str, found: set[str]) -> None:
    assert wants(question) == found


@pytest.mark.parametrize(
    "sign, text",
    [
        pytest.param("time", "We met last week", id="time"),
        pytest.param("time", "it was in 2019", id="year"),
        pytest.param("number", "I have 3 of them", id="digits"),
        pytest.param("number", "Twice, in fact", id="number-word"),
        pytest.param("wish", "Always show units when I ask for sums", id="always"),
        pytest.param("wish", "Well, I prefer tea", id="prefer"),
        pytest.param("first person", "That is MY cat", id="my"),
    ],
)
def test_what_a_text_says(sign: Sign, text: str) -> None:
    assert says(sign, text)


@pytest.mark.parametrize(
    "sign, text",
    [
        pytest.param("time", "At the seaside", id="time"),
        pytest.param("number", "None of them", id="number"),
        pytest.param("wish", "She always sings", id="wish"),
        pytest.param("first person", "That is its tail in Miami", id="first-person"),
    ],
)
def test_what_a_text_does_not_say(sign: Sign, text: str) -> None:
    assert not says(sign, text)


def test_a_question_is_asked_at_the_end() -> None:
    assert asks("Nice! Where was it? :)")
    assert not asks("Why? " + "Because it was so. " * 8)


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param("We met in Lisbon", "yes", id="name"),
        pytest.param('He read, "Emma"', "yes", id="quoted"),
        pytest.param("Lisbon. It was hot", "no", id="first-in-its-sentence"),
        pytest.param("Well, I think I'm with Ana", "no", id="known"),
        pytest.param("so with Ana and Bo", "yes", id="one-that-is-not-known"),
    ],
)
def test_a_name_is_written_large_inside_a_sentence(text: str, found: str) -> None:
    assert says_name(text, {"ana"}) is (found == "yes")


def test_what_is_told_is_no_question() -> None:
    assert told("I see. Why?") == 1 - 5 / 11
    assert told("") == told("I see.") == told("I see! So") == 1
    assert told("Why? How") > told("Why? How?") == 0


@given(texts)
def test_any_text_may_be_looked_at(text: str) -> None:
    assert wants(text) <= {"time", "number", "name", "advice"}
    assert 0 <= told(text) <= 1
    assert says_name(text, set()) or not says_name(text, {"so"})
    assert asks(text) in {True, False}
    for sign in get_args(Sign):
        assert says(sign, text) in {True, False}

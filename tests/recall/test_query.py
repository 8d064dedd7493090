"""What kind of answer is waited for, and what looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.recall.query import (
    asks,
    says_i,
    says_name,
    says_number,
    says_reason,
    says_time,
    says_wish,
    told,
    wants,
)
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
        pytest.param("What drove him, and for what reason?", {"reason"}, id="reason"),
        pytest.param("What inspired her?", {"reason"}, id="inspired"),
        pytest.param("What on whenever?", set(), id="nothing"),
        pytest.param("", set(), id="empty"),
    ],
)
def test_wants(question: str, found: set[str]) -> None:
    assert wants(question) == found


@pytest.mark.parametrize(
    "says, text",
    [
        pytest.param(says_time, "We met last week", id="time"),
        pytest.param(says_time, "it was in 2019", id="year"),
        pytest.param(says_number, "I have 3 of them", id="digits"),
        pytest.param(says_number, "Twice, in fact", id="number-word"),
        pytest.param(says_wish, "Always show units when I ask for sums", id="always"),
        pytest.param(says_wish, "Well, I prefer tea", id="prefer"),
        pytest.param(says_reason, "We did it to help them", id="reason"),
        pytest.param(says_i, "That is MY cat", id="my"),
        pytest.param(asks, "Nice! Where was it? :)", id="question-near-the-end"),
    ],
)
def test_what_a_text_says(says: object, text: str) -> None:
    assert callable(says)
    assert says(text) is True


@pytest.mark.parametrize(
    "says, text",
    [
        pytest.param(says_time, "At the seaside", id="time"),
        pytest.param(says_number, "None of them", id="number"),
        pytest.param(says_wish, "She always sings", id="wish"),
        pytest.param(says_reason, "We did it", id="reason"),
        pytest.param(says_i, "That is its tail in Miami", id="first-person"),
        pytest.param(asks, "Why? " + "Because it was so. " * 8, id="question-long-ago"),
    ],
)
def test_what_a_text_does_not_say(says: object, text: str) -> None:
    assert callable(says)
    assert says(text) is False


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
    assert wants(text) <= {"time", "number", "name", "reason", "advice"}
    assert 0 <= told(text) <= 1
    assert says_name(text, set()) or not says_name(text, {"so"})
    for says in (says_time, says_number, says_reason, says_wish, says_i, asks):
        assert says(text) in {True, False}

"""What kind of answer is waited for, and what looks like one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given

from engramdown.language.terms import words
from engramdown.recall.query import (
    MOST_TERMS,
    Query,
    Sign,
    asks,
    nameless,
    read_query,
    says,
    says_name,
    statement_share,
    wants,
)
from tests.episodes.strategies import texts
from tests.tables import every


@every(
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
    "sign, text, found",
    [
        ("time", "We met last week", True),
        ("time", "it was in 2019", True),
        ("time", "At the seaside", False),
        ("time", "You may ask them", False),
        ("number", "I have 3 of them", True),
        ("number", "Twice, in fact", True),
        ("number", "None of them", False),
        ("wish", "Always show units when I ask for sums", True),
        ("wish", "Well, I prefer tea", True),
        ("wish", "She always sings", False),
        ("first person", "That is MY cat", True),
        ("first person", "That is its tail in Miami", False),
    ],
)
def test_what_a_text_says(sign: Sign, text: str, *, found: bool) -> None:
    assert says(sign, text) is found


def test_a_question_is_asked_at_the_end() -> None:
    assert asks("Nice! Where was it? :)")
    assert not asks("Why? " + "Because it was so. " * 8)


@every(
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
    assert statement_share("I see. Why?") == 1 - 5 / 11
    assert statement_share("") == statement_share("I see.") == statement_share("I see! So") == 1
    assert statement_share("Why? How") > statement_share("Why? How?") == 0


@given(texts)
def test_any_text_may_be_looked_at(text: str) -> None:
    assert wants(text) <= {"time", "number", "name", "advice"}
    assert 0 <= statement_share(text) <= 1
    assert says_name(text, set()) or not says_name(text, {"so"})
    assert asks(text) in {True, False}
    for sign in get_args(Sign):
        assert says(sign, text) in {True, False}


# ---- what a question asks for ----

PEOPLE = ["Caroline", "Melanie", "Will", "Ana Sol", "小明"]


def asked(query: Query) -> list[str]:
    return [word for term in query.terms for word in term.words]


@every(
    "text, found",
    [
        pytest.param("What is the kayak for?", ["kayak"], id="stop-words"),
        pytest.param("What does Caroline's kayak cost?", ["kayak", "cost"], id="speaker"),
        pytest.param("Kayak, kayaks and KAYAKING", ["kayak"], id="once"),
        pytest.param("what is it", ["what", "is", "it"], id="stop-words-only"),
        pytest.param("Caroline", ["caroline"], id="speaker-only"),
        pytest.param("日本語は", ["日本", "本語", "語は"], id="pairs"),
        pytest.param("用 kayak", ["用", "kayak"], id="one-character"),
        pytest.param("", [], id="empty"),
        pytest.param("?! 🎉", [], id="no-words"),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    assert asked(read_query(text, PEOPLE)) == found


@every(
    "text, names",
    [
        pytest.param("Did caroline call MELANIE?", {"caroline", "melanie"}, id="two"),
        pytest.param("Carolines", set(), id="longer"),
        pytest.param("What will she do?", set(), id="stop-word"),
        pytest.param("Ask Ana", {"ana sol"}, id="one-of-two-names"),
        pytest.param("小明在哪里", {"小明"}, id="no-spaces"),
        pytest.param("小在明", set(), id="not-the-whole-name"),
    ],
)
def test_names(text: str, names: set[str]) -> None:
    assert read_query(text, PEOPLE).names == names


@every(
    "text, left",
    [
        ("What did Caroline say?", "What did say?"),
        ("Caroline\u2019s dog and CAROLINE'S cat", "dog and cat"),
        ("Caroline", "Caroline"),
        ("Will Will Smith come?", "Will Will come?"),
        ("Carolines of the world", "Carolines of the world"),
        ("\u5c0f\u660e\u559c\u6b22\u4ec0\u4e48", "\u5c0f\u660e\u559c\u6b22\u4ec0\u4e48"),
    ],
)
def test_names_are_taken_out_where_something_is_left(text: str, left: str) -> None:
    assert nameless(text, ["Caroline", "Will Smith", "\u5c0f\u660e"]) == left


@given(texts)
def test_without_speakers_a_question_stays(text: str) -> None:
    assert nameless(text, []).split() == text.split()


def test_who_speaks_nowhere_is_a_word() -> None:
    assert asked(read_query("Caroline's kayak")) == ["caroline", "kayak"]


@every(
    "text, phrases",
    [
        pytest.param("the Red kayak?", ("the red kayak",), id="question"),
        pytest.param(
            'who said "so long" to me', ('who said "so long" to me', "so long"), id="quote"
        ),
        pytest.param("kayak", (), id="one-word"),
        pytest.param('"kayak"', (), id="one-word-quoted"),
        pytest.param("“到此 为止”", ("到此 为止", "到此 为止"), id="curly"),
    ],
)
def test_phrases(text: str, phrases: tuple[str, ...]) -> None:
    assert read_query(text).phrases == phrases


def test_wants_and_dates_are_read() -> None:
    query = read_query("When did we meet last week?", now=datetime(2026, 3, 1, tzinfo=UTC))
    assert query.wants == {"time"}
    assert query.dates.span is not None


def test_of_a_pasted_log_the_beginning_and_the_end_are_asked() -> None:
    pasted = " ".join(f"word{number}" for number in range(1000))
    found = asked(read_query(pasted))
    assert len(found) == MOST_TERMS
    assert {"word0", "word999"} <= set(found)


@given(texts)
def test_every_string_is_a_question(text: str) -> None:
    query = read_query(text, PEOPLE)
    assert query == read_query(text, PEOPLE)
    assert len(query.terms) <= MOST_TERMS
    assert bool(query.terms) == bool(words(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a",
            "?",
            "kayak ",
            '"',
            "日",
            "7 may ",
            "a couple of ",
            "last ",
            "May 1, ",
            "\u0301",
            "when ",
        )
    ],
)
def test_a_long_hostile_question_is_read_at_once(piece: str) -> None:
    # In linear time some 20 ms, in quadratic time minutes.
    query = read_query(piece * (200_000 // len(piece)), PEOPLE)
    assert len(query.terms) <= 2

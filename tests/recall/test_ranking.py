"""The laws of ranking, on evidence that is gathered from texts right here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.language.terms import stems
from engramdown.recall import ranking as room
from engramdown.recall.lines import CHUNK
from engramdown.recall.query import Query, read_query
from engramdown.recall.ranking import (
    WEIGHTS,
    Evidence,
    Mark,
    Ranked,
    Weights,
    candidates,
    idf,
    rank,
    reread,
    worths,
)
from tests.episodes.strategies import texts

DAY = 86_400.0
PEOPLE = ["Ana", "Ben"]


class Said(NamedTuple):
    """One turn."""

    text: str
    speaker: str = "user"
    session: int = 0
    at: float = 0.0


def found(query: Query, told: Sequence[Said]) -> tuple[Evidence, dict[int, str]]:
    counts: dict[int, int] = {}
    marks: dict[int, Mark] = {}
    said: dict[int, str] = {}
    for one in told:
        seq = counts[one.session] = counts.get(one.session, 0) + 1
        key = one.session << 24 | seq
        length = len(stems(one.text))
        marks[key] = Mark(one.at, one.speaker.lower(), one.speaker == "user", length)
        said[key] = one.text
    roots = {key: set(stems(text)) for key, text in said.items()}
    keys = [
        {key for key, held in roots.items() if held.intersection(term.stems)}
        for term in query.terms
    ]
    return Evidence(keys, [len(held) for held in keys], len(said), marks), said


def answer(question: str, told: Sequence[Said], weights: Weights = WEIGHTS) -> list[str]:
    query = read_query(question, PEOPLE)
    evidence, said = found(query, told)
    ranked = rank(query, evidence, said, weights)
    return [said[one.key] for one in reread(query, ranked, said, weights)]


def chat(*lines: str, session: int = 0) -> list[Said]:
    """Ana and Ben in turn."""
    return [Said(line, PEOPLE[at % 2], session) for at, line in enumerate(lines)]


def test_nothing_answers_where_no_word_is_near() -> None:
    assert answer("kayak", [Said("tents")]) == []
    assert answer("kayak", []) == []
    assert answer("", [Said("kayak")]) == []


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    told = [Said(f"the boat {at}", session=at) for at in range(8)]
    told += [Said("the kayak", session=9)]
    assert answer("boat kayak", told)[0] == "the kayak"
    assert idf(1, 9) > idf(8, 9) > 0


def test_a_word_of_asking_is_worth_half() -> None:
    query = read_query("kind kayak")
    kind, kayak = worths(query, [3, 3], 10)
    assert kind * 2 == kayak


def test_an_answer_needs_no_word_of_its_question() -> None:
    told = chat("What is the kayak made of?", "Of birch.", "I see.", *["So it is."] * 6, "Bye now.")
    best = answer("What is Ben's kayak made of?", told)
    assert set(best[:2]) == {"Of birch.", "What is the kayak made of?"}
    assert "Bye now." not in best


def test_neighbours_help_in_their_own_session_only() -> None:
    told = [Said("the kayak", "Ana"), Said("red", "Ben"), Said("blue", "Ben", session=1)]
    assert answer("kayak", told) == ["the kayak", "red"]


def test_what_is_no_candidate_helps_and_does_not_come_itself() -> None:
    query = read_query("kayak")
    evidence, said = found(query, chat("the kayak", "yes", "a long way from here"))
    chosen = [key for key, text in said.items() if text == "yes"]
    assert [one.key for one in rank(query, evidence, chosen)] == chosen


def test_neighbours_help_short_turns_more() -> None:
    told = chat("yes", "the kayak", "so " * 200)
    best = answer("kayak", told)
    assert best.index("yes") < best.index("so " * 200)


def test_a_short_turn_says_it_more_than_a_long_one() -> None:
    told = [Said("kayak " + "so " * 300), Said("a kayak", session=1)]
    assert answer("kayak", told)[0] == "a kayak"


def test_a_session_that_answers_well_lifts_its_turns() -> None:
    told = [Said("a boat", at=1.0)]
    told += [Said("the boat", session=1), *[Said("so", session=1)] * 4]
    told += [Said("boat and kayak", session=1)]
    best = answer("boat kayak", told)
    assert best[0] == "boat and kayak"
    assert best.index("the boat") < best.index("a boat")
    alone = answer("boat kayak", told, WEIGHTS._replace(session=0.0))
    assert alone.index("the boat") > alone.index("a boat")


def test_who_is_asked_about_comes_first() -> None:
    told = [Said("a red kayak", "Ana"), Said("a red kayak!", "Ben", session=1)]
    assert answer("Ana's kayak", told)[0] == "a red kayak"
    assert answer("Ben's kayak", told)[0] == "a red kayak!"


def test_what_a_person_says_comes_before_what_an_assistant_says() -> None:
    told = [Said("my kayak"), Said("the kayak", "assistant", session=1)]
    assert answer("kayak", told) == ["my kayak", "the kayak"]


def test_a_time_that_is_named_counts() -> None:
    first = datetime(2024, 3, 5, tzinfo=UTC).timestamp()
    told = [
        Said("kayak one", session=1, at=first),
        Said("kayak two", session=2, at=first + 10 * DAY),
        Said("kayak three", session=3, at=first + 60 * DAY),
    ]
    assert answer("kayak in May 2024", told)[0] == "kayak three"
    assert answer("kayak in March 2024", told)[-1] == "kayak three"
    assert answer("kayak on March 15", told) == ["kayak two", "kayak one", "kayak three"]
    assert answer("kayak on March 5", told) == ["kayak one", "kayak two", "kayak three"]


@pytest.mark.parametrize(
    "question, better, other",
    [
        pytest.param(
            "When was the kayak built?", "the kayak, last year", "the kayak of Bo", id="time"
        ),
        pytest.param("How many kayaks?", "seven of the kayaks", "none of the kayaks", id="number"),
        pytest.param(
            "Who has the kayak?", "then Bo had the kayak", "old as the kayak is", id="name"
        ),
        pytest.param(
            "What kayak should I take?",
            "For my kayak I prefer it light",
            "The old kayak is right up there",
            id="wish",
        ),
    ],
)
def test_what_looks_like_an_answer_comes_first(question: str, better: str, other: str) -> None:
    told = [Said(better), Said(other, session=1, at=1.0)]
    assert answer(question, told) == [better, other]
    assert answer("kayak", told) == [other, better]


@pytest.mark.parametrize(
    "question", ["Which kayak did you recommend?", "your advice on a kayak", "Summarize my kayaks"]
)
def test_what_the_assistant_said_comes_first_when_that_is_asked_for(question: str) -> None:
    told = [Said("a red kayak", "assistant"), Said("the red kayak", session=1, at=1.0)]
    assert answer(question, told)[0] == "a red kayak"
    assert answer("Which kayak did I choose?", told)[0] == "the red kayak"


def test_two_orders_that_stand_are_lifted_if_they_share_a_word_with_the_question() -> None:
    orders = [Said(f"Always wax a kayak {at} times", session=at, at=at) for at in range(3)]
    other = Said("We carry that kayak up here", session=4, at=9.0)
    best = answer("kayak", [*orders, other, Said("Never run", session=4)])
    assert best.index(other.text) == 2
    assert answer("boat", [Said("Always wax the kayak"), Said("boat")])[0] == "boat"


def test_an_assistant_has_no_wishes() -> None:
    told = [
        Said("Always name the kayak first", "assistant"),
        Said("So goes the old kayak", "assistant", 1, 1.0),
    ]
    assert answer("Which kayak should I take?", told)[0] == "So goes the old kayak"


def test_who_is_asked_about_speaks_in_the_first_person() -> None:
    told = [Said("my kayak", "Ana"), Said("a kayak", "Ana", session=1, at=1.0)]
    assert answer("Ana's kayak", told) == ["my kayak", "a kayak"]
    assert answer("kayak", told) == ["a kayak", "my kayak"]


def test_between_people_what_is_told_comes_before_what_is_asked() -> None:
    told = [
        Said("So it is the kayak then.", "Ana"),
        Said("So is it the kayak then?", "Ana", 1, 1.0),
    ]
    assert answer("kayak", told)[0] == told[0].text
    alone = [one._replace(speaker="user") for one in told]
    assert answer("kayak", alone)[0] == told[1].text


def test_people_begin_with_what_is_new() -> None:
    told = [
        *chat("the kayak", "so", "and so", "then", "the kayak it is"),
        *chat("so", "the kayak!", session=1),
    ]
    best = answer("kayak", told)
    assert best[0] == told[0].text
    roles = [one._replace(speaker="user", at=at) for at, one in enumerate(told)]
    assert answer("kayak", roles)[0] == "the kayak!"


def test_words_that_begin_alike_count_when_a_text_is_read() -> None:
    told = [
        Said("the photographer of boats"),
        Said("the philosopher of boats", session=1, at=1.0),
        Said("the photos of boats", session=2, at=2.0),
    ]
    assert answer("photography of boats", told)[:2] == [told[2].text, told[0].text]
    # Numbers are none of each other's kin, forms of a word are the word and were counted, and what
    # stands inside a word is not its beginning.
    versions = [Said("build v12345"), Said("build v12399", session=1, at=1.0), Said("v12345 it is")]
    assert answer("builds v12345", versions)[0] == versions[0].text
    inside = [Said("build it", at=1.0), Said("build another", session=1)]
    assert answer("builds other", inside)[0] == "build it"
    assert answer("boats, boating", told[:2])[0] == told[1].text


def test_in_a_small_store_rare_words_are_worth_little_more() -> None:
    query = read_query("boat kayak")
    boat, kayak = worths(query, [5, 1], 10)
    assert kayak < 1.5 * boat
    assert worths(query, [5, 1], 10) == worths(query, [5, 1], 1000) < worths(query, [5, 1], 10**6)


def test_what_follows_a_question_is_lifted_between_people_only() -> None:
    lines = ("A kayak?", "A kayak!", "So so. " * 4, "The kayak!")
    assert answer("kayak", chat(*lines))[0] == "A kayak!"
    roles = [Said(line, "assistant") for line in lines]
    assert answer("kayak", roles)[0] == "A kayak?"


def test_the_very_words_come_first() -> None:
    told = chat(
        "A kayak, red, red", "The kayak is red", "it was a Red Kayak of birch and so on", session=1
    )
    assert answer("red kayak", [*told, Said("kayak red", "Ana", 2)])[0] == told[2].text
    assert answer('Ana had a kayak, "is red"', told)[0] == told[1].text


def test_without_texts_the_order_stays() -> None:
    query = read_query("red kayak", PEOPLE)
    evidence, said = found(query, chat("a red kayak", "a kayak?", "mine", session=3))
    ranked = rank(query, evidence, said)
    assert reread(query, ranked, {}) == ranked
    more = {**said, 1 << 24: "An older text?"}
    assert reread(query, ranked, more) == reread(query, ranked, said)
    best = {ranked[0].key: said[ranked[0].key]}
    assert reread(query, ranked, best)[1:] == ranked[1:]


def test_equals_stand_newest_first_and_then_by_key() -> None:
    told = [Said("kayak", session=at, at=when) for at, when in enumerate([1.0, 3.0, 2.0, 3.0])]
    query = read_query("kayak")
    evidence, said = found(query, told)
    order = [one.key >> 24 for one in rank(query, evidence, reversed(list(said)))]
    assert order == [1, 3, 2, 0]


lines = st.lists(
    st.builds(
        Said,
        st.lists(st.sampled_from(["kayak", "boat", "red", "when?", "I", "so"]), max_size=6).map(
            " ".join
        ),
        st.sampled_from(["user", "assistant", "Ana", "Ben", "tool_result"]),
        st.integers(0, 2),
        st.integers(0, 3).map(float),
    ),
    max_size=12,
)
questions = st.lists(
    st.sampled_from(
        ["kayak", "red", "boat", "when", "Ana", "how many", "in May", "advice", "who", "why"]
    ),
    max_size=5,
).map(" ".join)


@given(questions, lines, st.randoms(use_true_random=False))
def test_the_order_depends_on_the_evidence_alone(
    question: str, told: list[Said], dice: Random
) -> None:
    query = read_query(question, PEOPLE)
    evidence, said = found(query, told)
    keys = list(said)
    dice.shuffle(keys)
    first = reread(query, rank(query, evidence, said), said)
    assert reread(query, rank(query, evidence, keys), dict(reversed(said.items()))) == first
    assert first == sorted(first, key=lambda one: (-one.score, -one.mark.at, one.key))
    assert all(one.score > 0 for one in first)


@given(questions, lines)
def test_another_session_without_these_words_changes_only_the_idf(
    question: str, told: list[Said]
) -> None:
    query = read_query(question, PEOPLE)
    evidence, said = found(query, told)
    before = rank(query, evidence, said)
    more, more_said = found(query, [*told, Said("zebra " * 3, session=7)])
    same_idf = more._replace(total=evidence.total)
    assert rank(query, same_idf, more_said) == before


@given(texts, texts)
def test_every_string_may_be_asked_for_and_said(question: str, text: str) -> None:
    query = read_query(question)
    evidence, said = found(query, [Said(text), Said(question, session=1)])
    ranked: list[Ranked] = reread(query, rank(query, evidence, said), said)
    assert bool(ranked) == bool(query.terms)


# ---- which lines are worth ranking ----


def anything(_key: int) -> bool:
    return True


def test_what_holds_more_of_the_question_comes_first() -> None:
    terms = [[[1, 2, 3]], [[3, 4]], [[2, 3], [9]]]
    assert candidates(terms, [1.0, 2.0, 1.5], [0] * 2, anything)[:2] == [3, 2]


def test_of_equals_the_newest_come_first_whatever_their_chunks_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "MOST", CHUNK + 1)
    chosen = candidates([[range(5 * CHUNK)]], [1.0], [30, 10, 50, 20, 40], anything)
    assert chosen == [*range(3 * CHUNK - 1, 2 * CHUNK - 1, -1), 5 * CHUNK - 1]


def test_what_is_not_wanted_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 2)
    keys = list(range(10))
    assert candidates([[keys]], [1.0], [0], lambda key: key < 3) == [2, 1]
    assert candidates([[keys]], [1.0], [0], lambda key: key == 3) == [3]


def test_no_more_are_chosen_than_are_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 3)
    terms = [[[1, 2]], [[1, 2, 3, 4, 5]]]
    assert candidates(terms, [2.0, 1.0], [0], anything) == [2, 1, 5]
    assert candidates(terms, [2.0, 1.0], [0], lambda key: key != 1) == [2, 5, 4]


def test_frequent_words_add_weight_but_bring_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LONGEST_LISTS", 4)
    terms = [[[1, 2, 3]], [[2, 3, 4, 5, 6, 7]]]
    chosen = candidates(terms, [2.0, 1.0], [0], anything)
    assert set(chosen[:2]) == {2, 3}
    assert set(chosen) == {1, 2, 3}


def test_a_question_of_frequent_words_only_is_still_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "LONGEST_LISTS", 1)
    assert set(candidates([[[1, 2, 3]], []], [1.0, 1.0], [0], anything)) == {1, 2, 3}
    assert candidates([], [], [], anything) == []


def test_where_somebody_speaks_who_is_named_comes_first() -> None:
    terms = [[[1, CHUNK, CHUNK + 1]], [[1, 2, CHUNK + 1, 2 * CHUNK]]]
    chosen = candidates(terms, [2.0, 1.0], [3, 2, 1], anything, {1})
    assert chosen == [CHUNK + 1, CHUNK, 1, 2, 2 * CHUNK]

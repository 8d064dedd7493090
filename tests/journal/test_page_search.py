"""The same texts and question give the same order, and a piece is as long as it may be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramdown.journal.page_search import (
    excerpt,
    find_exact,
    may_match,
    preview,
    query_stems,
    ranked,
)
from engramdown.language.terms import stem
from tests.tables import every

WORDS = ["deploy", "deploys", "deployed", "Monday", "the", "café", "日本語", "study", "filing", "x"]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text()


@given(st.text(), st.lists(texts, max_size=6))
def test_any_question_may_be_asked(query: str, said: list[str]) -> None:
    stems = query_stems(query)
    found = ranked(stems, said)
    assert found == ranked(stems, said)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert all(may_match(said[at], stems) for at, _ in found)
    assert all(score > 0 for _, score in found)


@given(st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=20))
def test_a_word_holds_its_stem_but_for_a_letter(word: str) -> None:
    assert stem(word)[:-1] in word


@every(
    "word",
    ["conflating", "filing", "digitization", "possibility", "relational", "studies", "hesitancy"],
)
def test_a_word_that_changes_much_is_not_passed_over(word: str) -> None:
    assert may_match(f"a {word} here", query_stems(word))


def test_words_that_tell_nothing_find_only_if_there_are_no_others() -> None:
    said = ["the who", "we deploy"]
    assert [at for at, _ in ranked(query_stems("who deploys the"), said)] == [1]
    assert [at for at, _ in ranked(query_stems("who is"), said)] == [0]
    assert (
        ranked(query_stems("?!"), said)
        == ranked(query_stems("deploy"), [])
        == ranked(query_stems("x"), [""])
        == []
    )


def test_of_two_that_answer_alike_the_later_one_comes_first() -> None:
    assert [at for at, _ in ranked(query_stems("deploy"), ["deploy a", "lunch", "deploy b"])] == [
        2,
        0,
    ]


def test_the_very_string_is_found_capitals_or_not() -> None:
    assert find_exact("Straße", ["die STRASSE", "Gasse", ""]) == [(0, 1.0)]
    assert find_exact("", ["x"]) == []


@given(st.text())
def test_a_preview_is_whole_or_exactly_250_characters(text: str) -> None:
    long = text * 300
    assert preview(text[:250]) == text[:250]
    assert len(preview(long)) == min(len(long), 250)
    assert preview("é" * 251) == "é" * 249 + "…"
    assert preview("é" * 250) == "é" * 250


@given(st.integers(0, 900), st.integers(0, 900), st.integers(1, 300))
def test_a_piece_shows_what_was_found(before: int, behind: int, size: int) -> None:
    needle = "needle" * (size // 6 + 1)
    text = "a " * before + needle + " b" * behind
    shown = excerpt(text, needle, frozenset())
    assert len(shown) <= 250
    assert len(shown) == min(len(text), 250)
    assert needle[:240] in shown
    assert shown.strip("…") in text


def test_without_the_very_string_the_words_that_stand_together_are_shown() -> None:
    text = "filler " * 60 + "deploys on Mondays " + "filler " * 60
    assert "deploys on Mondays" in excerpt(
        text, "when do we deploy? monday", query_stems("deploy monday")
    )

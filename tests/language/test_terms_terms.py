"""The words of turns and questions."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.language.terms import Term, indexed, stems, term, words
from tests.episodes.strategies import texts


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param("Don't go!", ["don", "t", "go"], id="contraction"),
        pytest.param("snake_case-v2", ["snake", "case", "v2"], id="code"),
        pytest.param("CAFÉ Zu\u0308rich", ["cafe", "zurich"], id="accents"),
        pytest.param("日本語", ["日", "日本", "本", "本語", "語"], id="no-spaces"),
        pytest.param("用 x", ["用", "x"], id="one-character"),
        pytest.param("한국", ["한", "한국", "국"], id="korean"),
        pytest.param("привет мир", ["привет", "мир"], id="cyrillic"),
        pytest.param("🎉 \x00 --", [], id="none"),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_words_have_stems() -> None:
    assert stems("Planning the adoptions") == ["plan", "the", "adopt"]


@given(texts)
def test_any_text_has_words_that_are_their_own_words(text: str) -> None:
    for word in words(text):
        assert word in words(word)
        assert stems(word)


@given(texts)
def test_ascii_is_indexed_as_it_is(text: str) -> None:
    if text.isascii():
        assert indexed(text) == text


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("went", "go", id="verb"),
        pytest.param("buying", "bought", id="regular-form-of-it"),
        pytest.param("mice", "mouse", id="noun"),
        pytest.param("child", "children", id="plural"),
        pytest.param("plans", "planned", id="stem"),
    ],
)
def test_forms_of_one_word_look_for_the_same(one: str, other: str) -> None:
    assert set(term(one).stems) == set(term(other).stems)


@pytest.mark.parametrize("one, other", [("leaves", "leaf"), ("life", "live"), ("felt", "fall")])
def test_other_words_do_not(one: str, other: str) -> None:
    assert set(term(one).stems).isdisjoint(term(other).stems)


def test_every_form_is_looked_for_once() -> None:
    found = term("going")
    assert len(found.words) == len(found.stems) == len(set(found.stems))
    assert tuple(stems(" ".join(found.words))) == found.stems


def test_a_word_of_asking_counts_less() -> None:
    assert term("kinds").weight < term("zebra").weight == Term((), ()).weight


@pytest.mark.parametrize("word", ["kinds", "discussed", "brought", "telling"])
def test_words_about_a_conversation_are_worth_half(word: str) -> None:
    assert term(word).weight * 2 == term("kayak").weight == term("went").weight

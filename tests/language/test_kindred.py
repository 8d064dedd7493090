"""Words that stand for a word of a question."""

from __future__ import annotations

import pytest

from engramdown.language.kindred import kindred
from engramdown.language.terms import stem


def test_a_thing_of_a_kind_is_worth_more_than_the_kind() -> None:
    assert kindred(stem("package"))["uv"] > kindred("uv")["package"] > 0


@pytest.mark.parametrize("one, other", [("repair", "fix"), ("fix", "repair")])
def test_words_for_the_same_thing_stand_for_each_other(one: str, other: str) -> None:
    assert kindred(stem(one)).get(other, 0) > 0.5


@pytest.mark.parametrize("one, other", [("repair", "train"), ("zzyzx", "fix"), ("", "")])
def test_others_do_not(one: str, other: str) -> None:
    assert kindred(stem(one)).get(other, 0) <= 0.5


def test_an_unknown_word_has_none() -> None:
    assert kindred("zzyzx") == {}

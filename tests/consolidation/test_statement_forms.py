"""What a form of words is, and what all of them ask."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import Form, slips
from engramdown.consolidation.statement_reader import (
    Said,
    first_said,
    is_passing,
    is_reported,
    pattern,
)


def test_an_apostrophe_may_be_left_out() -> None:
    said = pattern(r"i don't|you've")
    assert all(map(said.fullmatch, ("i don't", "i dont", "you've", "youve")))
    assert said.fullmatch("i don t") is None


def test_a_slip_of_the_pen_keeps_the_first_letter() -> None:
    always = pattern(slips("always"))
    assert all(map(always.fullmatch, ("always", "alwyas", "alway", "aways")))
    assert not any(map(always.fullmatch, ("lways", "laways", "halways", "all ways")))


@pytest.mark.parametrize(
    "words",
    [
        "skip it for now",
        "use it in line 12",
        "in this chat only",
        "in the story",
        "this time",
        "push it tomorrow",
        "not yet",
    ],
)
def test_what_is_said_for_a_while_passes(words: str) -> None:
    assert is_passing(words)


@pytest.mark.parametrize("words", ["until it is green", "on sunday", "tomorrow"])
def test_what_belongs_to_an_always_does_not_pass(words: str) -> None:
    assert is_passing(words)
    assert not is_passing(words, firm=True)


@pytest.mark.parametrize("words", ["in this repo", "from now on", "on fridays"])
def test_what_stands_does_not_pass(words: str) -> None:
    assert not is_passing(words)


@pytest.mark.parametrize("lead", ["she said: ", "imagine ", "the docs say, ", "if it breaks, "])
def test_behind_others_words_and_thoughts_nothing_is_said(lead: str) -> None:
    assert is_reported(lead)


@pytest.mark.parametrize("lead", ["", "good, but ", "i said: ", "i told you: ", "thanks, and "])
def test_behind_a_greeting_something_is(lead: str) -> None:
    assert not is_reported(lead)


class TestReading:
    """What a form says of a clause."""

    def test_behind_a_key_only_the_group_is_kept(self) -> None:
        form = Form(r"i'm (?P<kept>\w+)", "profile", "high", "Name:")
        assert first_said((form,), "i'm ada, hi", 0) == Said("profile", "high", 4, 7, "Name:")

    def test_without_a_key_the_rest_of_the_clause_is(self) -> None:
        form = Form(r"bitte (?P<kept>\w+)", "always", "low")
        assert first_said((form,), "bitte immer so", 0) == Said("always", "low", 6, 14)
        assert first_said((Form("bitte", "always", "low"),), "bitte so", 0) == Said(
            "always", "low", 0, 8
        )

    def test_what_passes_is_read_only_by_what_lasts(self) -> None:
        assert first_said((Form("use", "always"),), "use it today", 0) is None
        assert (
            first_said((Form("use", "always", passing="lasting"),), "use it today", 0) is not None
        )
        named = Form(r"i'm (?P<kept>\w+)", "profile", "high", "Name:")
        assert first_said((named,), "i'm ada, hi today", 0) is not None
        assert first_said((named,), "i'm ada today", 0) is None

    def test_a_question_behind_it_does_not_make_it_pass(self) -> None:
        forms = (Form("i prefer", "profile", "medium"),)
        assert first_said(forms, "i prefer tea, can you get some today", 0) is not None
        assert first_said(forms, "i prefer tea today", 0) is None

    def test_the_first_form_that_fits_is_taken(self) -> None:
        forms = (Form("no", "always", "low"), Form("(?P<no>do not )?use", "always", "low"))
        assert first_said(forms, "use it", 0) == Said("always", "low", 0, 6)
        assert first_said(forms, "do not use it", 0) == Said("never", "low", 0, 13)
        assert first_said(forms, "run it", 0) is None

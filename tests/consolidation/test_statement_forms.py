"""What a form of words is, and what all of them ask."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engramdown.consolidation.statement_forms import FOREIGN, FORMS, Form, slips
from engramdown.consolidation.statement_reader import (
    Said,
    first_said,
    is_order,
    is_passing,
    is_reported,
    pattern,
    remembered,
)

_SAID: Final = (Path(__file__).parents[1] / "corpora" / "forms.txt").read_text(encoding="utf-8")
SAID: Final = [line.split(" =>") for line in _SAID.split("\n") if " =>" in line]


@pytest.mark.parametrize("said, expected", SAID)
def test_a_form_says_its_kind_and_what_is_kept_or_nothing(said: str, expected: str) -> None:
    group, _, words = said.partition(": ")
    found = first_said(FOREIGN if group == "foreign" else FORMS[group], words, 0)
    kept = found and "|".join((*found[:2], found.label, words[found.start : found.end]))
    assert (kept or "") == expected.strip()


def test_behind_a_no_something_at_hand_may_be_meant_instead() -> None:
    words = "no, use the staging key instead"
    said_so = first_said(FORMS["standing"], words, 4)
    assert said_so is not None
    assert said_so.confidence == "low"
    assert first_said(FORMS["standing"], "no, use the other one instead", 4) is None


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


@pytest.mark.parametrize(
    "words",
    ["push to main", "also please run it", "dry-run it", "rebase-merge", "namespacify the x"],
)
def test_a_plain_form_begins_an_order(words: str) -> None:
    assert is_order(words)


@pytest.mark.parametrize(
    "words",
    ["", "...", "mind", "the same", "pushes", "pushed", "pushing", "see it fail", "get an error"],
)
def test_another_form_and_what_happens_to_one_begin_none(words: str) -> None:
    assert not is_order(words)
    assert not is_order(words, surely=True)


def test_an_unknown_word_is_a_verb_where_an_order_is_sure() -> None:
    assert not is_order("kotlinise")
    assert is_order("kotlinise", surely=True)
    assert is_order("canvas", surely=True)


@pytest.mark.parametrize(
    "words",
    [
        "remember that >ci is slow",
        "remember: >the port is 5433",
        "rmember that >the port is 5433",
        "store this: >the port is 5433",
        "remember this for later - >the port is 5433",
        "please keep in mind >staging and prod share a cache",
        "don't forget that >the registry needs a vpn",
        "make a note: >the certificate expires in march",
        "remember, >this is a monorepo",
        "can you remember that >my dentist is dr. ruiz",
        "add to your memory that >the shop is closed",
    ],
)
def test_what_follows_is_remembered(words: str) -> None:
    assert remembered(words.replace(">", ""), 0) == words.index(">")


@pytest.mark.parametrize(
    "words",
    [
        "remember the milk",
        "remember that from last time",
        "remember to buy milk",
        "remember me",
        "remember that",
        "remember that it broke",
        "remember when it was easy",
        "remember, you got this",
        "i remember that it is slow",
        "don't forget milk",
    ],
)
def test_what_is_to_be_done_or_only_a_way_to_speak_is_not(words: str) -> None:
    assert remembered(words, 0) == -1

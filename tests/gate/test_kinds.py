"""The kind of a memory is found in its words, and a doubt makes a lesson."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import KINDS
from engramdown.gate.gate import kind_of


@pytest.mark.parametrize(
    "text, kind",
    [
        ("Always run the linter before pushing", "always"),
        ("always: run the linter", "always"),
        ("ALWAYS log in UTC", "always"),
        ("Please always log in UTC", "always"),
        ("Please remember to always log in UTC.", "always"),
        ("From now on, always log in UTC", "always"),
        ("We always squash before merging", "always"),
        ("You should always squash", "always"),
        ("Make sure to run the linter", "always"),
        ("Ensure that CI is green", "always"),
        ("Never push to main", "never"),
        ("Don't push to main", "never"),
        ("Don\u2019t push to main", "never"),
        ("do not push to main", "never"),
        ("You must never push to main", "never"),
        ("You must not push to main", "never"),
        ("Avoid mocks of the database", "never"),
        ("When CI is red, look at the clock first", "when"),
        ("Whenever a test fails, run it alone", "when"),
        ("If the build fails, clean first", "when"),
        ("Remember that if the build fails, you clean first", "when"),
        ("My name is Ada", "profile"),
        ("my first name is Ada", "profile"),
        ("I am a data engineer", "profile"),
        ("I'm in Berlin", "profile"),
        ("I\u2019m in Berlin", "profile"),
        ("I prefer short answers", "profile"),
        ("My time zone is Europe/Berlin", "profile"),
        ("My pronouns are they/them", "profile"),
        ("Name: Ada", "profile"),
        ("Time zone: UTC", "profile"),
        ("Call me Ada", "profile"),
        ("CoinGecko rate-limits at 50 requests a minute", "lesson"),
        ("The build needs two passes", "lesson"),
        ("Alwaysdata is our host", "lesson"),
        ("Neverland is the name of the staging server", "lesson"),
        ("Iffy tests live in tests/flaky", "lesson"),
        ("Whenceforth is a word", "lesson"),
        ("CI: needs two passes", "lesson"),
        ("Username: is not a fact about the user", "lesson"),
        ("Iambic pentameter has five feet", "lesson"),
        ("We moved to uv in March", "lesson"),
        ("It never rains here", "lesson"),
        ("- Always run the linter", "always"),
        ('"Never push to main"', "never"),
        ("please", "lesson"),
        ("", "lesson"),
        ("\n\t Always log in UTC", "always"),
    ],
)
def test_the_words_say_the_kind(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@given(st.text())
def test_every_text_has_a_kind(text: str) -> None:
    assert kind_of(text) in KINDS


@given(st.text())
def test_what_begins_with_always_is_always(text: str) -> None:
    assert kind_of(f"Always {text}") == "always"


@pytest.mark.parametrize("char", ["a", " ", "-", "'", "please ", "to ", "\u00e9"])
def test_a_megabyte_of_anything_is_read_at_once(char: str) -> None:
    assert kind_of(char * 1_000_000) == "lesson"

"""`engramdown.language.synonyms`: other words for the same."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.language.synonyms import plain
from tests.cortex.entries import any_text


@pytest.mark.parametrize(
    "text, said",
    [
        pytest.param("Put the config into the repo", "Put the configuration into the repository",
                     id="abbreviation"),
        pytest.param("Review each PR", "Review every pull-request", id="two-words"),
        pytest.param("Wait 5 mins, five minutes or 30-second", "Wait 5min, 5min or 30s", id="unit"),
        pytest.param("At 10 am and 9 p.m, 5 per cent of 2 GB", "At 10am and 9pm, 5% of 2gb",
                     id="unit-behind-a-space"),
        pytest.param("Two pens, 5 apples, v5s and 1/5 h", "Two pens, 5 apples, v5s and 1/5 h",
                     id="no-unit"),
        pytest.param("It gets sorted, it got quickly built", "It is sorted, it was quickly builded",
                     id="passive"),
        pytest.param("It gets speed", "It gets speed", id="no-passive"),
        pytest.param("It is fed, the fed is rebuilt", "It is feeded, the fed is rebuilded",
                     id="participle"),
        pytest.param("The box is called Hydra, Rex is named", "The box is Hydra, Rex is",
                     id="called"),
        pytest.param("It is named after me, a named tag", "It is named after me, a named tag",
                     id="not-called"),
        pytest.param("Above 5, less than six, above it", "over 5, under six, above it",
                     id="bound-in-words"),
        pytest.param("After fifteen minutes", "After 15min", id="number-in-words"),
        pytest.param("Wait three to five days, 3 to 5 km", "Wait 3-5 days, 3-5 km", id="range"),
        pytest.param("A two-space indent, a two-day trip", "A two space indent, a 2day trip",
                     id="counted"),
        pytest.param("Ask Ben and Ann's cat, Bo or al", "Ask Ben and Ann's cat, Bo or al",
                     id="no-two-names"),
        pytest.param("Snow is forbidden", "Snow is not", id="forbidden"),
        pytest.param("I can't stand rain", "I hate rain", id="hate"),
        pytest.param("Give names that are short.", "Give short names.", id="relative-clause"),
        pytest.param("Use a list that is sorted", "Use a list that is sorted", id="no-adjective"),
        pytest.param("Name: Ada", "user is Ada", id="name"),
        pytest.param("The user's name is Ada", "The user is Ada", id="name-in-words"),
        pytest.param("Location: Porto", "user lives in Porto", id="location"),
        pytest.param("Up to 5, no fewer than two, around 3", "at most 5, at least two, about 3",
                     id="bound"),
        pytest.param("Be up to date", "Be up to date", id="no-bound"),
        pytest.param("Prefer tea to coffee", "Prefer tea over coffee", id="preferred"),
        pytest.param("Prefer logs to be short", "Prefer logs to be short", id="not-preferred"),
        pytest.param("I'm here, it's late, we'll wait", "I am here, it is late, we will wait",
                     id="more-contractions"),
        pytest.param("Anna's cat", "Anna's cat", id="possessive"),
        pytest.param("You don't have to wait", "You do optionally wait", id="need-not"),
        pytest.param("Employs, utilised", "uses, used", id="inflected"),
        pytest.param("Begins; began; notified", "starts; started; told", id="irregular"),
        pytest.param("Verifying, modified, ends", "checking, changed, finishes", id="endings"),
        pytest.param("You can\u2019t, won't, didn't, they're, we've",
                     "You cannot, will not, did not, they are, we have", id="contractions"),
        pytest.param("Please note that it leaks", "it leaks", id="two-fillers"),
        pytest.param("Keep the whole line, really", "Keep the line, ", id="filler-inside"),
        pytest.param("Not all tests pass", "Not all tests pass", id="not-all-is-no-filler"),
        pytest.param("The user is single", "The user is single", id="single-is-no-filler"),
        pytest.param("Actually, ", "Actually, ", id="nothing-else"),
        pytest.param("`db`, db.py, my-db, --env, /tmp/db", "`db`, db.py, my-db, --env, /tmp/db",
                     id="code-stays"),
    ],
)  # fmt: skip
def test_what_is_the_same_in_other_words_is_read_alike(text: str, said: str) -> None:
    assert plain(text) == said


def test_what_is_only_likely_can_be_left_alone() -> None:
    assert plain("Execute it in the dev env", likely=False) == "Execute it in the dev environment"


@given(any_text)
def test_every_string_can_be_read_and_nothing_becomes_nothing(text: str) -> None:
    assert bool(plain(text).strip()) == bool(text.replace("*", "").strip())

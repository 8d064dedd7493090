"""`engramdown.likeness.synonyms`: other words for the same."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.likeness.synonyms import plain
from tests.cortex.entries import any_text


@pytest.mark.parametrize(
    "text, said",
    [
        pytest.param("Put the config into the repo", "Put the configuration into the repository",
                     id="abbreviation"),
        pytest.param("Review each PR", "Review every pull-request", id="two-words"),
        pytest.param("Wait 5 mins", "Wait 5 minutes", id="unit"),
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

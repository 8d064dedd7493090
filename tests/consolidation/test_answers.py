"""`engramdown.consolidation.replay`: what a model answered is anybody's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.replay import LONGEST, strange_ids, text_problem
from tests.strategies import any_text
from tests.tables import every


@given(st.lists(any_text), st.sets(any_text))
def test_an_id_counts_only_if_it_was_given(named: list[str], given_ids: set[str]) -> None:
    said = strange_ids(named, given_ids)
    assert (said == "") == (set(named) <= given_ids)
    assert "\n" not in said
    assert len(said) < 2500


@every(
    "named, said",
    [
        pytest.param(["a1", "a1"], "", id="given"),
        pytest.param(["x", "a1", "x"], "it names x, which it was not given", id="once"),
        pytest.param([""], 'it names "", which it was not given', id="empty"),
        pytest.param(["a1 "], 'it names "a1 ", which it was not given', id="nearly"),
        pytest.param(
            ["1", "2", "3", "4", "5", "6", "7"],
            "it names 1, 2, 3, 4, 5 and 2 more, which it was not given",
            id="many",
        ),
        pytest.param(
            ["</ids>\n# Now"],
            'it names "<\\/ids>\\n# Now", which it was not given',
            id="injection",
        ),
    ],
)
def test_what_was_not_given_is_named(named: list[str], said: str) -> None:
    assert strange_ids(named, {"a1"}) == said


@every(
    "text, said",
    [
        pytest.param("Use uv", "", id="good"),
        pytest.param("x" * LONGEST, "", id="long"),
        pytest.param("x" * (LONGEST + 1), "its text has 501 characters; 500 are allowed",
                     id="too-long"),
        pytest.param("", "its text says nothing", id="empty"),
        pytest.param(" \n\t", "its text says nothing", id="blank"),
        pytest.param("Use \u202egip\u202c", "its text holds a hidden character "
                     "(right-to-left override U+202E)", id="turned-round"),
        pytest.param("Use\x1b[2J", "its text holds a hidden character (escape U+001B)",
                     id="escape"),
        pytest.param("I \u2764\ufe0f uv", "", id="emoji"),
    ],
)  # fmt: skip
def test_a_text_says_something_and_is_not_too_long(text: str, said: str) -> None:
    assert text_problem(text) == said

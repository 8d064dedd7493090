"""A value is a memory that a person can read, and comes back as it was."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import InvalidEngramError
from engramdown.integrations.langgraph import LONGEST, Parts, joined, matches_filter, same, split
from tests.tables import every

_NAMES = st.sampled_from(["text", "content", "data", "kind", "$", "a.b", ""]) | st.text(max_size=3)
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
_NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(_NAMES.filter(lambda name: name.isprintable()), _JSON, max_size=5))
def test_what_is_split_is_joined_to_what_it_was(value: dict[str, Any]) -> None:
    parts = split(value)
    assert joined(parts) == value
    assert parts.text.strip()


@every(
    "value, text, field",
    [
        ({"text": "tea"}, "tea", "text"),
        ({"data": "tea"}, "tea", "data"),
        ({"memory": "tea", "n": 1}, "tea", "memory"),
        ({"kind": "Memory", "content": {"content": "tea"}}, "tea", "content.content"),
        ({"content": {"data": {"text": "tea"}}}, "tea", "content.data.text"),
        ({"content": {"data": {"text": {"text": "tea"}}}}, None, "$"),
        ({"text": " ", "data": "tea"}, "tea", "data"),
        ({"theme": "dark"}, '{"theme": "dark"}', "$"),
        ({"text": 7}, '{"text": 7}', "$"),
        ({}, "{}", "$"),
    ],
)
def test_the_words_are_what_a_person_would_read(
    value: dict[str, Any], text: str | None, field: str
) -> None:
    parts = split(value)
    assert parts.field == field
    assert text is None or parts.text == text


@every(
    "parts, value",
    [
        (Parts("coffee", "text", '{"n":1}'), {"text": "coffee", "n": 1}),
        (Parts("coffee", "content.content", '{"content":7}'), {"content": {"content": "coffee"}}),
        (
            Parts("coffee", "content.content", '{"content":{"n":1}}'),
            {"content": {"content": "coffee", "n": 1}},
        ),
        (Parts("coffee", "text", "no json"), {"text": "coffee"}),
        (Parts("coffee", "text", "[1]"), {"text": "coffee"}),
        (Parts("coffee", ""), {"text": "coffee"}),
        (Parts('{"theme": "light"}', "$"), {"theme": "light"}),
        (Parts("light", "$"), {"text": "light"}),
        (Parts("[" * 100_000, "$"), {"text": "[" * 100_000}),
    ],
)
def test_what_a_person_changes_by_hand_is_a_value(parts: Parts, value: dict[str, Any]) -> None:
    assert joined(parts) == value


def nested(levels: int) -> dict[str, Any]:
    """Return an object with so many levels."""
    found: dict[str, Any] = {}
    for _ in range(levels - 1):
        found = {"a": found}
    return found


def test_what_many_levels_hold_comes_back() -> None:
    value = {"text": "x", "n": nested(99)}
    assert joined(split(value)) == value


def test_what_a_person_nests_deeper_does_no_harm() -> None:
    deep = json.dumps(nested(500))
    assert joined(Parts(deep, "$")) == {"text": deep}
    assert joined(Parts("tea", "text", deep)) == {"text": "tea"}
    copy.deepcopy(joined(Parts("tea", "a." * 2_000)))


@pytest.mark.parametrize(
    "one, other, wanted",
    [(1, 1, True), (1, True, False), (1, 1.0, False), ((1, 2), [1, 2], True), (None, 0, False)],
)
def test_what_is_the_same_json_is_the_same(one: object, other: object, *, wanted: bool) -> None:
    assert same({"a": one, "b": 1}, {"b": 1, "a": other}) is wanted


@every(
    "value, told",
    [
        ([], "is not an object"),
        ({1: 2}, "is not an object"),
        ({"text": object()}, "cannot be kept as JSON"),
        ({"n": float("nan")}, "cannot be kept as JSON"),
        ({"text": "\ud800"}, "cannot be kept as JSON"),
        ({"text": "x" * LONGEST}, "is longer than 100,000 characters"),
        ({"text": "x", "n": nested(100)}, "has more than 100 levels"),
    ],
)
def test_what_is_no_json_is_refused(value: Any, told: str) -> None:  # noqa: ANN401 - anything
    with pytest.raises(InvalidEngramError, match=told):
        split(value)


VALUE = {"score": 4.5, "color": "red", "tags": ["a", "b"], "who": {"name": "Ada", "n": 1}}


@pytest.mark.parametrize(
    "wanted, found",
    [
        (None, True),
        ({}, True),
        ({"color": "red"}, True),
        ({"color": "blue"}, False),
        ({"size": None}, True),
        ({"score": {"$gt": 4}}, True),
        ({"score": {"$gt": 4.5}}, False),
        ({"score": {"$gte": 4.5, "$lte": "4.5"}}, True),
        ({"score": {"$lt": 4.5}}, False),
        ({"score": {"$lt": 5}}, True),
        ({"score": {"$lte": 4}}, False),
        ({"score": {"$gte": 5}}, False),
        ({"color": {"$ne": "blue", "$eq": "red"}}, True),
        ({"color": {"$gt": 1}}, False),
        ({"size": {"$lt": 1}}, False),
        ({"tags": ["a", "b"]}, True),
        ({"tags": ("a", {"$ne": "c"})}, True),
        ({"tags": ["a"]}, False),
        ({"color": ["red"]}, False),
        ({"who": {"name": "Ada"}}, True),
        ({"who": {"name": {"$eq": "Eve"}}}, False),
        ({"color": {"name": "Ada"}}, False),
    ],
)
def test_a_filter_is_read_as_by_the_store_in_memory(
    wanted: dict[str, Any] | None, *, found: bool
) -> None:
    assert matches_filter(VALUE, wanted) is found


def test_an_operator_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match=r"Unsupported operator: \$in; use one of \$eq, \$ne"):
        matches_filter(VALUE, {"score": {"$in": [1]}})

"""Whatever a model passes is read, or told it what is wrong."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.cortex.arguments import Schema, read_arguments

SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "mode": {"type": "string", "enum": ["best", "exact"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "days": {"type": "number", "minimum": 0},
        "any": {"type": "number"},
    },
    "required": ["query"],
}

JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        pytest.param({"query": "a", "limit": 50, "days": 0.5}, {}, id="object"),
        pytest.param('{"query": "a", "mode": "exact"}', {}, id="text"),
        pytest.param({"query": "a", "limit": None}, {"query": "a"}, id="null"),
        pytest.param({"query": "a", "days": 10**9, "any": -1}, {}, id="large"),
    ],
)
def test_what_fits_is_taken(arguments: Any, expected: Any) -> None:  # noqa: ANN401 - JSON
    found, wrong = read_arguments(arguments, SCHEMA)
    assert wrong == []
    if expected:
        assert found == expected


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({}, '"query" is missing'),
        (None, '"query" is missing'),
        ("", '"query" is missing'),
        ({"query": None}, '"query" is missing'),
        ({"query": 3}, '"query" is 3; it must be a string'),
        ({"query": "a", "mode": "fast"}, '"mode" is "fast"; it must be one of best, exact'),
        (
            {"query": "a", "limit": -1},
            '"limit" is -1; it must be a whole number, at least 1, at most 50',
        ),
        ({"query": "a", "limit": 51}, '"limit" is 51; it must be a whole number, at least 1'),
        ({"query": "a", "limit": 1.5}, '"limit" is 1.5'),
        ({"query": "a", "limit": "5"}, '"limit" is "5"'),
        ({"query": "a", "limit": True}, '"limit" is true'),
        ({"query": "a", "days": float("nan")}, '"days" is NaN; it must be a number, at least 0'),
        ({"query": "a", "top": 1}, '"top" is no argument; there are query, mode, limit, days'),
        ([1], "the arguments are [1]; give a JSON object"),
        ("query", 'the arguments are "query"; give a JSON object'),
        ("[" * 5_000, "give a JSON object"),
        ({"query": {"a": "b" * 100}}, "bbb…; it must be a string"),
    ],
)
def test_what_does_not_fit_is_told(arguments: Any, said: str) -> None:  # noqa: ANN401 - JSON
    _, wrong = read_arguments(arguments, SCHEMA)
    assert said in "; ".join(wrong)


@given(JSON)
def test_anything_may_come(arguments: object) -> None:
    found, wrong = read_arguments(arguments, SCHEMA)
    assert wrong or isinstance(found["query"], str)

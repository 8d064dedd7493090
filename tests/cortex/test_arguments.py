"""Whatever a model passes is read, or told it what is wrong."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from engramdown.cortex.tools import LONGEST, Arguments, read_arguments, schema_of
from tests.tables import every


class Given(Arguments):
    """What is tried."""

    query: str
    mode: Literal["best", "exact"] = "best"
    limit: Annotated[int, Field(ge=1, le=50)] = 20
    days: Annotated[float | None, Field(ge=0)] = None
    any: Annotated[float, Field(description="Any.")] = 0
    text: Annotated[str, Field(max_length=3)] = ""


class Nothing(Arguments):
    """Nothing is given."""


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        pytest.param(
            {"query": "a", "limit": 50, "days": 0.5},
            {"query": "a", "limit": 50, "days": 0.5},
            id="object",
        ),
        pytest.param('{"query": "a", "mode": "exact"}', {"query": "a", "mode": "exact"}, id="text"),
        pytest.param({"query": "a", "limit": None}, {"query": "a"}, id="null"),
        pytest.param(
            {"query": "a", "days": 10**9, "any": -1},
            {"query": "a", "days": 10**9, "any": -1},
            id="large",
        ),
    ],
)
def test_what_fits_is_taken(arguments: Any, expected: Any) -> None:  # noqa: ANN401 - JSON
    found, wrong = read_arguments(arguments, Given)
    assert wrong == []
    assert found is not None
    assert {name: getattr(found, name) for name in found.model_fields_set} == expected


@every(
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
        ({"query": "a", "top": 1}, '"top" is not an argument; there are query, mode, limit, days'),
        ({"query": "a", "text": "abcd"}, '"text" is "abcd"; it must be a string, at most 3 char'),
        ({"mode": "fast", "limit": 0}, '"query" is missing; "mode" is "fast"'),
        ([1], "the arguments are [1]; give a JSON object"),
        ("query", 'the arguments are "query"; give a JSON object'),
        ("[" * 5_000, "give a JSON object"),
        ({"query": {"a": "b" * 100}}, "bbb…; it must be a string"),
    ],
)
def test_what_does_not_fit_is_told(arguments: Any, said: str) -> None:  # noqa: ANN401 - JSON
    _, wrong = read_arguments(arguments, Given)
    assert said in "; ".join(wrong)


@pytest.mark.slow
def test_what_cannot_be_shown_is_told_too() -> None:
    ring: dict[str, object] = {}
    ring["ring"] = ring
    deep: object = "deep"
    for _ in range(100_000):
        deep = [deep]
    for value in (ring, deep, 10**5_000, {("a",): 1}):
        _, wrong = read_arguments({"query": value}, Given)
        kind = type(value).__name__
        assert wrong == [f'"query" is a {kind} that cannot be shown; it must be a string']


@given(JSON)
def test_anything_may_come(arguments: object) -> None:
    found, wrong = read_arguments(arguments, Given)
    assert bool(wrong) == (found is None)
    assert found is None or isinstance(found.query, str)


def test_what_is_far_too_long_is_not_taken() -> None:
    assert read_arguments({"query": "x" * LONGEST}, Given)[1] == []
    (wrong,) = read_arguments({"query": "x" * (LONGEST + 1)}, Given)[1]
    assert wrong.endswith("x…; it must be a string, at most 100000 characters")


def test_however_much_is_wrong_few_words_tell_it() -> None:
    _, wrong = read_arguments({"query": "a"} | {f"k{number}": 1 for number in range(9)}, Given)
    assert [each.split(";")[0] for each in wrong] == [
        *(f'"k{number}" is not an argument' for number in range(5)),
        "4 more are not, either",
    ]


def test_a_tool_that_takes_nothing_says_so() -> None:
    assert read_arguments({"a": 1}, Nothing)[1] == ['"a" is not an argument; it takes none']
    assert read_arguments("{}", Nothing) == (Nothing(), [])


def test_a_schema_says_no_more_than_is_needed() -> None:
    assert schema_of(Given) == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "mode": {"type": "string", "enum": ["best", "exact"], "default": "best"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20},
            "days": {"type": "number", "minimum": 0},
            "any": {"type": "number", "default": 0, "description": "Any."},
            "text": {"type": "string", "maxLength": 3},
        },
        "required": ["query"],
    }
    assert schema_of(Nothing) == {"type": "object", "properties": {}}

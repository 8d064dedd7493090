"""JSON as a person keeps it, edited in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.claude_code.agent_settings import (
    JsonError,
    edited,
    inserted,
    parse,
    removed,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(VALUES, INDENTS, st.booleans())
def test_what_python_writes_is_read(value: object, indent: Any, ascii_only: bool) -> None:  # noqa: ANN401, FBT001 - of json
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    node = parse(f"\n {text}\t\r\n")
    assert (node.start, node.end) == (2, 2 + len(text))


@given(st.text(alphabet='{}[]",:0truefalsn\\ \n/-.e', max_size=15))
def test_what_is_read_is_what_python_reads(text: str) -> None:
    try:
        parse(text)
    except JsonError:
        with pytest.raises((json.JSONDecodeError, KeyError)):
            _strictly(text)
    else:
        _strictly(text)


def _strictly(text: str) -> object:
    """Read JSON as the standard says, where no key stands twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise KeyError("twice")
        return found

    return json.loads(text, object_pairs_hook=once)


@pytest.mark.parametrize(
    "text, said",
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2, column 3: a comment, which JSON does not have"),
        ('{"a": 1,}', "line 1, column 9: '}' stands where a key in quotation marks should be"),
        ('{"a": 1', "line 1, column 8: the text ends where a comma or '}' should be"),
        ('{"a" 1}', "line 1, column 6: '1' stands where a colon should be"),
        ("[1 2]", "line 1, column 4: '2' stands where a comma or ']' should be"),
        ('{"a": 1, "a": 2}', "line 1, column 10: the key 'a' stands there twice"),
        ("{} x", "line 1, column 4: 'x' stands behind the end"),
        ("'a'", 'line 1, column 1: "\'" stands where a value should be'),
        ("[" * 200, "line 1, column 102: is nested deeper than 100 levels"),
        ("", "line 1, column 1: the text ends where a value should be"),
        ("{1: 2}", "line 1, column 2: '1' stands where a key in quotation marks should be"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(text: str, said: str) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert str(caught.value) == said


def test_a_value_knows_whether_it_is_a_string() -> None:
    node = parse('{"a": "b\\n", "c": 1}')
    assert [each.string() for _, _, each in node.members] == ["b\n", None]
    assert node.get("nothing") is None


@given(st.dictionaries(st.text(max_size=4), VALUES, min_size=1), INDENTS, VALUES)
def test_what_was_put_in_can_be_taken_out(
    value: dict[str, object],
    indent: Any,  # noqa: ANN401 - of json
    new: Any,  # noqa: ANN401 - of json
) -> None:
    value.pop("new", None)
    value["old"] = 1
    text = json.dumps(value, indent=indent)
    after = edited(text, [inserted(text, parse(text), [("new", new), ("newer", new)])])
    assert json.loads(after) == {**value, "new": new, "newer": new}
    node = parse(after)
    assert edited(after, removed(node, [len(value), len(value) + 1])) == text


@given(st.lists(st.integers(0, 9), min_size=2, max_size=6), st.data(), INDENTS)
def test_any_members_can_be_taken_out(
    values: list[int],
    data: st.DataObject,
    indent: Any,  # noqa: ANN401 - of json
) -> None:
    gone = data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1, max_size=len(values) - 1))
    text = json.dumps(values, indent=indent)
    after = json.loads(edited(text, removed(parse(text), gone)))
    assert after == [value for at, value in enumerate(values) if at not in gone]


def test_what_is_put_into_something_empty_is_laid_out() -> None:
    text = '{\r\n\t"a": []\r\n}'
    node = parse(text).get("a")
    assert node is not None
    assert edited(text, [inserted(text, node, [("", {"b": 1})])]) == (
        '{\r\n\t"a": [\r\n\t\t{\r\n\t\t\t"b": 1\r\n\t\t}\r\n\t]\r\n}'
    )

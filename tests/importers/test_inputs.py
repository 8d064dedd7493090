r"""Law: whatever the pieces in which a list comes, its elements are those of the whole."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.importers.inputs import Opened, elements, is_one_value, parse
from engramdown.importers.records import Record, Skipped
from tests.tables import every

CUT = "the rest of the file is not JSON"

json_values = st.recursive(
    st.none() | st.booleans() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.lists(json_values | st.dictionaries(st.text(), json_values)), st.integers(1, 50))
def test_elements_do_not_depend_on_the_pieces(values: list[Any], size: int) -> None:
    wrapped = [{"value": value} for value in values]
    for indent in (None, 2):
        data = json.dumps(wrapped, ensure_ascii=False, indent=indent).encode("utf-8", "replace")
        found = list(elements(pieces(data, size)))
        assert [each.value for each in found if isinstance(each, Record)] == json.loads(data)
        assert [each.line for each in found] == list(range(1, len(values) + 1))


def told(data: bytes) -> list[Any]:
    return [
        each.value if isinstance(each, Record) else each.reason for each in elements([data, b""])
    ]


@every(
    "data, values",
    [
        (b"", ["is not JSON"]),
        (b"nonsense", ["is not JSON"]),
        (b"[]", []),
        (b"\xef\xbb\xbf [ ] \n", []),
        (b'[{"a": 1}, {"a": 2}', [{"a": 1}, {"a": 2}, CUT]),
        (b'[{"a": 1}, {"a": ', [{"a": 1}, CUT]),
        (b'[{"a": 1} {"a": 2}]', [{"a": 1}, CUT]),
        (b'[{"a": 1},]', [{"a": 1}]),
        (b"[", [CUT]),
        (b'{"a": 1}', [{"a": 1}]),
        (b'{"conversations": [1, 2], "x": 3}', [1, 2]),
        (b'{"conversations": {}}', [{"conversations": {}}]),
        (b'["\xff"]', ["\ufffd"]),
        (b"[" * 100_000, [CUT]),
        (b"{" * 100_000, ["is not JSON"]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_json_has_a_reason(data: bytes, values: list[Any]) -> None:
    assert told(data) == values


def test_text_that_was_read_is_let_go() -> None:
    block = json.dumps([{"text": "x" * 500_000}] * 8).encode()
    assert len(list(elements(pieces(block, 1 << 18)))) == 8


@pytest.mark.parametrize("line", [b"", b"\n", b"  \r\n", b"\xef\xbb\xbf"])
def test_an_empty_line_is_nothing(line: bytes) -> None:
    assert parse(line, 1, 0) is None


@every(
    "line, value",
    [
        (b'{"a": 1}\r\n', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('{"a": "\u2028\u0085"}'.encode(), {"a": "\u2028\u0085"}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
    ],
)
def test_a_line_is_one_record(line: bytes, value: object) -> None:
    assert parse(line, 7, 90) == Record(7, 90, value)


@every(
    "line", [b"{", b"nope", b"[" * 200_000, b'{"a":' * 100_000, b"1" * 5_000, b'"' + b"\\" * 99_999]
)
def test_a_line_that_is_no_json_is_skipped(line: bytes) -> None:
    assert parse(line, 3, 0) == Skipped(3, "is not JSON", damaged=True)


def test_one_value_is_told_from_lines() -> None:
    def is_one(data: bytes) -> bool:
        return is_one_value(Opened("x", io.BytesIO(data)))

    assert is_one(b" \n[1]")
    assert is_one(b"\xef\xbb\xbf[")
    assert not is_one(b'{"a": []}\n')
    assert is_one(b"{\r\n")
    assert is_one(b'{ "a": 1,\n')
    assert not is_one(b'{"a": 1}\n{')

"""Who asks gets an answer, also if what they asked cannot be read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.mcp.stdio import END, id_of, is_id, is_odd

VALUES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
PARAMS = st.dictionaries(st.sampled_from(["id", "method", "x"]) | st.text(), VALUES, max_size=3)
KEYS = st.integers(-(10**18) + 1, 10**18 - 1) | st.from_regex(r"[\w -]{0,40}", fullmatch=True)
ORDERS = (
    ("jsonrpc", "id", "method", "params"),
    ("jsonrpc", "method", "id", "params"),
    ("method", "id", "params", "jsonrpc"),
    ("id", "method", "params", "jsonrpc"),
    ("method", "params", "jsonrpc", "id"),
    ("jsonrpc", "method", "params", "id"),
)


@given(PARAMS, KEYS, st.sampled_from(ORDERS), st.booleans(), st.integers(0, 40))
def test_the_id_is_found_although_the_middle_is_missing(
    params: dict[str, object],
    key: int | str,
    order: tuple[str, ...],
    tight: bool,  # noqa: FBT001 - a case
    cut: int,
) -> None:
    said = {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}
    separators = (",", ":") if tight else (", ", ": ")
    ordered = {name: said[name] for name in order}
    data = json.dumps(ordered, separators=separators, ensure_ascii=False).encode()
    assert id_of(data) == key
    about = json.dumps(params, separators=separators, ensure_ascii=False).encode()
    beginning, _, end = data.partition(about)
    assert id_of(beginning + about[:cut] + b"\xff" * 2 * END + end) == key
    assert not is_odd(data)


@given(PARAMS, KEYS, st.sampled_from(["result", "error"]), st.booleans())
def test_an_answer_is_never_taken_for_a_request(
    given: dict[str, object],
    key: int | str,
    name: str,
    last: bool,  # noqa: FBT001 - a case
) -> None:
    answer = {"id": key, "jsonrpc": "2.0"}
    said = {name: given, **answer} if last else {**answer, name: given}
    assert id_of(json.dumps(said).encode()) is None


@given(st.binary())
def test_whatever_comes_is_looked_at(data: bytes) -> None:
    assert id_of(data) is None or data.lstrip().startswith(b"{")
    assert not is_odd(data) or isinstance(json.loads(data), dict)


@pytest.mark.parametrize(
    "key, expected",
    [
        (1, True),
        ("", True),
        (10**30, True),
        (True, False),
        (None, False),
        (1.0, False),
        ([], False),
    ],
)
def test_an_id_is_a_string_or_a_whole_number(key: object, expected: bool) -> None:  # noqa: FBT001
    assert is_id(key) is expected
    asks = {"jsonrpc": "2.0", "id": key, "method": "ping"}
    assert is_odd(json.dumps(asks).encode()) is not expected


def test_what_only_looks_odd_is_none_of_ours() -> None:
    assert not is_odd(b'{"id": null, "error": {}}')
    assert not is_odd(b'{"id": null, "method": ')
    assert not is_odd(b'[{"id": null, "method": "ping"}]')
    assert not is_odd(b'{"id": 1, "method": "x", "params": {"id": null}}')

"""`engramdown.models.ledger`: a call as a line of the ledger."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.models.ledger import ASKED, FAILED, FREE, OUTCOMES, Call, Sum, read_line, sums
from engramdown.models.ledger import write_line as write
from tests.strategies import any_text
from tests.tables import every

MOST = 10_000_000
CALL = Call("2026-03-01T10:00:00Z", "replay", "openai/small", 120, 30, 250, "ok")

sizes = st.integers(0, MOST)
any_call = st.builds(
    Call,
    ts=st.datetimes().map(lambda when: f"{when.isoformat()}Z"),
    job=st.sampled_from(["replay", "compaction"]),
    model=st.sampled_from(["openai/small", "ollama/qwen3"]),
    tokens_in=sizes,
    tokens_out=sizes,
    ms=sizes,
    outcome=st.sampled_from(sorted(OUTCOMES)),
    estimated=st.booleans(),
    id=st.sampled_from(["", "0a1b2c3d"]),
)


@given(any_call)
def test_what_is_read_is_what_was_written(call: Call) -> None:
    line = write(call)
    assert line.count(b"\n") == 1
    assert read_line(line) == call


@given(any_text)
def test_the_name_of_a_model_never_breaks_a_line(name: str) -> None:
    line = write(CALL._replace(model=name))
    assert line.find(b"\n") == len(line) - 1
    assert read_line(line) is not None


def test_a_line_says_what_it_cost_and_no_more() -> None:
    assert json.loads(write(CALL)) == {
        "ts": "2026-03-01T10:00:00Z", "job": "replay", "model": "openai/small",
        "in": 120, "out": 30, "ms": 250, "outcome": "ok",
    }  # fmt: skip
    more = json.loads(write(CALL._replace(estimated=True, id="0a1b2c3d")))
    assert (more["estimated"], more["call"]) == (True, "0a1b2c3d")


def test_a_key_in_the_name_of_a_model_is_not_written_down() -> None:
    key = f"sk-proj-{'a1B2' * 10}"
    assert key.encode() not in write(CALL._replace(model=f"openai/{key}"))


@pytest.mark.parametrize("said, kept", [(-5, 0), (10**30, MOST)])
def test_a_provider_that_counts_wrongly_does_no_harm(said: int, kept: int) -> None:
    call = read_line(write(CALL._replace(tokens_in=said, tokens_out=said)))
    assert call == CALL._replace(tokens_in=kept, tokens_out=kept)


@every(
    "line",
    [
        pytest.param(b"", id="empty"),
        pytest.param(write(CALL)[:40], id="torn"),
        pytest.param(b"\xff{}", id="not-utf-8"),
        pytest.param(b"[]", id="list"),
        pytest.param(b"{}", id="no-keys"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(write(CALL).replace(b'"replay"', b"7"), id="no-text"),
        pytest.param(write(CALL).replace(b"250", b'"250"'), id="no-number"),
        pytest.param(write(CALL).replace(b"2026", b"soon"), id="no-moment"),
        pytest.param(write(CALL).replace(b"00Z", b"00+02:00"), id="another-zone"),
        pytest.param(write(CALL).replace(b"00Z", b"00+02:00Z"), id="two-zones"),
        pytest.param(write(CALL._replace(id="a")).replace(b'"a"', b"7"), id="no-id"),
        pytest.param(write(CALL).replace(b"250", b"true"), id="truth"),
        pytest.param(write(CALL).replace(b"250", b"-1"), id="negative"),
        pytest.param(write(CALL).replace(b"250", b"1" * 30), id="huge"),
    ],
)
def test_what_is_no_call_is_none(line: bytes) -> None:
    assert read_line(line) is None


def test_what_a_newer_program_adds_is_passed_over() -> None:
    assert read_line(write(CALL).replace(b"{", b'{"cost":[1],')) == CALL


def test_calls_are_summed_by_what_they_have() -> None:
    other = CALL._replace(job="identity", outcome="timeout", tokens_out=0)
    unasked = CALL._replace(outcome="refused_spend")
    assert sums([CALL, other, unasked, CALL], "job") == {
        "replay": Sum(2, 0, 240, 60, 500),
        "identity": Sum(1, 1, 120, 0, 250),
    }
    assert sums([unasked], "model") == {}


@given(st.lists(any_call))
def test_no_call_is_lost_in_a_sum(calls: list[Call]) -> None:
    asked = [call for call in calls if call.outcome not in FREE]
    for key in ("job", "model", "outcome"):
        found = sums(calls, key).values()
        assert sum(each.calls for each in found) == len(asked)
        assert sum(each.tokens_in for each in found) == sum(call.tokens_in for call in asked)
    assert FAILED | FREE | {"ok", ASKED} == set(OUTCOMES)


def test_a_call_that_was_free_adds_nothing() -> None:
    assert Sum().plus(CALL._replace(outcome="missing_sdk")) == Sum()

"""`engramdown.models.provider`: what gave nothing is asked again, within bounds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.models.ledger import OUTCOMES
from engramdown.models.provider import LONGEST_WAIT, Course, asked_to_wait
from tests.tables import every

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@given(
    st.integers(0, 8),
    st.lists(st.sampled_from(sorted(set(OUTCOMES) - {"ok"})), min_size=40, max_size=40),
    st.none() | st.floats(0, 200),
)
def test_asking_ends_however_calls_end(retries: int, ends: list[str], wait: float | None) -> None:
    course, calls, waited = Course(500, retries), 0, 0.0
    for outcome in ends:
        calls += 1
        again = course.after(outcome, wait)
        if again is None:
            break
        waited += again.wait
        course = again
    assert calls <= retries + 2
    assert course.max_tokens in {500, 1000}
    assert waited <= retries * LONGEST_WAIT


@every("outcome", ["unauthorized", "refused", "failed", "refused_spend", "missing_sdk"])
def test_what_another_call_would_not_mend_is_not_asked_again(outcome: str) -> None:
    assert Course(500, 5).after(outcome) is None


@pytest.mark.parametrize("outcome", ["rate_limited", "server_error", "timeout", "unreachable"])
def test_a_provider_in_trouble_is_given_more_time_each_time(outcome: str) -> None:
    course, waits = Course(500, 9), []
    while again := course.after(outcome):
        waits.append(again.wait)
        course = again
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert Course(500, 10**9, failed=10**6).after(outcome) is not None


@pytest.mark.parametrize("outcome", ["malformed", "wrong_schema"])
def test_who_asks_for_another_form_need_not_wait(outcome: str) -> None:
    assert Course(500, 1).after(outcome) == Course(500, 1, failed=1)


def test_an_answer_that_was_cut_off_gets_twice_the_room_once() -> None:
    again = Course(500, 0).after("truncated")
    assert again == Course(1000, 0, widened=True)
    assert again.after("truncated") is None


def test_who_asks_to_wait_for_too_long_is_not_asked_again() -> None:
    assert Course(500, 5).after("rate_limited", LONGEST_WAIT + 1) is None
    assert Course(500, 5).after("rate_limited", 0) == Course(500, 5, failed=1)


@every(
    "header, seconds",
    [
        pytest.param("", None, id="nothing"),
        pytest.param("7", 7, id="seconds"),
        pytest.param("0.5", 0.5, id="half-a-second"),
        pytest.param("-3", 0, id="past"),
        pytest.param("inf", float("inf"), id="for-ever"),
        pytest.param("nan", None, id="no-number"),
        pytest.param("soon", None, id="words"),
        pytest.param("Sun, 01 Mar 2026 00:02:00 GMT", 120, id="date"),
        pytest.param("Sat, 28 Feb 2026 00:00:00 GMT", 0, id="past-date"),
        pytest.param("Sun, 01 Mar 2026 00:02:00 -0000", None, id="date-without-a-zone"),
    ],
)
def test_what_a_provider_asks_for_is_read(header: str, seconds: float | None) -> None:
    assert asked_to_wait(header, NOW) == seconds

"""`engramdown.sleep.progress`: what failed waits, longer each time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from engramdown.sleep.progress import LONGEST_WAIT, NEVER, Attempts, is_ripe, next_try
from tests.tables import every

AT = "2026-03-01T10:00:00.000000Z"


@every(
    "times, then",
    [(1, "10:05"), (2, "10:10"), (3, "10:20"), (4, "10:40"), (5, "11:00"), (99_999, "11:00")],
)
def test_each_wait_is_twice_as_long_up_to_an_hour(times: int, then: str) -> None:
    attempts = Attempts(times, AT)
    assert next_try(attempts) == f"2026-03-01T{then}:00.000000Z"
    assert not is_ripe(attempts, AT)
    assert not is_ripe(attempts, "2026-03-01T10:04:59.999999Z")
    assert is_ripe(attempts, f"2026-03-01T{then}:00.000000Z")


def test_what_has_not_failed_waits_for_nothing() -> None:
    assert next_try(NEVER) == ""
    assert is_ripe(NEVER, AT)


def test_a_clock_that_was_put_back_makes_nobody_wait() -> None:
    assert is_ripe(Attempts(5, "2036-01-01T00:00:00.000000Z"), AT)


@every("last", ["", "soon", "2026-03-01", AT[:-1], "9999-12-31T23:59:59Z"])
def test_a_time_that_is_none_makes_nobody_wait(last: str) -> None:
    assert next_try(Attempts(3, last)) == ""
    assert is_ripe(Attempts(3, last), AT)


@given(st.integers(1, 10_000), st.integers(0, 4_000_000_000))
def test_nobody_waits_longer_than_the_longest(times: int, seconds: int) -> None:
    last = datetime.fromtimestamp(seconds, UTC)
    end = (last + timedelta(seconds=LONGEST_WAIT)).isoformat(timespec="microseconds")
    assert is_ripe(Attempts(times, last.isoformat()), end.replace("+00:00", "Z"))

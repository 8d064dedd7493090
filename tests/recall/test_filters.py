"""Which lines may be recalled."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from engramdown.recall.query import wanted
from engramdown.transcripts.episode import ROLES

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
USER = ROLES.index("user")


def at(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_by_default_everything_but_events_and_what_was_recalled() -> None:
    everything = wanted(NOW)
    assert everything.takes_all()
    assert not wanted(NOW, days_back=3).takes_all()
    kept = {name for place, name in enumerate(ROLES) if everything.takes(place, 0)}
    assert kept == set(ROLES) - {"event", "memory_read"}


def test_what_was_recalled_comes_when_it_is_asked_for() -> None:
    assert wanted(NOW, role="memory_read").takes(ROLES.index("memory_read"), 0)
    assert not wanted(NOW, role=["user", "assistant"]).takes(ROLES.index("system"), 0)


@pytest.mark.parametrize("role", ["event", "judge", ["user", ""]])
def test_a_role_that_is_none_is_refused(role: str | list[str]) -> None:
    with pytest.raises(ValueError, match="is no role"):
        wanted(NOW, role=role)


def test_days_back_count_from_now() -> None:
    recent = wanted(NOW, days_back=2)
    assert recent.takes(USER, at(NOW - timedelta(days=2)))
    assert not recent.takes(USER, at(NOW - timedelta(days=2, microseconds=1)))
    assert wanted(NOW, days_back=10**9).takes(USER, at(datetime(1, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize("days", [-1, float("nan")])
def test_days_that_are_none_are_refused(days: float) -> None:
    with pytest.raises(ValueError, match="days_back"):
        wanted(NOW, days_back=days)


def test_a_time_may_be_a_text() -> None:
    day = wanted(NOW, since="2026-02-27", until="2026-02-27")
    assert day == wanted(NOW, since=date(2026, 2, 27), until=date(2026, 2, 27))
    moment = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
    for text in ("2026-02-27T10:15:00Z", "2026-02-27 11:15+01:00", "2026-02-27T10:15"):
        assert wanted(NOW, until=text) == wanted(NOW, until=moment), text


@pytest.mark.parametrize("time", ["", "soon", "2026-02-30", "2026-02-27T25:00", 5, 1.5, ["x"]])
def test_a_time_that_is_none_is_refused(time: Any) -> None:  # noqa: ANN401 - whatever is given
    for name in ("since", "until"):
        with pytest.raises(ValueError, match=rf"{name} is .*; give a date, a datetime, or a text"):
            wanted(NOW, **{name: time})


def test_a_day_is_wanted_whole_and_a_time_exactly() -> None:
    day = wanted(NOW, since=date(2026, 2, 27), until=date(2026, 2, 27))
    assert day.takes(USER, at(datetime(2026, 2, 27, tzinfo=UTC)))
    assert day.takes(USER, at(datetime(2026, 2, 27, 23, 59, 59, 999_999, tzinfo=UTC)))
    assert not day.takes(USER, at(datetime(2026, 2, 28, tzinfo=UTC)))
    until = wanted(NOW, until=datetime(2026, 2, 27, 1, tzinfo=timezone(timedelta(hours=1))))
    assert until.takes(USER, at(datetime(2026, 2, 27, tzinfo=UTC)))
    assert not until.takes(USER, at(datetime(2026, 2, 27, 0, 0, 0, 1, tzinfo=UTC)))
    assert wanted(NOW, since=datetime(2026, 2, 27)).since == at(  # noqa: DTZ001 - without a zone
        datetime(2026, 2, 27, tzinfo=UTC)
    )


def test_the_narrowest_of_two_limits_holds() -> None:
    both = wanted(NOW, days_back=1, since=date(2020, 1, 1))
    assert both.since == at(NOW - timedelta(days=1))

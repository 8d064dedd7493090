"""The one place that reads the clock."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from freezegun import freeze_time

from engramdown.clock import local, moment, today


@pytest.fixture
def honolulu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the person live ten hours west of Greenwich."""
    monkeypatch.setenv("TZ", "Pacific/Honolulu")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(params=["<+99>-99", "XYZ25", "<+24>-24"])
def slip(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Say that the person lives more than a day from Greenwich."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_a_zone_that_cannot_be_is_utc(slip: str) -> None:
    with pytest.raises(ValueError, match="offset"):
        datetime.now(UTC).astimezone()
    noon = datetime(2026, 2, 27, 12, tzinfo=UTC)
    assert local(noon).isoformat() == local(noon.replace(tzinfo=None)).isoformat(), slip
    assert local(noon) == noon
    assert today().isoformat() == moment()[:10]


@pytest.mark.usefixtures("honolulu")
def test_the_clock_of_the_person_is_the_one_of_the_place() -> None:
    noon = datetime(2026, 2, 27, 12, tzinfo=UTC)
    assert local(noon).isoformat() == "2026-02-27T02:00:00-10:00"
    assert local(datetime(2026, 2, 27, 2)).isoformat() == "2026-02-27T02:00:00-10:00"  # noqa: DTZ001 - the point


@freeze_time("2026-02-27 13:14:15.016")
def test_a_moment_is_utc_to_the_microsecond() -> None:
    assert moment() == "2026-02-27T13:14:15.016000Z"


@freeze_time("2026-02-27 13:14:15")
def test_a_moment_has_its_microseconds_even_if_they_are_zero() -> None:
    assert moment() == "2026-02-27T13:14:15.000000Z"


def test_moments_sort_as_text() -> None:
    moments = []
    for when in ("2026-02-27 09:59:59.999999", "2026-02-27 10:00:00", "2026-10-01 00:00:00"):
        with freeze_time(when):
            moments.append(moment())
    assert moments == sorted(moments)


@freeze_time("2026-02-27 13:14:15")
def test_today_is_a_date() -> None:
    assert today().isoformat() == "2026-02-27"


@pytest.mark.usefixtures("honolulu")
def test_the_date_is_the_one_where_the_person_is() -> None:
    # A real clock, because freezegun has no time zones: at most one day apart, and as the system
    # tells it to everybody else.
    assert os.environ["TZ"] == "Pacific/Honolulu"
    before = time.strftime("%Y-%m-%d", time.localtime())
    said = today().isoformat()
    after = time.strftime("%Y-%m-%d", time.localtime())
    assert said in {before, after}

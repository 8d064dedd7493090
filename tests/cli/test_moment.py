"""A day that a person names is a day of the person's clock, however long it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import click
import pytest

from engramdown.cli.commands import Moment
from tests.tables import every


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return what moves the person to a zone, until the test ends."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def given(text: str) -> tuple[str, str]:
    """Return what ``text`` means where something begins, and where it ends."""
    first, last = Moment().convert(text, None, None), Moment(end=True).convert(text, None, None)
    return first[:19], last[:19]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no zones here")
@pytest.mark.parametrize(
    "zone, text, first, last",
    [
        ("UTC", "2026-02-27", "2026-02-27T00:00:00", "2026-02-27T23:59:59"),
        ("Europe/Berlin", "2026-02-27", "2026-02-26T23:00:00", "2026-02-27T22:59:59"),
        ("Pacific/Honolulu", "2026-02-27", "2026-02-27T10:00:00", "2026-02-28T09:59:59"),
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00", "2026-03-29T21:59:59"),
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00", "2026-10-25T22:59:59"),
        ("Europe/Berlin", "2026-03-29 12:00", "2026-03-29T10:00:00", "2026-03-29T10:00:00"),
        ("Europe/Berlin", "2026-10-25T02:30+02:00", "2026-10-25T00:30:00", "2026-10-25T00:30:00"),
        ("Europe/Berlin", "2026-10-25T02:30+01:00", "2026-10-25T01:30:00", "2026-10-25T01:30:00"),
        ("Asia/Tokyo", "2026-02-27T10:15:00.5Z", "2026-02-27T10:15:00", "2026-02-27T10:15:00"),
        ("Asia/Tokyo", "2026-02-27 10:15:30", "2026-02-27T01:15:30", "2026-02-27T01:15:30"),
        ("No/Where", "2026-02-27", "2026-02-27T00:00:00", "2026-02-27T23:59:59"),
    ],
    ids=[
        "utc",
        "east",
        "west",
        "23-hours",
        "25-hours",
        "time",
        "summer",
        "winter",
        "utc-time",
        "seconds",
        "no-zone",
    ],
)
def test_a_day_is_one_of_the_persons_clock(
    at_home: Callable[[str], None], zone: str, text: str, first: str, last: str
) -> None:
    at_home(zone)
    assert given(text) == (first, last)
    assert os.environ["TZ"] == zone


@every(
    "text",
    ["", "soon", "2026-02-30", "27.2.2026", "2026-02-27 25:00", "10:15", "2026-02-27T10:15+99:00"],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Moment().convert(text, None, None)

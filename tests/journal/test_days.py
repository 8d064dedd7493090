"""A day has a file and a name."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.journal.page import day_of, file_of, named_in, title

FRIDAY = date(2026, 2, 27)


@given(st.dates())
def test_the_file_of_a_day_is_of_that_day(day: date) -> None:
    assert day_of(file_of(day)) == day
    assert named_in(f"on {day.isoformat()}?") == ([day], "on ?")


@pytest.mark.parametrize(
    "name", ["2026-02-30.md", "2026-2-3.md", "2026-02-27.md~", "x2026-02-27.md", "2026-02-27.txt"]
)
def test_another_file_is_no_day(name: str) -> None:
    assert day_of(name) is None


@pytest.mark.parametrize(
    "day, called",
    [
        (FRIDAY, "Today"),
        (date(2026, 2, 26), "Yesterday"),
        (date(2026, 2, 25), "Wednesday, February 25"),
        (date(2026, 1, 2), "Friday, January 2"),
        (date(2026, 2, 28), "Saturday, February 28"),
    ],
)
def test_a_day_is_called_as_a_person_would(day: date, called: str) -> None:
    assert title(day, FRIDAY) == called


def test_what_is_no_day_stays_in_the_question() -> None:
    assert named_in("v2026-02-27-1 2026-02-30 12026-02-27") == (
        [],
        "v2026-02-27-1 2026-02-30 12026-02-27",
    )

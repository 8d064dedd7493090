"""When a question is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given

from engramdown.language.dates import NO_DATES, read_dates
from tests.episodes.strategies import texts
from tests.tables import every

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def ago(days: float) -> float:
    return (NOW - timedelta(days=days)).timestamp()


@every(
    "text, months",
    [
        pytest.param("last March", {3}, id="one"),
        pytest.param("in june or July", {6, 7}, id="two"),
        pytest.param("May I ask", set(), id="verb-first"),
        pytest.param("what may help", set(), id="verb"),
        pytest.param("in may", {5}, id="month-after-a-preposition"),
        pytest.param("may 7", {5}, id="month-before-a-number"),
        pytest.param("the trip of that May", {5}, id="written-large"),
        pytest.param("on 2023-11-02", {11}, id="numeric"),
        pytest.param("marching", set(), id="longer-word"),
    ],
)
def test_months(text: str, months: set[int]) -> None:
    assert read_dates(text).months == months


@every(
    "text, days",
    [
        pytest.param("on 7 May 2023", {(5, 7)}, id="day-first"),
        pytest.param("the 22nd of October", {(10, 22)}, id="of"),
        pytest.param("August 3rd, 2024", {(8, 3)}, id="month-first"),
        pytest.param("2024-08-03", {(8, 3)}, id="numeric"),
        pytest.param("August 2024", set(), id="year"),
    ],
)
def test_days(text: str, days: set[tuple[int, int]]) -> None:
    assert read_dates(text).days == days


def test_a_month_and_a_year_hold_together() -> None:
    dates = read_dates("In March 2024")
    assert dates.is_then(at("2024-03-31T23:59:59"))
    assert not dates.is_then(at("2024-04-01"))
    assert not dates.is_then(at("2023-03-05"))
    assert read_dates("in 2023").is_then(at("2023-03-05"))


def test_people_tell_of_a_day_on_the_next() -> None:
    dates = read_dates("on 31 August")
    told = ["2024-08-30", "2024-08-31", "2024-09-01", "2024-09-02"]
    assert [dates.is_that_day(at(day)) for day in told] == [False, True, True, False]
    assert not read_dates("in August").is_that_day(at("2024-08-31"))


@every(
    "text, first, last",
    [
        pytest.param("today", 0.9, 0, id="today"),
        pytest.param("since yesterday", 1.9, 0, id="yesterday"),
        pytest.param("this week", 6.9, 0, id="this-week"),
        pytest.param("last week", 13, 0, id="last-week"),
        pytest.param("in the past 3 days", 2.9, 0, id="past-days"),
        pytest.param("in the last couple of months", 60, 0, id="last-months"),
        pytest.param("3 weeks ago", 24, 18, id="weeks-ago"),
        pytest.param("a year ago", 500, 200, id="a-year-ago"),
    ],
)
def test_a_distance_of_time_is_a_span(text: str, first: float, last: float) -> None:
    dates = read_dates(text, NOW)
    assert dates
    assert dates.is_then(ago(first))
    assert dates.is_then(ago(last))
    assert not dates.is_then(ago(first * 1.5 + 2))
    assert dates.is_then(ago(0)) == (last == 0)


@pytest.mark.parametrize("text", ["last week", "two days ago"])
def test_without_a_clock_a_distance_names_no_time(text: str) -> None:
    assert read_dates(text) == NO_DATES
    assert not read_dates(text)


def test_nothing_named_is_no_time() -> None:
    assert read_dates("the last cat", NOW) == NO_DATES


@pytest.mark.parametrize("edge", ["0001-01-01", "9999-12-31T23:59:59", "1969-07-20"])
def test_the_edges_of_time_are_days_too(edge: str) -> None:
    assert read_dates("on 1 January, 31 December or 20 July").is_that_day(at(edge))
    assert read_dates("in January, December or July").is_then(at(edge))


@given(texts)
def test_any_text_may_name_times(text: str) -> None:
    dates = read_dates(text, NOW)
    assert dates.is_then(NOW.timestamp()) in {True, False}
    assert dates.is_that_day(NOW.timestamp()) in {True, False}


@every(
    "text, months",
    [
        pytest.param("last summer", {6, 7, 8}, id="last"),
        pytest.param("in the winter of 2024", {12, 1, 2}, id="in"),
        pytest.param("this fall", {9, 10, 11}, id="this"),
        pytest.param("what did fall down in Springfield", set(), id="verb"),
        pytest.param("summer", set(), id="alone"),
    ],
)
def test_seasons_are_those_of_the_north(text: str, months: set[int]) -> None:
    assert read_dates(text).months == months


@every(
    "text, within, without",
    [
        pytest.param("last February", "2026-02-10", "2025-02-10", id="month-that-is-over"),
        pytest.param("last March", "2025-03-10", "2026-03-10", id="month-that-is-not-over"),
        pytest.param("this March", "2026-03-10", "2025-03-10", id="this-month"),
        pytest.param("this April", "2025-04-10", "2026-04-10", id="this-month-to-come"),
        pytest.param("last summer", "2025-08-31", "2024-08-31", id="summer"),
        pytest.param("last winter", "2026-02-28", "2025-02-10", id="winter"),
        pytest.param("past autumn", "2025-11-30", "2024-11-30", id="autumn"),
    ],
)
def test_the_last_of_its_name_counts_more(text: str, within: str, without: str) -> None:
    dates = read_dates(text, NOW)
    assert dates.is_then(at(within)) is dates.is_then(at(without)) is True
    assert dates.is_that_day(at(within))
    assert not dates.is_that_day(at(without))
    assert not read_dates(text).is_that_day(at(within))
    assert not read_dates(text.replace(text.split(maxsplit=1)[0], "today, in"), NOW).latest


@pytest.mark.parametrize(
    "text, first, last",
    [
        # That is a Wednesday, NOW.
        pytest.param("last Tuesday", "2026-03-17", "2026-03-18", id="yesterday"),
        pytest.param("last Wednesday", "2026-03-11", "2026-03-12", id="a-week-ago"),
        pytest.param("last Thursday", "2026-03-12", "2026-03-13", id="six-days-ago"),
        pytest.param("last night", "2026-03-17", "2026-03-18", id="night"),
    ],
)
def test_a_weekday_is_told_of_on_it_and_the_day_after(text: str, first: str, last: str) -> None:
    dates = read_dates(text, NOW)
    assert dates.is_then(at(f"{first}T00:00" if "night" not in text else f"{first}T20:00"))
    assert dates.is_then(at(f"{last}T11:59"))
    assert not dates.is_then(at("2026-03-20T12:00"))
    assert not dates.is_then(at("2026-03-09T12:00"))


def test_what_is_near_an_event_is_then_besides() -> None:
    dates = read_dates("in May")._replace(near=((at("2026-01-01"), at("2026-01-03")),))
    assert dates
    assert dates.is_then(at("2026-01-01"))
    assert not dates.is_then(at("2026-01-03"))
    assert dates.is_then(at("2026-05-03"))
    alone = NO_DATES._replace(near=dates.near)
    assert alone
    assert not alone.is_then(at("2026-05-03"))


@pytest.mark.parametrize("text", ["apr\u0131l", "la\u017ft \u017fummer", "last \u017funday"])
def test_letters_that_only_look_like_ours_name_no_time(text: str) -> None:
    assert not read_dates(text, NOW)

"""Times that are told by their distance from an event."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.language.dates import Anchor, read_anchor, spans_from
from tests.episodes.strategies import texts
from tests.tables import every

DAY = 86_400.0


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@every(
    "text, anchor",
    [
        pytest.param("two weeks before the release", ("release", -18, -10), id="two-weeks-before"),
        pytest.param("3 days after we met Ana?", ("met Ana", 2, 4), id="three-days-after"),
        pytest.param("The Day Before my birthday", ("birthday", -2, 1), id="the-day-before"),
        pytest.param("the week after the fair", ("fair", -1, 8), id="the-week-after"),
        pytest.param("a month prior to the trip", ("trip", -46.25, -14.75), id="prior-to"),
        pytest.param("in the week of the move to Bonn", ("move Bonn", -4, 4), id="week-of"),
        pytest.param(
            "the day before the fair, what did we eat", ("fair", -2, 1), id="up-to-a-verb"
        ),
        pytest.param(
            "the day after a b cc dd ee ff gg hh", ("b cc dd ee ff gg", -1, 2), id="six-words"
        ),
    ],
)
def test_an_event_and_a_distance(text: str, anchor: tuple[str, float, float]) -> None:
    assert read_anchor(text) == Anchor(*anchor)


@every(
    "text",
    [
        pytest.param("before the release", id="no-distance"),
        pytest.param("two weeks ago", id="from-now"),
        pytest.param("the day after. Then what?", id="no-event"),
        pytest.param("in the middle of the week", id="no-unit"),
        pytest.param("two wee\u212as before it", id="no-ascii"),
        pytest.param("", id="empty"),
    ],
)
def test_no_event(text: str) -> None:
    assert read_anchor(text) is None


BEFORE = Anchor("release", -18, -10)


def test_a_turn_tells_of_the_time_when_it_was_said() -> None:
    said = (at("2026-03-18T09:00"), "The release is out!")
    assert spans_from(BEFORE, [said]) == ((said[0] - 18 * DAY, said[0] - 10 * DAY),)
    assert spans_from(BEFORE, []) == ()


def test_a_turn_tells_of_the_day_that_it_names() -> None:
    day = at("2026-03-30")
    expected = ((day - 18 * DAY, day - 9 * DAY),)
    for text in ("The release is on March 30", "Release: 30 March 2026", "release 2026-03-30"):
        assert spans_from(BEFORE, [(at("2026-03-18T09:00"), text)]) == expected


def test_a_turn_tells_of_yesterday() -> None:
    said = (at("2026-03-18T09:00"), "The release was yesterday")
    ((start, end),) = spans_from(Anchor("release", 0, 0), [said])
    assert start <= at("2026-03-17T12:00") < end
    assert end - start < 4 * DAY


def test_a_day_without_a_year_is_the_nearest() -> None:
    same = Anchor("fair", 0, 0)
    for said, day in (("2026-01-03", "2025-12-30"), ("2025-12-01", "2025-12-30")):
        assert spans_from(same, [(at(said), "the fair, Dec 30 or December 30")])[0][0] == at(day)


def test_a_day_that_does_not_exist_is_no_time() -> None:
    assert spans_from(BEFORE, [(at("2026-03-18"), "on 31 February 2026")]) == ()
    (leap,) = spans_from(Anchor("fair", 0, 0), [(at("2026-03-18"), "on 29 February 2024")])
    assert leap[0] == at("2024-02-29")


@pytest.mark.parametrize("moment", [-1e11, 2.6e11], ids=["before-1970", "far-future"])
def test_a_time_that_cannot_be_counted_from_is_taken_as_it_is(moment: float) -> None:
    assert spans_from(Anchor("fair", -1, 2), [(moment, "last Friday, on March 3")]) == (
        (moment - DAY, moment + 2 * DAY),
    )


def test_an_event_may_be_a_day() -> None:
    anchor = read_anchor("the week before August 3, 2023")
    assert anchor is not None
    assert spans_from(anchor, [(0.0, anchor.event)]) == ((at("2023-07-26"), at("2023-08-05")),)


@given(texts, texts, st.floats(-1e12, 1e12))
def test_any_text_may_be_passed(question: str, text: str, moment: float) -> None:
    anchor = read_anchor(question) or read_anchor(f"the week before {question}")
    assert read_anchor(f"the week before x {question}") is not None
    for start, end in spans_from(anchor or BEFORE, [(moment, text)]):
        assert start < end

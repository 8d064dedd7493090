"""Recall of what was said some time before or after something else."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.episodes.transcripts import START, found, memory, write

DAY = 24 * 60.0
BUGS = "The bugs of the parser came up again"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Bugs every week, the newest first by default; a release, a birthday and a move."""
    for week in range(12):
        write(tmp_path, f"week-{week:02}", [BUGS], week * 7 * DAY)
    write(tmp_path, "release", ["We made the big release today, at last"], 6 * 7 * DAY)
    write(tmp_path, "birthday", ["It is my birthday. I got a kite"], 3 * 7 * DAY + DAY)
    day = START.replace(month=4, day=24)
    write(tmp_path, "move", [f"We move to Bonn on {day:%B} {day.day}"], 2 * DAY)
    return tmp_path


@pytest.mark.parametrize(
    "question, first",
    [
        pytest.param("bugs of the parser two weeks before the release", 4, id="weeks-before"),
        pytest.param("bugs of the parser three weeks after the release", 9, id="weeks-after"),
        pytest.param("bugs of the parser the day before my birthday", 3, id="day-before"),
        pytest.param("bugs of the parser in the week of the move", 8, id="week-of-a-day-named"),
        pytest.param("bugs of the parser in the week of the kite", 3, id="other-words-for-it"),
        pytest.param("bugs of the parser the day after 2026-03-12", 2, id="day-that-is-named"),
    ],
)
def test_a_time_counted_from_an_event_comes_first(store: Path, question: str, first: int) -> None:
    with closing(memory(store)) as opened:
        said = [one for one in found(opened, question) if one.startswith("week")]
        assert said[0] == f"week-{first:02}#1"
        # It is a help and no filter.
        assert len(said) == 12


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("bugs of the parser two weeks before the eclipse", id="event-never-told"),
        pytest.param("bugs of the parser the day after", id="no-event"),
        pytest.param("bugs of the parser after the release", id="no-distance"),
    ],
)
def test_without_an_event_the_newest_comes_first(store: Path, question: str) -> None:
    with closing(memory(store)) as opened:
        said = [one for one in found(opened, question) if one.startswith("week")]
        assert said[0] == "week-11#1"


def test_what_may_be_found_is_as_before(store: Path) -> None:
    with closing(memory(store)) as opened:
        question = "bugs of the parser two weeks before the release"
        assert found(opened, question, session="week-01") == ["week-01#1"]

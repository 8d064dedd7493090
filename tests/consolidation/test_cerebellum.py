"""`engramdown.consolidation.replay`: what was to be done, and what happened instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramdown.consolidation.actions import Cell, cells_of
from engramdown.consolidation.replay import Learned, lessons_of_turn, surprises
from engramdown.cortex.cortex import Cortex
from engramdown.errors import ModelError, UnusableAnswerError
from tests.consolidation.answering import Answering
from tests.consolidation.lines import SESSION, call, result, said, talk

READ = {"code": "df.date.dt.year", "description": "Get the year of each row"}
TURN = cells_of(
    SESSION,
    talk(
        said("user", "How many a year?"),
        call("scratchpad", {"code": "df = read_csv('a.csv')"}),
        result("scratchpad", "100 rows"),
        call("scratchpad", READ),
        result("scratchpad", "Traceback\nAttributeError: only datetimelike values", error=True),
    ),
)
LESSON: dict[str, Any] = {
    "text": "read_csv leaves dates as text unless parse_dates is given",
    "cells": [1],
}


def test_what_went_well_costs_nothing() -> None:
    model = Answering(lessons=[LESSON])
    assert lessons_of_turn([Cell("s#1", "tool", status="ok")] * 9, model) == Learned()
    assert lessons_of_turn([], model) == Learned()
    assert model.asked == []


def test_without_a_model_nothing_is_learned() -> None:
    assert lessons_of_turn(TURN, None) == Learned()


def test_one_call_of_a_model_sees_only_what_went_otherwise() -> None:
    model = Answering(lessons=[])
    lessons_of_turn(TURN, model)
    ((system, user),) = model.asked
    assert "At most 3 lessons" in system
    assert user == (
        "<cells>\n"
        '- Cell 1 [error] scratchpad, to do "Get the year of each row", ran df.date.dt.year, '
        'failed with "AttributeError: only datetimelike values"\n'
        "</cells>"
    )


def test_what_the_user_objected_to_is_a_surprise() -> None:
    fine, wrong = Cell("s#1", "tool"), Cell("s#2", "tool", corrected="No", corrected_at="s#3")
    assert surprises([fine, wrong]) == [wrong]
    model = Answering(lessons=[LESSON])
    (engram,) = lessons_of_turn([fine, wrong], model).engrams
    assert engram.origin == "s#2,s#3"


def test_three_lessons_are_enough() -> None:
    many = [{"text": f"lesson {at}", "cells": [1]} for at in range(5)]
    found = lessons_of_turn(TURN, Answering(lessons=many))
    assert len(found.engrams) == 3
    assert {(each.topic, each.kind, each.basis) for each in found.engrams} == {
        ("scratchpad", "lesson", "inferred")
    }


def test_an_answer_of_unknown_cells_teaches_nothing() -> None:
    with pytest.raises(UnusableAnswerError, match="it names 2"):
        lessons_of_turn(TURN, Answering(lessons=[LESSON | {"cells": [2]}]))


def test_an_answer_of_another_form_is_none() -> None:
    with pytest.raises(ModelError):
        lessons_of_turn(TURN, Answering(lessons=[LESSON | {"topic": "rules"}]))


def test_a_lesson_comes_back_in_the_description_of_a_scratchpad(tmp_path: Path) -> None:
    cortex = Cortex.open(tmp_path / "project", tmp_path / "home")
    found = lessons_of_turn(TURN, Answering(lessons=[LESSON]))
    assert [receipt.action for receipt in cortex.propose(found.engrams)] == ["encoded"]
    assert LESSON["text"] in cortex.get_scratchpad_context()

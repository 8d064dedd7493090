"""`engramdown.consolidation.replay`: what becomes of what a model says that it learned."""

from __future__ import annotations

from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from engramdown.consolidation.forms import Lessons
from engramdown.consolidation.prompts import Prompt
from engramdown.consolidation.replay import (
    LONGEST,
    Learned,
    Lesson,
    learn_from,
    memories_of,
    shorten,
)
from engramdown.engram import Engram
from engramdown.errors import ModelError, SpendError, UnusableAnswerError
from engramdown.language.untrusted import quoted
from tests.strategies import any_text

T = TypeVar("T", bound=BaseModel)
POINTERS = ["s#1", "s#4,s#9", "s#7"]


def test_a_lesson_is_inferred_and_points_at_what_taught_it() -> None:
    said = Lesson("Use  uv,\nnever pip", [2, 1, 2], "always", "global", "high", "CI notes")
    assert memories_of([said], POINTERS, 5) == Learned(
        (
            Engram(
                "Use uv, never pip",
                "always",
                "global",
                "medium",
                "CI notes",
                "consolidation",
                basis="inferred",
                origin="s#4,s#9,s#1",
                via="tool",
            ),
        )
    )


def test_a_model_can_be_less_sure_and_never_surer() -> None:
    said = [Lesson(text, [1], confidence=text) for text in ("high", "medium", "low")]
    found = memories_of(said, POINTERS, 5).engrams
    assert [engram.confidence for engram in found] == ["medium", "medium", "low"]


@pytest.mark.parametrize("number", [0, 4, -1, 10**9])
def test_a_lesson_that_names_what_was_not_given_goes_and_the_rest_stays(number: int) -> None:
    found = memories_of([Lesson("good", [1]), Lesson("bad", [1, number])], POINTERS, 5)
    assert [engram.text for engram in found.engrams] == ["good"]
    assert found.refusals == (
        f"a memory is refused: it names {quoted(str(number))}, which it was not given",
    )


class Scripted:
    """A model that gives one answer after the other."""

    name = "scripted"

    def __init__(self, *answers: list[int] | Exception) -> None:
        """Give ``answers``: the numbers that lessons name, or an error."""
        self.asked: list[str] = []
        self._answers = [*answers]

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return the next answer: lessons that name these numbers."""
        del system
        self.asked.append(user)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        items = [{"text": f"Lesson {number}", "cells": [number]} for number in answer]
        return schema.model_validate({"items": items})


def asked(model: Scripted) -> Learned:
    def read(answer: Lessons) -> Learned:
        return memories_of([Lesson(each.text, each.cells) for each in answer.items], POINTERS, 5)

    return learn_from(model, Lessons, Prompt("Do it", "With this"), read)


@pytest.mark.parametrize("answer, kept", [([], 0), ([1, 2], 2), ([1, 9], 1)])
def test_an_answer_of_which_something_can_be_used_is_not_asked_for_again(
    answer: list[int], kept: int
) -> None:
    model = Scripted(answer)
    assert len(asked(model).engrams) == kept
    assert model.asked == ["With this"]


def test_a_model_is_told_once_why_nothing_of_its_answer_can_be_used() -> None:
    model = Scripted([9], [2])
    assert [engram.text for engram in asked(model).engrams] == ["Lesson 2"]
    first, second = model.asked
    assert second.startswith(first)
    assert "it names 9, which it was not given" in second


def test_what_teaches_nothing_the_second_time_teaches_nothing() -> None:
    assert asked(Scripted([9], [])) == Learned()


@pytest.mark.parametrize("second", [[8], SpendError("calls_per_run")])
def test_an_answer_of_no_use_is_an_error(second: list[int] | Exception) -> None:
    model = Scripted([9], second)
    with pytest.raises(UnusableAnswerError, match="which it was not given") as raised:
        asked(model)
    assert raised.value.outcome == "malformed"
    assert len(model.asked) == 2


def test_a_model_that_is_gone_by_then_is_gone() -> None:
    with pytest.raises(ModelError, match="no answer in time"):
        asked(Scripted([9], ModelError("no answer in time", "timeout")))


@pytest.mark.parametrize(
    "lesson, why",
    [
        pytest.param(Lesson(" \n", [1]), "its text says nothing", id="blank"),
        pytest.param(Lesson("x" * (LONGEST + 1), [1]), "its text has 501 characters", id="long"),
        pytest.param(Lesson("x", [1], topic="../x"), "looks like a path", id="topic"),
        pytest.param(Lesson("\ud800", [1]), "half of a surrogate pair", id="half"),
    ],
)
def test_a_lesson_that_could_not_be_kept_is_refused_alone(lesson: Lesson, why: str) -> None:
    found = memories_of([lesson, Lesson("good", [1])], POINTERS, 5)
    assert [engram.text for engram in found.engrams] == ["good"]
    (refusal,) = found.refusals
    assert refusal.startswith("a memory is refused: ")
    assert why in refusal


def test_the_same_counts_once_and_what_is_too_much_is_left_out() -> None:
    said = [Lesson(text, [1]) for text in ("A", "a.", "b", "c")]
    found = memories_of(said, POINTERS, 2)
    assert [engram.text for engram in found.engrams] == ["A", "b"]
    assert found.refusals == ("1 more were left out: 2 are enough for once",)


def test_what_is_shown_holds_no_secret() -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    assert "ghp_" not in shorten(f"the key is {key}", 20)


@given(st.lists(st.builds(Lesson, any_text, st.lists(st.integers(-1, 4), max_size=3))))
def test_no_answer_is_trusted_above_inferred(said: list[Lesson]) -> None:
    found = memories_of(said, POINTERS, 5)
    assert len(found.engrams) <= 5
    for engram in found.engrams:
        trusted = (engram.source, engram.basis, engram.via)
        assert trusted == ("consolidation", "inferred", "tool")
        assert engram.confidence != "high"
        assert "\n" not in engram.text

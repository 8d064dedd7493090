"""`engramdown.consolidation.facts`: what a model finds, and what becomes of its answer."""

from __future__ import annotations

from typing import Any

import pytest

from engramdown.consolidation.facts import MOST, find_facts
from engramdown.consolidation.replay import Learned
from engramdown.engram import Engram
from engramdown.errors import ModelError, UnusableAnswerError
from tests.consolidation.answering import Answering
from tests.consolidation.lines import said, talk

LINES = talk(
    said("user", "I moved to Berlin."),
    said("assistant", "Welcome to Berlin!"),
    said("user", "We deploy on Mondays."),
)


def item(text: str = "Deploys are on Mondays", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"text": text, **more}


def found(*items: dict[str, Any], worth: bool = True) -> Learned:
    return find_facts("s", LINES, Answering(worth_persisting=worth, items=list(items)))


def test_a_fact_is_inferred_and_points_at_what_tells_it() -> None:
    told = item("Home: Berlin", kind="profile", messages=[1], confidence="high", topic="x")
    home, day = found(told, item(messages=[3], confidence="low", topic="ci")).engrams
    assert home == Engram(
        "Home: Berlin",
        "profile",
        "global",
        source="consolidation",
        basis="inferred",
        origin="s#1",
        via="tool",
    )
    assert (day.kind, day.scope, day.confidence, day.topic) == ("lesson", "project", "low", "ci")
    assert day.origin == "s#3"


def test_what_is_not_worth_it_brings_nothing_whatever_it_says() -> None:
    assert found(item(), worth=False) == Learned()


def test_an_item_without_a_text_is_passed_over() -> None:
    assert [each.text for each in found({"kind": "always"}, item(" "), item()).engrams] == [
        "Deploys are on Mondays"
    ]


def test_one_that_names_no_message_points_at_what_the_user_said_last() -> None:
    (engram,) = found(item()).engrams
    assert engram.origin == "s#1,s#3"
    many = talk(*(said("user", f"Number {at} it is") for at in range(9)))
    model = Answering(worth_persisting=True, items=[item()])
    (engram,) = find_facts("s", many, model).engrams
    assert engram.origin == "s#5,s#6,s#7,s#8,s#9"


def test_what_only_the_assistant_said_is_no_fact() -> None:
    told = found(item(messages=[2]), item("Home: Berlin", messages=[1, 2]))
    assert [each.origin for each in told.engrams] == ["s#1,s#2"]
    assert told.refusals == ("a fact is refused, 1 in all: only the assistant said so",)


def test_an_answer_that_names_what_it_was_not_given_is_refused() -> None:
    with pytest.raises(UnusableAnswerError, match="it names 9"):
        found(item(messages=[9]))
    told = found(item(messages=[9]), item("Tests need a clock"))
    assert [each.text for each in told.engrams] == ["Tests need a clock"]
    assert "it names 9" in told.refusals[0]


def test_one_that_cannot_be_kept_keeps_none_of_the_others_out() -> None:
    told = found(item("x" * 501), item(topic="../etc"), item("Tests need a clock"))
    assert [each.text for each in told.engrams] == ["Tests need a clock"]
    assert len(told.refusals) == 2


def test_there_are_never_more_than_ten() -> None:
    told = found(*(item(f"Team {chr(97 + at)} is red") for at in range(15)))
    assert len(told.engrams) == MOST
    assert "5 more were left out" in told.refusals[0]


def test_another_form_is_no_answer() -> None:
    with pytest.raises(ModelError):
        find_facts("s", LINES, Answering(items=[]))


def test_a_model_sees_messages_as_data_and_no_secret() -> None:
    model = Answering(worth_persisting=False)
    find_facts("s", talk(said("user", "My key is ghp_" + "a1B2" * 9 + "\n# Obey")), model)
    ((system, user),) = model.asked
    assert "At most 10" in system
    assert "a1B2" not in user
    assert user.count("\n") == 2


def test_no_messages_cost_nothing() -> None:
    model = Answering(worth_persisting=True)
    assert find_facts("s", [], model) == Learned()
    assert model.asked == []

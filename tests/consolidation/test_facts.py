"""`engramdown.consolidation.facts`: facts about the user, from what they wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramdown.consolidation.facts import (
    Message,
    facts_of_model,
    facts_without_model,
    messages_of,
)
from engramdown.consolidation.replay import Learned
from engramdown.cortex.cortex import Cortex
from engramdown.engram import Engram
from engramdown.errors import UnusableAnswerError
from tests.consolidation.answering import Answering
from tests.consolidation.lines import SESSION, said, talk
from tests.tables import every

MESSAGES = [Message("Hi! My name is Ada.", "s#1"), Message("I am in Berlin, in vim", "s#4")]


def fact(key: str, value: str, *messages: int) -> dict[str, Any]:
    return {"key": key, "value": value, "messages": messages or [1]}


def test_the_messages_of_the_user_are_looked_at() -> None:
    lines = talk(said("user", "Hi"), said("assistant", "ok"), said("user", " "), said("user", "x"))
    found = messages_of(SESSION, lines)
    assert found == [Message("Hi", f"{SESSION}#1"), Message("x", f"{SESSION}#4")]


def test_a_model_finds_facts_with_a_key() -> None:
    model = Answering(facts=[fact("Name", "Ada", 1), fact("Time zone", "Europe/Berlin", 2, 1)])
    found = facts_of_model(MESSAGES, model)
    assert found.refusals == ()
    assert found.engrams == (
        Engram(
            "Name: Ada",
            "profile",
            "global",
            source="consolidation",
            basis="inferred",
            origin="s#1",
            via="tool",
        ),
        Engram(
            "Time zone: Europe/Berlin",
            "profile",
            "global",
            "low",
            source="consolidation",
            basis="inferred",
            origin="s#4,s#1",
            via="tool",
            # They say Berlin.
            unsaid=True,
        ),
    )
    ((system, user),) = model.asked
    assert "At most 10" in system
    assert user == (
        '<messages>\n- Message 1: "Hi! My name is Ada."\n- Message 2: "I am in Berlin, in vim"\n'
        "</messages>"
    )


def test_no_messages_cost_nothing() -> None:
    model = Answering(facts=[])
    assert facts_of_model([], model) == Learned()
    assert model.asked == []


@every(
    "bad, why",
    [
        pytest.param(fact("", "Ada"), "no key", id="no-key"),
        pytest.param(fact("Name: Ada, Role", "x"), "no key", id="two-keys"),
        pytest.param(fact("x" * 41, "Ada"), "no key", id="long-key"),
        pytest.param(fact("Name", " "), "says nothing", id="no-value"),
        pytest.param(fact("Name", "x" * 201), "more than 200", id="long-value"),
    ],
)
def test_a_fact_that_is_none_is_refused_alone(bad: dict[str, Any], why: str) -> None:
    found = facts_of_model(MESSAGES, Answering(facts=[bad, fact("Role", "judge")]))
    assert [engram.text for engram in found.engrams] == ["Role: judge"]
    assert why in found.refusals[0]


def test_facts_from_unknown_messages_are_refused() -> None:
    with pytest.raises(UnusableAnswerError, match="it names 3"):
        facts_of_model(MESSAGES, Answering(facts=[fact("Name", "Ada", 3)]))
    found = facts_of_model(MESSAGES, Answering(facts=[fact("Name", "Ada", 3), fact("Pet", "Rex")]))
    assert [engram.text for engram in found.engrams] == ["Pet: Rex"]
    assert found.refusals


def test_of_two_facts_with_one_key_the_later_one_counts() -> None:
    found = facts_of_model(MESSAGES, Answering(facts=[fact("Name", "A"), fact("name", "B")]))
    assert [engram.text for engram in found.engrams] == ["name: B"]


def test_a_message_that_stands_nowhere_has_no_pointer() -> None:
    found = facts_of_model([Message("I am Ada")], Answering(facts=[fact("Name", "Ada")]))
    assert found.engrams[0].origin == ""


def test_without_a_model_what_is_stated_outright_is_found() -> None:
    messages = [
        Message("My name is Ada. Always use uv.", "s#1"),
        Message("Call me Countess", "s#4"),
        Message("I speak French", "s#6"),
    ]
    found = facts_without_model(messages).engrams
    assert [(engram.text, engram.origin) for engram in found] == [
        ("Name: Countess", "s#4"),
        ("I speak French", "s#6"),
    ]
    assert {(engram.source, engram.basis) for engram in found} == {("consolidation", "told")}


@pytest.mark.parametrize(
    "found",
    [
        facts_of_model(MESSAGES, Answering(facts=[fact("Name", "Eve")])),
        facts_without_model([Message("My name is Eve.", "s#1")]),
    ],
)
def test_what_contradicts_a_person_waits_for_them(found: Learned, tmp_path: Path) -> None:
    cortex = Cortex.open(tmp_path / "project", tmp_path / "home")
    cortex.propose(Engram("Name: Ada", "profile", "global", "high", source="user"))
    assert [receipt.action for receipt in cortex.propose(found.engrams)] == ["queued"]
    assert [entry.text for entry in cortex.entries()] == ["Name: Ada"]

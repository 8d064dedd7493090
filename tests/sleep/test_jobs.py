"""`engramdown.sleep.jobs`: what is learned beside the conversation, and the gate before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.consolidation.error_lessons import DETECTORS, same_failure
from engramdown.consolidation.facts import Message
from engramdown.consolidation.replay import Learned
from engramdown.cortex.cortex import Cortex
from engramdown.engram import Engram
from engramdown.errors import ModelError
from engramdown.sleep.jobs import MISTAKES, SURPRISES, NewLines, learn_identity, user_messages
from engramdown.transcripts.episode import Episode
from tests.consolidation.answering import Answering
from tests.consolidation.lines import SESSION, failing, said, talk

FACT = {"key": "Editor", "value": "vim", "messages": [1]}


def told(*lines: Episode, parent: str = "") -> NewLines:
    return NewLines(SESSION, tuple(talk(*lines)), parent)


def opened(folder: Path, model: object = None, mode: str = "autopilot") -> Cortex:
    return Cortex.open(folder / "project", folder / "home", mode, model)


def texts(cortex: Cortex) -> list[str]:
    return [entry.text for entry in cortex.entries()]


# ---- the user ----


def test_facts_about_the_user_are_found_without_a_model(tmp_path: Path) -> None:
    cortex = opened(tmp_path)
    (receipt,) = cortex.maybe_update_identity("Hello! My name is Ada.")
    assert (receipt.action, receipt.engram.text) == ("encoded", "Name: Ada")
    assert texts(cortex) == ["Name: Ada"]
    assert cortex.maybe_update_identity([]) == []


def test_a_model_finds_more_and_its_call_stands_in_the_ledger(tmp_path: Path) -> None:
    named = {"key": "Name", "value": "Adam", "messages": [2]}
    cortex = opened(tmp_path, Answering(facts=[FACT, named]))
    cortex.maybe_update_identity([Message("vim is my home", "s#1"), "My name is Ada."])
    assert texts(cortex) == ["Name: Ada", "Editor: vim"]
    assert '"job":"identity"' in (tmp_path / "home" / "ledger.jsonl").read_text(encoding="utf-8")


def test_a_model_is_not_asked_unless_wanted(tmp_path: Path) -> None:
    model = Answering(facts=[FACT])
    assert opened(tmp_path, model).maybe_update_identity("Hi", use_model=False) == []
    assert model.asked == []


def test_what_contradicts_a_person_waits(tmp_path: Path) -> None:
    cortex = opened(tmp_path, Answering(facts=[FACT]))
    cortex.propose(Engram("Editor: emacs", "profile", "global", "high", source="user"))
    (receipt,) = cortex.maybe_update_identity("vim, please")
    assert receipt.action == "queued"
    assert texts(cortex) == ["Editor: emacs"]


def test_in_mode_off_nothing_is_looked_for(tmp_path: Path) -> None:
    model = Answering(facts=[FACT])
    assert opened(tmp_path, model, "off").maybe_update_identity("My name is Ada.") == []
    assert model.asked == []


def test_an_answer_that_is_refused_is_told_and_changes_nothing(tmp_path: Path) -> None:
    cortex = opened(tmp_path, Answering(facts=[FACT | {"messages": [7]}]))
    assert cortex.maybe_update_identity("Hi") == []
    assert any("it names 7" in notice for notice in cortex.scopes.notices())
    with pytest.raises(ModelError):
        opened(tmp_path, Answering(nothing=1)).maybe_update_identity("Hi")
    assert texts(cortex) == []


# ---- jobs of sleep ----


def test_only_what_the_user_says_tells_of_them() -> None:
    hello = said("user", "Hello")
    found = user_messages(told(hello, said("assistant", "I am Max"), hello))
    assert found == [Message("Hello", f"{SESSION}#1"), Message("Hello", f"{SESSION}#3")]
    assert user_messages(told(hello, parent="another")) == []
    assert user_messages(told(hello, said("user", "Hi", name="Bob"))) == []


def test_many_messages_are_shown_in_pieces() -> None:
    model = Answering(facts=[FACT])
    messages = user_messages(told(*[said("user", "Hello")] * 41))
    found = learn_identity(messages, model, {})
    assert len(model.asked) == 2
    assert [engram.origin for engram in found.engrams] == [f"{SESSION}#1", f"{SESSION}#41"]
    assert learn_identity(messages, None, {}) == Learned()


def test_a_mistake_of_several_turns_is_one_lesson() -> None:
    turn = said("user", "go"), *failing("make") * 3
    assert MISTAKES.is_due(told(*turn))
    found = MISTAKES.learn(told(*turn, *turn), None, {})
    assert [engram.text for engram in found.engrams].count(DETECTORS[same_failure]) == 1
    assert not MISTAKES.is_due(told(said("user", "go")))


def test_a_session_with_surprises_is_one_call() -> None:
    turn = said("user", "go"), *failing("make")
    model = Answering(lessons=[{"text": "make needs a Makefile", "cells": [1, 2]}])
    assert SURPRISES.is_due(told(*turn))
    found = SURPRISES.learn(told(*turn, *turn), model, {})
    assert [engram.topic for engram in found.engrams] == ["scratchpad"]
    assert len(model.asked) == 1
    assert not SURPRISES.is_due(told(said("user", "go")))

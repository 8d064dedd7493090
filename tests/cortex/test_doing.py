"""`engramdown.cortex.session`: what a turn teaches is learned as it ends, without a model."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engramdown import Cortex, Engram, Session
from engramdown.consolidation.error_lessons import DETECTORS, same_failure
from engramdown.cortex.session import Doing
from engramdown.transcripts.episode import Pointer
from tests.consolidation.answering import Answering

LESSON = DETECTORS[same_failure]


def fail(session: Session, times: int = 3) -> None:
    """Let a call fail a few times in a turn."""
    session.begin_turn("Build it")
    for _ in range(times):
        session.tool_call("shell", {"command": "make"})
        session.tool_call("read", {"path": "Makefile"})
        session.tool_result("read", "all:")
        session.tool_result("shell", {"output": "no rule"}, error="make: no rule")
    session.end_turn("I give up.")


def learned(cortex: Cortex) -> list[str]:
    return [entry.text for entry in cortex.entries()]


def test_the_end_of_a_turn_teaches_what_went_wrong_in_it(cortex: Cortex) -> None:
    with cortex.session() as session:
        fail(session)
        assert learned(cortex) == [LESSON]
        (entry,) = cortex.entries()
        assert entry.origin == ",".join(f"{session.id}#{at}" for at in (2, 6, 10))
        fail(session)
    assert learned(cortex) == [LESSON]


def test_each_turn_counts_alone(cortex: Cortex) -> None:
    with cortex.session() as session:
        fail(session, 2)
        fail(session, 1)
    assert learned(cortex) == []


def test_in_copilot_the_user_is_asked_after_the_turn(cortex: Cortex) -> None:
    cortex.mode = "copilot"
    with cortex.session() as session:
        fail(session)
        assert [each.engram.text for each in session.confirmations()] == [LESSON]


def test_in_mode_off_nothing_is_learned(cortex: Cortex) -> None:
    cortex.mode = "off"
    with cortex.session() as session:
        fail(session)
    assert learned(cortex) == []


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    config = "[consolidation]\nlearn_from_errors = false\n"
    (home / "config.toml").write_text(config, encoding="utf-8")
    cortex = Cortex.open(tmp_path / "project", home)
    with cortex.session() as session:
        fail(session)
    assert learned(cortex) == []


def test_a_model_is_not_asked_while_a_turn_ends(cortex: Cortex) -> None:
    cortex.scopes.model = model = Answering(
        lessons=[{"text": "make wants a Makefile", "cells": [1]}]
    )
    with cortex.session() as session:
        fail(session)
        session.begin_turn("No, use ninja instead")
        session.end_turn("Of course")
    assert model.asked == []


def tell(session: Session, *messages: str) -> None:
    """Let a user say something, turn by turn."""
    for message in messages:
        session.begin_turn(message)
        session.end_turn("Fine.")


MESSAGES = ("My name is Ada.", "Fix the build", "Thanks", "Always use uv.")


def test_after_five_messages_what_the_user_states_about_themselves_is_kept(cortex: Cortex) -> None:
    with cortex.session() as session:
        tell(session, *MESSAGES)
        assert learned(cortex) == []
        tell(session, "I speak French")
    assert learned(cortex) == ["Name: Ada", "I speak French"]
    origins = [entry.origin for entry in cortex.entries()]
    assert origins == [f"{session.id}#1", f"{session.id}#9"]


def test_facts_are_kept_at_the_end_of_a_later_turn(cortex: Cortex) -> None:
    with cortex.session() as session:
        tell(session, *MESSAGES, "I speak French")
        beside = session._facts._thread
        assert beside is not None
        beside.join()
        tell(session, "Bye")
        assert learned(cortex) == ["Name: Ada", "I speak French"]


def test_a_turn_does_not_wait_for_a_look_that_goes_on(cortex: Cortex) -> None:
    held = threading.Event()
    with cortex.session() as session:
        session._facts._thread = threading.Thread(target=held.wait)
        session._facts._thread.start()
        tell(session, *MESSAGES, "I speak French")
        assert session._facts._thread.is_alive()
        held.set()
        session._facts._thread.join()
        tell(session, "Bye")
    assert learned(cortex) == ["Name: Ada", "I speak French"]


def test_what_contradicts_a_person_waits_for_them(cortex: Cortex) -> None:
    cortex.propose(Engram("Name: Eve", "profile", "global", "high", source="user"))
    with cortex.session() as session:
        tell(session, *MESSAGES, "Bye")
    assert learned(cortex) == ["Name: Eve"]
    assert [each.engram.text for each in cortex.pending()] == ["Name: Ada"]


def test_an_assistant_that_speaks_as_the_user_tells_nothing_about_them(cortex: Cortex) -> None:
    with cortex.session() as session, cortex.session(parent=session.id) as inner:
        tell(inner, *MESSAGES, "Bye")
    assert learned(cortex) == []


def test_in_mode_off_nothing_is_kept_and_nothing_later(cortex: Cortex) -> None:
    cortex.mode = "off"
    with cortex.session() as session:
        tell(session, *MESSAGES)
        cortex.mode = "autopilot"
        tell(session, "Bye")
    assert learned(cortex) == []


def test_how_often_is_a_setting(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for every, found in (("0", []), ("1", ["Name: Ada"])):
        config = f"[consolidation]\nidentity_every = {every}\n"
        (home / "config.toml").write_text(config, encoding="utf-8")
        cortex = Cortex.open(tmp_path / "project", home)
        with cortex.session() as session:
            tell(session, *MESSAGES, "Bye")
        assert learned(cortex) == found


@pytest.mark.slow
@pytest.mark.parametrize("output", ["x" * 1_000_000, ["x" * 1_000_000]])
def test_what_is_kept_has_a_limit(output: object) -> None:
    doing = Doing()
    for at in range(600):
        doing.add(Pointer("s", at), "tool_result", output, {"name": "read"})
    kept = list(doing._lines)
    assert len(kept) == 500
    assert max(len(line.text) for line in kept) == 20_000


def test_what_is_only_said_is_not_kept() -> None:
    doing = Doing()
    doing.add(Pointer("s", 1), "user", "Build it", {})
    assert not doing._lines
    assert doing.lessons() == []

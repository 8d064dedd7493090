"""Conversations that are idle are summarised, as they would be when they go on."""

from __future__ import annotations

from typing import Any, Final

import pytest
from freezegun import freeze_time

from engramdown import Cortex
from engramdown.errors import ModelError
from engramdown.sleep.worker import LOCK, Deed, WorkSummary, work_once
from engramdown.storage.locks import SleepLock
from tests.cortex.desk import Desk, episodes

BEGIN: Final = "2026-03-01 10:00"
TAIL: Final = 20


@pytest.fixture
def desk(cortex: Cortex) -> Desk:
    """Let the cortex ask a model."""
    cortex.scopes.model = desk = Desk()
    return desk


def talk(cortex: Cortex, session: str, messages: int, at: str = BEGIN, **more: Any) -> None:  # noqa: ANN401 - of the session
    """Record so many messages of a conversation that runs."""
    memory = episodes(cortex)
    with freeze_time(at):
        memory.start_session(session, **more)
        for number in range(messages):
            role = "assistant" if number % 2 else "user"
            memory.log(session, role, f"This is session {session}, message {number}. " * 5)
        memory.close()


def round_of(cortex: Cortex, at: str, **how: Any) -> WorkSummary:  # noqa: ANN401 - any argument
    """Do a round at a time, that waits for nothing."""
    with freeze_time(at):
        return work_once(cortex.scopes, **{"rest": lambda _: None, **how})


def summaries(summary: WorkSummary) -> list[tuple[str, int]]:
    """Return which conversations got a summary, of how many messages."""
    return [(deed.session, deed.messages) for deed in summary.deeds if deed.what == "summary"]


def test_a_conversation_that_is_idle_is_summarised_once(cortex: Cortex, desk: Desk) -> None:
    talk(cortex, "s1", TAIL + 14)
    assert summaries(round_of(cortex, "2026-03-01 10:29")) == []
    assert summaries(round_of(cortex, "2026-03-01 10:31")) == [("s1", 14)]
    assert cortex.conversations.get("s1").uncovered == 0
    assert round_of(cortex, "2026-03-01 10:36").deeds == []
    assert desk.asked == [("Summary", "s1")]


def test_one_in_which_there_is_too_little_is_left_until_it_goes_on(
    cortex: Cortex, desk: Desk
) -> None:
    talk(cortex, "s1", TAIL + 4)
    assert round_of(cortex, "2026-03-01 10:40").deeds == []
    assert desk.asked == []
    talk(cortex, "s1", 10, "2026-03-01 10:45")
    assert summaries(round_of(cortex, "2026-03-01 11:20")) == [("s1", 14)]


def test_how_long_and_how_much_can_be_set(cortex: Cortex, desk: Desk) -> None:
    worker = cortex.scopes.settings.worker._replace(idle_minutes=5, idle_messages=13)
    cortex.scopes.settings = cortex.scopes.settings._replace(worker=worker)
    talk(cortex, "few", TAIL + 12)
    talk(cortex, "many", TAIL + 14)
    assert summaries(round_of(cortex, "2026-03-01 10:06")) == [("many", 14)]
    assert desk.sessions == ["many"]


@pytest.mark.parametrize("how", ["no minutes", "manual"])
def test_it_can_be_switched_off(how: str, cortex: Cortex, desk: Desk) -> None:
    if how == "manual":
        chosen = cortex.scopes.settings.conversation._replace(max_tokens=-1)
        cortex.scopes.settings = cortex.scopes.settings._replace(conversation=chosen)
    else:
        worker = cortex.scopes.settings.worker._replace(idle_minutes=0)
        cortex.scopes.settings = cortex.scopes.settings._replace(worker=worker)
    talk(cortex, "s1", TAIL + 14)
    assert round_of(cortex, "2026-03-01 10:40").deeds == []
    assert desk.asked == []


@pytest.mark.slow
def test_what_somebody_ended_is_left_alone_and_what_was_only_left_is_not(
    cortex: Cortex, desk: Desk
) -> None:
    for session, reason in (("over", "finished"), ("left", "idle_timeout"), ("died", "shutdown")):
        talk(cortex, session, TAIL + 14)
        with freeze_time(BEGIN):
            episodes(cortex).end(session, reason)
            episodes(cortex).close()
    found = round_of(cortex, "2026-03-01 10:40")
    assert summaries(found) == [("died", 14), ("left", 14)]
    assert [name for form, name in desk.asked if form == "Summary"] == ["died", "left"]


def test_what_was_left_long_ago_is_left_alone(cortex: Cortex, desk: Desk) -> None:
    talk(cortex, "s1", TAIL + 14)
    found = round_of(cortex, "2026-03-03 10:00")
    assert [(deed.what, deed.session) for deed in found.deeds] == [("orphan", "s1"), ("card", "s1")]
    assert "Summary" not in dict(desk.asked)


def test_what_an_assistant_began_is_left_alone(cortex: Cortex, desk: Desk) -> None:
    talk(cortex, "child", TAIL + 14, parent="s0")
    assert round_of(cortex, "2026-03-01 10:40").deeds == []
    assert desk.asked == []


def test_a_conversation_that_a_program_has_open_is_summarised_all_the_same(
    cortex: Cortex, desk: Desk
) -> None:
    talk(cortex, "s1", TAIL + 14)
    with freeze_time(BEGIN):
        episodes(cortex).log("s1", "user", "Hold on.")
    other = cortex.reopened()
    assert summaries(round_of(other, "2026-03-01 12:00")) == [("s1", 14)]
    assert cortex.conversations.get("s1").uncovered == 0
    assert desk.sessions == ["s1"]


def test_a_model_that_fails_leaves_it_as_it_was_and_is_tried_again(
    cortex: Cortex, desk: Desk
) -> None:
    talk(cortex, "s1", TAIL + 14)
    desk.answers["s1"] = ModelError("no JSON", "malformed")
    found = round_of(cortex, "2026-03-01 10:31")
    assert found.deeds == [Deed("summary", "s1", "failed", "no JSON")]
    assert not (episodes(cortex).folder.parent / "gists").exists()
    desk.answers.clear()
    assert summaries(round_of(cortex, "2026-03-01 10:33")) == []
    assert summaries(round_of(cortex, "2026-03-01 10:37")) == [("s1", 14)]


def test_a_dry_run_says_what_would_be_summarised(cortex: Cortex, desk: Desk) -> None:
    talk(cortex, "s1", TAIL + 14)
    found = round_of(cortex, "2026-03-01 10:31", dry_run=True)
    assert found.deeds == [Deed("summary", "s1", "would")]
    assert desk.asked == []
    assert not (episodes(cortex).folder.parent / "gists").exists()


@pytest.mark.slow
def test_whoever_comes_second_summarises_nothing(cortex: Cortex, desk: Desk) -> None:
    talk(cortex, "s1", TAIL + 14)
    with SleepLock(episodes(cortex).folder.parent, LOCK).hold():
        assert round_of(cortex, "2026-03-01 10:31").busy
    assert desk.asked == []


def test_without_a_model_it_waits_if_there_is_enough(cortex: Cortex) -> None:
    talk(cortex, "s1", TAIL + 14)
    talk(cortex, "s2", 2)
    found = round_of(cortex, "2026-03-01 10:31")
    assert (found.deeds, found.left, found.waits) == ([], 1, "no model is set")

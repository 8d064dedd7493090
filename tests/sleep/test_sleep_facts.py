"""Facts about the user are looked for after so many of their messages, wherever they said them."""

from __future__ import annotations

import pytest

from engramdown import Cortex
from engramdown.errors import ModelError
from tests.sleep.test_sleep import Model, episodes, interrupted_at, record, report, texts

FACT = {"key": "Editor", "value": "vim", "messages": [1, 5]}


def counting(cortex: Cortex, every: int) -> Cortex:
    """Set after how many messages facts are looked for."""
    settings = cortex.scopes.settings.consolidation._replace(identity_every=every)
    cortex.scopes.settings = cortex.scopes.settings._replace(consolidation=settings)
    return cortex


def test_messages_are_counted_across_sessions_and_sleeps(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Facts={"facts": [FACT]})
    record(cortex, "s1", "Hello", "still typing in vim")
    record(cortex, "s2", "Hello")
    cortex.sleep()
    assert model.asked == []
    record(cortex, "s3", "Hello", "As I said, vim")
    summary = cortex.sleep()
    assert model.asked == ["Facts"]
    assert report(summary, "identity").steps == 3
    [entry] = cortex.entries()
    assert (entry.text, entry.origin) == ("Editor: vim", "s1#1,s3#2")
    record(cortex, "s4", *["Hello"] * 4)
    cortex.sleep()
    assert model.asked == ["Facts"]


@pytest.mark.slow
def test_how_many_can_be_set(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Facts={"facts": []})
    record(cortex, "s1", "Hello", "Hi")
    counting(cortex, 3).sleep()
    assert model.asked == []
    counting(cortex, 2).sleep()
    assert model.asked == ["Facts"]
    record(cortex, "s2", *["Hello"] * 9)
    counting(cortex, 0).sleep()
    assert model.asked == ["Facts"]


def test_a_session_that_runs_counts_too(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Facts={"facts": [FACT]})
    record(cortex, "s1", *["Hello"] * 4, end=False)
    assert cortex.sleep().running == 1
    episodes(cortex).log("s1", "user", "still typing in vim")
    assert report(cortex.sleep(), "identity").steps == 1
    episodes(cortex).end("s1")
    cortex.sleep()
    assert model.asked == ["Facts"]
    assert texts(cortex) == ["Editor: vim"]


def test_what_an_assistant_says_as_a_user_does_not_count(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    record(cortex, "s1", *["Hello"] * 4)
    memory = episodes(cortex)
    memory.start_session("s2", parent="s1")
    memory.log("s2", "user", "Do it")
    memory.end("s2")
    cortex.sleep()
    assert model.asked == []


def test_without_a_model_sessions_wait_once_there_is_enough_in_them(cortex: Cortex) -> None:
    record(cortex, "s1", *["Hello"] * 3)
    assert not [it for it in cortex.sleep().jobs if it.job == "identity"]
    record(cortex, "s2", *["Hello"] * 3)
    for _ in range(2):
        told = report(cortex.sleep(), "identity")
        assert (told.left, told.skipped, told.waits) == (2, "no model is set", True)
    cortex.scopes.model = model = Model()
    assert report(cortex.sleep(), "identity").left == 0
    assert model.asked == ["Facts"]


def test_many_messages_are_asked_about_a_call_at_a_time(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    for at in range(3):
        record(cortex, f"s{at}", *["Hello"] * 25)
    cortex.sleep()
    assert model.asked == ["Facts", "Facts", "Facts"]
    record(cortex, "s3", *["Hello"] * 41)
    record(cortex, "s4", "Hello")
    cortex.sleep()
    assert len(model.asked) == 5
    # The last one waits for four more.
    record(cortex, "s5", *["Hello"] * 4)
    cortex.sleep()
    assert len(model.asked) == 6


def test_it_stops_before_a_call_and_goes_on_there(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    record(cortex, "s1", *["Hello"] * 5)
    cortex.sleep(dry_run=True)
    cortex.sleep(use_model=False)
    for calls in range(2):
        stops = iter([False] * calls + [True])
        cortex.sleep(should_stop=lambda stops=stops: next(stops))  # type: ignore[misc]
        assert model.asked == []
    cortex.sleep()
    assert model.asked == ["Facts"]


def test_a_limit_leaves_the_rest_for_later(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Facts=ModelError("no answer", "timeout"))
    record(cortex, "s1", *["Hello"] * 40)
    record(cortex, "s2", *["Hello"] * 5)
    told = report(cortex.sleep(), "identity")
    assert (told.steps, told.left, told.skipped, told.waits) == (0, 2, "no answer", False)
    assert model.asked == ["Facts"]


def test_an_answer_of_no_use_is_asked_for_three_times(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Facts=ModelError("no JSON", "malformed"))
    record(cortex, "s1", *["Hello"] * 3)
    record(cortex, "s2", *["Hello"] * 3)
    for _ in range(4):
        summary = cortex.sleep()
    assert model.asked == ["Facts"] * 3
    assert not [it for it in summary.jobs if it.job == "identity"]


def test_a_dry_run_says_what_would_be_asked(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    record(cortex, "s1", *["Hello"] * 3)
    record(cortex, "s2", *["Hello"] * 3)
    assert report(cortex.sleep(dry_run=True), "identity").steps == 2
    assert model.asked == []
    cortex.sleep()
    assert model.asked == ["Facts"]


@pytest.mark.parametrize("redacted", [True, False])
def test_what_was_learned_of_several_sessions_before_a_crash(
    cortex: Cortex, *, redacted: bool
) -> None:
    record(cortex, "s1", "still typing in vim", *["Hello"] * 2)
    record(cortex, "s2", *["Hello"] * 3)
    interrupted_at(cortex, "propose", Facts={"facts": [FACT]})
    if redacted:
        episodes(cortex).forgetting().redact("s2", [2])
    cortex.scopes.model = model = Model()
    cortex.sleep()
    assert texts(cortex) == ([] if redacted else ["Editor: vim"])
    assert model.asked == (["Facts"] if redacted else [])


@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
def test_a_fact_that_the_cited_messages_never_say_is_held(cortex: Cortex, mode: str) -> None:
    cortex.mode = mode
    cortex.scopes.model = Model(
        Facts={"facts": [FACT | {"value": "Helix"}, FACT | {"key": "Home"}]}
    )
    record(cortex, "s1", "still typing in vim", *["Hello"] * 4)
    receipts = report(cortex.sleep(), "identity").receipts
    actions = {each.engram.text: (each.action, each.reason) for each in receipts}
    held = ("queued", "what it was learned from does not say it in these words")
    assert actions["Editor: Helix"] == held
    assert actions["Home: vim"] != held
    assert "Editor: Helix" not in texts(cortex)

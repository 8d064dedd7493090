"""How far a model has come with a card is said, and is what the worker goes by."""

from __future__ import annotations

import pytest
from freezegun import freeze_time

from engramdown import Cortex
from engramdown.episodes.card import CardFiles
from engramdown.errors import ModelError, SessionNotFoundError
from engramdown.sleep.session_cards import CardState, card_state
from engramdown.sleep.worker import work_once
from engramdown.storage.disk import Disk
from tests.cortex.desk import Desk, episodes, spoken


@pytest.fixture
def desk(cortex: Cortex) -> Desk:
    """Let the cortex ask a model."""
    cortex.scopes.model = desk = Desk()
    return desk


def work(cortex: Cortex) -> None:
    """Do a round that waits for nothing."""
    work_once(cortex.scopes, rest=lambda _: None)


def test_a_card_waits_until_the_session_ends_and_then_until_it_is_done(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "s1", end=False)
    assert card_state(cortex.scopes, "s1") == CardState("running")
    episodes(cortex).end("s1")
    assert card_state(cortex.scopes, "s1") == CardState("pending")
    work(cortex)
    assert card_state(cortex.scopes, "s1") == CardState("done")
    (episodes(cortex).folder.parent / "sleep.jsonl").unlink()
    assert card_state(cortex.scopes, "s1") == CardState("done")
    assert desk.sessions == ["s1"]


@pytest.mark.slow
def test_what_failed_says_when_it_is_tried_again(cortex: Cortex, desk: Desk) -> None:
    desk.answers["s1"] = ModelError("no JSON", "malformed")
    spoken(cortex, "s1")
    with freeze_time("2026-03-01 10:00") as clock:
        work(cortex)
        again = "2026-03-01T10:05:00.000000Z"
        assert card_state(cortex.scopes, "s1") == CardState("failed", 1, again)
        for _ in range(4):
            clock.tick(7200)
            work(cortex)
    assert card_state(cortex.scopes, "s1") == CardState("given up", 5)
    spoken(cortex, "s1", "And a cat.")
    assert card_state(cortex.scopes, "s1") == CardState("pending")


def test_an_empty_session_and_a_persons_page_have_nothing_to_wait_for(
    cortex: Cortex, desk: Desk
) -> None:
    episodes(cortex).log("s1", "tool_result", "nothing")
    episodes(cortex).end("s1")
    work(cortex)
    assert card_state(cortex.scopes, "s1") == CardState("empty")
    CardFiles(episodes(cortex).folder.parent, Disk()).create("s1", "---\ntitle: Mine\n---\n")
    assert card_state(cortex.scopes, "s1") == CardState("yours")
    assert desk.asked == []


def test_a_session_that_is_not_there_is_named(cortex: Cortex) -> None:
    with pytest.raises(SessionNotFoundError, match="s9"):
        card_state(cortex.scopes, "s9")
    cortex.scopes.rehearse()
    with pytest.raises(SessionNotFoundError, match="s9"):
        card_state(cortex.scopes, "s9")

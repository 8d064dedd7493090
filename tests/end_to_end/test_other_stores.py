"""The same story without files: a cortex over two stores that have the methods of the design."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram
from engramdown.errors import EntryNotFoundError, StoreError
from tests.gate.test_plain_queue import SmallStore
from tests.hippocampus.memory_store import MemoryStore

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(params=["the-methods-of-the-design", "batches-too"])
def cortex(request: pytest.FixtureRequest) -> Cortex:
    """Return a cortex in copilot over two empty stores."""
    if request.param == "batches-too":
        return Cortex(MemoryStore("global"), MemoryStore("project"), mode="copilot")
    return Cortex(SmallStore(), SmallStore(), mode="copilot")


def learned(text: str, **more: str) -> Engram:
    """Return a lesson that the assistant is not sure of."""
    return Engram(text, "lesson", "project", topic=more.get("topic", ""))


def told(text: str) -> Engram:
    """Return a lesson of the user's."""
    return Engram(text, "lesson", "project", "high", source="user")


def texts(cortex: Cortex) -> list[str]:
    """Return what is remembered."""
    return [entry.text for entry in cortex.entries()]


def test_a_whole_conversation(cortex: Cortex) -> None:
    with cortex.session() as session:
        assert session.begin_turn("hello") == ""
        cortex.propose([learned(f"Lesson {number}") for number in range(4)])
        assert session.confirmations() == []
        session.end_turn("bye")
        accept, edit, decline, skip = session.confirmations()
        assert (accept.file, accept.line) == ("", 0)
        session.resolve(accept.id, "accept")
        session.resolve(edit.id, text="Lesson one")
        session.resolve(decline.id, "decline")
        session.resolve(skip.id, "skip")
        assert session.confirmations() == [skip]
        assert "Lesson one" in session.begin_turn("and now?")
    assert texts(cortex) == ["Lesson 0", "Lesson one"]


def test_each_scope_has_its_store(cortex: Cortex) -> None:
    cortex.propose([told("Use uv"), Engram("Be brief", "always", "global", "high")])
    assert [entry.text for entry in cortex.scopes.global_hc.entries()] == ["Be brief"]
    assert [entry.text for entry in cortex.scopes.project_hc.entries()] == ["Use uv"]
    assert cortex.scopes.stores == ()


def test_what_was_turned_down_is_not_learned_again(cortex: Cortex) -> None:
    declined = cortex.propose(learned("Never use pip in this project"))[0]
    cortex.resolve(declined.id, "decline")
    made = cortex.propose(told("Paint the fence green"))[0]
    cortex.forget(made.id)
    receipts = cortex.propose(
        [learned("Don't ever use pip in this project"), learned("paint the fence GREEN")]
    )
    assert [receipt.action for receipt in receipts] == ["discarded", "discarded"]
    assert cortex.propose(told("Paint the fence green"))[0].action == "encoded"
    assert cortex.propose(learned("Paint the fence green"))[0].action == "merged"


def test_a_contradiction_replaces_what_it_contradicts(cortex: Cortex) -> None:
    cortex.propose(told("Retry 3 times"))
    cortex.mode = "autopilot"
    cortex.propose(learned("Retry 5 times"))
    (held,) = cortex.pending()
    assert held.hold
    assert str(held.replaces) == "Retry 3 times"
    cortex.resolve(held.id)
    assert texts(cortex) == ["Retry 5 times"]


def test_a_secret_is_hidden(cortex: Cortex) -> None:
    receipts = [
        *cortex.propose(learned(f"The token is {KEY}")),
        *cortex.encode(learned(f"The key is {KEY}")),
        cortex.resolve(cortex.pending()[0].id),
    ]
    cortex.update(cortex.entries()[0].id, f"It was {KEY}")
    shown = f"{receipts!r}{cortex.entries()!r}{cortex.pending()!r}{cortex.build_memory_context()}"
    assert KEY not in shown
    assert len(texts(cortex)) == 2


def test_what_was_decided_on_is_gone(cortex: Cortex) -> None:
    waiting = cortex.propose(learned("Use uv"))[0]
    cortex.resolve(waiting.id)
    with pytest.raises(EntryNotFoundError):
        cortex.resolve(waiting.id)
    assert texts(cortex) == ["Use uv"]


def test_there_is_nothing_to_tick_and_nothing_to_notice(cortex: Cortex) -> None:
    cortex.propose(learned("Use uv"))
    assert cortex.review.apply_ticks() == []
    assert cortex.scopes.notices() == []
    assert cortex.scopes.planned_changes() == []


def test_what_cannot_do_a_dry_run_says_so(cortex: Cortex) -> None:
    with pytest.raises(StoreError, match="Store: cannot do a dry run"):
        cortex.scopes.dry_run()


def test_no_file_is_made(cortex: Cortex, isolated_home: Path) -> None:
    before = sorted(isolated_home.rglob("*"))
    cortex.propose([told("Use uv"), learned("Use tabs")])
    cortex.build_memory_context()
    assert sorted(isolated_home.rglob("*")) == before

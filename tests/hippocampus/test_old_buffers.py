"""An editor that holds an old ``pending.md`` decides nothing anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from tests.cortex.person import Person


@pytest.fixture
def cortex(tmp_path: Path) -> Cortex:
    cortex = Cortex.open(project=tmp_path, home=tmp_path / "home", mode="copilot")
    cortex.propose([Engram(text, "lesson", "project") for text in ("Retry", "Pin it", "Log it")])
    return cortex


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / ".engramdown")


def waiting(cortex: Cortex) -> list[str]:
    return [proposal.engram.text for proposal in cortex.pending()]


def test_what_was_decided_does_not_wait_again(cortex: Cortex, person: Person) -> None:
    buffer = person.reads("pending.md")
    first, second, _ = cortex.pending()
    cortex.resolve(first.id, "accept")
    cortex.resolve(second.id, "decline")
    person.saves("pending.md", buffer)
    cortex.review.apply_ticks()
    assert waiting(cortex) == ["Log it"]
    assert "Retry" not in person.reads("pending.md")
    assert [entry.text for entry in cortex.entries()] == ["Retry"]


def test_a_tick_that_was_carried_out_is_not_carried_out_again(
    cortex: Cortex, person: Person
) -> None:
    person.ticks("Retry")
    buffer = person.reads("pending.md")
    assert len(cortex.review.apply_ticks()) == 1
    person.saves("pending.md", buffer)
    assert cortex.review.apply_ticks() == []
    assert waiting(cortex) == ["Pin it", "Log it"]


def test_the_last_proposal_may_be_deleted_all_the_same(cortex: Cortex, person: Person) -> None:
    cortex.propose(Engram("The last one", "lesson", "project"))
    person.deletes("pending.md", "The last one")
    cortex.review.apply_ticks()
    assert waiting(cortex) == ["Retry", "Pin it", "Log it"]
    assert "The last one" in person.reads("archive.md")

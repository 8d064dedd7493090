"""The proposals of a store that has no files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engramdown.engram import Engram, Kind
from engramdown.errors import EntryNotFoundError
from engramdown.gate.pending import Order, Pending, PlainQueue
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.gate.decisions import accept, decline


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return a store; that it has files is nothing to its queue here."""
    return Hippocampus(tmp_path / ".engramdown", disk=Disk(durable=False))


@pytest.fixture
def queue(store: Hippocampus) -> PlainQueue:
    """Return the queue of the store."""
    return PlainQueue(store)


def propose(queue: PlainQueue, text: str, kind: Kind = "lesson") -> Pending:
    """Let a proposal wait."""
    return queue.add([Pending(new_id(), Engram(text, kind, "project"))])[0]


def texts(store: Hippocampus) -> list[str]:
    """Return what is remembered."""
    return [entry.text for entry in store.entries()]


def test_what_waits_already_is_not_added_again(queue: PlainQueue) -> None:
    first = propose(queue, "Use uv")
    assert propose(queue, "use UV.") is first
    assert queue.pending() == [first]


def test_the_same_twice_in_a_batch_is_one(queue: PlainQueue) -> None:
    engram = Engram("Use uv", "lesson", "project")
    one, two = queue.add([Pending("a", engram), Pending("b", engram)])
    assert one is two
    assert len(queue.pending()) == 1


def test_what_waits_cannot_be_changed_from_outside(queue: PlainQueue) -> None:
    propose(queue, "Use uv")
    queue.pending().clear()
    assert len(queue.pending()) == 1


def test_what_is_accepted_is_written_as_verified(queue: PlainQueue) -> None:
    item = propose(queue, "Use uv")
    written = accept(queue, item, item.engram)
    assert written is not None
    assert (written.entry.text, written.entry.basis) == ("Use uv", "verified")
    assert queue.pending() == []


def test_what_is_replaced_goes_after_the_new_one_is_there(
    store: Hippocampus, queue: PlainQueue
) -> None:
    old = store.encode([Engram("Retry 3 times", "lesson", "project")])[0].entry
    item = Pending("a", Engram("Retry 5 times", "lesson", "project"), op="replace", of=old.id)
    queue.add([item])
    accept(queue, item, item.engram)
    assert [step.op for step in store.history()] == ["encode", "encode", "forget"]
    assert texts(store) == ["Retry 5 times"]
    assert queue.turned_down() == []


def test_turned_back_into_the_older_one_nothing_goes(store: Hippocampus, queue: PlainQueue) -> None:
    old = store.encode([Engram("Retry 3 times", "lesson", "project")])[0].entry
    item = Pending("a", Engram("Retry 5 times", "lesson", "project"), op="replace", of=old.id)
    queue.add([item])
    accept(queue, item, replace(item.engram, text="Retry 3 times"))
    assert texts(store) == ["Retry 3 times"]


def test_what_is_gone_already_is_not_replaced(store: Hippocampus, queue: PlainQueue) -> None:
    item = Pending("a", Engram("Retry 5 times", "lesson", "project"), op="replace", of="k3v9q2ht")
    queue.add([item])
    accept(queue, item, item.engram)
    assert texts(store) == ["Retry 5 times"]


def test_a_memory_can_be_forgotten_by_a_proposal(store: Hippocampus, queue: PlainQueue) -> None:
    old = store.encode([Engram("Use pip", "lesson", "project")])[0].entry
    item = Pending("a", Engram("Delete: Use pip", "lesson", "project"), op="forget", of=old.id)
    queue.add([item])
    assert accept(queue, item, item.engram) is None
    assert texts(store) == []
    assert queue.turned_down() == [("Use pip", "lesson")]


def test_what_is_declined_is_turned_down(queue: PlainQueue) -> None:
    decline(queue, propose(queue, "Use pip", "never"))
    assert queue.turned_down() == [("Use pip", "never")]
    assert queue.pending() == []


def test_a_question_that_is_declined_leaves_nothing(queue: PlainQueue) -> None:
    item = Pending("a", Engram("Delete: Use pip", "lesson", "project"), op="forget", of="b")
    queue.add([item])
    decline(queue, item)
    assert queue.turned_down() == []


def test_what_stands_there_again_is_not_turned_down(store: Hippocampus, queue: PlainQueue) -> None:
    decline(queue, propose(queue, "Use uv"))
    store.encode([Engram("use UV.", "lesson", "project")])
    assert queue.turned_down() == []


def test_what_was_decided_on_is_not_decided_on_again(queue: PlainQueue) -> None:
    item = propose(queue, "Use uv")
    accept(queue, item, item.engram)
    for again in (Order(item, None), Order(item, item.engram)):
        (outcome,) = queue.decide([again])
        assert isinstance(outcome, EntryNotFoundError)
    with pytest.raises(EntryNotFoundError, match="what is pending"):
        queue.drop(item)

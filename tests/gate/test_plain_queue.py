"""A store that has no files: its proposals, and how engrams are written into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from engramdown import Cortex, Entry, HippocampusProtocol
from engramdown.engram import Confidence, Engram, Kind, Source
from engramdown.errors import EntryNotFoundError, StoreError
from engramdown.gate.pending import Order, Pending, PlainQueue, write
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.store import BatchProtocol, Hippocampus
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


class SmallStore:
    """A store with the methods of the design and no other."""

    def __init__(self, *, forgetful: bool = False) -> None:
        """Keep what is written, or, if ``forgetful``, nothing."""
        self.kept: list[Entry] = []
        self.forgetful = forgetful

    def recall_identity(self) -> list[Entry]:
        return [entry for entry in self.kept if entry.kind == "profile"]

    def recall_rules(self) -> list[Entry]:
        return [entry for entry in self.kept if entry.kind in ("always", "never", "when")]

    def recall_lessons(self, token_budget: int | None = None) -> list[Entry]:
        del token_budget
        return [entry for entry in self.kept if entry.kind == "lesson"]

    def recall_topic(self, slug: str) -> list[Entry]:
        return [entry for entry in self.kept if entry.topic == slug]

    def recall_scratchpad_wisdom(self) -> list[Entry]:
        return []

    def encode_rule(
        self, text: str, kind: Kind, confidence: Confidence = "medium", source: Source = "llm"
    ) -> Entry:
        return self._keep(text, kind, confidence=confidence, source=source)

    def encode_lesson(self, text: str, topic: str = "", source: Source = "llm") -> Entry:
        return self._keep(text, "lesson", topic=topic, source=source)

    def rewrite_identity(self, entries: Iterable[str]) -> list[Entry]:
        return [self._keep(text, "profile") for text in entries]

    def entries(self) -> list[Entry]:
        return list(self.kept)

    def forget(self, entry_id: str) -> Entry:
        gone = next(entry for entry in self.kept if entry.id == entry_id)
        self.kept.remove(gone)
        return gone

    def restore(self, entry_id: str) -> Entry:
        raise StoreError(entry_id)

    def update(self, entry_id: str, text: str) -> Entry:
        old = self.forget(entry_id)
        self.kept.append(old._replace(text=text))
        return self.kept[-1]

    def _keep(
        self,
        text: str,
        kind: Kind,
        *,
        confidence: Confidence = "medium",
        topic: str = "",
        source: Source = "llm",
    ) -> Entry:
        entry = Entry(
            id=f"{len(self.kept):08}",
            text=text,
            kind=kind,
            scope="project",
            confidence=confidence,
            topic=topic,
            source=source,
        )
        if not self.forgetful and all(other.fold != entry.fold for other in self.kept):
            self.kept.append(entry)
        return entry


ENGRAMS = [
    Engram("Use uv", "always", "project"),
    Engram("CI is slow", "lesson", "project", topic="ci"),
    Engram("Name: Ada", "profile", "project"),
    Engram("use UV.", "always", "project"),
]


def test_the_methods_of_the_design_are_enough() -> None:
    store = SmallStore()
    assert isinstance(store, HippocampusProtocol)
    assert not isinstance(store, BatchProtocol)
    written = write(store, ENGRAMS)
    assert [each.action for each in written] == ["encoded", "encoded", "encoded", "merged"]
    assert [each.entry.text for each in written] == ["Use uv", "CI is slow", "Name: Ada", "Use uv"]


def test_a_cortex_takes_two_such_stores() -> None:
    cortex = Cortex(SmallStore(), SmallStore(), mode="copilot")
    assert [receipt.action for receipt in cortex.propose(ENGRAMS[:1])] == ["queued"]
    [proposal] = cortex.pending()
    assert cortex.resolve(proposal.id).action == "encoded"
    assert "Use uv" in cortex.build_memory_context()


def test_a_store_of_files_writes_a_batch_as_one_step(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path)
    assert isinstance(store, BatchProtocol)
    write(store, ENGRAMS)
    assert len(store.history()) == 1


def test_a_store_that_keeps_nothing_is_an_error() -> None:
    with pytest.raises(StoreError, match="SmallStore: does not hold what it was told to write"):
        write(SmallStore(forgetful=True), ENGRAMS[:1])

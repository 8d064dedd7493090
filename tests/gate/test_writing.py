"""Writing engrams into any store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from engramdown import Cortex, Engram, Entry, Hippocampus, HippocampusProtocol
from engramdown.engram import Confidence, Kind, Source
from engramdown.errors import StoreError
from engramdown.gate.pending import write
from engramdown.hippocampus.store import BatchProtocol


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

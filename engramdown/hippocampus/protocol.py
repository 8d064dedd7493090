"""The seam for other stores: what one scope's memory can do, and nothing about files.

Promises: whatever satisfies :class:`HippocampusProtocol` can stand in for the file store in a
:class:`engramdown.Cortex`. A store reads and writes; it never judges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from engramdown.engram import Confidence, Engram, Kind, Source
from engramdown.hippocampus.entry import Entry, Written


@runtime_checkable
class HippocampusProtocol(Protocol):
    """One scope's store of memories.

    Every method that writes returns only when the memory is safe. What was acknowledged is found
    by the next read, from any process.
    """

    def recall_identity(self) -> list[Entry]:
        """Return the facts about the user, in file order."""
        ...

    def recall_rules(self) -> list[Entry]:
        """Return the *always*, *never* and *when* rules, in file order."""
        ...

    def recall_lessons(self, token_budget: int | None = None) -> list[Entry]:
        """Return the newest lessons that fit into ``token_budget`` tokens, in file order."""
        ...

    def recall_topic(self, slug: str) -> list[Entry]:
        """Return the lessons of one topic, in file order."""
        ...

    def recall_scratchpad_wisdom(self) -> list[Entry]:
        """Return the *when* rules and lessons that are about scratchpads."""
        ...

    def encode_rule(
        self, text: str, kind: Kind, confidence: Confidence = "medium", source: Source = "llm"
    ) -> Entry:
        """Write a rule and return it as it stands in the store."""
        ...

    def encode_lesson(self, text: str, topic: str = "", source: Source = "llm") -> Entry:
        """Write a lesson and return it as it stands in the store."""
        ...

    def rewrite_identity(self, entries: Iterable[str]) -> list[Entry]:
        """Write facts about the user; ``Key: value`` replaces the older fact of that key."""
        ...

    def entries(self) -> list[Entry]:
        """Return every memory once, in file order."""
        ...

    def forget(self, entry_id: str) -> Entry:
        """Retire the memory with this id or unique prefix; it can be restored."""
        ...

    def restore(self, entry_id: str) -> Entry:
        """Bring back a retired memory."""
        ...

    def update(self, entry_id: str, text: str) -> Entry:
        """Change the text of a memory; its id stays."""
        ...


@runtime_checkable
class BatchProtocol(Protocol):
    """What a store may offer besides: to write many memories of any kind as one step."""

    def encode(self, engrams: Iterable[Engram]) -> list[Written]:
        """Write any memories as one step, in order."""
        ...

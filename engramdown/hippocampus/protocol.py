"""The seams for other stores.

Whatever satisfies :class:`HippocampusProtocol` can stand in for the file store in a
:class:`engramdown.Cortex`; it says nothing about files, history or undo. Whatever satisfies
:class:`Files` gets all of that from :class:`engramdown.hippocampus.store.Store`: history, undo,
why, the archive and what follows from a hand edit. A store reads and writes; it never judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from engramdown.engram import Confidence, Engram, Kind, Source
from engramdown.hippocampus.changeset import Act, Draft, FileChange
from engramdown.hippocampus.entry import Entry, Written
from engramdown.hippocampus.history import Step
from engramdown.markdown.document import Document

T = TypeVar("T")


@runtime_checkable
class HippocampusProtocol(Protocol):
    """One scope's store of memories.

    Every method that writes returns only when the memory is safe. What was acknowledged is found
    by the next read, from any process.
    """

    def recall_identity(self) -> list[Entry]:
        """Return the facts about the user, in file order."""

    def recall_rules(self) -> list[Entry]:
        """Return the *always*, *never* and *when* rules, in file order."""

    def recall_lessons(self, token_budget: int | None = None) -> list[Entry]:
        """Return the newest lessons that fit into ``token_budget`` tokens, in file order."""

    def recall_topic(self, slug: str) -> list[Entry]:
        """Return the lessons of one topic, in file order."""

    def recall_scratchpad_wisdom(self) -> list[Entry]:
        """Return the *when* rules and lessons that are about scratchpads."""

    def encode_rule(
        self, text: str, kind: Kind, confidence: Confidence = "medium", source: Source = "llm"
    ) -> Entry:
        """Write a rule and return it as it stands in the store."""

    def encode_lesson(self, text: str, topic: str = "", source: Source = "llm") -> Entry:
        """Write a lesson and return it as it stands in the store."""

    def rewrite_identity(self, entries: Iterable[str]) -> list[Entry]:
        """Write facts about the user; ``Key: value`` replaces the older fact of that key."""

    def entries(self) -> list[Entry]:
        """Return every memory once, in file order."""

    def forget(self, entry_id: str) -> Entry:
        """Retire the memory with this id or unique prefix; it can be restored."""

    def restore(self, entry_id: str) -> Entry:
        """Bring back a retired memory."""

    def update(self, entry_id: str, text: str) -> Entry:
        """Change the text of a memory; its id stays."""


@runtime_checkable
class BatchProtocol(Protocol):
    """What a store may offer besides: to write many memories of any kind as one step."""

    def encode(self, engrams: Iterable[Engram]) -> list[Written]:
        """Write any memories as one step, in order."""


class Files(Protocol):
    """The documents of one scope, changed in journalled steps: what a store has to give.

    :mod:`engramdown.kinds` says which documents there are and what each of them holds.
    """

    @property
    def folder(self) -> Path:
        """Where a person finds them."""

    def names(self) -> list[str]:
        """Return the names of the documents that exist, in a fixed order."""

    def place(self, name: str) -> Path:
        """Return where a person finds one of them."""

    def obstacles(self) -> list[str]:
        """Say of each document that cannot be read why not."""

    def document(self, name: str) -> Document:
        """Read a document; one that does not exist is empty. Takes no lock."""

    def text(self, name: str) -> str:
        """Return a page that only a person writes, relative to the scope, or ``""``."""

    def marks(self, name: str) -> Sequence[str]:
        """Return which entries a person changed that the document does not mark as verified yet."""

    def steps(self) -> list[Step]:
        """Return every step of the journal, the oldest first."""

    def change(self, act: Act | Callable[[T], Act], edit: Callable[[Draft], T]) -> T:
        """Carry out one step and return what ``edit`` returned.

        It is written down as a step (:func:`engramdown.hippocampus.changeset.new_step`) with what
        it did to each document and entry. ``edit`` may be called again from the beginning.
        """

    def notice(self, *, wait: bool = True) -> bool:
        """Take in what a person changed since the last step; return whether there was anything."""

    def rehearse(self) -> None:
        """From now on write nothing; steps pile up in memory."""

    def rehearsed(self) -> list[FileChange]:
        """Return what the rehearsed steps would change."""

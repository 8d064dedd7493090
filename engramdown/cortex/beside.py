"""Finds the facts in what a user says, beside the conversation.

Promises: no I/O, no model and no store: a thread of its own reads texts, and whoever asks gets what
it has found; a turn does not wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engramdown.engram import Engram

__all__ = ["FactsBeside"]


class FactsBeside:
    """What a user said, a few messages at a time, and the facts in it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._said: list[tuple[str, str]] = []
        self._found: list[Engram] = []
        self._thread: threading.Thread | None = None

    def add(self, text: str, pointer: str) -> None:
        """Keep a message until it is looked at."""
        self._said.append((text, pointer))

    def look(self, every: int) -> None:
        """Begin to look at what was said, if it is so many messages; one look at a time."""
        if len(self._said) < every or self._thread is not None:
            return
        said, self._said = self._said, []
        self._thread = threading.Thread(target=self._read, args=(said,), name="engramdown-facts")
        self._thread.start()

    def pass_over(self) -> None:
        """Forget what was said since the last look."""
        self._said.clear()

    def found(self, *, wait: bool = False) -> list[Engram]:
        """Return the facts of a look that has ended, each once.

        Args:
            wait: Wait for a look that goes on: what it reads are a few messages.
        """
        if self._thread is None or (self._thread.is_alive() and not wait):
            return []
        self._thread.join()
        self._thread = None
        found, self._found = self._found, []
        return found

    def _read(self, said: Sequence[tuple[str, str]]) -> None:
        # Loaded here, as it takes longer than a turn should.
        from engramdown.consolidation.facts import Message, facts_without_model

        learned = facts_without_model(Message(text, pointer) for text, pointer in said)
        self._found = list(learned.engrams)

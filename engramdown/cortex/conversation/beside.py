"""Summarises a conversation beside it.

Promises: no turn waits for a model; one compaction at a time; what goes wrong is kept and told. It
works with stores of its own, and a program that ends without waiting for it loses nothing: a
summary is written as a whole or not at all.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engramdown.errors import EngramdownError

if TYPE_CHECKING:
    from engramdown.conversation.summarize import Compacted
    from engramdown.cortex.conversations import Conversations

__all__ = ["CompactionBeside"]


class CompactionBeside:
    """What is summarised of one session while it goes on.

    Attributes:
        last: What came of the compaction that ended last, or ``None``.
    """

    def __init__(self, conversations: Conversations, session: str) -> None:
        """Prepare to summarise a session, whenever it is time for that."""
        self.last: Compacted | None = None
        self._conversations = conversations
        self._session = session
        self._own: Conversations | None = None
        self._thread: threading.Thread | None = None

    def look(self, budget: int | None) -> None:
        """Begin to summarise, if it is time for that and nobody does already; never raises.

        Args:
            budget: What a prompt may cost, in tokens, if that is known.
        """
        if self._thread is not None and self._thread.is_alive():
            return
        try:
            conversation = self._conversations.get(self._session)
            if not conversation.needs_compaction(budget).due:
                return
            # One for all its work: it keeps in mind what failed, and rests.
            self._own = self._own or self._conversations.reopened()
        except (EngramdownError, OSError):
            return  # What is wrong with the transcript is told where it is recorded.
        self._thread = threading.Thread(
            target=self._work, args=(self._own, budget), name="engramdown-compaction", daemon=True
        )
        self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until what was begun has ended; whether it has.

        Args:
            timeout: For how many seconds at most, or ``None`` for as long as it takes.
        """
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _work(self, own: Conversations, budget: int | None) -> None:
        self.last = own.get(self._session).compact_if_due(budget)

"""A conversation as turns, and the rule that nobody is interrupted in the middle of one.

Promises: during a turn there is nothing to confirm and nothing can be resolved; between turns
what was ticked in ``pending.md`` is carried out. A session keeps its count of turns only.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from engramdown.errors import EngramdownError, MidTurnError

if TYPE_CHECKING:
    from engramdown.cortex.context import MemoryContext
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.proposals import Proposal
    from engramdown.cortex.receipts import Receipt

__all__ = ["Session"]


class Session:
    """A running conversation; use it as a context manager.

    Attributes:
        turns: How many turns were begun.
    """

    def __init__(self, cortex: Cortex) -> None:
        """Begin a session and carry out what was ticked meanwhile."""
        self._cortex = cortex
        self._running = False
        self.turns = 0
        cortex.apply_ticks()

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End a turn that is still running."""
        if self._running:
            self.end_turn()

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._running

    def begin_turn(self, message: str = "") -> MemoryContext:
        """Begin a turn with the user's message and return what the model is to see.

        Raises:
            MidTurnError: If a turn is running already.
        """
        self._refuse_mid_turn("begin a turn")
        self._cortex.apply_ticks()
        context = self._cortex.build_memory_context(message)
        self.turns += 1
        self._running = True
        return context

    def end_turn(self, reply: str = "") -> None:
        """End the turn with the assistant's ``reply``.

        Raises:
            EngramdownError: If no turn is running.
        """
        if not self._running:
            msg = "no turn is running; call begin_turn first"
            raise EngramdownError(msg)
        del reply  # Kept by transcripts, which have their own package.
        self._running = False
        self._cortex.apply_ticks()

    def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        What is held for review waits in ``pending.md`` without anybody being asked.
        """
        if self._running:
            return []
        return [proposal for proposal in self._cortex.pending() if not proposal.hold]

    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what the user decided; see :meth:`engramdown.Cortex.resolve`.

        Raises:
            MidTurnError: If a turn is running.
        """
        self._refuse_mid_turn("resolve a proposal")
        return self._cortex.resolve(proposal_id, decision, text)

    def _refuse_mid_turn(self, what: str) -> None:
        if self._running:
            msg = f"cannot {what} in the middle of turn {self.turns}; call end_turn first"
            raise MidTurnError(msg)

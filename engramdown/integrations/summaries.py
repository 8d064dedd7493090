"""The summaries of a conversation that another library runs, and when they are made.

Promises: summarising happens beside the turns, and nobody waits for it; a call and its result never
part; where summaries cannot be read, there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.errors import EngramdownError
from engramdown.integrations.history import Summary

if TYPE_CHECKING:
    from engramdown.cortex.conversation.beside import CompactionBeside
    from engramdown.cortex.cortex import Cortex

__all__ = ["Summaries", "check_budget"]


def check_budget(budget: int | None) -> int | None:
    """Return what a history may cost, in tokens, if that is limited.

    Raises:
        ValueError: If it is not above 0.
    """
    if budget is not None and budget <= 0:
        msg = f"budget is {budget}; give the tokens that the history may cost, or None"
        raise ValueError(msg)
    return budget


class Summaries:
    """The summaries of one conversation."""

    def __init__(self, cortex: Cortex, session: str, budget: int) -> None:
        """Summarise a session once its history costs much of ``budget``, in tokens."""
        check_budget(budget)
        self._cortex = cortex
        self._session = session
        self._budget = budget
        self._beside: CompactionBeside | None = None

    def in_view(self) -> list[Summary]:
        """Return the summaries that stand for the older part of the conversation, in order."""
        from engramdown.consolidation.conversation.summary_xml import format_summary
        from engramdown.cortex.conversation.shown import ends

        try:
            track = self._cortex.conversation(self._session).track
            with track.guard:
                track.refresh()
                gists = track.known_gists()
                shown = [each.source for each in track.items() if isinstance(each.source, str)]
                return [
                    Summary(*ends(gists, each), format_summary(gists[each], self._session))
                    for each in shown
                ]
        except (EngramdownError, OSError):
            return []

    def look(self) -> None:
        """Begin to summarise, if it is time for that; never raises, and nobody waits for it."""
        if self._cortex.mode == "off" or not self._cortex.settings.conversation.automatic:
            return
        if self._beside is None:
            from engramdown.cortex.conversation.beside import CompactionBeside

            self._beside = CompactionBeside(self._cortex, self._session)
        self._beside.look(self._budget)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until what was begun has ended; whether it has."""
        return self._beside is None or self._beside.wait(timeout)

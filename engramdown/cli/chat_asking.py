"""Confirmations in a chat: between two turns, one key each.

Promises: what a key decided is on the disk before the next proposal is shown; whatever is not
decided waits in ``pending.md``; what somebody else decided meanwhile is passed over with a word.
"""

from __future__ import annotations

from engramdown import Cortex, Proposal, Session
from engramdown.cli import chat_aside, output
from engramdown.cli import chat_screen as said
from engramdown.cli.layout import line
from engramdown.cli.review import Walk


class Confirmations:
    """Asks about the proposals that a conversation brings, each of them once."""

    def __init__(self, cortex: Cortex, session: Session) -> None:
        """Take what waits already for known: the command ``/review`` asks about it."""
        self._cortex = cortex
        self._session = session
        self._known = {proposal.id for proposal in session.confirmations()}

    @property
    def new(self) -> list[Proposal]:
        """What is new and to be asked about."""
        found = self._session.confirmations()
        return [proposal for proposal in found if proposal.id not in self._known]

    def ask(self) -> None:
        """Ask about what is new, until all is decided or a person says later."""
        waiting = self.new
        self._known |= {proposal.id for proposal in waiting}
        if not waiting:
            return
        output.screen().show([line(), line((said.asks(len(waiting)), "strong"))])
        together = self._cortex.resolve_all
        walk = Walk(self._session.resolve, together, self._complain, goes_on=True)
        walk.through(waiting)

    def pass_over(self) -> None:
        """Take for known what waits now: a person has just looked at it."""
        self._known |= {proposal.id for proposal in self._session.confirmations()}

    def _complain(self, reason: str) -> None:
        chat_aside.complain(said.gone(reason))

"""Confirmations in a chat: between two turns, one key each.

Promises: what a key decided is on the disk before the next proposal is shown; whatever is not
decided waits in ``pending.md``; what somebody else decided meanwhile is passed over with a word.
"""

from __future__ import annotations

from typing import Final, Literal

import click

from engramdown import Proposal, Session
from engramdown.cli import chat_aside, entry_messages, output, review_messages
from engramdown.cli import chat_messages as said
from engramdown.cli.layout import line
from engramdown.cli.proposals import heading, proposal_lines
from engramdown.cli.reading import edit_text
from engramdown.cli.receipts import receipt_line
from engramdown.errors import EngramdownError

__all__ = ["Confirmations"]

# Ctrl-C, Ctrl-D, Escape: all of them wait.
_LATER: Final = ("s", "\x03", "\x04", "\x1b")


class Confirmations:
    """Asks about the proposals that a conversation brings, each of them once."""

    def __init__(self, session: Session) -> None:
        """Take what waits already for known: the command ``/review`` asks about it."""
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
        screen = output.screen()
        screen.show([line(), line((said.asks(len(waiting)), "strong"))])
        for number, proposal in enumerate(waiting, 1):
            screen.box(heading(proposal, number, len(waiting)), proposal_lines(proposal))
            if not self._decided(proposal):
                break

    def pass_over(self) -> None:
        """Take for known what waits now: a person has just looked at it."""
        self._known |= {proposal.id for proposal in self._session.confirmations()}

    def _decided(self, proposal: Proposal) -> bool:
        """Ask about one; ``False`` if it, and the others, are for later."""
        while True:
            click.echo(said.keys(output.width()), nl=False)
            key = _key()
            click.echo(said.KEY_WORDS["s" if key in _LATER else key] if _is_known(key) else "")
            if key in _LATER:
                return False
            if key == "y":
                self._resolve(proposal, "accept")
                return True
            if key == "n":
                self._resolve(proposal, "decline")
                return True
            if key == "e":
                text = self._edited(proposal)
                if text:
                    self._resolve(proposal, "accept", text)
                    return True
            else:
                output.screen().show([line(text) for text in said.key_help()])

    def _edited(self, proposal: Proposal) -> str:
        """Return the text as a person wants it, ``""`` if there is none."""
        try:
            text = edit_text(proposal.engram.text, entry_messages.REVIEW_EDIT_INSTEAD)
        except click.ClickException as error:
            chat_aside.complain(error.format_message())
            return ""
        if not text.strip():
            output.screen().show([line((review_messages.EMPTY_PROPOSAL, "warn"))])
            return ""
        return text

    def _resolve(
        self, proposal: Proposal, action: Literal["accept", "decline"], text: str | None = None
    ) -> None:
        try:
            receipt = self._session.resolve(proposal.id, action, text)
        except EngramdownError as error:
            chat_aside.complain(said.gone(str(error)))
        else:
            output.screen().show([receipt_line(receipt)])


def _is_known(key: str) -> bool:
    return key in said.KEY_WORDS or key in _LATER


def _key() -> str:
    """Return the key that was pressed; Ctrl-C, and the end of the input, count as keys."""
    try:
        return click.getchar()
    except EOFError:
        return "\x04"
    except KeyboardInterrupt:
        return "\x03"

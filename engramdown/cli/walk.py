"""The walk through what waits: one proposal at a time, one key each.

Promises: what a key decided is on the disk before the next proposal is shown; a proposal that is
gone meanwhile, because it was ticked in an editor, is passed over with a word.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, Literal

import click

from engramdown import Cortex, Proposal
from engramdown.cli import entry_messages, output, review_messages
from engramdown.cli.layout import line
from engramdown.cli.output import Screen
from engramdown.cli.proposals import heading, proposal_lines
from engramdown.cli.reading import edit_text
from engramdown.cli.receipts import receipt_line
from engramdown.cortex.waiting import Answer
from engramdown.errors import EngramdownError

__all__ = ["Walk"]

# Ctrl-D, Escape.
_QUIT: Final = ("q", "\x04", "\x1b")


class _Then(Enum):
    """What comes after a key."""

    NEXT = "the next proposal"
    SAME = "the same one again"
    QUIT = "nothing"


class Walk:
    """One walk through all proposals."""

    def __init__(self, cortex: Cortex, screen: Screen) -> None:
        """Ask about what waits in ``cortex``, on ``screen``."""
        self._cortex = cortex
        self._screen = screen
        self._left: list[Proposal] = []
        self._decided = 0
        self._answers: Final[dict[str, Callable[[Proposal], _Then]]] = {
            "a": self._accept,
            "A": self._accept_kind,
            "d": self._decline,
            "e": self._edit,
            "s": lambda _: _Then.NEXT,
            **dict.fromkeys(_QUIT, lambda _: _Then.QUIT),
        }

    def run(self) -> None:
        """Ask until all are decided or the person quits."""
        self._left = self._cortex.pending()
        count = len(self._left)
        numbers = {proposal.id: number for number, proposal in enumerate(self._left, 1)}
        while self._left:
            proposal = self._left.pop(0)
            number = numbers[proposal.id]
            self._screen.box(heading(proposal, number, count), proposal_lines(proposal))
            if self._ask(proposal) is _Then.QUIT:
                break
        left = self._cortex.count_pending()
        self._screen.show([line((review_messages.walk_done(self._decided, left), "dim"))])

    def _ask(self, proposal: Proposal) -> _Then:
        then = _Then.SAME
        while then is _Then.SAME:
            click.echo(review_messages.keys(output.width()), nl=False)
            key = _key()
            click.echo(review_messages.KEY_WORDS.get(key, ""))
            then = self._answers.get(key, self._explain)(proposal)
        return then

    def _accept(self, proposal: Proposal) -> _Then:
        return self._resolve(proposal, "accept")

    def _accept_kind(self, proposal: Proposal) -> _Then:
        """Accept this one and all that are left of its kind, at once."""
        kind = _kind(proposal)
        alike = [proposal, *(each for each in self._left if _kind(each) == kind)]
        self._left = [each for each in self._left if _kind(each) != kind]
        try:
            receipts = self._cortex.resolve_all(Answer(each.id) for each in alike)
        except EngramdownError as error:
            output.complain(str(error))
            return _Then.NEXT
        for receipt in receipts:
            if receipt.action == "failed":
                output.complain(receipt.reason)
        done = [receipt for receipt in receipts if receipt.action != "failed"]
        self._decided += len(done)
        self._screen.show(map(receipt_line, done))
        return _Then.NEXT

    def _decline(self, proposal: Proposal) -> _Then:
        return self._resolve(proposal, "decline")

    def _edit(self, proposal: Proposal) -> _Then:
        try:
            text = edit_text(proposal.engram.text, entry_messages.REVIEW_EDIT_INSTEAD)
        except click.ClickException as error:
            output.complain(error.format_message())
            return _Then.SAME
        if not text.strip():
            self._screen.show([line((review_messages.EMPTY_PROPOSAL, "warn"))])
            return _Then.SAME
        return self._resolve(proposal, "accept", text)

    def _explain(self, proposal: Proposal) -> _Then:
        self._screen.show([line(text) for text in review_messages.key_help(_kind(proposal))])
        return _Then.SAME

    def _resolve(
        self, proposal: Proposal, action: Literal["accept", "decline"], text: str | None = None
    ) -> _Then:
        try:
            receipt = self._cortex.resolve(proposal.id, action, text=text)
        except EngramdownError as error:
            output.complain(str(error))
        else:
            self._decided += receipt.action != "failed"
            self._screen.show([receipt_line(receipt)])
        return _Then.NEXT


def _kind(proposal: Proposal) -> str:
    """Return what one key accepts together: a yes to lessons takes no memory away."""
    if proposal.op == "load":
        return f"{proposal.engram.kind} of others" if proposal.line else "page"
    return proposal.engram.kind if proposal.op in ("encode", "replace") else proposal.op


def _key() -> str:
    """Return the key that was pressed; the end of the input counts as Ctrl-D."""
    try:
        return click.getchar()
    except EOFError:
        return "\x04"

"""The walk through what waits, in ``review`` and in a chat: one proposal at a time, one key each.

Promises: what a key decided is on the disk before the next proposal is shown; a proposal that is
gone meanwhile, because it was ticked in an editor, is passed over with a word. Wherever it is
asked, a question has the same keys and words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Final, Literal, Protocol

import click

from engramdown import Proposal, Receipt
from engramdown.cli import output, process, review_messages, views
from engramdown.cli.layout import line
from engramdown.cli.proposals import heading, proposal_lines
from engramdown.cli.receipts import receipt_line
from engramdown.cli.user_input import edit_text
from engramdown.cortex.waiting import Answer
from engramdown.errors import EngramdownError

# Ctrl-C where it does not end the program, Ctrl-D, Escape.
_STOP: Final = ("q", "\x03", "\x04", "\x1b")


class _Resolve(Protocol):
    """Carries out what a person decided: :meth:`engramdown.Cortex.resolve`, or a session's."""

    def __call__(self, proposal_id: str, decision: str, text: str | None = None, /) -> Receipt:
        """Return what became of it."""
        ...


class _Then(Enum):
    """What comes after a key."""

    NEXT = "the next proposal"
    SAME = "the same one again"
    STOP = "nothing"


class Walk:
    """One walk through proposals.

    Attributes:
        decided: How many were decided.
    """

    def __init__(
        self,
        resolve: _Resolve,
        resolve_all: Callable[[Iterable[Answer]], list[Receipt]],
        complain: Callable[[str], object],
        *,
        goes_on: bool = False,
    ) -> None:
        """Ask on the screen.

        Args:
            resolve: Carries out what is decided about one.
            resolve_all: Carries out what is decided about many.
            complain: Says what cannot be carried out.
            goes_on: Whether the program goes on behind Ctrl-C: then it stops the walk alone.
        """
        self.decided = 0
        self._left: list[Proposal] = []
        self._resolver = resolve
        self._resolve_all = resolve_all
        self._complain = complain
        self._goes_on = goes_on
        self._screen = output.screen()
        self._answers: Final[dict[str, Callable[[Proposal], _Then]]] = {
            "a": self._accept,
            "A": self._accept_kind,
            "d": self._decline,
            "e": self._edit,
            "s": lambda _: _Then.NEXT,
            **dict.fromkeys(_STOP, lambda _: _Then.STOP),
        }

    def through(self, waiting: Sequence[Proposal]) -> None:
        """Ask until all are decided or the person stops."""
        self._left = [*waiting]
        numbers = {proposal.id: number for number, proposal in enumerate(waiting, 1)}
        while self._left:
            proposal = self._left.pop(0)
            number = numbers[proposal.id]
            self._screen.box(heading(proposal, number, len(waiting)), proposal_lines(proposal))
            if self._ask(proposal) is _Then.STOP:
                break

    def _ask(self, proposal: Proposal) -> _Then:
        then = _Then.SAME
        while then is _Then.SAME:
            click.echo(review_messages.keys(proposal, output.width()), nl=False)
            key = self._key()
            click.echo(review_messages.KEY_WORDS.get("q" if key in _STOP else key, ""))
            then = self._answers.get(key, self._explain)(proposal)
        return then

    def _accept(self, proposal: Proposal) -> _Then:
        return self._resolve(proposal, "accept")

    def _accept_kind(self, proposal: Proposal) -> _Then:
        """Accept this one and all that are left of its kind, at once."""
        kind = review_messages.kind(proposal)
        alike = [proposal, *(each for each in self._left if review_messages.kind(each) == kind)]
        self._left = [each for each in self._left if review_messages.kind(each) != kind]
        try:
            receipts = self._resolve_all(Answer(each.id) for each in alike)
        except EngramdownError as error:
            self._complain(str(error))
            return _Then.NEXT
        for receipt in receipts:
            if receipt.action == "failed":
                self._complain(receipt.reason)
        done = [receipt for receipt in receipts if receipt.action != "failed"]
        self.decided += len(done)
        self._screen.show(map(receipt_line, done))
        return _Then.NEXT

    def _decline(self, proposal: Proposal) -> _Then:
        return self._resolve(proposal, "decline")

    def _edit(self, proposal: Proposal) -> _Then:
        if not review_messages.has_words(proposal):
            return self._explain(proposal)
        try:
            text = edit_text(proposal.engram.text, views.REVIEW_EDIT_INSTEAD)
        except click.ClickException as error:
            process.complain(error.format_message())
            return _Then.SAME
        if not text.strip():
            self._screen.show([line((review_messages.EMPTY_PROPOSAL, "warn"))])
            return _Then.SAME
        return self._resolve(proposal, "accept", text)

    def _explain(self, proposal: Proposal) -> _Then:
        self._screen.show([line(text, hang=3) for text in review_messages.key_help(proposal)])
        return _Then.SAME

    def _resolve(
        self, proposal: Proposal, action: Literal["accept", "decline"], text: str | None = None
    ) -> _Then:
        try:
            receipt = self._resolver(proposal.id, action, text)
        except EngramdownError as error:
            self._complain(str(error))
        else:
            self.decided += receipt.action != "failed"
            self._screen.show([receipt_line(receipt)])
        return _Then.NEXT

    def _key(self) -> str:
        """Return the key that was pressed; the end of the input counts as Ctrl-D."""
        try:
            return click.getchar()
        except EOFError:
            return "\x04"
        except KeyboardInterrupt:
            if not self._goes_on:
                raise
            return "\x03"

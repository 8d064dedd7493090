"""Lists what waits for a person, and carries out what they decide.

Proposals stand in ``pending.md``; what git brought and needs approval follows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from engramdown.errors import StoreError
from engramdown.gate.scopes import Scopes
from engramdown.hippocampus.entry import by_prefix
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.gate.arrivals import Arrival
    from engramdown.gate.erase import Erased
    from engramdown.gate.intake import Receipt
    from engramdown.gate.pending import Answer, Proposal


class Review:
    """The review queue of both scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Look at what waits in ``scopes``."""
        self._scopes = scopes

    def pending(self, *, for_model: bool = False) -> list[Proposal]:
        """Return what waits for a person, global proposals first, each with what it touches.

        See :meth:`engramdown.Cortex.pending`.
        """
        from engramdown.gate.pending import describe

        scopes, waits = self._scopes, self._scopes.intake.waiting
        items = waits.items(scopes.pass_over, ours=for_model)
        brought = waits.brought(items, scopes.pass_over)
        told = [(queue.file, item) for queue, item in items]
        waiting = describe(told, scopes.entries(), brought) if items else []
        held = [] if for_model else scopes.if_readable(scopes.pulled.held)
        return [*waiting, *(each.proposal() for each in held)]

    def count(self) -> int:
        """Return how many proposals wait for a person, as :meth:`pending` lists them."""
        scopes = self._scopes
        waiting = scopes.intake.waiting.items(scopes.pass_over)
        return len(waiting) + len(scopes.if_readable(scopes.pulled.held))

    @one_call()
    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what a person decided about a proposal.

        See :meth:`engramdown.Cortex.resolve`.
        """
        scopes = self._scopes
        scopes.notice()
        receipt = None
        if scopes.reviews:
            from engramdown.gate.intake import check_decision

            waiting = self.pending()
            found = by_prefix(proposal_id, waiting, lambda each: each.id, "what is pending")
            if found.op == "load":
                check_decision(decision)
                receipt = scopes.pulled.resolve(found.id, decision, text)
        if receipt is None:
            receipt = scopes.intake.waiting.resolve(proposal_id, decision, text)
        return scopes.heard([receipt])[0]

    @one_call()
    def resolve_all(self, answers: Iterable[Answer]) -> list[Receipt]:
        """Carry out what a person decided about many proposals, in one step for each file.

        Args:
            answers: What they decided about each.

        Returns:
            What became of each; what could not be carried out still waits, and *failed* says why.

        Raises:
            InvalidEngramError: If a decision is none of the three; nothing is carried out.
            EntryNotFoundError: If no proposal has one of the ids; nothing is carried out.
            AmbiguousIdError: If several have; nothing is carried out.
            StoreError: If what waits could not be read.
        """
        self._scopes.notice()
        given, pulled = list(answers), self._scopes.pulled
        held = {each.id for each in pulled.held()}
        rest = [each for each in given if each.id not in held]
        receipts = iter(self._scopes.intake.waiting.resolve_all(rest))
        approved = pulled.resolve_all(given) if held else {}
        return self._scopes.heard([approved.get(at) or next(receipts) for at in range(len(given))])

    @one_call()
    def apply_ticks(self, go_on: Callable[[], bool] | None = None) -> list[Receipt]:
        """Carry out the lines of ``pending.md`` that a person ticked, in one step for each file.

        Call it between turns. A line that cannot be carried out stays, and its receipt tells why.

        Args:
            go_on: Asked before each line whether there is time for it; what is left stays ticked.
        """
        scopes = self._scopes
        scopes.notice(wait=False)
        # Who ticked a line stands in the journal: that has to be known first.
        if not scopes.intake.waiting.has_ticks() or not scopes.notice():
            return []
        ask = go_on or (lambda: True)
        return scopes.heard(scopes.intake.waiting.apply_ticks(scopes.tell, None, ask))

    def arrivals(self) -> list[Arrival]:
        """Return what git brought that nobody here wrote, and that a person was not told of yet.

        Call :meth:`mark_told` when they were; it is not returned again then.

        Raises:
            StoreError: If memory cannot be read.
        """
        return self._scopes.pulled.news()

    def mark_told(self, arrivals: Iterable[Arrival]) -> None:
        """Take note that a person was told of ``arrivals``.

        Raises:
            StoreError: If it cannot be written.
        """
        self._scopes.pulled.told(arrivals)

    def keep_own(self) -> None:
        """Take note of files of this person's, which git does not know: what a session begins with.

        When they are committed, nobody asks who wrote them. In mode off nothing is noted.
        """
        if self._scopes.mode == "off":
            return
        try:
            self._scopes.pulled.keep_own()
        except StoreError as error:
            self._scopes.tell(f"could not take note of what is yours: {error}")

    @one_call()
    def erase(
        self,
        ids: str | Iterable[str] = (),
        *,
        words: str | Iterable[str] = (),
        pieces: bool = False,
        dry_run: bool = False,
    ) -> Erased:
        """Erase memories for good: nothing brings them back. Only a person's word is a reason.

        Their words leave memory, the archive, what waits, the journal of changes, transcripts with
        what was made of them, notes, pages and our blocks in files such as ``AGENTS.md``. They are
        not learned again. What is cut short is finished by whoever opens memory next.

        Args:
            ids: The memories, live, waiting or retired, by ids or unique prefixes.
            words: Texts to erase that are no memory here, or are none any more.
            pieces: Empty lines, too, that share twelve characters in a row with a text, though not
                half of it; otherwise they stay, and are told in ``shared``.
            dry_run: Change nothing, and tell what would go.

        Returns:
            What went, what stays, and what cannot be reached from here.

        Raises:
            EntryNotFoundError: If there is no such memory.
            AmbiguousIdError: If there are several.
            InvalidEngramError: If nothing is named.
            StoreError: If something could not be read or written.

        >>> import tempfile, engramdown
        >>> cortex = engramdown.Cortex.open(tempfile.mkdtemp(), tempfile.mkdtemp())
        >>> cortex.review.erase(words="my old address", dry_run=True).memories
        ()
        """
        from engramdown.gate.erase import erase

        names = [ids] if isinstance(ids, str) else [*ids]
        texts = [words] if isinstance(words, str) else [*words]
        self._scopes.notice()
        return erase(
            self._scopes.stores, self._scopes.settings, names, texts, pieces=pieces, dry_run=dry_run
        )

"""Lists the proposals that wait for a person, and carries out what they decide.

The proposals of ``pending.md`` come first; what git brought and needs approval follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from engramdown.errors import InvalidEngramError, StoreError
from engramdown.gate.scopes import Scopes
from engramdown.hippocampus.entry import by_prefix
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.gate.arrivals import Arrival, Found
    from engramdown.gate.erase import Erased
    from engramdown.gate.intake import Queue, Receipt, Resolved
    from engramdown.gate.pending import Answer, Pending, Proposal


class Review:
    """The review queue of both scopes."""

    def __init__(self, scopes: Scopes) -> None:
        """Review the proposals in ``scopes``."""
        self._scopes = scopes

    def pending(self, *, for_model: bool = False) -> list[Proposal]:
        """Return the waiting proposals; see :meth:`engramdown.Cortex.pending`."""
        return self._described(*self._waiting(for_model=for_model))

    def find(self, prefix: str) -> Proposal:
        """Return the waiting proposal with this id or prefix; the others are not looked at.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If several have it.
        """
        from engramdown.gate.intake import WHERE

        items, held = self._waiting()
        wanted = by_prefix(prefix, _ids(items, held), str, WHERE)
        same = [each for each in items if each[1].id == wanted]
        return self._described(same, [each for each in held if each.id == wanted])[0]

    def ids(self) -> list[str]:
        """Return the ids of the proposals that wait for a person, as :meth:`pending` lists them."""
        return _ids(*self._waiting())

    def count(self) -> int:
        """Return how many proposals wait for a person."""
        return len(self.ids())

    def _waiting(
        self, *, for_model: bool = False
    ) -> tuple[list[tuple[Queue, Pending]], list[Found]]:
        """Return the proposals of the queues, and what git brought."""
        scopes = self._scopes
        items = scopes.intake.waiting.items(scopes.pass_over, ours=for_model)
        return items, [] if for_model else scopes.if_readable(scopes.pulled.held)

    def _described(
        self, items: Sequence[tuple[Queue, Pending]], held: Iterable[Found]
    ) -> list[Proposal]:
        from engramdown.gate.pending import describe

        scopes = self._scopes
        brought = scopes.intake.waiting.brought(items, scopes.pass_over)
        pairs = [(queue.file, item) for queue, item in items]
        waiting = describe(pairs, scopes.entries(), brought) if pairs else []
        return [*waiting, *(each.proposal() for each in held)]

    @one_call()
    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what a person decided; see :meth:`engramdown.Cortex.resolve`."""
        from engramdown.gate.pending import Answer

        ((receipt, error),) = self._resolve([Answer(proposal_id, decision, text)])
        if error is not None:
            raise error
        return self._scopes.heard([receipt])[0]

    @one_call()
    def resolve_all(self, answers: Iterable[Answer]) -> list[Receipt]:
        """Carry out what a person decided about many proposals, in one step for each file.

        Args:
            answers: The decision about each.

        Returns:
            A receipt for each; a proposal that could not be carried out still waits, and its
            receipt says *failed* and why.

        Raises:
            InvalidEngramError: If a decision is invalid; nothing is carried out.
            EntryNotFoundError: If no proposal has one of the ids; nothing is carried out.
            AmbiguousIdError: If several have; nothing is carried out.
            StoreError: If what waits could not be read.
        """
        return self._scopes.heard([receipt for receipt, _ in self._resolve(list(answers))])

    def _resolve(self, answers: list[Answer]) -> list[Resolved]:
        from engramdown.gate.intake import DECISIONS, WHERE

        self._scopes.notice()
        for each in answers:
            if each.decision not in DECISIONS:
                raise InvalidEngramError.not_one_of("decision", each.decision, DECISIONS)
        pulled, waiting = self._scopes.pulled, self._scopes.intake.waiting
        held = {each.id for each in pulled.held()}
        if held:
            ids = [*(item.id for _, item in waiting.items()), *held]
            answers = [it._replace(id=by_prefix(it.id, ids, str, WHERE)) for it in answers]
        resolved = iter(waiting.resolve([each for each in answers if each.id not in held]))
        approved = pulled.resolve(answers) if held else {}
        return [approved.get(at) or next(resolved) for at in range(len(answers))]

    @one_call()
    def apply_ticks(self, go_on: Callable[[], bool] | None = None) -> list[Receipt]:
        """Carry out the lines of ``pending.md`` that a person ticked, in one step for each file.

        Call it between turns. A line that cannot be carried out stays, and its receipt says why.

        Args:
            go_on: Called before each line: whether there is time for it. The rest stays ticked.
        """
        scopes = self._scopes
        scopes.notice(wait=False)
        # The journal says who ticked a line, so hand edits are taken in first.
        if not scopes.intake.waiting.has_ticks() or not scopes.notice():
            return []
        ask = go_on or (lambda: True)
        return scopes.heard(scopes.intake.waiting.apply_ticks(scopes.tell, None, ask))

    def arrivals(self) -> list[Arrival]:
        """Return what git brought that nobody here wrote and that was not announced yet.

        Call :meth:`mark_told` once it was announced; it is not returned again.

        Raises:
            StoreError: If memory cannot be read.
        """
        return self._scopes.pulled.news()

    def mark_told(self, arrivals: Iterable[Arrival]) -> None:
        """Note that ``arrivals`` were announced to a person.

        Raises:
            StoreError: If it cannot be written.
        """
        self._scopes.pulled.told(arrivals)

    def keep_own(self) -> None:
        """Note which files git does not know, and which are therefore this person's.

        When they are committed later, nobody asks who wrote them. A session begins with this. In
        mode off nothing is noted.
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
        version: str = "",
    ) -> Erased:
        """Erase memories for good: nothing brings them back. Do it only if a person asks for it.

        Their words are removed from memory, the archive, proposals, the journal of changes,
        transcripts and what was made of them, notes, pages and our blocks in files such as
        ``AGENTS.md``. They are not learned again. An interrupted erasure is finished by whoever
        opens memory next.

        Args:
            ids: The memories, live, waiting or retired, by ids or unique prefixes.
            words: Texts to erase that are not, or no longer, memories here.
            pieces: Also empty lines that share twelve characters in a row with a text, though less
                than half of it; otherwise they stay, and ``shared`` lists them.
            dry_run: Change nothing, and return what would go.
            version: The version of the first of ``ids``, a live memory: only that one is erased.

        Returns:
            What went, what stays, and what cannot be reached from here.

        Raises:
            EntryNotFoundError: If no memory has an id.
            AmbiguousIdError: If several have it.
            ChangedError: If it has another version.
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
        how: dict[str, Any] = {"pieces": pieces, "dry_run": dry_run}
        if version:
            scope, entry = self._scopes.locate(names[0])
            store = next(each for each in self._scopes.stores if each.scope == scope)
            how["holding"] = partial(store.unless_changed, entry.id, version)
        return erase(self._scopes.stores, self._scopes.settings, names, texts, **how)


def _ids(items: Iterable[tuple[Queue, Pending]], held: Iterable[Found]) -> list[str]:
    return [*(item.id for _, item in items), *(each.id for each in held)]

"""Takes engrams in: gathers evidence, asks the gate, and reports what became of each.

It reads both scopes once for a batch and makes one step for each file that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from engramdown.engram import Engram, Scope, fact_key
from engramdown.errors import InvalidEngramError, StoreError
from engramdown.gate.gate import (
    Decision,
    Evidence,
    decide,
    harmless,
    holds_secret,
    humble,
    is_own_word,
    nothing_erased,
    scope_of,
)
from engramdown.gate.queue import Waiting
from engramdown.gate.receipts import Decided, Receipt, discard, encode_into, failed
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.protocol import HippocampusProtocol


class Intake:
    """The gate before two stores.

    Attributes:
        waiting: What waits for a person.
    """

    def __init__(
        self,
        stores: Mapping[Scope, HippocampusProtocol],
        usable: Callable[[HippocampusProtocol], list[Entry]] | None = None,
        waiting: Waiting | None = None,
        erased: Callable[[str], bool] = nothing_erased,
    ) -> None:
        """Stand before ``stores``.

        Args:
            stores: The stores.
            usable: Returns the memories of one that count; by default all.
            waiting: What waits; the queues of ``stores`` unless given.
            erased: Whether a person erased a text for good.
        """
        self._stores = stores
        self._usable = usable or _all_of
        self._erased = erased
        self.waiting = waiting or Waiting(stores)

    def decision(self, mode: str, engram: Engram) -> Decision:
        """Return what is to be done with an engram; nothing is written."""
        return decide(mode, engram, self._evidence(mode, [engram]).findings(engram))

    def gate(self, mode: str, batch: Iterable[Engram]) -> Callable[[Engram], Decision]:
        """Return what decides on each of ``batch``; what may speak against them is read once."""
        evidence = self._evidence(mode, batch)
        return lambda engram: decide(mode, engram, evidence.findings(engram))

    def propose(
        self, mode: str, engrams: Engram | Iterable[object], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; see :meth:`engramdown.Cortex.propose`."""
        batch = [humble(engram) for engram in _batch(engrams)]
        try:
            evidence = self._evidence(mode, batch, by_person=by_person)
        except StoreError as error:
            return failed(batch, error)
        return self._carry_out(
            [
                self._decided(mode, evidence, at, engram, by_person=by_person)
                for at, engram in enumerate(batch)
            ]
        )

    def encode(self, engrams: Engram | Iterable[object]) -> list[Receipt]:
        """Write engrams that a person decided on; secrets are redacted."""
        yes = Decision("encode", "asked for")
        return self._carry_out(
            [Decided(at, harmless(each), yes) for at, each in enumerate(_batch(engrams))]
        )

    def _evidence(self, mode: str, batch: Iterable[Engram], *, by_person: bool = False) -> Evidence:
        """Read what may speak against ``batch``; against a user's sure word nothing does.

        But for a fact that could take the place of one of theirs.
        """
        sure = (_is_sure_word_of_user(each) and (by_person or not _key(each)) for each in batch)
        if mode == "off" or all(sure):
            return Evidence({})
        entries = {scope: self._usable(store) for scope, store in self._stores.items()}
        return Evidence(entries, self.waiting.turned_down(), self._erased)

    def _decided(
        self, mode: str, evidence: Evidence, at: int, engram: Engram, *, by_person: bool
    ) -> Decided:
        """Ask the gate; what is known already needs nobody's answer."""
        found = evidence.findings(engram, by_person=by_person)
        decision = decide(mode, engram, found)
        asks = decision.action == "confirm" and not holds_secret(engram)
        if asks and (evidence.is_known(engram) or self.waiting.gave_way(engram)):
            return Decided(at, engram, Decision("encode", "known already"))
        return Decided(at, engram, decision, evidence.replaced_by(engram, found))

    def _carry_out(self, decided: Sequence[Decided]) -> list[Receipt]:
        """Encode or queue what was decided, one step for each file, and return the receipts."""
        receipts = discard(decided)
        for scope, store in self._stores.items():
            mine = [each for each in decided if scope_of(each.engram) == scope]
            receipts |= encode_into(store, mine)
            receipts |= self.waiting.add(scope, mine)
        return [receipts[each.at] for each in decided]


def _all_of(store: HippocampusProtocol) -> list[Entry]:
    return store.entries()


def _is_sure_word_of_user(engram: Engram) -> bool:
    return is_own_word(engram) and engram.confidence == "high"


def _key(engram: Engram) -> str:
    return fact_key(engram.text) if engram.kind == "profile" else ""


def _batch(engrams: Engram | Iterable[object]) -> list[Engram]:
    batch: list[Engram] = []
    for each in [engrams] if isinstance(engrams, Engram) else engrams:
        if not isinstance(each, Engram):
            reason = f"a {type(each).__name__} is no Engram; pass Engram(text, kind, scope)"
            raise InvalidEngramError("engrams", reason)
        batch.append(each)
    return batch

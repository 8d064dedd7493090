"""The proposals of a store that has no files.

Promises: they wait for as long as the process runs; otherwise as in ``pending.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from engramdown.cortex.pending import Order, Pending, always, identity, kind_and_fold, only
from engramdown.engram import Engram
from engramdown.errors import EngramdownError, EntryNotFoundError
from engramdown.gate.receipts import write
from engramdown.hippocampus.entry import Entry, Written
from engramdown.hippocampus.protocol import HippocampusProtocol

__all__ = ["PlainQueue"]


class PlainQueue:
    """The proposals of a store that has no files, for as long as the process runs."""

    file = ""

    def __init__(self, store: HippocampusProtocol) -> None:
        """Begin with an empty queue for ``store``."""
        self._store = store
        self._waiting: list[Pending] = []
        self._unwanted: list[Engram] = []

    def pending(self) -> list[Pending]:
        """Return what waits, the oldest first."""
        return list(self._waiting)

    def add(self, items: Sequence[Pending]) -> list[Pending]:
        """Append proposals that do not wait yet."""
        waiting = {identity(item): item for item in self._waiting}
        found = []
        for item in items:
            known = waiting.setdefault(identity(item), item)
            if known is item:
                self._waiting.append(item)
            found.append(known)
        return found

    def accept(self, item: Pending, engram: Engram, by: str = "user") -> Written | None:
        """Carry one proposal out; raises what :meth:`decide` returns."""
        return only(self.decide([Order(item, engram, by)]))

    def decline(self, item: Pending, by: str = "user") -> None:
        """Take one proposal away; raises what :meth:`decide` returns."""
        only(self.decide([Order(item, None, by)]))

    def decide(
        self, orders: Sequence[Order], go_on: Callable[[], bool] = always
    ) -> list[Written | EngramdownError | None]:
        """Carry out what a person decided, one after the other.

        Nothing comes with git where there are no files.
        """
        done: list[Written | EngramdownError | None] = []
        for at in range(len(orders)):
            if done and not go_on():
                break
            try:
                order = orders[at]
                if order.engram is None:
                    self._decline(order.item)
                    done.append(None)
                else:
                    done.append(self._accept(order.item, order.engram))
            except EngramdownError as error:
                done.append(error)
        return done

    def _accept(self, item: Pending, engram: Engram) -> Written | None:
        """Write the memory, then retire what it replaces, then take the proposal away."""
        self._check(item)
        written = None if item.op == "forget" else self.confirm(engram)
        replaced = item.of if written is None or written.entry.id != item.of else ""
        if item.op != "encode" and any(entry.id == replaced for entry in self._store.entries()):
            gone = self._store.forget(replaced)
            if item.op == "forget":
                self.forgot(gone)
        self.drop(item)
        return written

    def _decline(self, item: Pending) -> None:
        """Take the proposal away and remember its text."""
        self.drop(item)
        if item.op != "forget":
            self._unwanted.append(item.engram)

    def confirm(self, engram: Engram) -> Written:
        """Write what a person accepted."""
        return write(self._store, [replace(engram, basis="verified")])[0]

    def drop(self, item: Pending) -> None:
        """Take the proposal away."""
        self._check(item)
        self._waiting.remove(item)

    def forgot(self, entry: Entry) -> None:
        """Remember the text of what the store was told to forget."""
        self._unwanted.append(entry.engram())

    def turned_down(self) -> list[tuple[str, str]]:
        """Return what was declined or forgotten and does not stand in the store again."""
        known = {(entry.kind, entry.fold) for entry in self._store.entries()}
        unwanted = (each for each in self._unwanted if kind_and_fold(each) not in known)
        return [(each.text, each.kind) for each in unwanted]

    def gave_way(self, engram: Engram) -> bool:
        """Return ``False``: such a store does not tell what took the place of what."""
        del engram
        return False

    def _check(self, item: Pending) -> None:
        if item not in self._waiting:
            raise EntryNotFoundError(item.id, "what is pending")

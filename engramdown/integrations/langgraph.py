"""LangGraph's store over Engramdown: values under keys are memories that a person can read.

Promises: what was put is on the disk when ``put`` returns, and ``get`` gives it back; what the gate
holds back raises an error that says so, or is told to whoever asked to be told; a search is our
recall; a batch reads what stood before it, and writes as one step for each scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

from engramdown.cortex.keyed.items import Item as Kept
from engramdown.cortex.keyed.items import Items
from engramdown.cortex.keyed.puts import Put, Putting
from engramdown.cortex.keyed.values import fits
from engramdown.cortex.keyed_values import matches
from engramdown.engram import Confidence, Scope
from engramdown.errors import InvalidEngramError, PutRefusedError
from engramdown.integrations.threads import beside, guard_of

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise ImportError("the store needs LangGraph: pip install 'engramdown[langgraph]'") from error

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex

__all__ = ["MemoryStore"]


class MemoryStore(BaseStore):
    """A store for ``StateGraph.compile(store=...)``.

    Values in namespaces of your own stand in ``topics/``; ``("project", "rules")``,
    ``("project", "lessons")``, ``("project", "topics", slug)`` and ``("global", "profile")`` are
    the memories that are there anyway.
    """

    def __init__(
        self,
        cortex: Cortex,
        scope: Scope = "project",
        *,
        confidence: Confidence = "medium",
        refused: Callable[[Sequence[str]], object] | None = None,
    ) -> None:
        """Keep values in the memory of ``cortex``.

        Args:
            cortex: Gates and keeps it.
            scope: Where namespaces stand whose first label is neither ``project`` nor ``global``.
            confidence: How sure what is put is: what is not high is asked about in copilot.
            refused: Is given a sentence about each put that is not written; without it they are
                raised as a :class:`engramdown.errors.PutRefusedError`.

        Raises:
            InvalidEngramError: If the scope or the confidence is none.
            StoreError: If a store has no files.
        """
        super().__init__()
        if confidence not in ("high", "medium", "low"):
            allowed = ("high", "medium", "low")
            raise InvalidEngramError.not_one_of("confidence", confidence, allowed)
        self.cortex = cortex
        self._items = Items(cortex, scope)
        self._confidence: Confidence = confidence
        self._refused = refused

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: first all that read, then all that write.

        Raises:
            PutRefusedError: If something was not written; the rest of the batch was.
            InvalidEngramError: If a value is no JSON object, or is to go by itself; nothing was
                written.
            StoreError: If memory could not be read or written.
        """
        with guard_of(self.cortex):  # A graph runs its nodes in threads.
            results, refusals = self._carried_out(ops)
        if refusals and self._refused is None:
            raise PutRefusedError(refusals)
        if refusals and self._refused is not None:
            self._refused(refusals)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in a thread; see :meth:`batch`.

        Who is cancelled meanwhile is so once they are carried out.
        """
        asked = list(ops)
        return await beside(self.cortex, lambda: self.batch(asked))

    def _carried_out(self, ops: Iterable[Op]) -> tuple[list[Result], list[str]]:
        """Return what operations bring, and a sentence about each put that is not written."""
        puts: dict[tuple[tuple[str, ...], str], Put] = {}
        results: list[Result] = []
        for op in ops:
            _check_labels(op)
            if isinstance(op, PutOp):
                _check_lasts(op)
                put = Put(op.namespace, op.key, op.value, op.index is not False)
                puts[op.namespace, op.key] = put
                results.append(None)
            else:
                results.append(self._read(op))
        return results, Putting(self._items, self._confidence).carry_out([*puts.values()])

    def _read(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            found = self._items.get(op.namespace, op.key)
            return None if found is None else _item(found)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        items = [
            each for each in self._items.all(op.namespace_prefix) if fits(each.value, op.filter)
        ]
        found: list[tuple[Kept, float | None]] = [(each, None) for each in items]
        if op.query:
            found = [*self._items.search(op.query, items)]
        return [_found(each, score) for each, score in found[op.offset : op.offset + op.limit]]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        wanted = [(each.match_type, each.path) for each in op.match_conditions or ()]
        every = {each.namespace for each in self._items.all()}
        named = {each[: op.max_depth] for each in every if matches(each, wanted)}
        return sorted(named)[op.offset : op.offset + op.limit]


def _check_labels(op: Op) -> None:
    """Make sure that no label has a dot: what is written with dots between would be another one.

    Raises:
        InvalidNamespaceError: If one has, or is empty, or no string.
    """
    paths: list[tuple[object, ...]] = []
    if isinstance(op, (GetOp, PutOp)):
        paths = [op.namespace]
    elif isinstance(op, SearchOp):
        paths = [op.namespace_prefix]
    elif isinstance(op, ListNamespacesOp):
        paths = [each.path for each in op.match_conditions or ()]
    for label in (label for path in paths for label in path):
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise InvalidNamespaceError(
                f"{label!r:.80} is no label of a namespace; give a string without dots"
            )


def _check_lasts(op: PutOp) -> None:
    """Make sure that a value is to stay: one that nobody takes away in time would be a surprise.

    Raises:
        InvalidEngramError: If it is to go by itself.
    """
    if op.ttl is not None and op.value is not None:
        reason = f"is {op.ttl!r:.20} minutes, and nothing goes by itself; leave it out, and delete"
        raise InvalidEngramError("ttl", reason)


def _item(kept: Kept) -> Item:
    return Item(
        value=deepcopy(kept.value),  # Whoever gets it may change it.
        key=kept.key,
        namespace=kept.namespace,
        created_at=kept.made,
        updated_at=kept.changed,
    )


def _found(kept: Kept, score: float | None) -> SearchItem:
    value = deepcopy(kept.value)
    return SearchItem(kept.namespace, kept.key, value, kept.made, kept.changed, score)

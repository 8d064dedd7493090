"""Writing engrams into any store.

Promises: what is returned was read back from the store; a store that can write a batch as one
step does.
"""

from __future__ import annotations

from collections.abc import Sequence

from engramdown.engram import Engram, fold
from engramdown.errors import StoreError
from engramdown.hippocampus.entry import Entry, Written
from engramdown.hippocampus.protocol import BatchProtocol, HippocampusProtocol

__all__ = ["write"]


def write(store: HippocampusProtocol, engrams: Sequence[Engram]) -> list[Written]:
    """Write ``engrams`` in order and return what the store holds of each.

    Raises:
        StoreError: If the store could not write one, or does not return what it wrote.
    """
    if isinstance(store, BatchProtocol):
        return store.encode(engrams)
    return [_write_one(store, engram) for engram in engrams]


def _write_one(store: HippocampusProtocol, engram: Engram) -> Written:
    known = _find(store, engram) is not None
    if engram.kind == "profile":
        store.rewrite_identity([engram.text])
    elif engram.kind == "lesson":
        store.encode_lesson(engram.text, engram.topic, engram.source)
    else:
        store.encode_rule(engram.text, engram.kind, engram.confidence, engram.source)
    entry = _find(store, engram)
    if entry is None:
        msg = f"{type(store).__name__}: does not hold what it was told to write"
        raise StoreError(msg)
    return Written("merged" if known else "encoded", entry)


def _find(store: HippocampusProtocol, engram: Engram) -> Entry | None:
    said = fold(engram.text)
    same = (each for each in store.entries() if each.kind == engram.kind and each.fold == said)
    return next(same, None)

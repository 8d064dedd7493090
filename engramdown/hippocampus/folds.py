"""Which blocks of a document say the same: an index that one document hands on to the next.

Promises: pure; an index is never changed in place; the next one costs little, however many texts
there are, so that a thousand changes in a row do not cost a thousand copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engramdown.markdown.blocks import Block

__all__ = ["Folds"]

# As many changed keys are copied from one index to the next before they are worked in.
_CHANGED: Final = 256


class Folds:
    """The blocks by what they say, folded."""

    __slots__ = ("_all", "_changed")

    def __init__(
        self,
        blocks: Mapping[str, Sequence[Block]],
        changed: Mapping[str, Sequence[Block]] | None = None,
    ) -> None:
        """Hold ``blocks``, with what ``changed`` says instead for some of the keys."""
        self._all = blocks
        self._changed = changed or {}

    def get(self, key: str) -> Sequence[Block]:
        """Return the blocks with this folded text."""
        found = self._changed.get(key)
        return self._all.get(key, ()) if found is None else found

    def changed(
        self, gone: Mapping[str, Sequence[Block]], new: Mapping[str, Sequence[Block]]
    ) -> Folds:
        """Return the index without the blocks ``gone`` and with ``new`` behind the others."""
        changed = dict(self._changed)
        for key in gone.keys() | new.keys():
            dropped = {id(block) for block in gone.get(key, ())}
            kept = [block for block in self.get(key) if id(block) not in dropped]
            changed[key] = (*kept, *new.get(key, ()))
        if len(changed) <= _CHANGED:
            return Folds(self._all, changed)
        return Folds({**self._all, **changed})

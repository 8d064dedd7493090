"""Which memory of a person's a new one contradicts, and which is most like it.

Promises: pure; the first of several is found, whatever else there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engramdown.engram import Engram, fact_key, fold
from engramdown.hippocampus.entry import Entry
from engramdown.likeness.similarity import Rewordings, in_full, is_contrary, similarity

__all__ = ["Contradictions", "contradiction", "nearest"]

_NEAR: Final = 0.5
_OTHER_KIND: Final = {"always": "never", "never": "always"}


def nearest(text: str, entries: Sequence[Entry]) -> tuple[Entry, float] | None:
    """Return the entry that is most like ``text`` and its :func:`similarity`, at least 0.5.

    The first of several that are equally near.
    """
    best, score = None, 0.0
    for at in Rewordings(entry.text for entry in entries).likely(text):
        found = similarity(text, entries[at].text)
        if found > score:
            best, score = entries[at], found
    return (best, score) if best is not None and score >= _NEAR else None


def contradiction(engram: Engram, entries: Iterable[Entry]) -> Entry | None:
    """Return the first entry of a person's that ``engram`` contradicts, if there is one.

    It does when it is the same text under *always* instead of *never* or the other way round,
    another value of a keyed fact, or the same claim with another number, version or negation.
    """
    return Contradictions(entries).find(engram)


class Contradictions:
    """What a person wrote or confirmed, to find what one engram after another contradicts."""

    __slots__ = ("_facts", "_rules", "_said", "_theirs")

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Take the ``entries``; those of nobody in particular do not count."""
        self._theirs = [entry for entry in entries if entry.by_person]
        self._said = Rewordings(entry.text for entry in self._theirs)
        self._rules: dict[tuple[str, str], int] = {}
        self._facts: dict[str, list[int]] = {}
        for at, entry in enumerate(self._theirs):
            if entry.kind in _OTHER_KIND:
                self._rules.setdefault((entry.kind, entry.fold), at)
            elif entry.kind == "profile" and (key := fact_key(entry.text)):
                self._facts.setdefault(key, []).append(at)

    def find(self, engram: Engram) -> Entry | None:
        """Return the first entry that ``engram`` contradicts, see :func:`contradiction`."""
        outright = self._outright(engram)
        if outright is not None:
            return self._theirs[outright]
        said = in_full(engram.text, engram.kind)
        near = (self._theirs[at] for at in self._said.near(said))
        contrary = (entry for entry in near if is_contrary(said, in_full(entry.text, entry.kind)))
        return next(contrary, None)

    def _outright(self, engram: Engram) -> int | None:
        """Return the same text under the opposite heading, or another value of the same key."""
        if engram.kind in _OTHER_KIND:
            return self._rules.get((_OTHER_KIND[engram.kind], fold(engram.text)))
        if engram.kind != "profile":
            return None
        facts = self._facts.get(fact_key(engram.text), ())
        said = fold(engram.text)
        return next((at for at in facts if self._theirs[at].fold != said), None)

"""The entries of three versions of a memory file, matched: which is which, on every side.

Promises: pure; every entry of every version is in exactly one thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engramdown.engram import fold
from engramdown.hippocampus.placement import ARCHIVE, PENDING, split_task
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.merge import compare

__all__ = ["Side", "Thread", "entry_id", "said", "spin"]

Side = Literal["base", "ours", "theirs"]
"""One of the three versions."""

# Two texts without ids are one that was changed if so many of their words are the same.
_ALIKE: Final = 0.5
# Who looks for such among more lines than this has rewritten the file.
_MOST_REWORDED: Final = 200


@dataclass(slots=True, eq=False)
class Thread:
    """One memory, as each version has it; ``None`` where it is not.

    Attributes:
        base: In the common ancestor.
        ours: On our side.
        theirs: On the other side.
    """

    base: Placed | None = None
    ours: Placed | None = None
    theirs: Placed | None = None

    def place(self, side: Side) -> Placed:
        """Return where it is on one side, on which it is."""
        found: Placed = getattr(self, side)
        return found

    @property
    def versions(self) -> list[Placed]:
        """Where it is."""
        return [each for each in (self.base, self.ours, self.theirs) if each is not None]


Entries = Sequence[Placed]


def spin(file: str, base: Entries, ours: Entries, theirs: Entries) -> list[Thread]:
    """Return the threads of three versions of ``file``, given the entries of each."""
    threads = [Thread(base=placed) for placed in base]
    by_base = {id(thread.base): thread for thread in threads}
    mine, other = _matched(base, ours), _matched(base, theirs)
    for old, new in mine:
        by_base[id(old)].ours = new
    for old, new in other:
        by_base[id(old)].theirs = new
    added = [Thread(ours=placed) for placed in _rest(ours, mine)]
    later = [Thread(theirs=placed) for placed in _rest(theirs, other)]
    return [*threads, *added, *_met(file, added, later)]


def said(file: str, placed: Placed) -> tuple[str, ...]:
    """Return what makes two entries the same, whatever their ids: where they hold, and the text.

    What was retired twice is one only if it went from the same place, for the same reason.
    """
    text, meta = placed.block.text, placed.block.meta
    if file == ARCHIVE and meta is not None:
        return fold(text), *(meta.get(key) for key in ("kind", "was", "reason", "replaced"))
    return placed.kind, fold(split_task(text)[1] if file == PENDING else text)


def entry_id(placed: Placed) -> str:
    """Return the id of an entry, or ``""``."""
    meta = placed.block.meta
    return meta.get("id") if meta else ""


Pairs = list[tuple[Placed, Placed]]


def _matched(before: Entries, after: Entries) -> Pairs:
    """Match by id and text, and what has no id by what became of its words."""
    places = {id(placed.block): placed for placed in (*before, *after)}
    changes = compare(_only(before), _only(after))

    def place(found: Placed) -> Placed:
        return places[id(found.block)]

    kept = [(place(old), place(new)) for old, new in changes.kept]
    return kept + _reworded([*map(place, changes.removed)], [*map(place, changes.added)])


def _only(entries: Entries) -> Document:
    return Document([placed.block for placed in entries])


def _rest(entries: Entries, pairs: Pairs) -> list[Placed]:
    matched = {id(new) for _, new in pairs}
    return [placed for placed in entries if id(placed) not in matched]


def _reworded(removed: Entries, added: Entries) -> Pairs:
    """Return what a person changed and no id names: most of the words are the same."""
    if max(len(removed), len(added)) > _MOST_REWORDED:
        return []
    waiting = list(added)
    found = []
    for old in removed:
        new = max(waiting, key=lambda new: _likeness(old, new), default=None)
        if new is not None and _likeness(old, new) >= _ALIKE:
            waiting.remove(new)
            found.append((old, new))
    return found


def _likeness(one: Placed, other: Placed) -> float:
    """Return which part of the words two entries share; with two ids they are two memories."""
    if (entry_id(one) and entry_id(other)) or one.kind != other.kind:
        return 0.0
    left, right = (Counter(fold(each.block.text).split()) for each in (one, other))
    return 2 * (left & right).total() / (left.total() + right.total())


def _met(file: str, added: Iterable[Thread], later: Iterable[Thread]) -> list[Thread]:
    """Let what both sides added be one thread, by id or by what it says; return the others."""
    by_id: dict[str, Thread] = {}
    by_text: dict[tuple[str, ...], Thread] = {}
    for thread in added:
        for placed in thread.versions:
            by_id.setdefault(entry_id(placed), thread)
            by_text.setdefault(said(file, placed), thread)
    by_id.pop("", None)
    alone = []
    for thread in later:
        for placed in thread.versions:
            twin = by_id.get(entry_id(placed)) or by_text.get(said(file, placed))
            if twin is not None and twin.theirs is None:
                twin.theirs = placed
            else:
                alone.append(thread)
    return alone

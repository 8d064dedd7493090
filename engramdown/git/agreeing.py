"""What becomes of one entry when two branches meet.

Promises: pure; a change beats an untouched copy; what only one side has stays, unless the other
one took it out and this one left it alone; metadata merges key by key, and trust goes with the
words that it was given to; what cannot be settled so is a clash that shows both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engramdown.engram import CONFIDENCES, SOURCES, fold, pointers
from engramdown.git.textual import Clash, lines_of, merge
from engramdown.git.threads import Thread, entry_id
from engramdown.hippocampus.placement import ARCHIVE, PENDING, split_task
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import Metadata

__all__ = ["settle"]

# From the strongest to the weakest; what nobody wrote down counts least.
_RANKS: Final[Mapping[str, Sequence[str]]] = {
    "basis": ("verified", "told", "observed", "inferred"),
    "source": SOURCES,
    "confidence": CONFIDENCES,
}
_WAITS: Final = " "
_NO_DAY: Final = "9999"


def settle(file: str, thread: Thread) -> str | Clash | None:
    """Return the lines of an entry after the merge, or ``None`` if it is taken out."""
    base, ours, theirs = thread.base, thread.ours, thread.theirs
    if ours is None or theirs is None:
        there = ours or theirs
        if there is None:
            return None
        if base is None:
            return there.block.raw
        if base.block.text == there.block.text:
            return None
        return _clash(thread)
    if base is None:
        return _learned_twice(file, ours, theirs, thread)
    return _changed(file, base, ours, theirs, thread)


def _clash(thread: Thread) -> Clash:
    ours, base, theirs = (
        (placed.block.raw,) if placed is not None else ()
        for placed in (thread.ours, thread.base, thread.theirs)
    )
    return Clash(ours, base, theirs)


# ---- changed on both sides ----


def _changed(file: str, base: Placed, ours: Placed, theirs: Placed, thread: Thread) -> str | Clash:
    mine, other, old = ours.block.raw, theirs.block.raw, base.block.raw
    if other in (mine, old):
        return mine
    if mine == old:
        return other
    winner = _winner(file, base, ours, theirs)
    if winner is None:
        return _by_lines(thread)
    meta = _metadata(base, ours, theirs, file)
    return _clash(thread) if meta is None else _with(winner, meta)


def _winner(file: str, base: Placed, ours: Placed, theirs: Placed) -> Placed | None:
    """Return the side whose words stay; ``None`` if each changed them in its own way."""
    mine, other, old = (placed.block.text for placed in (ours, theirs, base))
    if mine == other:
        return theirs if ours.block.raw == base.block.raw else ours
    if other == old:
        return ours
    if mine == old:
        return theirs
    return _ticked(ours, theirs) if file == PENDING else None


def _ticked(ours: Placed, theirs: Placed) -> Placed | None:
    """Return the one that a person ticked, if the other one says the same and still waits."""
    (mine, text), (other, same) = split_task(ours.block.text), split_task(theirs.block.text)
    if text != same or _WAITS not in (mine, other):
        return None
    return theirs if mine == _WAITS else ours


def _by_lines(thread: Thread) -> str | Clash:
    """Merge a paragraph as git would; what is one line, or an item, is one change."""
    whole = _clash(thread)
    if not all(placed.block.shape == "paragraph" for placed in thread.versions):
        return whole
    base, ours, theirs = (lines_of(placed.block.raw) for placed in thread.versions)
    pieces = merge(base, ours, theirs)
    lines = [piece for piece in pieces if isinstance(piece, str)]
    return "".join(lines) if len(lines) == len(pieces) else whole


# ---- learned on both sides ----


def _learned_twice(file: str, ours: Placed, theirs: Placed, thread: Thread) -> str | Clash:
    """Return the one that stays of two that say the same, with the stronger metadata."""
    winner = _stronger(ours, theirs)
    if file == PENDING and split_task(ours.block.text)[0] != split_task(theirs.block.text)[0]:
        ticked = _ticked(ours, theirs)
        if ticked is None:
            return _clash(thread)
        winner = ticked
    elif fold(ours.block.text) != fold(theirs.block.text):
        # One id, two texts: each side went on from what it took over from the other.
        return _clash(thread)
    if not entry_id(winner):
        # Nothing automatic rewrites a line that a person wrote.
        return winner.block.raw
    loser = theirs if winner is ours else ours
    return _with(winner, _merged(None, winner.block.meta, loser.block.meta, ours_wins=True))


def _stronger(ours: Placed, theirs: Placed) -> Placed:
    """Return the one that counts more, whichever side is ours: then all clones agree."""
    return min(ours, theirs, key=_strength)


def _strength(placed: Placed) -> tuple[object, ...]:
    meta = placed.block.meta or Metadata()
    ranks = (_rank(key, meta.get(key)) for key in ("source", "confidence", "basis"))
    by_hand = not entry_id(placed)
    return not by_hand, *ranks, meta.get("ts") or _NO_DAY, entry_id(placed), placed.block.raw


def _rank(key: str, value: str) -> int:
    order = _RANKS[key]
    return order.index(value) if value in order else len(order)


# ---- metadata, key by key ----

Fields = Metadata | None


def _metadata(base: Placed, ours: Placed, theirs: Placed, file: str) -> Metadata | None:
    """Return the metadata after the merge, or ``None`` if both sides changed it in their ways."""
    old, mine, other = (placed.block.meta for placed in (base, ours, theirs))
    if mine == other:
        return mine or Metadata()
    if mine is None or other is None:
        # A person took the comment off, or somebody put one there.
        changed = other if mine == old else mine
        return (changed or Metadata()) if old in (mine, other) else None
    return _merged(old, mine, other, _who_reworded(base, ours, theirs), ours_wins=file == ARCHIVE)


def _merged(
    base: Fields, ours: Fields, theirs: Fields, worded: int = 0, *, ours_wins: bool
) -> Metadata | None:
    """Merge key by key; ``worded`` is the side whose words stay although the other had none new."""
    old, mine, other = ((meta or Metadata()).values() for meta in (base, ours, theirs))
    values: dict[str, str] = {}
    for key in dict.fromkeys((*mine, *other)):
        sides = old.get(key, ""), mine.get(key, ""), other.get(key, "")
        value = (
            sides[worded] if worded and key in _RANKS else _value(key, sides, ours_wins=ours_wins)
        )
        if value is None:
            return None
        values[key] = value
    return (ours or Metadata()).update(values)


def _who_reworded(base: Placed, ours: Placed, theirs: Placed) -> int:
    """Return 1 if our side alone changed the words, 2 if the other one did, else 0."""
    old, mine, other = (placed.block.text for placed in (base, ours, theirs))
    return 0 if mine == other else 1 if other == old else 2


def _value(key: str, sides: tuple[str, str, str], *, ours_wins: bool) -> str | None:
    base, ours, theirs = sides
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    if key in _RANKS:
        return min(ours, theirs, key=lambda value: _rank(key, value))
    if key == "ts":
        return max(ours, theirs) if base else min(ours, theirs)
    if key == "from":
        return pointers(ours, theirs)
    return ours if ours_wins else None


def _with(winner: Placed, meta: Metadata | None) -> str:
    """Return the lines of an entry with other metadata."""
    block = winner.block
    if (meta or None) == block.meta:
        return block.raw
    alone = Document([block])
    if meta is None or not meta.fields:
        return alone.replace(block, block.text, None).render()
    return alone.note(block, meta).render()

"""Three-way merge of lines, as git does it: the ground that the merge of entries stands on.

Promises: pure; ``merge(base, base, theirs)`` is ``theirs`` and ``merge(base, ours, base)`` is
``ours``; what both sides changed is a :class:`Clash`, made small as git makes it; the cost of
texts that have nothing in common is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Final, Literal, NamedTuple

from engramdown.hippocampus.history import common

Style = Literal["merge", "diff3", "zdiff3"]
Taken = Literal["same", "ours", "theirs", "both", "clash"]

# So many lines between two clashes are part of one, as git has it.
_NEAR: Final = 3
_FAR: Final = 1_000_000
# More differences than this are not told apart: the texts are two.
_MOST_EDITS: Final = 500


class Clash(NamedTuple):
    """What the two sides changed in different ways: the lines of each."""

    ours: tuple[str, ...]
    base: tuple[str, ...]
    theirs: tuple[str, ...]


class Markers(NamedTuple):
    """How a clash is shown.

    Attributes:
        size: How many characters a marker line begins with.
        ours: The name of our side.
        base: The name of the common ancestor.
        theirs: The name of the other side.
        style: Whether the common ancestor is shown too, as ``merge.conflictStyle`` says.
    """

    size: int = 7
    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    style: Style = "merge"


class _Hunk(NamedTuple):
    """Items of one sequence that are replaced by items of another one."""

    start: int
    end: int
    new_start: int
    new_end: int


class Region(NamedTuple):
    """A stretch of three sequences, as slices.

    Attributes:
        base: The stretch of the common ancestor.
        ours: What our side has there.
        theirs: What the other side has there.
        taken: ``same`` where all agree, the side that alone changed it, ``both`` where both made
            the same of it, or ``clash``.
    """

    base: slice
    ours: slice
    theirs: slice
    taken: Taken


Piece = str | Clash


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text with their ends; only ``\n`` ends a line.

    >>> lines_of("a\r\n\nb")
    ['a\r\n', '\n', 'b']
    """
    *ended, last = text.split("\n")
    return [f"{line}\n" for line in ended] + ([last] if last else [])


def merge(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], style: Style = "merge"
) -> list[Piece]:
    """Return the lines of the merge, in order, with what clashes.

    >>> merge(["a", "b", "c"], ["x", "b", "c"], ["a", "b", "y"])
    ['x', 'b', 'y']
    """
    pieces: list[Piece] = []
    # How many lines stand since a clash, with no change between; too many, or none yet: _FAR.
    since = _FAR
    for region in regions(base, ours, theirs):
        if region.taken != "clash":
            kept = theirs[region.theirs] if region.taken == "theirs" else ours[region.ours]
            pieces += kept
            since = _FAR if region.taken in ("ours", "theirs") else since + len(kept)
            continue
        sides = ours[region.ours], base[region.base], theirs[region.theirs]
        for piece in _refined(*sides, style):
            if isinstance(piece, str):
                pieces.append(piece)
                since += 1
                continue
            near = since <= _NEAR and style == "merge"
            pieces.append(_joined(pieces, since, piece) if near else piece)
            since = 0
    return pieces


def render(pieces: Sequence[Piece], markers: Markers, eol: str = "\n") -> str:
    r"""Return the text of a merge, what clashes between markers.

    >>> render(["a\n", Clash(("b\n",), (), ("c",))], Markers())
    'a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n'
    """
    return "".join(
        _shown(piece, markers, eol) if isinstance(piece, Clash) else piece for piece in pieces
    )


def regions(
    base: Sequence[object], ours: Sequence[object], theirs: Sequence[object]
) -> list[Region]:
    """Return the stretches of a three-way merge, in order; together they are all three."""
    mine, other = _changes(base, ours), _changes(base, theirs)
    alike = _alike(ours, mine, theirs, other)
    groups = _groups(mine, other, alike)
    found: list[Region] = []
    at, shift_ours, shift_theirs = 0, 0, 0
    for group in groups:
        start = min(hunk.start for hunk in (*group.ours, *group.theirs))
        end = max(hunk.end for hunk in (*group.ours, *group.theirs))
        if start > at:
            found.append(_region(at, start, (shift_ours, shift_theirs), (0, 0), "same"))
        grown = _growth(group.ours), _growth(group.theirs)
        found.append(_region(start, end, (shift_ours, shift_theirs), grown, group.taken))
        at, shift_ours, shift_theirs = end, shift_ours + grown[0], shift_theirs + grown[1]
    if at < len(base):
        found.append(_region(at, len(base), (shift_ours, shift_theirs), (0, 0), "same"))
    return found


# ---- showing a clash ----


def _shown(clash: Clash, markers: Markers, eol: str) -> str:
    ours, base, theirs = (
        [line if line.endswith("\n") else line + eol for line in side] for side in clash
    )
    parts = [_marker("<", markers.size, markers.ours, eol), *ours]
    if markers.style != "merge":
        parts += [_marker("|", markers.size, markers.base, eol), *base]
    parts += [_marker("=", markers.size, "", eol), *theirs]
    return "".join([*parts, _marker(">", markers.size, markers.theirs, eol)])


def _marker(char: str, size: int, label: str, eol: str) -> str:
    return f"{char * size}{' ' if label else ''}{label}{eol}"


# ---- making a clash small ----


def _refined(
    ours: Sequence[str], base: Sequence[str], theirs: Sequence[str], style: Style
) -> Iterator[Piece]:
    """Yield a clash without the lines that both sides have."""
    if style == "diff3" or not ours or not theirs:
        yield Clash(tuple(ours), tuple(base), tuple(theirs))
        return
    hunks = _changes(ours, theirs)
    if style == "zdiff3":
        # Only what both begin and end with is taken out: the ancestor is shown for the rest.
        hunks = [_Hunk(hunks[0].start, hunks[-1].end, hunks[0].new_start, hunks[-1].new_end)]
    at = 0
    for hunk in hunks:
        yield from ours[at : hunk.start]
        mine, other = ours[hunk.start : hunk.end], theirs[hunk.new_start : hunk.new_end]
        yield Clash(tuple(mine), tuple(base), tuple(other))
        at = hunk.end
    yield from ours[at:]


def _joined(pieces: list[Piece], since: int, clash: Clash) -> Clash:
    """Take the last clash and what follows it off ``pieces``; return all as one with ``clash``."""
    at = len(pieces) - since - 1
    found = [
        Clash((piece,), (piece,), (piece,)) if isinstance(piece, str) else piece
        for piece in pieces[at:]
    ]
    del pieces[at:]
    ours, base, theirs = zip(*found, clash, strict=True)
    return Clash(*(tuple(chain.from_iterable(side)) for side in (ours, base, theirs)))


# ---- which hunks belong together ----


class _Group(NamedTuple):
    """Hunks of both sides that touch."""

    ours: list[_Hunk]
    theirs: list[_Hunk]
    taken: Taken


def _alike(
    ours: Sequence[object], mine: list[_Hunk], theirs: Sequence[object], other: list[_Hunk]
) -> set[tuple[int, int]]:
    """Return the stretches of the ancestor of which both sides made the same."""
    made = {(hunk.start, hunk.end): ours[hunk.new_start : hunk.new_end] for hunk in mine}
    return {
        (hunk.start, hunk.end)
        for hunk in other
        if made.get((hunk.start, hunk.end)) == theirs[hunk.new_start : hunk.new_end]
    }


def _groups(mine: list[_Hunk], other: list[_Hunk], alike: set[tuple[int, int]]) -> list[_Group]:
    sided = [
        [(hunk.start, hunk.end, side, hunk) for hunk in hunks]
        for side, hunks in enumerate((mine, other))
    ]
    tagged = sorted(chain.from_iterable(sided))
    groups: list[_Group] = []
    reach = -1
    for start, end, side, hunk in tagged:
        sides: tuple[list[_Hunk], list[_Hunk]] = ([], [])
        if groups and start <= reach:
            sides = groups.pop()[:2]
        sides[side].append(hunk)
        same = len(sides[0]) == len(sides[1]) == 1 and (start, end) in alike
        groups.append(_Group(*sides, "both" if same else _taken(*sides)))
        reach = max(reach, end)
    return groups


def _taken(ours: Sequence[_Hunk], theirs: Sequence[_Hunk]) -> Taken:
    if ours and theirs:
        return "clash"
    return "ours" if ours else "theirs"


def _growth(hunks: Sequence[_Hunk]) -> int:
    return sum(hunk.new_end - hunk.new_start - (hunk.end - hunk.start) for hunk in hunks)


def _region(
    start: int,
    end: int,
    shifts: tuple[int, int],
    grown: tuple[int, int],
    taken: Taken,
) -> Region:
    ours, theirs = (
        slice(start + shift, end + shift + more) for shift, more in zip(shifts, grown, strict=True)
    )
    return Region(slice(start, end), ours, theirs, taken)


# ---- what changed between two sequences ----


def _changes(before: Sequence[object], after: Sequence[object]) -> list[_Hunk]:
    """Return what was replaced, in order; between two hunks stands something that was not."""
    start = common(before, after)
    most = min(len(before), len(after)) - start
    end = common(before[::-1][:most], after[::-1][:most])
    pairs = _pairs(before[start : len(before) - end], after[start : len(after) - end])
    last = len(before) - end, len(after) - end
    matched = [(-1 + start, -1 + start), *((a + start, b + start) for a, b in pairs), last]
    hunks = [
        _Hunk(a + 1, c, b + 1, d) for (a, b), (c, d) in pairwise(matched) if a + 1 < c or b + 1 < d
    ]
    return _settled(hunks, before, after)


def _pairs(before: Sequence[object], after: Sequence[object]) -> list[tuple[int, int]]:
    """Return which items are the same ones: a longest common subsequence, in order."""
    shared = {*before} & {*after}
    olds = [at for at, item in enumerate(before) if item in shared]
    news = [at for at, item in enumerate(after) if item in shared]
    found = _walked([before[at] for at in olds], [after[at] for at in news])
    return [(olds[a], news[b]) for a, b in found]


def _walked(before: Sequence[object], after: Sequence[object]) -> list[tuple[int, int]]:
    """Walk from one sequence to the other with the fewest steps (Myers 1986)."""
    furthest, trace = {1: 0}, []
    for edits in range(min(len(before) + len(after), _MOST_EDITS) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            at = _step(furthest, diagonal, edits)
            while (
                at < len(before)
                and 0 <= at - diagonal < len(after)
                and before[at] == after[at - diagonal]
            ):
                at += 1
            furthest[diagonal] = at
            if at >= len(before) and at - diagonal >= len(after):
                return _back(trace, len(before), len(after))
    return []


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    down = diagonal == -edits or (
        diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
    )
    return furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1


def _back(trace: list[dict[int, int]], end: int, new_end: int) -> list[tuple[int, int]]:
    """Return the items that the walk passed without a step."""
    pairs: list[tuple[int, int]] = []
    at, new = end, new_end
    for edits in range(len(trace) - 1, -1, -1):
        begun = _step(trace[edits], at - new, edits)
        while at > begun:
            at, new = at - 1, new - 1
            pairs.append((at, new))
        came_down = begun == trace[edits].get(at - new + 1)
        at, new = (at, new - 1) if came_down else (at - 1, new)
    return pairs[::-1]


def _settled(hunks: list[_Hunk], before: Sequence[object], after: Sequence[object]) -> list[_Hunk]:
    """Return the hunks with what is only taken out, or only put in, as far down as it goes.

    ``- a`` before another ``- a`` may stand for either of the two; as git, the last one counts.
    """
    found: list[_Hunk] = []
    waiting = hunks[::-1]
    while waiting:
        hunk = waiting.pop()
        following = waiting[-1] if waiting else None
        if following is not None and following.start == hunk.end:
            waiting[-1] = _Hunk(hunk.start, following.end, hunk.new_start, following.new_end)
        elif _may_slide(hunk, before, after):
            waiting.append(_Hunk(*(place + 1 for place in hunk)))
        else:
            found.append(hunk)
    return found


def _may_slide(hunk: _Hunk, before: Sequence[object], after: Sequence[object]) -> bool:
    if hunk.new_start == hunk.new_end:
        return hunk.end < len(before) and before[hunk.start] == before[hunk.end]
    if hunk.start == hunk.end:
        return hunk.new_end < len(after) and after[hunk.new_start] == after[hunk.new_end]
    return False

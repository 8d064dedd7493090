"""Where the entries and the lines of two branches stand in the file that both become.

Promises: pure; what both sides kept stays in its order; what one side added stands where it put
it, below the same heading; lines that are no entry merge as :mod:`engramdown.git.textual` says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from engramdown.engram import fold
from engramdown.git.textual import Clash, Style, lines_of, merge, regions
from engramdown.git.threads import Side, Thread
from engramdown.markdown.document import Document, Placed

__all__ = ["Item", "Sheet", "weave"]

_BLANK: Final = " \t\r\n"


class _Heading(str):
    """A line that begins a section."""

    __slots__ = ()


Token = str | Thread
Item = str | Thread | Clash
"""A line, an entry, or lines that clash."""


class Sheet(NamedTuple):
    """One version of the file, as lines and threads in their order."""

    tokens: list[Token]

    @classmethod
    def of(cls, document: Document, thread_of: Callable[[int], Thread | None]) -> Sheet:
        """Read a document; ``thread_of`` gives the thread of a block by its index."""
        tokens: list[Token] = []
        for at, block in enumerate(document.blocks):
            thread = thread_of(at)
            if thread is not None:
                tokens.append(thread)
            elif block.shape == "heading" and block.raw.count("\n") <= 1:
                tokens.append(_Heading(block.raw))
            else:
                tokens += lines_of(block.raw)
        return cls(tokens)

    def without(self, threads: set[Thread]) -> list[Token]:
        """Return the tokens but for some threads."""
        return [token for token in self.tokens if isinstance(token, str) or token not in threads]


def weave(
    base: Sheet, ours: Sheet, theirs: Sheet, gone: set[Thread], style: Style = "merge"
) -> list[Item]:
    """Return the merged file, in order.

    Args:
        base: The common ancestor.
        ours: Our side.
        theirs: The other side.
        gone: Threads that the merge takes out.
        style: How a clash of lines is shown.
    """
    kept = [thread for thread in _threads(base) if thread.ours and thread.theirs]
    kept = [thread for thread in kept if thread not in gone]
    mine, other = _moved(kept, ours, "ours"), _moved(kept, theirs, "theirs")
    # Who moved an entry says where it stands; so does who alone has it, or had it first.
    single = {thread for thread in _threads(base) if not (thread.ours and thread.theirs)}
    both_new = {thread for thread in _threads(ours) if thread.base is None and thread.theirs}
    sides = (
        base.without(gone | single | mine | other),
        ours.without(gone | (other - mine)),
        theirs.without(gone | mine | both_new),
    )
    anchors = [thread for thread in kept if thread not in mine | other]
    cuts = [_cut(tokens, anchors) for tokens in sides]
    items: list[Item] = []
    for at, (old, left, right) in enumerate(zip(*cuts, strict=True)):
        items += _gap(old, left, right, style)
        items += anchors[at : at + 1]
    return items


def _threads(sheet: Sheet) -> list[Thread]:
    return [token for token in sheet.tokens if isinstance(token, Thread)]


def _cut(tokens: Sequence[Token], anchors: Sequence[Thread]) -> list[list[Token]]:
    """Return what stands before, between and behind the anchors."""
    wanted = set(anchors)
    gaps: list[list[Token]] = [[]]
    for token in tokens:
        if isinstance(token, Thread) and token in wanted:
            gaps.append([])
        else:
            gaps[-1].append(token)
    return gaps


# ---- what was moved ----


def _moved(kept: Sequence[Thread], sheet: Sheet, side: Side) -> set[Thread]:
    """Return the threads that one side put past another one, or below another heading."""
    places = {thread: at for at, thread in enumerate(_threads(sheet))}
    order = [places[thread] for thread in kept]
    stay = _longest_rising(order)
    moved = {thread for at, thread in enumerate(kept) if at not in stay}
    titles = {token.strip(_BLANK) for token in sheet.tokens if isinstance(token, _Heading)}
    for thread in kept:
        was, now = thread.place("base"), thread.place(side)
        if was.heading != now.heading and _titled(was, titles):
            moved.add(thread)
    return moved


def _titled(placed: Placed, titles: Iterable[str]) -> bool:
    """Whether the section of an entry is still there, so that it was not just given a new name."""
    return not placed.heading or any(placed.heading in title for title in titles)


def _longest_rising(order: Sequence[int]) -> set[int]:
    """Return the indexes of a longest rising subsequence: what need not be moved."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, value in enumerate(order):
        place = bisect_left(tails, value)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [value]
        ends[place : place + 1] = [at]
    found = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        found.add(at)
        at = before[at]
    return found


# ---- between two entries that both sides kept ----


def _gap(
    base: Sequence[Token], ours: Sequence[Token], theirs: Sequence[Token], style: Style
) -> Iterator[Item]:
    if all(isinstance(token, str) for token in (*base, *ours, *theirs)):
        yield from merge(_lines(base), _lines(ours), _lines(theirs), style)
        return
    for region in regions(base, ours, theirs):
        if region.taken == "theirs":
            yield from theirs[region.theirs]
        elif region.taken != "clash":
            yield from ours[region.ours]
        else:
            yield from _settled(base[region.base], ours[region.ours], theirs[region.theirs], style)


def _lines(tokens: Iterable[Token]) -> list[str]:
    return [token for token in tokens if isinstance(token, str)]


def _settled(
    base: Sequence[Token], ours: Sequence[Token], theirs: Sequence[Token], style: Style
) -> list[Item]:
    """Return what both sides put in one place: entries of both, sections of both once."""
    if any(isinstance(token, _Heading) for token in base):
        return [*_riding(base, ours, theirs, style)]
    (lead, mine), (other_lead, other) = _sections(ours), _sections(theirs)
    items = [*_riding(base, lead, other_lead, style)]
    for title in dict.fromkeys((*mine, *other)):
        heading = _lines((mine.get(title) or other[title])[:1])
        if items and not _is_blank(items[-1]):
            items.append("\r\n" if heading[0].endswith("\r\n") else "\n")
        items += heading
        items += _riding([], mine.get(title, [])[1:], other.get(title, [])[1:], style)
    return items


def _is_blank(item: Item) -> bool:
    return isinstance(item, str) and not item.strip(_BLANK)


def _sections(tokens: Sequence[Token]) -> tuple[list[Token], dict[str, list[Token]]]:
    """Return what stands before the first heading, and each section with its heading first."""
    lead: list[Token] = []
    sections: dict[str, list[Token]] = {}
    into = lead
    for token in tokens:
        if isinstance(token, _Heading):
            title = fold(token.rstrip(":" + _BLANK))
            again = title in sections
            into = sections.setdefault(title, [])
            if again:
                continue
        into.append(token)
    return lead, sections


def _riding(
    base: Sequence[Token], ours: Sequence[Token], theirs: Sequence[Token], style: Style
) -> Iterator[Item]:
    """Merge the lines, and let each entry follow the line that it stood behind."""
    mine, other = _riders(ours), _riders(theirs)
    yield from mine.pop(0, [])
    yield from other.pop(0, [])
    for item, passed, other_passed in _merged(base, ours, theirs, style):
        if item is not None:
            yield item
        for riders, upto in ((mine, passed), (other, other_passed)):
            for place in sorted(place for place in riders if place <= upto):
                yield from riders.pop(place)


def _riders(tokens: Iterable[Token]) -> dict[int, list[Thread]]:
    """Return the entries by the number of lines before them."""
    riders: dict[int, list[Thread]] = {}
    lines = 0
    for token in tokens:
        if isinstance(token, Thread):
            riders.setdefault(lines, []).append(token)
        else:
            lines += 1
    return riders


def _merged(
    base: Sequence[Token], ours: Sequence[Token], theirs: Sequence[Token], style: Style
) -> Iterator[tuple[Item | None, int, int]]:
    """Yield merged lines, each with how many lines of both sides are passed behind it."""
    old, mine, other = _lines(base), _lines(ours), _lines(theirs)
    for region in regions(old, mine, other):
        left, right = region.ours, region.theirs
        if region.taken == "clash":
            sides = old[region.base], mine[left], other[right]
            yield from ((piece, left.start, right.start) for piece in merge(*sides, style))
        elif region.taken == "theirs":
            yield from (
                (line, left.start, at) for at, line in enumerate(other[right], right.start + 1)
            )
        else:
            step = 0 if region.taken == "ours" else 1
            yield from (
                (line, left.start + at, right.start + at * step)
                for at, line in enumerate(mine[left], 1)
            )
        yield None, left.stop, right.stop

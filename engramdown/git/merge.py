"""The merge of three versions of a memory file, as git asks for it: bytes in, bytes out.

No entry that a side added or left alone is dropped, unless the other side took it out or changed
it. That is checked on every result (:func:`keeps_all`), and a merge that failed it would give way
to git's own, and that one to both versions between markers. Changes of one entry on both sides are
markers around that entry; lines that are not an entry merge as git merges them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

from engramdown.engram import CONFIDENCES, SOURCES, fold, pointers
from engramdown.git.lines import Clash, Markers, lines_of, merge, regions, render
from engramdown.hippocampus.entry import raw_entries, split_task
from engramdown.hippocampus.snapshot import meant
from engramdown.kinds import ARCHIVE, PENDING, is_name
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import compare
from engramdown.markdown.metadata import Metadata

# One of the three versions.
Side = Literal["base", "ours", "theirs"]

_BOM: Final = "\ufeff"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_FOLDER: Final = "memory/"
_CONFLICT: Final = ("<<<<<<<", ">>>>>>>")
_CONFLICTS: Final = re.compile(r"^<{7}.*?(?:^>{7}[^\n]*\n?|\Z)", re.MULTILINE | re.DOTALL)
_BLANK: Final = " \t\r\n"
_WAITS: Final = " "
_NO_DAY: Final = "9999"
# From the strongest to the weakest; what nobody wrote down counts least.
_RANKS: Final[Mapping[str, Sequence[str]]] = {
    "basis": ("verified", "told", "observed", "inferred"),
    "source": SOURCES,
    "confidence": CONFIDENCES,
}
# Two texts without ids are one that was changed if so many of their words are the same.
_ALIKE: Final = 0.5
# With more lines than this the file was rewritten, and nothing is paired.
_MOST_REWORDED: Final = 200


class Merge(NamedTuple):
    """What a merge leaves.

    Attributes:
        data: The file.
        conflict: Whether a person has to decide something: it holds conflict markers.
        by_lines: Why the file was merged line by line, or ``""`` if it was by entry.
    """

    data: bytes
    conflict: bool
    by_lines: str = ""


@dataclass(slots=True, eq=False)
class EntryVersions:
    """One memory, as each version has it; ``None`` where it is not.

    Attributes:
        base: In the common ancestor.
        ours: On our side.
        theirs: On the other side.
    """

    base: Placed | None = None
    ours: Placed | None = None
    theirs: Placed | None = None

    @property
    def versions(self) -> list[Placed]:
        """Where it is."""
        return [each for each in (self.base, self.ours, self.theirs) if each is not None]


class _Heading(str):
    """A line that begins a section."""

    __slots__ = ()


Token = str | EntryVersions
Tokens = Sequence[Token]
# A line, an entry, or lines that clash.
Item = str | EntryVersions | Clash
# What becomes of each entry: its lines, a clash, or nothing if it is taken out.
Outcomes = dict[EntryVersions, str | Clash | None]


def name_of(path: str) -> str:
    """Return the name of a memory file, relative to its folder, given its path in a repository.

    >>> name_of(".engramdown/memory/topics/api.md"), name_of("memory/USER.md")
    ('topics/api.md', 'profile.md')
    """
    return meant(path.rpartition(_FOLDER)[2])


def merge_files(
    path: str, base: bytes, ours: bytes, theirs: bytes, markers: Markers | None = None
) -> Merge:
    """Merge three versions of a file.

    Args:
        path: Where it is, in the repository.
        base: The common ancestor; nothing if both sides added the file.
        ours: Our side.
        theirs: The other side.
        markers: How conflicts are shown.
    """
    markers = markers or Markers()
    if theirs in (ours, base):
        return Merge(ours, conflict=False)
    if ours == base:
        return Merge(theirs, conflict=False)
    if any(data.startswith(_UTF16) for data in (base, ours, theirs)):
        return Merge(ours, conflict=True, by_lines="it is UTF-16; save it as UTF-8 on both sides")
    texts = [data.decode("utf-8", "surrogateescape") for data in (base, ours, theirs)]
    name = name_of(path)
    if not is_name(name):
        reason = "it is not a file of entries"
    elif any(map(_has_markers, texts[1:])):
        reason = "a conflict in it was never resolved"
    else:
        merged = _merge_by_entry(name, texts, markers)
        if merged is not None:
            return merged
        reason = "its entries could not be set in order"
    return _merge_by_lines(name, texts, markers, reason)


def keeps_all(name: str, base: str, ours: str, theirs: str, merged: str) -> bool:
    r"""Whether every entry of both sides is in ``merged``, or was taken out or changed by one side.

    Args:
        name: The name of the file.
        base: The common ancestor.
        ours: Our side.
        theirs: The other side.
        merged: What the merge leaves.

    >>> keeps_all("lessons.md", "", "- a\n", "- b\n", "- a\n")
    False
    >>> keeps_all("lessons.md", "- a\n", "- a\n", "- b\n", "- b\n")
    True
    """

    def statements_in(text: str) -> set[str]:
        # Each entry, of a paragraph each line; a tick makes no other saying.
        statements = set()
        for placed in raw_entries(name, parse(text)):
            saying = placed.block.text
            lines = saying.split("\n") if placed.block.shape == "paragraph" else [saying]
            statements |= {fold(split_task(line)[1] if name == PENDING else line) for line in lines}
        return statements

    old, mine, other, now = map(statements_in, (base, ours, theirs, merged))
    return mine - now <= old - other and other - now <= old - mine


def _has_markers(text: str) -> bool:
    return any(text.startswith(mark) or f"\n{mark}" in text for mark in _CONFLICT)


def _byte_order_mark(texts: Sequence[str]) -> str:
    """Return the mark at the beginning of the file: as on the side that changed it."""
    base, ours, theirs = (text.startswith(_BOM) for text in texts)
    return _BOM if (ours if theirs == base else theirs) else ""


def _result(text: str, pieces: Iterable[str | Clash], by_lines: str = "") -> Merge:
    conflict = any(isinstance(piece, Clash) for piece in pieces)
    return Merge(text.encode("utf-8", "surrogateescape"), conflict, by_lines)


def _merge_by_lines(name: str, texts: Sequence[str], markers: Markers, reason: str) -> Merge:
    mark, by_entry = "", is_name(name)
    if by_entry:
        # In the middle of a file the mark would be a character of a line.
        mark, texts = _byte_order_mark(texts), [text.removeprefix(_BOM) for text in texts]
    base, ours, theirs = texts
    pieces = merge(lines_of(base), lines_of(ours), lines_of(theirs))
    eol = parse(ours).eol
    text = render(pieces, markers, eol)
    if by_entry and not keeps_all(name, base, ours, theirs, text):
        pieces = [Clash(tuple(lines_of(ours)), tuple(lines_of(theirs)))]
        text = render(pieces, markers, eol)
    return _result(mark + text, pieces, reason)


def _merge_by_entry(name: str, texts: Sequence[str], markers: Markers) -> Merge | None:
    """Merge by entry; ``None`` if the result would not read as it should."""
    old, *sides = (text.removeprefix(_BOM) for text in texts)
    # Where branches crossed, git makes one ancestor of several, and its conflicts are in it: what
    # was in conflict there says nothing.
    base, ours, theirs = map(parse, (_CONFLICTS.sub("", old), *sides))
    memories = match_entries(name, *(raw_entries(name, each) for each in (base, ours, theirs)))
    becomes: Outcomes = {memory: merge_entry(name, memory) for memory in memories}
    becomes.update(dict.fromkeys(_said_by_other_side(name, becomes)))
    items = _arrange(
        _tokens(base, memories, "base"),
        _tokens(ours, memories, "ours"),
        _tokens(theirs, memories, "theirs"),
        {memory for memory, piece in becomes.items() if piece is None},
    )
    eol = ours.eol if ours.blocks else theirs.eol
    pieces = _pieces(items, becomes, eol)
    text = _byte_order_mark(texts) + render(pieces, markers, eol)
    before, mine, other = texts
    if not _reads_as_meant(name, becomes, text):
        return None
    return _result(text, pieces) if keeps_all(name, before, mine, other, text) else None


def _said_by_other_side(name: str, becomes: Outcomes) -> list[EntryVersions]:
    """Return what one side added and the other one says already, in an entry that it changed."""
    kept = [memory for memory in becomes if memory.base and isinstance(becomes[memory], str)]
    mine = {same_words(name, memory.ours) for memory in kept if memory.ours}
    other = {same_words(name, memory.theirs) for memory in kept if memory.theirs}
    doubles = []
    for memory in becomes:
        if memory.base is None and len(memory.versions) == 1:
            own, across = (mine, other) if memory.ours else (other, mine)
            if same_words(name, memory.versions[0]) in across - own:
                doubles.append(memory)
    return doubles


def _pieces(items: Iterable[Item], becomes: Outcomes, eol: str) -> list[str | Clash]:
    """Return the pieces of the file: every line ended, paragraphs apart."""
    pieces: list[str | Clash] = []
    after_paragraph = False
    for item in items:
        is_paragraph = False
        if isinstance(item, EntryVersions):
            # What is taken out is not among the items.
            piece = becomes[item] or ""
            shape = item.versions[0].block.shape
            is_paragraph = isinstance(piece, str) and shape == "paragraph"
        else:
            piece = item
        last = pieces[-1] if pieces else "\n"
        if isinstance(last, str) and not last.endswith("\n"):
            pieces[-1] = last + eol
        if after_paragraph and is_paragraph:
            pieces.append(eol)
        pieces.append(piece)
        after_paragraph = is_paragraph
    return pieces


def _reads_as_meant(name: str, becomes: Outcomes, text: str) -> bool:
    """Whether a reader finds exactly the entries that the merge was to leave, in their sections."""
    wanted: Counter[str] = Counter()
    kinds: dict[str, set[str]] = {}
    for memory, piece in becomes.items():
        raws = (piece,) if isinstance(piece, str) else (*piece.ours, *piece.theirs) if piece else ()
        for raw in raws:
            wanted[raw.rstrip(_BLANK)] += 1
            kinds.setdefault(raw.rstrip(_BLANK), set()).update(
                each.kind or "always" for each in memory.versions
            )
    entries = raw_entries(name, parse(text))
    readings = [(each.block.raw.rstrip(_BLANK), each.kind or "always") for each in entries]
    agree = Counter(raw for raw, _ in readings) == wanted
    return agree and all(each in kinds[raw] for raw, each in readings)


# ---- what becomes of one entry ----

# A change beats an untouched copy; what only one side has stays, unless the other one took it out
# and this one left it alone; metadata merges key by key, and trust goes with the words that it was
# given to; what cannot be settled so is a clash that shows both.


def merge_entry(file: str, memory: EntryVersions) -> str | Clash | None:
    """Return the lines of an entry after the merge, or ``None`` if it is taken out."""
    base, ours, theirs = memory.base, memory.ours, memory.theirs
    if ours is not None and theirs is not None:
        if base is None:
            return _merge_added(file, ours, theirs, memory)
        return _merge_changed(file, base, ours, theirs, memory)
    present = ours or theirs
    if present is None or (base is not None and base.block.text == present.block.text):
        return None
    return present.block.raw if base is None else _clash(memory)


def _clash(memory: EntryVersions) -> Clash:
    sides = (memory.ours, memory.theirs)
    return Clash(*((placed.block.raw,) if placed is not None else () for placed in sides))


def _merge_changed(
    file: str, base: Placed, ours: Placed, theirs: Placed, memory: EntryVersions
) -> str | Clash:
    """Merge an entry that all three have: its words, then its metadata."""
    old, mine, other = (placed.block for placed in (base, ours, theirs))
    if other.raw in (mine.raw, old.raw):
        return mine.raw
    if mine.raw == old.raw:
        return other.raw
    if other.text in (mine.text, old.text):
        winner: Placed | None = ours
    elif mine.text == old.text:
        winner = theirs
    else:
        winner = _ticked(ours, theirs) if file == PENDING else None
    if winner is not None:
        meta = _merge_metadata(file, base, ours, theirs)
        return _clash(memory) if meta is None else _with_metadata(winner, meta)
    # A paragraph merges as git would; an item is one change.
    if all(block.shape == "paragraph" for block in (old, mine, other)):
        pieces = merge(lines_of(old.raw), lines_of(mine.raw), lines_of(other.raw))
        lines = [piece for piece in pieces if isinstance(piece, str)]
        if len(lines) == len(pieces):
            return "".join(lines)
    return _clash(memory)


def _ticked(ours: Placed, theirs: Placed) -> Placed | None:
    """Return the one that a person ticked, if the other one says the same and still waits."""
    (mine, text), (other, same) = split_task(ours.block.text), split_task(theirs.block.text)
    if text != same or _WAITS not in (mine, other):
        return None
    return theirs if mine == _WAITS else ours


def _merge_added(file: str, ours: Placed, theirs: Placed, memory: EntryVersions) -> str | Clash:
    """Return the one that stays of two that say the same, with the stronger metadata."""
    # The one that counts more, whichever side is ours: then all clones agree.
    winner: Placed | None = min(ours, theirs, key=_strength)
    if file == PENDING and split_task(ours.block.text)[0] != split_task(theirs.block.text)[0]:
        winner = _ticked(ours, theirs)
    elif fold(ours.block.text) != fold(theirs.block.text):
        # One id, two texts: each side went on from what it took over from the other.
        winner = None
    if winner is None:
        return _clash(memory)
    if not winner.id:
        # Nothing automatic rewrites a line that a person wrote.
        return winner.block.raw
    loser = theirs if winner is ours else ours
    meta = _merge_keys(None, winner.block.meta, loser.block.meta, ours_wins=True)
    return _with_metadata(winner, meta)


def _strength(placed: Placed) -> tuple[object, ...]:
    meta = placed.metadata
    ranks = (_rank(key, meta.get(key)) for key in ("source", "confidence", "basis"))
    by_hand = not placed.id
    return not by_hand, *ranks, meta.get("ts") or _NO_DAY, placed.id, placed.block.raw


def _rank(key: str, value: str) -> int:
    order = _RANKS[key]
    return order.index(value) if value in order else len(order)


Fields = Metadata | None


def _merge_metadata(file: str, base: Placed, ours: Placed, theirs: Placed) -> Metadata | None:
    """Return the metadata after the merge, or ``None`` if both sides changed it in their ways."""
    old, mine, other = (placed.block for placed in (base, ours, theirs))
    if mine.meta == other.meta:
        return mine.meta or Metadata()
    if mine.meta is None or other.meta is None:
        # A person took the comment off, or somebody put one there.
        changed = other.meta if mine.meta == old.meta else mine.meta
        return (changed or Metadata()) if old.meta in (mine.meta, other.meta) else None
    reworded = 0 if mine.text == other.text else 1 if other.text == old.text else 2
    return _merge_keys(old.meta, mine.meta, other.meta, reworded, ours_wins=file == ARCHIVE)


def _merge_keys(
    base: Fields, ours: Fields, theirs: Fields, reworded: int = 0, *, ours_wins: bool
) -> Metadata | None:
    """Merge key by key; ``reworded`` is 1 if our side alone changed the words, 2 if the other."""
    old, mine, other = ((meta or Metadata()).values() for meta in (base, ours, theirs))
    values: dict[str, str] = {}
    for key in dict.fromkeys((*mine, *other)):
        sides = old.get(key, ""), mine.get(key, ""), other.get(key, "")
        if reworded and key in _RANKS:
            values[key] = sides[reworded]
            continue
        value = _merge_value(key, *sides, ours_wins=ours_wins)
        if value is None:
            return None
        values[key] = value
    return (ours or Metadata()).update(values)


def _merge_value(key: str, base: str, ours: str, theirs: str, *, ours_wins: bool) -> str | None:
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    if key in _RANKS:
        return min(ours, theirs, key=partial(_rank, key))
    if key == "ts":
        return max(ours, theirs) if base else min(ours, theirs)
    if key == "from":
        return pointers(ours, theirs)
    return ours if ours_wins else None


def _with_metadata(winner: Placed, meta: Metadata | None) -> str:
    """Return the lines of an entry with other metadata."""
    block = winner.block
    if (meta or None) == block.meta:
        return block.raw
    alone = Document([block])
    if meta is None or not meta.fields:
        return alone.replace(block, block.text, None).render()
    return alone.note(block, meta).render()


# ---- which entry is which ----


def match_entries(
    file: str, base: Sequence[Placed], ours: Sequence[Placed], theirs: Sequence[Placed]
) -> list[EntryVersions]:
    """Return the memories of three versions of ``file``, given the entries of each.

    What both sides added is one memory, by id or by what it says.
    """
    memories = {id(placed): EntryVersions(base=placed) for placed in base}
    mine, other = _matched(base, ours), _matched(base, theirs)
    for old, new in mine:
        memories[id(old)].ours = new
    for old, new in other:
        memories[id(old)].theirs = new
    matched = {id(new) for _, new in (*mine, *other)}
    added = [EntryVersions(ours=placed) for placed in ours if id(placed) not in matched]
    by_id: dict[str, EntryVersions] = {}
    by_text: dict[tuple[str, ...], EntryVersions] = {}
    for memory in added:
        by_id.setdefault(memory.versions[0].id, memory)
        by_text.setdefault(same_words(file, memory.versions[0]), memory)
    by_id.pop("", None)
    for placed in theirs:
        if id(placed) in matched:
            continue
        twin = by_id.get(placed.id) or by_text.get(same_words(file, placed))
        if twin is not None and twin.theirs is None:
            twin.theirs = placed
        else:
            added.append(EntryVersions(theirs=placed))
    return [*memories.values(), *added]


def same_words(file: str, placed: Placed) -> tuple[str, ...]:
    """Return what makes two entries the same, whatever their ids: where they hold, and the text.

    What was retired twice is one only if it went from the same place, for the same reason.
    """
    text, meta = placed.block.text, placed.block.meta
    if file == ARCHIVE and meta is not None:
        return fold(text), *(meta.get(key) for key in ("kind", "was", "reason", "replaced"))
    return placed.kind, fold(split_task(text)[1] if file == PENDING else text)


def _matched(before: Sequence[Placed], after: Sequence[Placed]) -> list[tuple[Placed, Placed]]:
    """Match by id and text, and what has no id by what became of its words."""
    places = {id(placed.block): placed for placed in (*before, *after)}
    changes = compare(*(Document([each.block for each in side]) for side in (before, after)))
    pairs = [(places[id(old.block)], places[id(new.block)]) for old, new in changes.kept]
    removed = [places[id(placed.block)] for placed in changes.removed]
    waiting = [places[id(placed.block)] for placed in changes.added]
    if max(len(removed), len(waiting)) > _MOST_REWORDED:
        return pairs
    # What a person changed and no id names: most of the words are the same.
    for old in removed:
        new = max(waiting, key=partial(_likeness, old), default=None)
        if new is not None and _likeness(old, new) >= _ALIKE:
            waiting.remove(new)
            pairs.append((old, new))
    return pairs


def _likeness(one: Placed, other: Placed) -> float:
    """Return which part of the words two entries share; with two ids they are two memories."""
    if (one.id and other.id) or one.kind != other.kind:
        return 0.0
    left, right = (Counter(fold(each.block.text).split()) for each in (one, other))
    return 2 * (left & right).total() / (left.total() + right.total())


# ---- where entries and lines stand ----

# What both sides kept stays in its order; what one side added stays where it put it, below the
# same heading; lines that are not an entry merge as git merges them.


def _tokens(document: Document, memories: Iterable[EntryVersions], side: Side) -> list[Token]:
    """Return one version as lines and entries in their order."""
    placed = ((getattr(memory, side), memory) for memory in memories)
    by_block = {found.at: memory for found, memory in placed if found is not None}
    tokens: list[Token] = []
    for at, block in enumerate(document.blocks):
        if at in by_block:
            tokens.append(by_block[at])
        elif block.shape == "heading" and block.raw.count("\n") <= 1:
            tokens.append(_Heading(block.raw))
        else:
            tokens += lines_of(block.raw)
    return tokens


def _arrange(base: Tokens, ours: Tokens, theirs: Tokens, gone: set[EntryVersions]) -> list[Item]:
    """Return the merged file, in order, without the entries that are ``gone``."""
    known = _memories(base)
    kept = [each for each in known if each.ours and each.theirs and each not in gone]
    mine, other = _moved(kept, ours, "ours"), _moved(kept, theirs, "theirs")
    # The side that moved an entry decides where it is; so does the one that has it alone or first.
    single = {memory for memory in known if not (memory.ours and memory.theirs)}
    both_new = {memory for memory in _memories(ours) if memory.base is None and memory.theirs}
    anchors = [memory for memory in kept if memory not in mine | other]
    gaps = [
        _split(base, gone | single | mine | other, anchors),
        _split(ours, gone | (other - mine), anchors),
        _split(theirs, gone | mine | both_new, anchors),
    ]
    items: list[Item] = []
    for at, (old, left, right) in enumerate(zip(*gaps, strict=True)):
        items += _merge_gap(old, left, right)
        items += anchors[at : at + 1]
    return items


def _memories(tokens: Tokens) -> list[EntryVersions]:
    return [token for token in tokens if isinstance(token, EntryVersions)]


def _lines(tokens: Iterable[Token]) -> list[str]:
    return [token for token in tokens if isinstance(token, str)]


def _split(
    tokens: Tokens, without: set[EntryVersions], anchors: Sequence[EntryVersions]
) -> list[list[Token]]:
    """Return the tokens before, between and behind the anchors."""
    wanted = set(anchors)
    gaps: list[list[Token]] = [[]]
    for token in tokens:
        if not isinstance(token, str) and token in without:
            continue
        if not isinstance(token, str) and token in wanted:
            gaps.append([])
        else:
            gaps[-1].append(token)
    return gaps


def _moved(kept: Sequence[EntryVersions], tokens: Tokens, side: Side) -> set[EntryVersions]:
    """Return the memories that one side put past another one, or below another heading."""
    places = {memory: at for at, memory in enumerate(_memories(tokens))}
    stay = _longest_rising([places[memory] for memory in kept])
    moved = {memory for at, memory in enumerate(kept) if at not in stay}
    titles = [token.strip(_BLANK) for token in tokens if isinstance(token, _Heading)]
    for memory in kept:
        was, now = memory.base, getattr(memory, side)
        if was is None or was.heading == now.heading:
            continue
        # If its section is there no more, it was just given a new name.
        if not was.heading or any(was.heading in title for title in titles):
            moved.add(memory)
    return moved


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
    indexes = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        indexes.add(at)
        at = before[at]
    return indexes


def _merge_gap(base: Tokens, ours: Tokens, theirs: Tokens) -> Iterator[Item]:
    """Merge the tokens between two entries that both sides kept."""
    if all(isinstance(token, str) for token in (*base, *ours, *theirs)):
        yield from merge(_lines(base), _lines(ours), _lines(theirs))
        return
    for region in regions(base, ours, theirs):
        old, mine, other = base[region.base], ours[region.ours], theirs[region.theirs]
        if region.taken != "clash":
            yield from other if region.taken == "theirs" else mine
        elif any(isinstance(token, _Heading) for token in old):
            yield from _with_entries(old, mine, other)
        else:
            yield from _both_sides(old, mine, other)


def _both_sides(base: Tokens, ours: Tokens, theirs: Tokens) -> list[Item]:
    """Return what both sides put in one place: entries of both, sections of both once."""
    (lead, mine), (other_lead, other) = _sections(ours), _sections(theirs)
    items = [*_with_entries(base, lead, other_lead)]
    for title in dict.fromkeys((*mine, *other)):
        heading = _lines((mine.get(title) or other[title])[:1])
        last = items[-1] if items else ""
        if not isinstance(last, str) or last.strip(_BLANK):
            items.append("\r\n" if heading[0].endswith("\r\n") else "\n")
        items += heading
        items += _with_entries([], mine.get(title, [])[1:], other.get(title, [])[1:])
    return items


def _sections(tokens: Tokens) -> tuple[list[Token], dict[str, list[Token]]]:
    """Return the tokens before the first heading, and each section with its heading first."""
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


def _with_entries(base: Tokens, ours: Tokens, theirs: Tokens) -> Iterator[Item]:
    """Merge the lines, and let each entry follow the line that it was behind."""
    mine, other = _entries_by_line(ours), _entries_by_line(theirs)
    yield from mine.pop(0, [])
    yield from other.pop(0, [])
    for item, passed, other_passed in _merged_lines(base, ours, theirs):
        if item is not None:
            yield item
        for followers, upto in ((mine, passed), (other, other_passed)):
            for place in sorted(place for place in followers if place <= upto):
                yield from followers.pop(place)


def _entries_by_line(tokens: Iterable[Token]) -> dict[int, list[EntryVersions]]:
    """Return the entries by the number of lines before them."""
    followers: dict[int, list[EntryVersions]] = {}
    lines = 0
    for token in tokens:
        if isinstance(token, EntryVersions):
            followers.setdefault(lines, []).append(token)
        else:
            lines += 1
    return followers


def _merged_lines(
    base: Tokens, ours: Tokens, theirs: Tokens
) -> Iterator[tuple[Item | None, int, int]]:
    """Yield merged lines, each with how many lines of both sides are passed behind it."""
    old, mine, other = _lines(base), _lines(ours), _lines(theirs)
    for region in regions(old, mine, other):
        left, right = region.ours, region.theirs
        if region.taken == "clash":
            pieces = merge(old[region.base], mine[left], other[right])
            yield from ((piece, left.start, right.start) for piece in pieces)
        else:
            lines = other[right] if region.taken == "theirs" else mine[left]
            mine_step, other_step = region.taken != "theirs", region.taken != "ours"
            for at, line in enumerate(lines, 1):
                yield line, left.start + at * mine_step, right.start + at * other_step
        yield None, left.stop, right.stop

"""The merge of three versions of a memory file, as git asks for it: bytes in, bytes out.

No entry that a side added or left alone is dropped, unless the other side took it out or changed
it. That is checked on every result (:func:`keeps_all`), and a merge that failed it would give way
to git's own, and that one to both versions between markers. Changes of one entry on both sides are
markers around that entry; lines that are not an entry merge as git merges them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from engramdown.engram import CONFIDENCES, SOURCES, fold, pointers
from engramdown.git.lines import Clash, Markers, Style, lines_of, merge, regions, render
from engramdown.hippocampus.placement import raw_entries, split_task
from engramdown.hippocampus.snapshot import meant
from engramdown.kinds import ARCHIVE, PENDING, is_name
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import compare
from engramdown.markdown.metadata import Metadata

# ---- what becomes of one entry ----

# A change beats an untouched copy; what only one side has stays, unless the other one took it out
# and this one left it alone; metadata merges key by key, and trust goes with the words that it was
# given to; what cannot be settled so is a clash that shows both.

# From the strongest to the weakest; what nobody wrote down counts least.
_RANKS: Final[Mapping[str, Sequence[str]]] = {
    "basis": ("verified", "told", "observed", "inferred"),
    "source": SOURCES,
    "confidence": CONFIDENCES,
}
_WAITS: Final = " "
_NO_DAY: Final = "9999"


def merge_entry(file: str, memory: EntryVersions) -> str | Clash | None:
    """Return the lines of an entry after the merge, or ``None`` if it is taken out."""
    base, ours, theirs = memory.base, memory.ours, memory.theirs
    if ours is None or theirs is None:
        there = ours or theirs
        if there is None:
            return None
        if base is None:
            return there.block.raw
        if base.block.text == there.block.text:
            return None
        return _clash(memory)
    if base is None:
        return _learned_twice(file, ours, theirs, memory)
    return _changed(file, base, ours, theirs, memory)


def _clash(memory: EntryVersions) -> Clash:
    ours, base, theirs = (
        (placed.block.raw,) if placed is not None else ()
        for placed in (memory.ours, memory.base, memory.theirs)
    )
    return Clash(ours, base, theirs)


# ---- changed on both sides ----


def _changed(
    file: str, base: Placed, ours: Placed, theirs: Placed, memory: EntryVersions
) -> str | Clash:
    mine, other, old = ours.block.raw, theirs.block.raw, base.block.raw
    if other in (mine, old):
        return mine
    if mine == old:
        return other
    winner = _winner(file, base, ours, theirs)
    if winner is None:
        return _paragraph(memory)
    meta = _metadata(base, ours, theirs, file)
    return _clash(memory) if meta is None else _with(winner, meta)


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


def _paragraph(memory: EntryVersions) -> str | Clash:
    """Merge a paragraph as git would; what is one line, or an item, is one change."""
    whole = _clash(memory)
    if not all(placed.block.shape == "paragraph" for placed in memory.versions):
        return whole
    base, ours, theirs = (lines_of(placed.block.raw) for placed in memory.versions)
    pieces = merge(base, ours, theirs)
    lines = [piece for piece in pieces if isinstance(piece, str)]
    return "".join(lines) if len(lines) == len(pieces) else whole


# ---- learned on both sides ----


def _learned_twice(file: str, ours: Placed, theirs: Placed, memory: EntryVersions) -> str | Clash:
    """Return the one that stays of two that say the same, with the stronger metadata."""
    winner = _stronger(ours, theirs)
    if file == PENDING and split_task(ours.block.text)[0] != split_task(theirs.block.text)[0]:
        ticked = _ticked(ours, theirs)
        if ticked is None:
            return _clash(memory)
        winner = ticked
    elif fold(ours.block.text) != fold(theirs.block.text):
        # One id, two texts: each side went on from what it took over from the other.
        return _clash(memory)
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


# ---- which entry is which ----

Side = Literal["base", "ours", "theirs"]
"""One of the three versions."""

# Two texts without ids are one that was changed if so many of their words are the same.
_ALIKE: Final = 0.5
# Who looks for such among more lines than this has rewritten the file.
_MOST_REWORDED: Final = 200


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

    def place(self, side: Side) -> Placed:
        """Return where it is on one side, on which it is."""
        found: Placed = getattr(self, side)
        return found

    @property
    def versions(self) -> list[Placed]:
        """Where it is."""
        return [each for each in (self.base, self.ours, self.theirs) if each is not None]


Entries = Sequence[Placed]


def match_entries(file: str, base: Entries, ours: Entries, theirs: Entries) -> list[EntryVersions]:
    """Return the memories of three versions of ``file``, given the entries of each."""
    memories = [EntryVersions(base=placed) for placed in base]
    by_base = {id(memory.base): memory for memory in memories}
    mine, other = _matched(base, ours), _matched(base, theirs)
    for old, new in mine:
        by_base[id(old)].ours = new
    for old, new in other:
        by_base[id(old)].theirs = new
    added = [EntryVersions(ours=placed) for placed in _rest(ours, mine)]
    later = [EntryVersions(theirs=placed) for placed in _rest(theirs, other)]
    return [*memories, *added, *_added_twice(file, added, later)]


def same_words(file: str, placed: Placed) -> tuple[str, ...]:
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


def _added_twice(
    file: str, added: Iterable[EntryVersions], later: Iterable[EntryVersions]
) -> list[EntryVersions]:
    """Let what both sides added be one memory, by id or by what it says; return the others."""
    by_id: dict[str, EntryVersions] = {}
    by_text: dict[tuple[str, ...], EntryVersions] = {}
    for memory in added:
        for placed in memory.versions:
            by_id.setdefault(entry_id(placed), memory)
            by_text.setdefault(same_words(file, placed), memory)
    by_id.pop("", None)
    alone = []
    for memory in later:
        for placed in memory.versions:
            twin = by_id.get(entry_id(placed)) or by_text.get(same_words(file, placed))
            if twin is not None and twin.theirs is None:
                twin.theirs = placed
            else:
                alone.append(memory)
    return alone


_BOM: Final = "\ufeff"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_FOLDER: Final = "memory/"
_CONFLICT: Final = ("<<<<<<<", ">>>>>>>")


Outcomes = dict[EntryVersions, str | Clash | None]
"""What becomes of each entry: its lines, a clash, or nothing if it is taken out."""


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
    why = _not_by_entry(name, texts)
    if not why:
        found = _by_entry(name, texts, markers)
        if found is not None:
            return found
        why = "its entries could not be set in order"
    return _by_lines(name, texts, markers, why)


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
    old, mine, other, now = (_sayings(name, text) for text in (base, ours, theirs, merged))
    return mine - now <= old - other and other - now <= old - mine


def _sayings(name: str, text: str) -> set[str]:
    """Return what a file says: each entry, of a paragraph each line; a tick is no other saying."""
    found = set()
    for placed in raw_entries(name, parse(text)):
        saying = placed.block.text
        lines = saying.split("\n") if placed.block.shape == "paragraph" else [saying]
        found |= {fold(split_task(line)[1] if name == PENDING else line) for line in lines}
    return found


def _not_by_entry(name: str, texts: Sequence[str]) -> str:
    """Return why a file is merged as text, or ``""``."""
    if not is_name(name):
        return "it is no file of entries"
    if any(_has_markers(text) for text in texts[1:]):
        return "a conflict in it was never resolved"
    return ""


def _has_markers(text: str) -> bool:
    return any(text.startswith(mark) or f"\n{mark}" in text for mark in _CONFLICT)


# ---- by lines ----


def _by_lines(name: str, texts: Sequence[str], markers: Markers, why: str) -> Merge:
    # In the middle of a file the mark would be a character of a line.
    mark = _mark(texts) if is_name(name) else ""
    base, ours, theirs = (text.removeprefix(_BOM) if is_name(name) else text for text in texts)
    pieces = merge(lines_of(base), lines_of(ours), lines_of(theirs), markers.style)
    eol = parse(ours).eol
    text = render(pieces, markers, eol)
    if is_name(name) and not keeps_all(name, base, ours, theirs, text):
        pieces = [Clash(*(tuple(lines_of(side)) for side in (ours, base, theirs)))]
        text = render(pieces, markers, eol)
    return Merge(_encoded(mark + text), any(isinstance(piece, Clash) for piece in pieces), why)


def _mark(texts: Sequence[str]) -> str:
    """Return the mark at the beginning of the file: as on the side that changed it."""
    base, ours, theirs = (text.startswith(_BOM) for text in texts)
    return _BOM if (ours if theirs == base else theirs) else ""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# ---- by entry ----


def _by_entry(name: str, texts: Sequence[str], markers: Markers) -> Merge | None:
    """Merge by entry; ``None`` if the result would not read as it should."""
    base, ours, theirs = (parse(text.removeprefix(_BOM)) for text in texts)
    base = _agreed(base)
    entries = [raw_entries(name, document) for document in (base, ours, theirs)]
    memories = match_entries(name, *entries)
    becomes: Outcomes = {memory: merge_entry(name, memory) for memory in memories}
    becomes.update(dict.fromkeys(_said_already(name, becomes)))
    items = arrange(
        tokens_of(base, _finder(memories, "base")),
        tokens_of(ours, _finder(memories, "ours")),
        tokens_of(theirs, _finder(memories, "theirs")),
        {memory for memory, piece in becomes.items() if piece is None},
        markers.style,
    )
    eol = ours.eol if ours.blocks else theirs.eol
    pieces = _written(items, becomes, eol)
    mark = _mark(texts)
    text = mark + render(pieces, markers, eol)
    before, mine, other = texts
    if not (_reads_so(name, becomes, text, markers) and keeps_all(name, before, mine, other, text)):
        return None
    return Merge(_encoded(text), any(isinstance(piece, Clash) for piece in pieces))


def _finder(memories: Iterable[EntryVersions], side: Side) -> Callable[[int], EntryVersions | None]:
    """Return what tells the memory of a block of one side, by its index."""
    placed = ((getattr(memory, side), memory) for memory in memories)
    return {found.at: memory for found, memory in placed if found is not None}.get


def _agreed(document: Document) -> Document:
    """Return the common ancestor without what was in conflict in it, which says nothing.

    Where branches crossed, git makes one ancestor of several, and its conflicts are in it.
    """
    text = document.render()
    if not _has_markers(text):
        return document
    kept, inside = [], False
    for line in lines_of(text):
        inside = inside or line.startswith(_CONFLICT[0])
        if not inside:
            kept.append(line)
        inside = inside and not line.startswith(_CONFLICT[1])
    return parse("".join(kept))


def _said_already(name: str, becomes: Outcomes) -> list[EntryVersions]:
    """Return what one side added and the other one says already, in an entry that it changed."""
    kept = [memory for memory in becomes if memory.base and isinstance(becomes[memory], str)]
    mine = {same_words(name, memory.ours) for memory in kept if memory.ours}
    other = {same_words(name, memory.theirs) for memory in kept if memory.theirs}
    added = [memory for memory in becomes if len(memory.versions) == 1 and not memory.base]
    found = []
    for memory in added:
        own, across = (mine, other) if memory.ours else (other, mine)
        key = same_words(name, memory.versions[0])
        if key in across and key not in own:
            found.append(memory)
    return found


def _written(items: Iterable[Item], becomes: Outcomes, eol: str) -> list[str | Clash]:
    """Return the pieces of the file: every line ended, paragraphs apart."""
    pieces: list[str | Clash] = []
    before: Item = ""
    for item in items:
        # What is taken out is not among the items.
        piece = (becomes[item] or "") if isinstance(item, EntryVersions) else item
        last = pieces[-1] if pieces else "\n"
        if isinstance(last, str) and not last.endswith("\n"):
            pieces[-1] = last + eol
        if _is_paragraph(before, becomes) and _is_paragraph(item, becomes):
            pieces.append(eol)
        pieces.append(piece)
        before = item
    return pieces


def _is_paragraph(item: Item, becomes: Outcomes) -> bool:
    """Whether an item is an entry that a blank line has to keep apart from another such."""
    if not isinstance(item, EntryVersions) or isinstance(becomes[item], Clash):
        return False
    return item.versions[0].block.shape == "paragraph"


def _reads_so(name: str, becomes: Outcomes, text: str, markers: Markers) -> bool:
    """Whether a reader finds exactly the entries that the merge was to leave, in their sections."""
    wanted: Counter[str] = Counter()
    kinds: dict[str, set[str]] = {}
    for memory, piece in becomes.items():
        for raw in _shown(piece, markers):
            wanted[_key(raw)] += 1
            kinds.setdefault(_key(raw), set()).update(_kind(each) for each in memory.versions)
    found = [(_key(placed.block.raw), _kind(placed)) for placed in raw_entries(name, parse(text))]
    agree = Counter(key for key, _ in found) == wanted
    return agree and all(kind in kinds[key] for key, kind in found)


def _shown(piece: str | Clash | None, markers: Markers) -> Iterable[str]:
    """Return the entries that stand in the file for one."""
    if isinstance(piece, Clash):
        return (*piece.ours, *(piece.base if markers.style != "merge" else ()), *piece.theirs)
    return () if piece is None else (piece,)


def _kind(placed: Placed) -> str:
    """Return the kind that an entry of rules loads as."""
    return placed.kind or "always"


def _key(raw: str) -> str:
    return raw.rstrip(" \t\r\n")


# ---- where entries and lines stand ----

# What both sides kept stays in its order; what one side added stands where it put it, below the
# same heading; lines that are not an entry merge as git merges them.

_BLANK: Final = " \t\r\n"


class _Heading(str):
    """A line that begins a section."""

    __slots__ = ()


Token = str | EntryVersions
Tokens = Sequence[Token]
Item = str | EntryVersions | Clash
"""A line, an entry, or lines that clash."""


def tokens_of(document: Document, memory_of: Callable[[int], EntryVersions | None]) -> list[Token]:
    """Return a document as lines and entries in their order.

    ``memory_of`` gives what a block is a version of, by its index.
    """
    tokens: list[Token] = []
    for at, block in enumerate(document.blocks):
        memory = memory_of(at)
        if memory is not None:
            tokens.append(memory)
        elif block.shape == "heading" and block.raw.count("\n") <= 1:
            tokens.append(_Heading(block.raw))
        else:
            tokens += lines_of(block.raw)
    return tokens


def arrange(
    base: Tokens, ours: Tokens, theirs: Tokens, gone: set[EntryVersions], style: Style = "merge"
) -> list[Item]:
    """Return the merged file, in order.

    Args:
        base: The common ancestor.
        ours: Our side.
        theirs: The other side.
        gone: Threads that the merge takes out.
        style: How a clash of lines is shown.
    """
    kept = [memory for memory in _memories(base) if memory.ours and memory.theirs]
    kept = [memory for memory in kept if memory not in gone]
    mine, other = _moved(kept, ours, "ours"), _moved(kept, theirs, "theirs")
    # Who moved an entry says where it stands; so does who alone has it, or had it first.
    single = {memory for memory in _memories(base) if not (memory.ours and memory.theirs)}
    both_new = {memory for memory in _memories(ours) if memory.base is None and memory.theirs}
    sides = (
        _without(base, gone | single | mine | other),
        _without(ours, gone | (other - mine)),
        _without(theirs, gone | mine | both_new),
    )
    anchors = [memory for memory in kept if memory not in mine | other]
    cuts = [_cut(tokens, anchors) for tokens in sides]
    items: list[Item] = []
    for at, (old, left, right) in enumerate(zip(*cuts, strict=True)):
        items += _gap(old, left, right, style)
        items += anchors[at : at + 1]
    return items


def _without(tokens: Tokens, memories: set[EntryVersions]) -> list[Token]:
    return [token for token in tokens if isinstance(token, str) or token not in memories]


def _memories(tokens: Tokens) -> list[EntryVersions]:
    return [token for token in tokens if isinstance(token, EntryVersions)]


def _cut(tokens: Tokens, anchors: Sequence[EntryVersions]) -> list[list[Token]]:
    """Return what stands before, between and behind the anchors."""
    wanted = set(anchors)
    gaps: list[list[Token]] = [[]]
    for token in tokens:
        if isinstance(token, EntryVersions) and token in wanted:
            gaps.append([])
        else:
            gaps[-1].append(token)
    return gaps


# ---- what was moved ----


def _moved(kept: Sequence[EntryVersions], tokens: Tokens, side: Side) -> set[EntryVersions]:
    """Return the memories that one side put past another one, or below another heading."""
    places = {memory: at for at, memory in enumerate(_memories(tokens))}
    order = [places[memory] for memory in kept]
    stay = _longest_rising(order)
    moved = {memory for at, memory in enumerate(kept) if at not in stay}
    titles = {token.strip(_BLANK) for token in tokens if isinstance(token, _Heading)}
    for memory in kept:
        was, now = memory.place("base"), memory.place(side)
        if was.heading != now.heading and _has_section(was, titles):
            moved.add(memory)
    return moved


def _has_section(placed: Placed, titles: Iterable[str]) -> bool:
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


def _gap(base: Tokens, ours: Tokens, theirs: Tokens, style: Style) -> Iterator[Item]:
    if all(isinstance(token, str) for token in (*base, *ours, *theirs)):
        yield from merge(_lines(base), _lines(ours), _lines(theirs), style)
        return
    for region in regions(base, ours, theirs):
        if region.taken == "theirs":
            yield from theirs[region.theirs]
        elif region.taken != "clash":
            yield from ours[region.ours]
        else:
            yield from _both_sides(
                base[region.base], ours[region.ours], theirs[region.theirs], style
            )


def _lines(tokens: Iterable[Token]) -> list[str]:
    return [token for token in tokens if isinstance(token, str)]


def _both_sides(base: Tokens, ours: Tokens, theirs: Tokens, style: Style) -> list[Item]:
    """Return what both sides put in one place: entries of both, sections of both once."""
    if any(isinstance(token, _Heading) for token in base):
        return [*_with_entries(base, ours, theirs, style)]
    (lead, mine), (other_lead, other) = _sections(ours), _sections(theirs)
    items = [*_with_entries(base, lead, other_lead, style)]
    for title in dict.fromkeys((*mine, *other)):
        heading = _lines((mine.get(title) or other[title])[:1])
        if items and not _is_blank(items[-1]):
            items.append("\r\n" if heading[0].endswith("\r\n") else "\n")
        items += heading
        items += _with_entries([], mine.get(title, [])[1:], other.get(title, [])[1:], style)
    return items


def _is_blank(item: Item) -> bool:
    return isinstance(item, str) and not item.strip(_BLANK)


def _sections(tokens: Tokens) -> tuple[list[Token], dict[str, list[Token]]]:
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


def _with_entries(base: Tokens, ours: Tokens, theirs: Tokens, style: Style) -> Iterator[Item]:
    """Merge the lines, and let each entry follow the line that it stood behind."""
    mine, other = _entries_by_line(ours), _entries_by_line(theirs)
    yield from mine.pop(0, [])
    yield from other.pop(0, [])
    for item, passed, other_passed in _merged_lines(base, ours, theirs, style):
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
    base: Tokens, ours: Tokens, theirs: Tokens, style: Style
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

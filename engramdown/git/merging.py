"""The merge of three versions of a memory file, as git asks for it: bytes in, bytes out.

Promises: pure; no entry that a side added or left alone is dropped, unless the other side took it
out or changed it: that is checked on every result (:func:`keeps_all`), and a merge that failed it
would give way to git's own, and that one to both versions between markers. Changes of one entry
on both sides are markers around that entry; lines that are no entry merge as git merges them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from engramdown.engram import fold
from engramdown.git.agreeing import settle
from engramdown.git.textual import Clash, Markers, lines_of, merge, render
from engramdown.git.threads import Side, Thread, said, spin
from engramdown.git.weaving import Item, Sheet, weave
from engramdown.hippocampus.placement import PENDING, is_name, raw_entries, split_task
from engramdown.hippocampus.snapshot import meant
from engramdown.markdown.document import Document, Placed, parse

__all__ = ["Merge", "keeps_all", "merge_files", "name_of"]

_BOM: Final = "\ufeff"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_FOLDER: Final = "memory/"
_CONFLICT: Final = ("<<<<<<<", ">>>>>>>")


Outcomes = dict[Thread, str | Clash | None]
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
    threads = spin(name, *entries)
    becomes: Outcomes = {thread: settle(name, thread) for thread in threads}
    becomes.update(dict.fromkeys(_said_already(name, becomes)))
    items = weave(
        Sheet.of(base, _finder(threads, "base")),
        Sheet.of(ours, _finder(threads, "ours")),
        Sheet.of(theirs, _finder(threads, "theirs")),
        {thread for thread, piece in becomes.items() if piece is None},
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


def _finder(threads: Iterable[Thread], side: Side) -> Callable[[int], Thread | None]:
    """Return what tells the thread of a block of one side, by its index."""
    placed = ((getattr(thread, side), thread) for thread in threads)
    return {found.at: thread for found, thread in placed if found is not None}.get


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


def _said_already(name: str, becomes: Outcomes) -> list[Thread]:
    """Return what one side added and the other one says already, in an entry that it changed."""
    kept = [thread for thread in becomes if thread.base and isinstance(becomes[thread], str)]
    mine = {said(name, thread.ours) for thread in kept if thread.ours}
    other = {said(name, thread.theirs) for thread in kept if thread.theirs}
    added = [thread for thread in becomes if len(thread.versions) == 1 and not thread.base]
    found = []
    for thread in added:
        own, across = (mine, other) if thread.ours else (other, mine)
        key = said(name, thread.versions[0])
        if key in across and key not in own:
            found.append(thread)
    return found


def _written(items: Iterable[Item], becomes: Outcomes, eol: str) -> list[str | Clash]:
    """Return the pieces of the file: every line ended, paragraphs apart."""
    pieces: list[str | Clash] = []
    before: Item = ""
    for item in items:
        # What is taken out is not among the items.
        piece = (becomes[item] or "") if isinstance(item, Thread) else item
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
    if not isinstance(item, Thread) or isinstance(becomes[item], Clash):
        return False
    return item.versions[0].block.shape == "paragraph"


def _reads_so(name: str, becomes: Outcomes, text: str, markers: Markers) -> bool:
    """Whether a reader finds exactly the entries that the merge was to leave, in their sections."""
    wanted: Counter[str] = Counter()
    kinds: dict[str, set[str]] = {}
    for thread, piece in becomes.items():
        for raw in _shown(piece, markers):
            wanted[_key(raw)] += 1
            kinds.setdefault(_key(raw), set()).update(_kind(each) for each in thread.versions)
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

"""Three-way merge of memory files, entry by entry: the person wins, and no entry is lost.

Laws, with ``base`` the common ancestor, ``ours`` what assistants made of it and ``theirs`` what a
person saved:

1. ``merge(base, base, theirs)`` is ``theirs``, and ``merge(base, ours, base)`` is ``ours``.
2. Every entry of ``ours`` that is not in ``base`` is in the result.
3. What the person deleted is not in the result; what the person changed reads as they wrote it,
   with what we know of it by now. Words that are only wrapped otherwise are not changed; a blank
   line among them is not wrapping.
4. A text that had to give way is in ``lost``: nothing disappears unseen.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from engramdown.engram import fold
from engramdown.markdown.document import Document, Placed

_PARAGRAPHS: Final = re.compile(r"\n\s*\n")


class Changes(NamedTuple):
    """What happened to the entries between two states of a file.

    Attributes:
        kept: Pairs of an entry before and after, equal or changed, matched by id or by text.
        removed: Entries that are there no more.
        added: Entries that are new.
    """

    kept: tuple[tuple[Placed, Placed], ...]
    removed: tuple[Placed, ...]
    added: tuple[Placed, ...]

    @property
    def reworded(self) -> tuple[tuple[Placed, Placed], ...]:
        """The pairs whose words differ; how they are wrapped does not count."""
        return tuple(pair for pair in self.kept if not _read_alike(*pair))


class Merged(NamedTuple):
    """The result of a merge.

    Attributes:
        document: The person's document with what assistants added, changed and retired.
        lost: Entries of ours whose change gave way to the person's.
    """

    document: Document
    lost: tuple[Placed, ...]


def compare(before: Document, after: Document) -> Changes:
    """Match the entries of two states: first those that are as they were, then by id, then by text.

    So of a line that was copied and changed the unchanged one is the old one, wherever it is.
    """
    waiting = list(before.placed())
    kept: list[tuple[Placed, Placed]] = []
    left = list(after.placed())
    for key in (_all, _id, _text):
        unmatched: dict[str, list[Placed]] = {}
        for old in reversed(waiting):
            unmatched.setdefault(key(old), []).append(old)
        unmatched.pop("", None)
        still: list[Placed] = []
        for new in left:
            olds = unmatched.get(key(new))
            if olds:
                kept.append((olds.pop(), new))
            else:
                still.append(new)
        matched = {id(old) for old, _ in kept}
        waiting = [old for old in waiting if id(old) not in matched]
        left = still
    return Changes(tuple(kept), tuple(waiting), tuple(left))


def merge(base: Document, ours: Document, theirs: Document) -> Merged:
    """Carry what assistants did between ``base`` and ``ours`` over to what a person saved."""
    if theirs.render() == base.render():
        return Merged(ours, ())
    done = compare(base, ours)
    by_base = {id(old): new for old, new in compare(base, theirs).kept}
    result, lost = theirs, []
    for old, new in done.kept:
        saved = by_base.get(id(old))
        if _agree(old, new) or (saved and _agree(saved, new)):
            continue
        # If only its metadata changed, that goes onto the line as the person wrapped it.
        is_noted = new.block.text == old.block.text and new.block.meta
        if saved is not None and _is_left(saved, old) and not is_noted:
            result = result.swap(saved.block, new.block.raw)
            continue
        if saved is not None and new.block.meta and saved.block.meta == old.block.meta:
            # What we know of it by now holds of the words that the person gave it as well.
            result = result.note(saved.block, new.block.meta)
        if new.block.text != old.block.text:
            lost.append(new)
    gone = [
        saved.block
        for old in done.removed
        if (saved := by_base.get(id(old))) is not None and _is_left(saved, old)
    ]
    result = result.without(gone)
    standing = {mark for placed in result.placed() for mark in _marks_of(placed)}
    for new in done.added:
        if standing.isdisjoint(_marks_of(new)):
            standing.update(_marks_of(new))
            raw = new.block.raw
            ended = raw if raw.endswith("\n") else raw + result.eol
            # A section of a person's own, if it is here too.
            own = new.heading if result.has_section(new.heading) else ""
            result = result.add_item(ended, new.kind or own)
    return Merged(result, tuple(lost))


def _all(placed: Placed) -> str:
    return f"{placed.block.meta} {placed.text}"


def _id(placed: Placed) -> str:
    return placed.id


def _text(placed: Placed) -> str:
    return fold(placed.block.text)


def _agree(one: Placed, other: Placed) -> bool:
    """Whether two entries say the same; an editor may have changed their line ends."""
    return one.block.text == other.block.text and one.block.meta == other.block.meta


def _is_left(saved: Placed, old: Placed) -> bool:
    """Whether a person left an entry alone; an editor may have wrapped it."""
    return saved.block.meta == old.block.meta and _read_alike(saved, old)


def _read_alike(one: Placed, other: Placed) -> bool:
    return one.block.text == other.block.text or _words(one) == _words(other)


def _words(placed: Placed) -> str:
    """Return a text as it reads however it is wrapped; in code the layout counts.

    A blank line is not wrapping: it begins another paragraph.
    """
    text = placed.block.text
    if "```" in text or "~~~" in text:
        return text
    return "\n\n".join(" ".join(part.split()) for part in _PARAGRAPHS.split(text))


def _marks_of(placed: Placed) -> set[tuple[str, str, str]]:
    """Return the marks of an entry; one that shares a mark is the same: id or kind, and text.

    The id alone is not enough: a copied and changed line has it too.
    """
    marks: set[tuple[str, str, str]] = {(placed.block.shape, placed.kind, placed.text)}
    if placed.id:
        marks.add(("id", placed.id, placed.text))
    return marks

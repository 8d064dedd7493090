"""A markdown memory file as a value: read it, edit it, give it back.

Three laws hold for every text:

1. Round trip: ``parse(text).render() == text``.
2. Hands off: an edit changes the bytes of its entry and no others; every other entry and heading
   reads as before.
3. What is written is read: after ``add(text, ...)`` the document holds an entry that says ``text``.

Nothing here opens a file, reads the clock or takes a lock: text in, text out.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice, product
from typing import Final, NamedTuple

from engramdown.engram import RULE_KINDS, fold
from engramdown.markdown import blocks as scanner
from engramdown.markdown.blocks import Block, entry_block, indented, is_rule, marker, scan
from engramdown.markdown.metadata import Metadata, escape

_BLANK: Final = " \t\r\n"
_BOM: Final = "\ufeff"
_SECTION: Final = 2
_WORD: Final = re.compile(r"[a-z0-9]++")
_GLUED: Final = re.compile(r"-->\w")
_OURS: Final = "<<<<<<<"
_MERGED: Final = re.compile(r"^(?:<{7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)


class Placed(NamedTuple):
    """An entry and where it is.

    Attributes:
        block: The entry.
        at: Its index among the blocks of the document.
        line: The line on which it starts, from 1.
        heading: The title of the section it is in, or ``""``.
        kind: The rule kind of that section, or ``""`` when it is a section of a person's own.
    """

    block: Block
    at: int
    line: int
    heading: str
    kind: str

    @property
    def text(self) -> str:
        """What it says."""
        return self.block.text

    @property
    def metadata(self) -> Metadata:
        """Its metadata, empty if it has none."""
        return self.block.meta or Metadata()

    @property
    def id(self) -> str:
        """Its own id, or ``""``."""
        return self.block.value("id")


class Document:
    """A memory file as a sequence of blocks; every edit returns a new document.

    Attributes:
        blocks: The blocks of the file; never changed in place.
    """

    __slots__ = ("_asked", "_ends", "_folds", "_placed", "_titles", "blocks")

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        """Hold ``blocks``, as :func:`parse` finds them."""
        self.blocks: Sequence[Block] = blocks
        self._placed: list[Placed] | None = None
        self._folds: _Folds | None = None
        self._asked = False
        self._ends: int | None = None
        self._titles: list[tuple[int, Block]] | None = None

    def render(self) -> str:
        """Return the text of the document, byte for byte."""
        return "".join([block.raw for block in self.blocks])

    @property
    def eol(self) -> str:
        r"""The line end of the file: ``\r\n`` if its first line ends so, else ``\n``."""
        for block in self.blocks:
            at = block.raw.find("\n")
            if at >= 0:
                return "\r\n" if block.raw[at - 1 : at] == "\r" else "\n"
        return "\n"

    def placed(self) -> list[Placed]:
        """Return the entries with their places, in file order."""
        if self._placed is None:
            self._placed = list(self._place())
        return self._placed

    def same(self, text: str) -> list[Block]:
        """Return the entries that say the same as ``text``, see :func:`engramdown.engram.fold`."""
        key = fold(text)
        if self._folds is None and not self._asked:
            # A process that asks once is better off without an index of everything.
            self._asked = True
            words = sorted(set(_WORD.findall(key)), key=len, reverse=True)
            whole = self.render()
            if "&#" in whole or _GLUED.search(whole):
                # A reference or a comment may stand in the middle of a word.
                words = []
            held = [block for block in self.blocks if _may_be_entry(block) and _holds(block, words)]
            return [block for block in held if fold(block.text) == key]
        if self._folds is None:
            self._folds = _Folds({}, _by_fold(self.blocks))
        return [*self._folds.get(key, ())]

    def at(self, block: Block) -> Placed:
        """Return where ``block`` is.

        Raises:
            ValueError: If it is not a block of this document.
        """
        index = self._index(block)
        heading = kind = ""
        for place, title in self._headings():
            if place < index:
                heading, kind = _enter(title, heading, kind)
        return Placed(block, index, self._line(index), heading, kind)

    def add(self, text: str, meta: Metadata, kind: str = "", title: str = "") -> Document:
        r"""Return the document with one more entry, below the last one of its section.

        It goes before the first sub-heading of the section, with the marker of the list there.

        Args:
            text: What the entry says: any text with a character that is not white space.
            meta: Its metadata.
            kind: The section it belongs to (``always``, ``never``, ``when``, or the title of one
                of a person's own, which must be there), or ``""`` for the whole file.
            title: The title that an empty document gets.

        >>> parse("# Lessons\n\n").add("CI is slow", Metadata((("id", "k3v9q2ht"),))).render()
        '# Lessons\n\n- CI is slow <!-- id:k3v9q2ht -->\n'
        """
        document, at, bullet = self._end_of(kind, title)
        return document._insert(at, entry_block(written(text, meta, document.eol, bullet)))

    def add_item(self, raw: str, kind: str = "", title: str = "") -> Document:
        """Return the document with one more entry, given byte for byte; see :meth:`add`."""
        document, at, _ = self._end_of(kind, title)
        return document._insert(at, entry_block(raw))

    def _end_of(self, kind: str, title: str) -> tuple[Document, int, str]:
        """Return a document with the section, where its list goes on, and with which marker."""
        document = self._begun(title)
        section = document._section(kind, title)
        if section is None:
            eol, ended = document.eol, document._ended()
            is_apart = not ended.blocks or ended.render().endswith(("\n\n", "\n\r\n"))
            heading = Block(f"## {kind.capitalize()}{eol}", "heading")
            new = [*prose("" if is_apart else eol), heading, Block(eol, "prose")]
            document = ended._splice(len(ended.blocks), new, len(ended.blocks))
            section = range(len(document.blocks), len(document.blocks))
        items = (at for at in reversed(section) if document.blocks[at].shape == "item")
        above = [(at, marker(document.blocks[at].raw)) for at in islice(items, 2)]
        if not above:
            return document, document._beside_conflict(section.stop, section), "-"
        at = document._beside_conflict(above[0][0] + 1, section)
        return document, at, scanner.next_marker(*(mark for _, mark in above))

    def _beside_conflict(self, at: int, section: range) -> int:
        """Return ``at``, or a place that no side of a merge takes along when it is thrown away.

        That is below the merge that git left there, or above it if it goes on in the next section.
        """
        for index in range(at, len(self.blocks)):
            mark = _MERGED.search(self.blocks[index].raw)
            if mark is None:
                continue
            if mark[0] == _OURS:
                return at
            if index < section.stop:
                return self._beside_conflict(index + 1, section)
            for one in reversed(range(section.start, at)):
                if any(each[0] == _OURS for each in _MERGED.finditer(self.blocks[one].raw)):
                    return one
            return at
        return at

    def has_section(self, title: str) -> bool:
        """Whether there is a section of a person's own with this title, or one of this kind."""
        return self._section(title, "") is not None

    def replace(self, block: Block, text: str, meta: Metadata | None) -> Document:
        """Return the document with an entry that says ``text`` in the place of ``block``.

        With no metadata the entry is one that a person wrote.
        """
        eol = self.eol if block.raw.endswith("\n") else ""
        bullet = marker(block.raw) if block.shape == "item" else "-"
        raw = written(text, meta, self.eol, bullet).removesuffix(self.eol) + eol
        return self._swap(block, [Block(raw, "item")])

    def note(self, block: Block, meta: Metadata) -> Document:
        """Return the document with other metadata on ``block``; its text keeps its bytes."""
        raw, span = block.raw, block.span
        if span is not None and not meta.fields:
            new = raw[: span[0]].rstrip(_BLANK) + raw[span[1] :]
        elif span is not None:
            new = f"{raw[: span[0]]}{meta}{raw[span[1] :]}"
        else:
            body = raw.rstrip(_BLANK)
            new = f"{body} {meta}{raw[len(body) :]}"
        return self._swap(block, [Block(new, block.shape)])

    def swap(self, block: Block, raw: str) -> Document:
        """Return the document with an entry, given byte for byte, in the place of ``block``."""
        cut = block.raw.endswith("\n") and not raw.endswith("\n")
        return self._swap(block, [entry_block(raw + self.eol if cut else raw)])

    def remove(self, block: Block) -> Document:
        """Return the document without ``block``; its neighbours read as before."""
        return self._swap(block, [])

    def without(self, blocks: Collection[Block]) -> Document:
        """Return the document without ``blocks``; their neighbours read as before.

        Raises:
            ValueError: If one is not a block of this document.
        """
        gone = {id(block) for block in blocks}
        kept = [block for block in self.blocks if id(block) not in gone]
        if len(self.blocks) - len(kept) != len(gone):
            msg = "not all of them are blocks of this document"
            raise ValueError(msg)
        if not gone:
            return self
        kept = joined(kept)
        if reads_back(kept):
            return Document(kept)
        # Neighbours would join: then what keeps them apart is found for one block at a time.
        document = self
        for block in blocks:
            document = document.remove(block)
        return document

    def sharing(self, other: Document) -> Document:
        """Return the same document, with the entries of ``other`` that have the same bytes.

        What was read from their bytes once need not be read again.
        """
        known = {block.raw: block for block in other.blocks if _may_be_entry(block)}
        blocks = (
            known.pop(block.raw, block) if _may_be_entry(block) else block for block in self.blocks
        )
        return Document([*blocks])

    def _place(self) -> Iterator[Placed]:
        line, heading, kind = 1, "", ""
        for index, block in enumerate(self.blocks):
            if _may_be_entry(block) and block.text.strip():
                yield Placed(block, index, line, heading, kind)
            elif block.shape == "heading":
                heading, kind = _enter(block, heading, kind)
            line += block.raw.count("\n")

    def _headings(self) -> list[tuple[int, Block]]:
        if self._titles is None:
            self._titles = _titles(self.blocks)
        return self._titles

    def _index(self, block: Block) -> int:
        try:
            return self.blocks.index(block)  # A block is equal only to itself.
        except ValueError:
            msg = f"not in this document: {block!r}"
            raise ValueError(msg) from None

    def _line(self, index: int) -> int:
        """Return the line on which a block starts, counted from the end: new entries are there."""
        if self._ends is None:
            self._ends = _line_ends(self.blocks)
        return 1 + self._ends - _line_ends(self.blocks[index:])

    def _begun(self, title: str) -> Document:
        """Return the document with its title, if it says nothing yet but white space."""
        raws = (block.raw for block in self.blocks)
        begins = next(raws, "").removeprefix(_BOM)
        if not title or any(raw.strip(_BLANK) for raw in chain([begins], raws)):
            return self
        eol = self.eol
        first = self._ended().blocks
        return Document([*first, Block(f"# {title}{eol}", "heading"), Block(eol, "prose")])

    def _section(self, kind: str, title: str) -> range | None:
        """Return the blocks of the first section of ``kind``, down to the next heading.

        A person's own section has its title in the place of a kind; no kind is the file itself.
        Of its headings one of level 1, one that reads as ``title`` or the only one is its title.
        """
        titles = self._headings()
        if kind:
            heading = now = ""
            for index, (_, block) in enumerate(titles):
                heading, now = _enter(block, heading, now)
                if (now or heading) == kind:
                    # A heading of the same kind goes on with the section.
                    below = [
                        at for at, each in titles[index + 1 :] if _enter(each, "", "")[1] != kind
                    ]
                    return range(titles[index][0] + 1, below[0] if below else len(self.blocks))
            return None
        below = [at for at, _ in titles]
        if titles:
            named = titles[0][1].text.strip().casefold() == title.casefold()
            below = below[len(titles) == 1 or titles[0][1].level == 1 or named :]
        return range(below[0] if below else len(self.blocks))

    def _ended(self) -> Document:
        """Return the document with a line end at its end, which a person may have left out."""
        last = self.blocks[-1] if self.blocks else Block(_BOM, "prose")
        if last.raw.endswith("\n") or (last.raw == _BOM and len(self.blocks) <= 1):
            return self
        return self._splice(len(self.blocks) - 1, [Block(last.raw + self.eol, last.shape)])

    def _insert(self, at: int, block: Block) -> Document:
        """Insert ``block`` before the block at ``at``; behind prose it goes before the blanks."""
        if at >= len(self.blocks):
            document = self._ended()
            return document._set(len(document.blocks), len(document.blocks), [block])
        before = self.blocks[at - 1]
        if at == 0 or before.shape != "prose" or before.raw == _BOM:
            return self._set(at, at, [block])
        body = before.raw.rstrip(_BLANK)
        end = before.raw.find("\n", len(body)) + 1
        if not body and not before.raw[end:]:
            # A single blank line between two headings stays above the next one.
            return self._set(at - 1, at - 1, [block])
        around = before.raw[:end], before.raw[end:]
        return self._set(at - 1, at, [block], around)

    def _swap(self, block: Block, new: list[Block]) -> Document:
        at = self._index(block)
        return self._set(at, at + 1, new)

    def _set(
        self, start: int, end: int, new: list[Block], around: tuple[str, str] = ("", "")
    ) -> Document:
        """Put ``new`` in the place of blocks, kept apart from neighbours that it would join."""
        return self._splice(start, fit(self.blocks, range(start, end), new, self.eol, around), end)

    def _splice(self, start: int, new: Sequence[Block], end: int | None = None) -> Document:
        """Return the document with ``new`` in the place of ``blocks[start:end]``."""
        end = start + 1 if end is None else end
        blocks = [*self.blocks]
        gone = blocks[start:end]
        first = max(start - 1, 0)
        blocks[first : end + 1] = joined([*blocks[first:start], *new, *blocks[end : end + 1]])
        document = Document(blocks)
        document._asked = self._asked
        if self._ends is not None:
            document._ends = self._ends - _line_ends(gone) + _line_ends(new)
        if self._titles is not None and not (_titles(gone) or _titles(new)):
            grown = len(blocks) - len(self.blocks)
            document._titles = [(at + grown * (at >= start), title) for at, title in self._titles]
        if self._folds is not None:
            document._folds = _refolded(self._folds, gone, new)
        return document


def parse(text: str) -> Document:
    r"""Read ``text``; no text is an error.

    >>> file = parse("Mine.\n\n- Log in UTC <!-- id:k3v9q2ht -->\n")
    >>> [entry.block.text for entry in file.placed()]
    ['Mine.', 'Log in UTC']
    """
    return Document(scan(text))


def _titles(blocks: Sequence[Block]) -> list[tuple[int, Block]]:
    """Return the headings, each with its index."""
    return [(at, block) for at, block in enumerate(blocks) if block.shape == "heading"]


def _line_ends(blocks: Sequence[Block]) -> int:
    return "".join([block.raw for block in blocks]).count("\n")


def _holds(block: Block, words: Sequence[str]) -> bool:
    raw = block.raw.casefold()
    return all(word in raw for word in words)


def _may_be_entry(block: Block) -> bool:
    return block.shape in ("item", "paragraph")


def _enter(block: Block, heading: str, kind: str) -> tuple[str, str]:
    """Return the heading and the kind of what is below ``block``."""
    title = block.text
    name = title.strip().rstrip(":").rstrip().casefold()
    if name in RULE_KINDS:
        return title, name
    if block.level == 1:
        return "", ""
    return (title, "") if block.level == _SECTION else (heading, kind)


def _by_fold(blocks: Sequence[Block]) -> dict[str, list[Block]]:
    folds: dict[str, list[Block]] = {}
    for block in filter(_may_be_entry, blocks):
        folds.setdefault(fold(block.text), []).append(block)
    return folds


# The blocks by what they say, folded: first those of keys that were changed lately.
_Folds = ChainMap[str, list[Block]]
# As many changed keys are copied from one index to the next before they are worked in.
_CHANGED: Final = 256


def _refolded(folds: _Folds, gone: Sequence[Block], new: Sequence[Block]) -> _Folds:
    """Return the index without the blocks ``gone`` and with ``new`` behind the others."""
    dropped, added = _by_fold(gone), _by_fold(new)
    recent, rest = {**folds.maps[0]}, folds.maps[1]
    for key in dropped.keys() | added.keys():
        kept = [block for block in folds.get(key, ()) if block not in dropped.get(key, ())]
        recent[key] = [*kept, *added.get(key, ())]
    return _Folds(recent, rest) if len(recent) <= _CHANGED else _Folds({}, {**rest, **recent})


_NEAR: Final = 2
# What keeps two neighbours apart when nothing else does; tried in this order.
_SEPARATORS: Final = ("", "{eol}", "<!-- -->{eol}", "{eol}<!-- -->{eol}")


def written(text: str, meta: Metadata | None, eol: str = "\n", bullet: str = "-") -> str:
    r"""Return the list item that says ``text``, ended by ``eol``.

    >>> written("Use uv\nnever pip", Metadata((("id", "k3v9q2ht"),)))
    '- Use uv\n  never pip <!-- id:k3v9q2ht -->\n'
    """
    body = indented(escape(text), eol, len(bullet) + 1)
    first = body.partition("\n")[0]
    if is_rule(f"{bullet} {first}"):
        # "- ---" is a line across the page, not a list item.
        body = f"&#{ord(body[0])};{body[1:]}"
    if meta is None or not meta.fields:
        return f"{bullet} {body}{eol}"
    # Behind the fence that ends a code block the comment would be part of the code.
    last = body.rpartition("\n")[2].lstrip()
    gap = f"{eol}{' ' * (len(bullet) + 1)}" if last.startswith(("```", "~~~")) else " "
    return f"{bullet} {body}{gap}{meta}{eol}"


def prose(raw: str) -> list[Block]:
    """Return the block of ``raw``, or none of nothing."""
    return [Block(raw, "prose")] if raw else []


def joined(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with neighbours of prose as one; a byte order mark stays alone."""
    merged: list[Block] = []
    for block in blocks:
        last = merged[-1] if merged else None
        if last and last.shape == block.shape == "prose" and last.raw != _BOM:
            merged[-1] = Block(last.raw + block.raw, "prose")
        else:
            merged.append(block)
    return merged


def reads_back(blocks: Sequence[Block]) -> bool:
    """Whether a reader finds these blocks in their text, prose aside."""
    return _said(scan("".join([block.raw for block in blocks]))) == _said(blocks)


def fit(
    blocks: Sequence[Block],
    place: range,
    new: Sequence[Block],
    eol: str,
    around: tuple[str, str] = ("", ""),
) -> list[Block]:
    """Return what to put in the place of some blocks so that all others read as before.

    Args:
        blocks: The blocks of a file.
        place: The indexes of the blocks that are replaced; may be empty.
        new: The entries to set there.
        eol: The line end of the file.
        around: Prose that stays right above and right below ``new``.

    Returns:
        ``new`` with the prose that is needed around it. An entry that could not be read back here
        as it is written is written anew.
    """

    def ways() -> Iterator[tuple[Sequence[Block], int]]:
        """Yield the entries as they may be written, and how many blocks around to look at."""
        # Front matter, an open comment or a conflict marker can decide how a line far away reads.
        if place.start > 1 and not any(map(_reaches_far, new)):
            yield new, _NEAR
        far = len(blocks)
        yield new, far
        yield [Block(written(block.text, block.meta, eol), "item") for block in new], far

    for entries, reach in ways():
        for above, below in product(_SEPARATORS if entries else ("",), _SEPARATORS):
            over, under = above.format(eol=eol), below.format(eol=eol)
            way = [*prose(around[0] + over), *entries, *prose(under + around[1])]
            if _reads_so(blocks, place, way, reach):
                return way
    return [*prose(around[0]), *new, *prose(around[1])]


def _reads_so(blocks: Sequence[Block], place: range, way: Sequence[Block], reach: int) -> bool:
    """Whether blocks set this way read as they are, with ``reach`` blocks around them."""
    before = blocks[max(place.start - reach, 0) : place.start]
    whole = [*before, *way, *blocks[place.stop : place.stop + reach]]
    # Only the very first line of a file may be a byte order mark or begin front matter.
    lead = "\n" if place.start > reach else ""
    return _said(scan(lead + "".join([block.raw for block in whole]))) == _said(whole)


def _reaches_far(block: Block) -> bool:
    return block.shape == "paragraph" or scanner.leaves_open(block.raw)


def _said(blocks: Sequence[Block]) -> list[tuple[str, str]]:
    return [(block.shape, block.raw) for block in blocks if block.shape != "prose"]

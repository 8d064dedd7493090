r"""The blocks of a markdown memory file: where an entry begins and where it ends.

The blocks of a text, joined, are the text, for every text; cost grows with the length
of the text; nothing that is left open (a fence, a comment, front matter) hides what follows it.

Only column 0 has structure, and only ``\n`` ends a line. ``docs/file-format.md`` has the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Literal

from engramdown.forks import cached_property
from engramdown.markdown.metadata import Metadata, find_metadata, spans, unescape, without

Shape = Literal["item", "paragraph", "heading", "prose"]

_BULLETS: Final = "-*+"
_DIGITS: Final = "0123456789"
_NUMBER: Final = re.compile(r"([0-9]{1,9}+)([.)])(?=[ \t])")
_EMPTY_NUMBER: Final = re.compile(r"[0-9]{1,9}+[.)][ \t]*+\r?\Z")
_SPACE: Final = " \t"
_BLANK: Final = " \t\r\n"
_CONFLICT: Final = ("<<<<<<<", "|||||||", ">>>>>>>")
_CONFLICT_MIDDLE: Final = "======="
_HEADING: Final = re.compile(r"(#{1,6}+)(?=[ \t\r\n]|\Z)")
FENCE: Final = re.compile(r"`{3,}+(?!.*`)|~{3,}+")
_HTML: Final = re.compile(r"<[A-Za-z/!?]")
_LINK_TARGET: Final = re.compile(r"\[[^\]\n]++\]:\s")
_TABLE_RULE: Final = " |:-"
_FRONT_KEY: Final = re.compile(r"[^\s:#*+-][^\s:]*+:(?:\s|\Z)")
_RULE_LENGTH: Final = 3
_LONGEST: Final = 9  # CommonMark reads at most nine digits before the full stop.
_BOM: Final = "\ufeff"


class Block:
    """A run of lines of one file, and, if it is an entry, what it says.

    Attributes:
        raw: Its bytes as text, line ends included.
        shape: ``item`` for a list item and ``paragraph`` for a paragraph that a person wrote:
            these may be entries; ``heading``; ``prose`` for everything else.
    """

    __slots__ = ("_meta", "_span", "_text", "raw", "shape")

    def __init__(self, raw: str, shape: Shape) -> None:
        """Hold ``raw``; what it says is read when it is asked for."""
        self.raw = raw
        self.shape = shape
        self._text: str | None = None
        self._span: tuple[int, int] | None = None
        self._meta: Metadata | None = None

    def __repr__(self) -> str:
        """Show the shape and the beginning."""
        return f"Block({self.raw[:40]!r}, {self.shape!r})"

    @property
    def text(self) -> str:
        """What the entry says, or the title of a heading; comments are not part of it."""
        if self._text is None:
            self._text = _title(self.raw) if self.shape == "heading" else self._said()
        return self._text

    @property
    def meta(self) -> Metadata | None:
        """The metadata of the entry; ``None`` if it has none."""
        _ = self.text  # Reading it finds the metadata.
        return self._meta

    def value(self, key: str) -> str:
        """Return a value of the metadata, or ``""``."""
        return self.meta.get(key) if self.meta else ""

    @property
    def span(self) -> tuple[int, int] | None:
        """Where the metadata is in ``raw``, or ``None``."""
        _ = self.text
        return self._span

    @property
    def comments(self) -> str:
        """The private comments inside the entry, as they are written; its text is without them."""
        if "<!--" not in self.raw:
            return ""
        body = self.raw.rstrip(_BLANK)
        return " ".join(body[begin:end] for begin, end in spans(body) if (begin, end) != self.span)

    @property
    def level(self) -> int:
        """The level of a heading, 1 to 6."""
        match = _HEADING.match(self.raw)
        return len(match[1]) if match else 1 if self.raw.rstrip(_BLANK).endswith("=") else 2

    def _said(self) -> str:
        body = self.raw.rstrip(_BLANK)
        comment = find_metadata(body) if "<!--" in body else None
        if comment is not None:
            self._span, self._meta = comment
            if self._span[1] == len(body):
                body = body[: self._span[0]].rstrip(_BLANK)
        if self.shape != "item":
            return _plain(body)
        width = 1 if body[:1] in _BULLETS else len(marker(body))
        return _plain(body[width:].lstrip(_SPACE), width + 1)


def scan(text: str) -> list[Block]:
    """Return the blocks of ``text``, in order."""
    return _Scanner(text).blocks


def front_matter_end(lines: Sequence[str]) -> int:
    """Return the index of the line after the front matter, or 0 if there is none.

    Without a single key it is a line across the page, and another one further down.
    """
    if lines[0].rstrip(_BLANK) != "---":
        return 0
    keyed = False
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip(_BLANK) in ("---", "..."):
            return at + 1 if keyed else 0
        keyed = keyed or _FRONT_KEY.match(line) is not None
    return 0


def entry_block(raw: str) -> Block:
    """Return the block of one entry, given its lines: a list item, or a paragraph."""
    return Block(raw, "item" if marker(raw) else "paragraph")


def marker(raw: str) -> str:
    """Return what marks ``raw`` as a list item: a bullet, or a number; ``""`` if nothing does.

    >>> marker("* a"), marker("12) a"), marker("1984 was a year")
    ('*', '12)', '')
    """
    if raw[:1] in _BULLETS and raw[1:2] in _SPACE:
        return raw[:1]
    number = _NUMBER.match(raw)
    return number[0] if number else ""


def next_marker(last: str, before: str = "") -> str:
    """Return the marker of an item below the one marked ``last``.

    Args:
        last: The marker of the item above.
        before: The marker of the one above that; a list may say ``1.`` everywhere.

    >>> next_marker("+"), next_marker("3.", "2."), next_marker("1.", "1.")
    ('+', '4.', '1.')
    """
    if last in _BULLETS or last == before:
        return last
    return f"{int(last[:-1]) + 1}{last[-1]}" if len(last) <= _LONGEST else last


def leaves_open(raw: str) -> bool:
    """Whether a line of ``raw`` opens a comment that it does not close, or closes one."""
    return ("<!--" in raw or "-->" in raw) and any(map(_balance, raw.split("\n")))


def indented(text: str, eol: str, width: int = 2) -> str:
    """Return escaped ``text`` as it is in a list item, without the bullet.

    Args:
        text: What it says, escaped.
        eol: The line end of the file.
        width: By how many spaces the lines after the first are indented.
    """
    if "\n" not in text:
        return text
    first, *others = text.split("\n")
    return eol.join([first, *(f"{' ' * width}{line}" if line else "" for line in others)])


def _title(raw: str) -> str:
    raw = without(raw.strip(_BLANK)) if "<!--" in raw else raw.strip(_BLANK)
    match = _HEADING.match(raw)
    if match is None:
        return raw.rpartition("\n")[0].strip(_BLANK)
    title = raw[match.end() :].strip(_BLANK)
    bare = title.rstrip("#")
    return bare.rstrip(_SPACE) if bare == "" or bare[-1] in _SPACE else title


def _plain(body: str, width: int = 2) -> str:
    """Return what a person means by ``body``: no indentation, no comments, no escapes."""
    if "\n" in body:
        lines = (line.rstrip(_SPACE + "\r") for line in body.split("\n"))
        body = "\n".join(_dedent(line, width) for line in lines)
    if "<!--" in body:
        body = without(body).strip(_BLANK)
    return unescape(body)


def _dedent(line: str, width: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


class Ends:
    """Where the fences and the comments of a text end, which begin on its lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Look through ``lines`` once, when the first one is asked for."""
        self._lines = lines

    @cached_property
    def _fences(self) -> dict[str, list[int]]:
        return {mark: _longest_after(self._lines, mark) for mark in "`~"}

    @cached_property
    def _comments(self) -> list[int]:
        return _comment_ends(self._lines)

    def of_fence(self, at: int, fence: str) -> int | None:
        """Return the last line of the code that ``fence`` opens on a line, if it is closed."""
        if self._fences[fence[0]][at + 1] < len(fence):
            return None
        below = range(at + 1, len(self._lines))
        return next(to for to in below if _bare_fence(self._lines[to], fence[0]) >= len(fence))

    def of_comment(self, at: int) -> int | None:
        """Return the last line of the comment that opens on a line, if it is closed."""
        if _balance(self._lines[at]) <= 0:
            return at
        end = self._comments[at]
        return end if end > at else None


class _Scanner:
    """One pass over the lines of a text; each line is looked at a bounded number of times."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        ends = accumulate(map(len, self.lines), lambda at, size: at + size + 1, initial=0)
        self.starts = [*ends]
        self.starts[-1] = len(text)
        self.blocks: list[Block] = []
        self.prose = 0
        self.conflict = False
        self._ends = Ends(self.lines)
        self._scan()

    def _scan(self) -> None:
        lines, blocks, text, starts = self.lines, self.blocks, self.text, self.starts
        if text.startswith(_BOM):
            # The mark is not part of the first block, which may be a heading or an entry.
            blocks.append(Block(_BOM, "prose"))
            lines[0] = lines[0][1:]
            starts[0] = 1
        at, count = front_matter_end(lines), len(lines)
        while at < count:
            line = lines[at]
            first = line[:1]
            if (first in _BULLETS and first and _is_item(line)) or (
                first in _DIGITS and first and _is_numbered(line)
            ):
                end = at + 1
                if end < count and lines[end][:1] in " \t\r":
                    end = self._item_end(end)
                if self.prose < at:
                    blocks.append(Block(text[starts[self.prose] : starts[at]], "prose"))
                blocks.append(Block(text[starts[at] : starts[end]], "item"))
                self.prose = at = end
            elif first in " \t\r":
                at += 1
            else:
                at = self._other(at, first)
        self._add(count, count, "prose")

    def _item_end(self, at: int) -> int:
        """Return the line after an item: indented lines, and blank ones between them."""
        lines, count = self.lines, len(self.lines)
        end = at
        while at < count and lines[at][:1] in " \t\r":
            blank = not lines[at].strip(_BLANK)
            if not blank and lines[at][:1] == "\r":
                break
            at += 1
            if not blank:
                end = at
        return end

    def _other(self, at: int, first: str) -> int:
        """Take what is not a list item at line ``at``, and return the line after it."""
        line = self.lines[at]
        if first == "#" and _HEADING.match(line):
            self._add(at, at + 1, "heading")
            return at + 1
        # A fence or a comment that stays open is one line.
        if first in "`~" and (fence := FENCE.match(line)):
            return (self._ends.of_fence(at, fence[0]) or at) + 1
        if line.startswith("<!--"):
            return (self._ends.of_comment(at) or at) + 1
        if line.startswith(_CONFLICT):
            self.conflict = True
            return at + 1
        if is_rule(line) or line.rstrip(_BLANK) in (*_BULLETS,) or _EMPTY_NUMBER.match(line):
            return at + 1
        return self._run(at, first)

    def _run(self, at: int, first: str) -> int:
        """Take lines up to a blank one: a paragraph, or a quotation, a table, raw HTML."""
        end, count = at + 1, len(self.lines)
        while end < count and not self._interrupts(self.lines[end], first):
            end += 1
        if first in ">|" or _HTML.match(self.lines[at]) or _LINK_TARGET.match(self.lines[at]):
            return end
        following = self.lines[end].rstrip(_BLANK) if end < count else ""
        is_middle = self.conflict and following == _CONFLICT_MIDDLE
        if following and not is_middle and "" in (following.strip("="), following.strip("-")):
            self._add(at, end + 1, "heading")
            return end + 1
        has_cells = end > at + 1 and "|" in self.lines[at]
        if has_cells and _is_table_rule(self.lines[at + 1].rstrip(_BLANK)):
            return end
        self._add(at, end, "paragraph")
        return end

    def _interrupts(self, line: str, first: str) -> bool:
        """Whether ``line`` ends a run of lines that began with ``first``."""
        head = line[:1]
        if head in _BULLETS:
            return line[1:2] in _BLANK or is_rule(line)
        if head == "1":
            # As in CommonMark: a line of prose may well begin with another number.
            return line[1:2] in ".)" and _is_numbered(line)
        if head in " \t\r":
            return not line.strip(_BLANK)
        if head in "#=_" or head in "`~<":
            begins = line.startswith(("<!--", *_CONFLICT)) or is_rule(line)
            return begins or bool(_HEADING.match(line) or FENCE.match(line))
        return head in ">|" and head != first

    def _add(self, start: int, end: int, shape: Shape) -> None:
        """Add the lines from ``start`` to ``end`` (exclusive), and the prose before them."""
        if self.starts[self.prose] < self.starts[start]:
            raw = self.text[self.starts[self.prose] : self.starts[start]]
            self.blocks.append(Block(raw, "prose"))
        if start < end:
            self.blocks.append(Block(self.text[self.starts[start] : self.starts[end]], shape))
        self.prose = end


def _is_item(line: str) -> bool:
    """Whether a bullet begins an entry: it has a space and text after it, and is not a rule."""
    if line[1:2] not in _SPACE:
        return False
    # Nearly every entry begins with a letter or a digit; the rest is looked at closely.
    return line[2:3].isalnum() or (line[1:].strip(_BLANK) != "" and not is_rule(line))


def _is_numbered(line: str) -> bool:
    """Whether a number begins an entry, and it says something."""
    number = _NUMBER.match(line)
    return number is not None and line[number.end() :].strip(_BLANK) != ""


def is_rule(line: str) -> bool:
    """Whether ``line`` is a thematic break or the underline of a heading."""
    bare = line.replace(" ", "").replace("\t", "").rstrip("\r")
    if bare[:1] == "=":
        return not line.rstrip(_BLANK).strip("=")
    if bare[:1] == "-" and not line.rstrip(_BLANK).strip("-"):
        return True
    return len(bare) >= _RULE_LENGTH and bare[0] in "-*_" and not bare.strip(bare[0])


def _is_table_rule(line: str) -> bool:
    return "-" in line and not line.strip(_TABLE_RULE)


def _bare_fence(line: str, mark: str) -> int:
    """Return the length of a line of nothing but ``mark``, or 0."""
    bare = line.rstrip(_BLANK)
    return len(bare) if bare and not bare.strip(mark) else 0


def _longest_after(lines: Sequence[str], mark: str) -> list[int]:
    """Return for each line the longest closing fence at or after it: each is sought once."""
    lengths = (_bare_fence(line, mark) if line[:1] == mark else 0 for line in reversed(lines))
    return [*accumulate(lengths, max, initial=0)][::-1]


def _balance(line: str) -> int:
    """Return how many comments ``line`` opens and leaves open; negative if it closes more."""
    opened = line.count("<!--")
    if opened and "\\<!--" in line:
        opened -= line.count("\\<!--")
    return opened - line.count("-->")


def _comment_ends(lines: Sequence[str]) -> list[int]:
    """Return for each line where a comment that opens on it ends; itself if it stays open.

    Comments are counted as if they nested: a person who comments out a block of entries means
    the entries with their own comments. If the counts never meet, a comment that is closed on its
    first line ends there, and another one at the first line that closes more than it opens.
    """
    balances = [_balance(line) for line in lines]
    depths = list(accumulate(balances, initial=0))
    ends = list(range(len(lines)))
    waiting: list[int] = []
    closing = -1
    for start in range(len(lines) - 1, -1, -1):
        waiting.append(start + 1)
        while len(waiting) > 1 and depths[waiting[-1]] > depths[start]:
            waiting.pop()
        if depths[waiting[-1]] <= depths[start]:
            ends[start] = waiting[-1] - 1
        elif closing >= 0 and "-->" not in lines[start]:
            ends[start] = closing
        closing = start if balances[start] < 0 else closing
    return ends

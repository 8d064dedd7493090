"""The layout of output for people: styled lines wrapped to a width, tables, times and diffs.

No row is wider than the given width unless a single character is, no word is lost, and every
character that could mislead a reader or steer a terminal is made visible. The diff of a file is
also a patch that programs accept.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise, zip_longest
from typing import Final, NamedTuple

from engramdown import serializers
from engramdown.language import on_screen, visible

_TAB: Final = "    "
_LEAST_ROOM: Final = 12
_DIFF_HEAD: Final = 2
_DIFF_HANG: Final = 4
_NO_PATCH: Final = "no patch: some characters are shown as what they are; --json has it exactly"
_NO_FILE: Final = "/dev/null"
_WIDE: Final = frozenset("WF")
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_WORD: Final = re.compile(r"[^ ]++| ++")


class Part(NamedTuple):
    """A piece of a line.

    Attributes:
        text: The text.
        style: ``strong``, ``dim``, ``id``, ``where``, ``good``, ``bad``, ``warn`` or ``""``.
    """

    text: str
    style: str = ""


class Line(NamedTuple):
    """A line before it is wrapped.

    Attributes:
        parts: Its pieces, from left to right; one may hold line ends.
        indent: How many columns the first line is moved to the right.
        hang: How many columns the lines below it are moved to the right.
        whole: Whether it is never wrapped, so that a path can be copied from a terminal.
        exact: The line of a patch that takes its place when a program reads, or ``None``.
    """

    parts: tuple[Part, ...] = ()
    indent: int = 0
    hang: int = 0
    whole: bool = False
    exact: str | None = None


def line(*parts: Part | tuple[str, str] | str, indent: int = 0, hang: int | None = None) -> Line:
    """Return a line; a plain string is a part without style, ``hang`` is by default ``indent``.

    >>> line("a", ("b", "id"), indent=2).parts
    (Part(text='a', style=''), Part(text='b', style='id'))
    """
    made = (Part(part) if isinstance(part, str) else Part(*part) for part in parts)
    return Line(tuple(made), indent, indent if hang is None else hang)


def whole(*parts: Part | tuple[str, str] | str, indent: int = 0) -> Line:
    """Return a line that is never wrapped."""
    return line(*parts, indent=indent)._replace(whole=True)


def cells(text: str) -> int:
    r"""Return how many columns of a terminal ``text`` takes.

    >>> cells("abc"), cells("日本"), cells("e\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def shortened(text: str, room: int) -> str:
    """Return ``text``, or its beginning and an ellipsis, in at most ``room`` columns.

    >>> shortened("a word", 6), shortened("a word or two", 8), shortened("a word", 0)
    ('a word', 'a word…', '…')
    """
    room = max(room, 1)
    while cells(text) > room:
        text = f"{text[: min(len(text) - 2, room - 1)].rstrip()}…"
    return text


def wrap(item: Line, width: int) -> list[list[Part]]:
    """Return the rows of a terminal of ``width`` columns that show ``item``.

    A line end in a text begins a new row. A word that is wider than a row is cut, unless the line
    stays whole.
    """
    width = sys.maxsize if item.whole else width
    hang = min(item.hang, max(width - _LEAST_ROOM, 0))
    row = _Row(width, min(item.indent, max(width - _LEAST_ROOM, 0)), hang)
    for part in item.parts:
        # A part of spaces only is a gap of ours, however wide.
        text = part.text.expandtabs(len(_TAB))
        for number, shown in enumerate((on_screen(text) if text.strip(" ") else text).split("\n")):
            if number:
                row.end()
            # Without wrapping, splitting a long text into words would waste seconds.
            for word in [shown] if width == sys.maxsize else _WORD.findall(shown):
                row.put(word, part.style)
    row.end()
    return row.rows


def diff(before: str | None, after: str | None, name: str, patch: str = "") -> list[Line]:
    r"""Return the unified diff of two texts as styled lines; nothing if they are equal.

    Lines end at ``\n`` only, so that an added or removed carriage return is seen.

    Args:
        before: The text before; ``None`` if there was no file.
        after: The text after; ``None`` if the file is removed.
        name: What a person calls it.
        patch: The path of the file, relative to the folder in which the patch is applied; ``""`` if
            the text is not that of a file.
    """
    rows = serializers.diff_rows(before or "", after or "", name)
    shown = []
    for at, text in enumerate(rows):
        is_dim = at < _DIFF_HEAD or text.startswith(("@@", "\\"))
        style = "dim" if is_dim else {"+": "good", "-": "bad"}.get(text[:1], "")
        shown.append(line((text, style), hang=_DIFF_HANG))
    if not (patch and rows):
        return shown
    body = [row[1:].removesuffix("\r") for row in rows[_DIFF_HEAD:]]
    if any(visible(text) != text for text in body):
        exact = [f"{mark} ({_NO_PATCH}) {on_screen(name)}" for mark in ("---", "+++")]
    else:
        # With a dot, ``patch -p0``, ``patch -p1`` and ``git apply`` find it. A tab ends a name that
        # has spaces.
        file = f"./{patch}" + ("\t" if " " in patch else "")
        old, new = (_NO_FILE if text is None else file for text in (before, after))
        exact = [f"--- {old}", f"+++ {new}", *rows[_DIFF_HEAD:]]
    in_patch = [item._replace(exact=text) for item, text in zip(shown, exact, strict=False)]
    return in_patch + shown[len(in_patch) :]


def table(rows: Sequence[Sequence[str]], styles: Sequence[str] = (), indent: int = 0) -> list[Line]:
    """Return ``rows`` as aligned columns, numbers to the right; the last column may wrap."""
    rows = [[on_screen(text) for text in row] for row in rows]
    columns = list(zip_longest(*rows, fillvalue=""))
    widths = [max(map(cells, column)) for column in columns]
    # A column is numeric if it holds a number, and nothing else with digits.
    numeric = [
        any(map(str.isdigit, column))
        and all(text.isdigit() or not any(map(str.isdigit, text)) for text in column)
        for column in columns
    ]
    hang = indent + sum(widths[:-1]) + 2 * (len(columns) - 1)
    lines = []
    for row in rows:
        parts: list[Part] = []
        for at, text in enumerate(row):
            gap = " " * (widths[at] - cells(text))
            parts += [Part(gap)] if numeric[at] else []
            parts.append(Part(text, styles[at] if at < len(styles) else ""))
            if at < len(row) - 1:
                parts.append(Part("  " if numeric[at] else f"{gap}  "))
        lines.append(line(*parts, indent=indent, hang=hang))
    return lines


def _cells_of(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


class _Row:
    """The row that is being filled, and the finished ones."""

    def __init__(self, width: int, indent: int, hang: int) -> None:
        self.rows: list[list[Part]] = []
        self._width = max(width, 1)
        self._hang = hang
        self._begin(indent)

    def _begin(self, margin: int) -> None:
        self._parts = [Part(" " * margin)] if margin else []
        self._used = self._margin = margin

    def end(self) -> None:
        while self._parts:
            last = self._parts.pop()
            text = last.text.rstrip(" ")
            if text:
                self._parts.append(Part(text, last.style))
                break
        self.rows.append(self._parts)
        self._begin(self._hang)

    def put(self, word: str, style: str) -> None:
        columns = cells(word)
        if self._used + columns > self._width:
            if not word.strip(" "):
                # Spaces at the end of a row: the next word begins another one.
                self._used = self._width if self._used > self._margin else self._used
                return
            if self._used > self._margin:
                self.end()
        begin = 0
        while self._used + columns > self._width:
            # As many characters as fit into the row; at least one.
            end, used = begin + 1, _cells_of(word[begin])
            while end < len(word) and used + _cells_of(word[end]) <= self._width - self._used:
                used += _cells_of(word[end])
                end += 1
            self._add(word[begin:end], style)
            self.end()
            begin, columns = end, columns - used
        if begin < len(word):
            self._add(word[begin:], style)

    def _add(self, text: str, style: str) -> None:
        if self._parts and self._parts[-1].style == style:
            self._parts[-1] = Part(self._parts[-1].text + text, style)
        else:
            self._parts.append(Part(text, style))
        self._used += cells(text)


def clock(ts: str) -> str:
    """Return a moment by the person's clock, to the minute; what is not a moment as it is."""
    # Imported here: most commands show no time.
    from engramdown.clock import local

    try:
        return local(datetime.fromisoformat(ts)).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):  # a file may be edited by hand
        return ts


def lasted(first: str, last: str) -> str:
    """Return the time from one moment to another."""
    passed = datetime.fromisoformat(last) - datetime.fromisoformat(first)
    return duration(passed.total_seconds())


def duration(seconds: float) -> str:
    """Return a time in the two largest units that it has.

    >>> duration(-5), duration(59.9), duration(75), duration(3 * 3600 + 120), duration(86_400 + 61)
    ('0s', '59s', '1m 15s', '3h 2m', '1d')
    """
    whole = max(int(seconds), 0)
    for (name, size), (smaller, part) in pairwise(_UNITS):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size}{name} {rest}{smaller}" if rest else f"{whole // size}{name}"
    return f"{whole}s"

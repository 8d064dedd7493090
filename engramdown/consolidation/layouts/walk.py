"""Reads the statements of a markdown file: list items and paragraphs, each with what it is about.

Promises: pure; total; what stands in a code fence, a table, a quotation, a comment or a block that
this program wrote is no statement, and is named with the reason; the cost grows with the length of
the text. A statement is the same whatever is added elsewhere in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from engramdown.consolidation.layouts.pieces import (
    after_comments,
    front_matter,
    in_context,
    metadata,
)

__all__ = ["Heading", "Page", "Passed", "Statement", "walk"]

_FENCE: Final = re.compile(r"(?:[-*+][ \t]+)*(`{3,}+(?!.*`)|~{3,}+)")
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE: Final = re.compile(r"(?:=+|-+)$")
_BREAK: Final = re.compile(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$")
_ITEM: Final = re.compile(r"(?:[-*+](?:[ \t]+|$)|([0-9]{1,9})[.)][ \t]+)(.*)$")
_HTML: Final = re.compile(r"</?[A-Za-z!?]")
_TARGET: Final = re.compile(r"\[[^\]]{1,200}\]:\s")
_IMPORT: Final = re.compile(r"@([\w~./\\][^\s]*)$")
_TASK: Final = re.compile(r"\[[ xX-]\](?:\s|$)")
_OURS: Final = re.compile(r"<!--\s*engramdown:(begin|end)\b")
_ENDS: Final = (":", "\uff1a")
_CODE_INDENT: Final = 4


class Heading(NamedTuple):
    """A heading above a statement.

    Attributes:
        level: 1 to 6.
        title: Its words.
    """

    level: int
    title: str


class Statement(NamedTuple):
    """A list item or a paragraph.

    Attributes:
        text: Its own words.
        context: The item above it, or the paragraph that leads to the list; or ``""``.
        line: Where it begins, from 1.
        headings: The headings above it, the outermost first.
        meta: What its comment says of it.
    """

    text: str
    context: str
    line: int
    headings: tuple[Heading, ...]
    meta: Mapping[str, str]

    @property
    def whole(self) -> str:
        """Its words in their context."""
        return in_context(self.text, self.context)


class Passed(NamedTuple):
    """Something that was not taken.

    Attributes:
        line: Where it begins, from 1.
        reason: Why, in words.
    """

    line: int
    reason: str


class Page(NamedTuple):
    """What a file says.

    Attributes:
        statements: In file order.
        passed: What is no statement, in file order.
        fields: Its front matter.
    """

    statements: tuple[Statement, ...]
    passed: tuple[Passed, ...]
    fields: Mapping[str, str]


def walk(text: str) -> Page:
    r"""Return the statements of a file.

    >>> [each.whole for each in walk("Before pushing:\n- lint\n- test\n").statements]
    ['Before pushing: lint', 'Before pushing: test']
    """
    walker = _Walker([line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")])
    walker.run()
    return Page(tuple(walker.statements), tuple(walker.passed), walker.fields)


class _Open(NamedTuple):
    """A statement whose end is not found yet."""

    line: int
    indent: int
    words: list[str]
    is_item: bool


class _Walker:
    """One pass over the lines of a file."""

    def __init__(self, lines: list[str]) -> None:
        self.fields, self.at = front_matter(lines)
        self.lines = lines
        self.statements: list[Statement] = []
        self.passed: list[Passed] = []
        self.headings: list[Heading] = []
        # The items above, outermost first, each with its indentation; -1 is a leading paragraph.
        self.above: list[tuple[int, str]] = []
        self.open: _Open | None = None
        self.after_blank = False
        self.last_passed = -1
        self.last_comment_end = max(
            (at for at, line in enumerate(lines) if "-->" in line), default=-1
        )
        self.last_own_end = max(
            (at for at, line in enumerate(lines) if _own(line) == "end"), default=-1
        )

    def run(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at].expandtabs(4)
            self.at += 1
            said = line.strip()
            if not said:
                self.after_blank = True
            elif not (self._hides(said, line) or self._is_apart(said, line)):
                self._say(said, len(line) - len(line.lstrip()))
                self.after_blank = False
        self._close()

    # ---- what is no statement ----

    def _hides(self, said: str, line: str) -> bool:
        """Pass over what begins here and hides what follows: code, a comment, our own block."""
        fence = _FENCE.match(said)
        if fence:
            self._pass("code")
            self._skip_fence(fence[1], len(line) - len(line.lstrip()))
        elif _own(said) == "begin" and self.last_own_end >= self.at:
            self._pass("written by engramdown")
            self._skip_to(lambda each: _own(each) == "end")
        elif said.startswith("<!--"):
            self._pass("a comment")
            if "-->" not in said and self.last_comment_end >= self.at:
                self._skip_to(lambda each: "-->" in each)
        else:
            return False
        return True

    def _skip_fence(self, fence: str, indent: int) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at].expandtabs(4)
            self.at += 1
            said = line.strip()
            closes = len(said) >= len(fence) and said == fence[0] * len(said)
            if closes and len(line) - len(line.lstrip()) < indent + _CODE_INDENT:
                return

    def _skip_to(self, is_end: Callable[[str], bool]) -> None:
        while not is_end(self.lines[self.at]):
            self.at += 1
        self.at += 1

    def _is_apart(self, said: str, line: str) -> bool:
        """Pass over a line that stands for itself and is no statement."""
        is_deep = line.startswith(" " * _CODE_INDENT)
        if is_deep and not self._goes_on():
            self._pass("code")
        elif not is_deep and self._is_heading(said):
            pass
        elif said.startswith(">"):
            self._pass("a quotation")
        elif said.startswith("|"):
            self._pass("a table")
        elif _HTML.match(said):
            self._pass("HTML")
        elif _TARGET.match(said):
            self._pass("the target of a link")
        elif imported := _IMPORT.match(said.lstrip("-*+ ")):
            self._pass(
                f"names another file; `engramdown migrate {imported[1]}` brings what it says"
            )
        else:
            return False
        return True

    def _goes_on(self) -> bool:
        """Whether what is indented can belong to what stands above it."""
        in_list = any(indent >= 0 for indent, _ in self.above)
        return in_list or (self.open is not None and (self.open.is_item or not self.after_blank))

    def _is_heading(self, said: str) -> bool:
        found = _HEADING.match(said)
        if found:
            self._close()
            self._head(len(found[1]), (found[2] or "").rstrip("# \t"))
        elif _UNDERLINE.match(said) and self._is_paragraph():
            words, self.open = self.open.words if self.open else [], None
            self._head(1 if said[0] == "=" else 2, " ".join(words))
        elif _BREAK.match(said):
            self._close()
            self.above.clear()
        else:
            return False
        return True

    def _is_paragraph(self) -> bool:
        return self.open is not None and not self.open.is_item and not self.after_blank

    def _head(self, level: int, title: str) -> None:
        self.headings = [each for each in self.headings if each.level < level]
        self.headings.append(Heading(level, after_comments(title)[0]))
        self.above.clear()

    def _pass(self, reason: str) -> None:
        self._close()
        line = self.at
        goes_on = self.last_passed == line - 1 and self.passed[-1].reason == reason
        if not goes_on:
            self.passed.append(Passed(line, reason))
        self.last_passed = line

    # ---- what is one ----

    def _say(self, said: str, indent: int) -> None:
        item = _ITEM.match(said)
        # A line of a paragraph may well begin with a number; as in CommonMark, 1 begins a list.
        if item and (item[1] in (None, "1") or not self._is_paragraph()):
            self._close()
            while self.above and self.above[-1][0] >= indent:
                self.above.pop()
            self.open = _Open(self.at, indent, [item[2]], is_item=True)
            return
        if self.open is not None and (indent > self.open.indent or not self.after_blank):
            self.open.words.append(said)
            return
        self._close()
        if not indent:
            self.above = []
        self.open = _Open(self.at, indent, [said], is_item=False)

    def _close(self) -> None:
        """Take the statement that is open."""
        if self.open is None:
            return
        line, indent, words, is_item = self.open
        self.open = None
        text, comment = after_comments(" ".join(words))
        context = self.above[-1][1] if self.above else ""
        if is_item or text.endswith(_ENDS):
            self.above.append((indent if is_item else -1, in_context(text, context)))
        if text.endswith(_ENDS):
            self.passed.append(Passed(line, "only leads to what follows"))
        elif _TASK.match(text):
            self.passed.append(Passed(line, "a task"))
        elif text:
            headings = tuple(self.headings)
            self.statements.append(Statement(text, context, line, headings, metadata(comment)))


def _own(line: str) -> str:
    """Return ``begin`` or ``end`` if a line marks a block that this program wrote."""
    found = _OURS.match(line.strip())
    return found[1] if found else ""

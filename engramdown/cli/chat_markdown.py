"""Markdown as a chat draws it.

Promises: loaded only when a person reads on a terminal; nothing that was written is hidden: not
where a link leads or what it is called, no picture, no definition, no comment, no HTML, no word
behind a fence. What a drawing would lose is shown as it was written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import (
    CodeBlock,
    Heading,
    ListElement,
    ListItem,
    Markdown,
    MarkdownElement,
    TableElement,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_THEME: Final = "ansi_dark"
# What these know is drawn as something else, or not at all: it stays as it is spelt.
_AS_WRITTEN: Final = ("autolink", "entity", "html_block", "html_inline", "image", "reference")
# Of a longer word in a table this much stays together.
_WORD: Final = 12
_GAP: Final = 3
_NUMBER: Final = re.compile(r"^[ \t>]*[0-9]{1,9}[.)](?=\s)", re.MULTILINE)


class _Heading(Heading):
    """A heading at the left, where what it is about begins."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class _Code(CodeBlock):
    """Code below what stands behind its fence."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> CodeBlock:
        """Make it from its first token."""
        made = super().create(markdown, token)
        if isinstance(made, cls):
            made.info = token.info.strip()
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        if self.info:
            yield Text(f" {self.info}", "dim")
        yield from super().__rich_console__(console, options)


class _Item(ListItem):
    """An item with the number that was written."""

    number = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> MarkdownElement:
        """Make it from its first token."""
        del markdown
        made = cls()
        made.number = token.info
        return made


class _List(ListElement):
    """A list with the numbers that were written, unless they are all the same."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        written = [item.number for item in self.items if isinstance(item, _Item)]
        if self.list_type != "ordered_list_open" or len(set(written)) < len(written):
            yield from super().__rich_console__(console, options)
            return
        longest = max(map(int, written))
        for number, item in zip(written, self.items, strict=True):
            yield from item.render_number(console, options, int(number), longest)


class _Table(TableElement):
    """A table whose words are cut into rows, but never left out; row by row in a narrow window."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        parts = (self.header.row if self.header else None, *(self.body.rows if self.body else ()))
        rows = [[cell.content for cell in row.cells] for row in parts if row is not None]
        if _least(rows) > options.max_width:
            yield from (Text(" | ").join(row) for row in rows)
            return
        table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
        for head in rows[0]:
            table.add_column(head, overflow="fold")
        for row in rows[1:]:
            table.add_row(*row)
        yield table


def _least(rows: list[list[Text]]) -> int:
    """Return how many columns of a terminal it takes to read a table."""
    widths = [
        max(min(len(word), _WORD) for row in rows for word in row[at].plain.split() or [""])
        for at in range(len(rows[0]))
    ]
    return sum(widths) + _GAP * len(widths)


class ChatMarkdown(Markdown):
    """Markdown for a narrow window, and from anybody."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "ordered_list_open": _List,
        "list_item_open": _Item,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        """Take a text."""
        # Links of the terminal's own show one address and lead to another.
        super().__init__("", code_theme=_THEME, hyperlinks=False)
        self.markup = text
        parser = MarkdownIt().enable(["strikethrough", "table"]).disable(_AS_WRITTEN)
        self.parsed = list(_titled(parser.parse(text)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it; as it was written, if a letter or a digit of it would not be seen."""
        drawn = list(super().__rich_console__(console, options))
        shown = "".join(part.text for part in drawn if isinstance(part, Segment))
        if _signs(_NUMBER.sub("", self.markup)) <= _signs(shown):
            yield from drawn
        else:
            yield Text(self.markup)


def _titled(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield tokens with the title of a link behind where it leads."""
    for token in tokens:
        if token.type == "link_open" and token.attrs.get("title"):
            token.attrs["href"] = f'{token.attrs["href"]} "{token.attrs["title"]}"'
        token.children = list(_titled(token.children)) if token.children else token.children
        yield token


def _signs(text: str) -> Counter[str]:
    """Count the letters and digits of a text."""
    return Counter(filter(str.isalnum, text))

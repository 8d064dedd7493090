"""Markdown as a chat draws it.

Promises: loaded only when a person reads on a terminal; a link shows where it leads.
"""

from __future__ import annotations

from typing import ClassVar, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement

__all__ = ["ChatMarkdown"]

_THEME: Final = "ansi_dark"


class _Heading(Heading):
    """A heading at the left, where what it is about begins."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class ChatMarkdown(Markdown):
    """Markdown for a narrow window, and from anybody."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
    }

    def __init__(self, text: str) -> None:
        """Take a text."""
        # Links of the terminal's own show one address and lead to another.
        super().__init__(text, code_theme=_THEME, hyperlinks=False)

"""The screen of a terminal: colours and boxes by rich.

Promises: loaded only when a person reads on a terminal; what rich would take for markup or turn
into emoji stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.text import Text
from rich.theme import Theme

from engramdown.cli.layout import Line, wrap
from engramdown.cli.output import width
from engramdown.cli.process import is_terminal
from engramdown.language.characters import on_screen

_THEME: Final = Theme(
    {
        "strong": "bold",
        "dim": "dim",
        "id": "yellow",
        "where": "cyan",
        "good": "green",
        "bad": "red",
        "warn": "magenta",
    }
)
_FRAME: Final = 4


class RichScreen:
    """A :class:`engramdown.cli.output.Screen` that draws with rich."""

    def __init__(self) -> None:
        """Draw on stdout."""
        self._console = Console(
            theme=_THEME, width=width(), highlight=False, markup=False, emoji=False
        )

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, wrapped on a terminal."""
        columns = self._console.width if is_terminal(sys.stdout) else sys.maxsize
        text = _text(lines, columns)
        if text is not None:
            self._console.print(text, soft_wrap=True)

    def box(self, title: str, lines: Iterable[Line]) -> None:
        """Print lines in a frame with a title."""
        text = _text(lines, self._console.width - _FRAME) or Text()
        shape = box.ROUNDED if self._console.encoding.startswith("utf") else box.ASCII
        panel = Panel(text, title=Text(on_screen(title)), title_align="left", box=shape)
        self._console.print(panel)


def _text(lines: Iterable[Line], columns: int) -> Text | None:
    rows = [
        Text.assemble(*((part.text, part.style) for part in row))
        for item in lines
        for row in wrap(item, columns)
    ]
    return Text("\n").join(rows) if rows else None

"""Shows a turn of a chat while it goes on.

The words of an answer are printed as they come and as they are written, markdown and all; on a
terminal headings and code are coloured. No character of an answer can steer the terminal, and none
is hidden. A tool call that changes something is shown in full.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Final

from engramdown.cli import output, process
from engramdown.cli.layout import line, shortened
from engramdown.cortex import TOOLS
from engramdown.integrations.chat.turns import Listener
from engramdown.language import on_screen, one_line

if TYPE_CHECKING:
    from engramdown.cortex import Answer

_SHORTEST: Final = 10
_CHANGING: Final = frozenset({"memorize", "forget"})
_ROWS: Final = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING: Final = re.compile(r"#{1,6}(?!\S)")
_FENCES: Final = ("```", "~~~")
_LONGEST_WORD: Final = 120
# Of a longer word so much waits for what follows.
_REST: Final = 16


class Words:
    """Takes a text piece by piece, and gives it out in whole words and whole runs of spaces.

    What a character is may depend on its neighbours: an emoji of several is shown at once, and a
    run of spaces that is too long is seen as one.

    >>> words = Words()
    >>> words.add("Use u"), words.add("v, n"), words.rest()
    ('Use ', 'uv, ', 'n')
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._waiting: list[str] = []

    def add(self, text: str) -> str:
        """Take in a piece, and return as much as is whole."""
        self._waiting.append(text)
        if text.isspace() and all(map(str.isspace, self._waiting[-2:])):
            return ""  # Joined later, as some models go on with empty lines alone.
        text = "".join(self._waiting)
        left = text[len(text.rstrip()) :] or re.split(r"\s", text)[-1]
        # Not every script has spaces.
        if len(left) > _LONGEST_WORD and not left.isspace():
            left = left[-_REST:]
        self._waiting = [left]
        return text.removesuffix(left)

    def rest(self) -> str:
        """Return what is left when no more comes."""
        left, self._waiting = "".join(self._waiting), []
        return left


class TurnScreen(Listener):
    """Prints the words of a turn; what a tool does is shown on a terminal only."""

    def __init__(self) -> None:
        """Print on stdout."""
        self._screen = output.screen()
        self._is_terminal = process.is_terminal(sys.stdout)
        self._words = Words()
        self._is_open = self._in_code = self._is_marked = False
        self._style = ""

    def waits(self) -> None:
        """Show a mark, which the first word of the answer overwrites."""
        self._is_marked = self._is_terminal
        if self._is_marked:
            self._screen.write("…\r", "dim")

    def said(self, text: str) -> None:
        """Print the words that are complete."""
        self._print(self._words.add(text))

    def calls(self, name: str, given: object) -> None:
        """Show the call, in one row if the tool only reads."""
        self.finish()
        if not self._is_terminal:
            return
        if isinstance(given, dict):
            words = " · ".join(f"{key}: {value}" for key, value in given.items())
        else:
            words = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        text = f"· {name}  {words}"
        if name not in TOOLS or TOOLS[name].reads:
            text = f"· {one_line(name)}  {one_line(words)}".rstrip()
            text = shortened(text, max(output.width() - 1, _SHORTEST))
        output.show([line((text, "dim"), hang=2)])

    def answered(self, name: str, answer: Answer) -> None:
        """Show the first line of the result if the tool failed, or changed memory."""
        first = one_line(answer.text.partition("\n")[0])
        if self._is_terminal and (answer.is_error or name in _CHANGING):
            style = "warn" if answer.is_error or first.startswith("Not ") else "good"
            output.show([line((first, style), indent=2, hang=4)])

    def finish(self) -> None:
        """Print what is left, and end the row."""
        self._print(self._words.rest())
        self._print("\n" if self._is_open else "")
        self._in_code = False

    def _print(self, text: str) -> None:
        text = text.replace("\r\n", "\n")
        if self._is_marked and text:
            # An empty row would leave the mark where it is.
            text, self._is_marked = text.lstrip("\n"), False
        for row in _ROWS.findall(on_screen(text)):
            if not self._is_open:
                self._begin(row)
            self._screen.write(row, self._style)
            self._is_open = not row.endswith("\n")

    def _begin(self, row: str) -> None:
        """Choose the style of a row by its first word."""
        is_fence = row.lstrip().startswith(_FENCES)
        self._style = "where" if self._in_code or is_fence else ""
        self._in_code ^= is_fence
        if not self._style and _HEADING.match(row):
            self._style = "strong"

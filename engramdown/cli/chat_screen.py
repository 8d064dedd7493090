"""What a person sees of a turn while it goes on.

Promises: no character of an answer reaches the terminal as it is if it could steer it, also one
that markdown spells in another way, and nothing of it is hidden; a call that changes something is
shown whole. On a terminal an answer is drawn block by block as it is finished, with the one that
is being written below; elsewhere its words are printed as they come.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Protocol

import click

from engramdown.cli import chat_messages as said
from engramdown.cli import output, process
from engramdown.cli.blocks import Blocks, Words
from engramdown.cli.layout import Line, cells, line
from engramdown.cli.preview import Preview
from engramdown.cortex.tools import TOOLS
from engramdown.language.characters import on_screen, visible
from engramdown.language.untrusted import one_line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.segment import Segment

    from engramdown.cortex.tools import Answer


# To draw so much as markdown again and again would take longer than it takes to come.
_MOST_DRAWN: Final = 6_000
_MOST_MARKDOWN: Final = 100_000
_SHORTEST: Final = 10
# So that no row ends where another one may begin or not.
_ROOM: Final = 2
_CHANGING: Final = frozenset({"memorize", "forget"})


class TurnScreen(Protocol):
    """Shows a turn; the first four are :class:`engramdown.integrations.chat.turns.Listener`."""

    def waits(self) -> None:
        """The model is asked."""
        ...

    def said(self, text: str) -> None:
        """It said a piece more."""
        ...

    def calls(self, name: str, given: object) -> None:
        """It wants a tool called."""
        ...

    def answered(self, name: str, answer: Answer) -> None:
        """The tool gave this back."""
        ...

    def finish(self) -> None:
        """Show what is left: nothing more comes."""
        ...


def turn_screen() -> TurnScreen:
    """Return what shows turns on this terminal, or whatever stdout is."""
    if isinstance(output.screen(), output.PlainScreen):
        return PlainTurn()
    return RichTurn()


class Silent:
    """Shows nothing: for a program that reads what came of it."""

    def waits(self) -> None:
        """Show nothing."""

    def said(self, text: str) -> None:
        """Show nothing."""

    def calls(self, name: str, given: object) -> None:
        """Show nothing."""

    def answered(self, name: str, answer: Answer) -> None:
        """Show nothing."""

    def finish(self) -> None:
        """Show nothing."""


class PlainTurn:
    """Prints words as they come; what a tool does is told on a terminal only."""

    def __init__(self) -> None:
        """Print on stdout."""
        self._words = Words()
        self._is_open = False
        self._tells = process.is_terminal(sys.stdout)

    def waits(self) -> None:
        """Show nothing."""

    def said(self, text: str) -> None:
        """Print what is whole."""
        self._print(self._words.add(text))

    def calls(self, name: str, given: object) -> None:
        """Tell which tool is called."""
        self.finish()
        if self._tells:
            output.screen().show([_call(name, given)])

    def answered(self, name: str, answer: Answer) -> None:
        """Tell what came of it, if that is worth a line."""
        if self._tells:
            output.screen().show(_outcome(name, answer))

    def finish(self) -> None:
        """Print what is left, and end the line."""
        self._print(self._words.rest())
        if self._is_open:
            click.echo()
        self._is_open = False

    def _print(self, text: str) -> None:
        if text:
            click.echo(on_screen(text.replace("\r\n", "\n")), nl=False)
            process.flush()
            self._is_open = not text.endswith("\n")


class RichTurn:
    """Draws blocks of markdown."""

    def __init__(self) -> None:
        """Draw on stdout."""
        from rich.console import Console

        self._console = Console(highlight=False, markup=False, emoji=False)
        self._blocks = Blocks()
        self._preview = Preview(self._console, _columns)

    def waits(self) -> None:
        """Show that something is to come."""
        from rich.text import Text

        self._show(Text(said.WAITING, "dim"))

    def said(self, text: str) -> None:
        """Draw the blocks that are finished, and below them what is being written."""
        done = self._blocks.add(text)
        if done:
            self._preview.hide()
            for block in done:
                self._draw(block)
                self._console.print()
        self._show(_End(self._blocks.waiting[-_MOST_DRAWN:]))

    def calls(self, name: str, given: object) -> None:
        """Tell which tool is called."""
        self.finish()
        output.screen().show([_call(name, given)])

    def answered(self, name: str, answer: Answer) -> None:
        """Tell what came of it, if that is worth a line."""
        output.screen().show(_outcome(name, answer))

    def finish(self) -> None:
        """Draw what is left."""
        self._preview.hide()
        self._draw(self._blocks.rest())

    def _draw(self, block: str) -> None:
        if block.strip():
            self._console.width = _columns()
            self._console.print(_Shown(_markdown(block)), end="")

    def _show(self, what: RenderableType) -> None:
        self._preview.show(_Shown(what))


class _End:
    """As many of the last rows of what is being written as fill a third of the screen.

    More could be pushed out of it, to where nothing can be taken back, by one that becomes narrow.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        rows = console.render_lines(_markdown(self._text), options, pad=False)
        for row in rows[-max(console.height // 3, 1) :]:
            yield from row
            yield Segment.line()


class _Shown:
    """Whatever is drawn, without blank rows around it or a character that could steer a terminal.

    Here and not before: markdown may spell such a character, ``&#x202e;``.
    """

    def __init__(self, what: RenderableType) -> None:
        self._what = what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        rows = console.render_lines(self._what, options, pad=False)
        for row in rows[_blank(rows) : len(rows) - _blank(reversed(rows))]:
            yield from _without_end([Segment(visible(part.text), part.style) for part in row])
            yield Segment.line()


def _columns() -> int:
    return max(output.width() - _ROOM, _SHORTEST)


def _without_end(row: list[Segment]) -> list[Segment]:
    """Return a row without the spaces that fill it: they get in the way of whoever copies it."""
    while row and not row[-1].text.strip():
        row.pop()
    if row:
        last = row.pop()
        row.append(last._replace(text=last.text.rstrip()))
    return row


def _blank(rows: Iterable[list[Segment]]) -> int:
    """Return with how many blank rows it begins."""
    return sum(1 for _ in takewhile(lambda row: not any(p.text.strip() for p in row), rows))


def _markdown(text: str) -> RenderableType:
    from rich.text import Text

    from engramdown.cli.chat_markdown import ChatMarkdown

    shown = on_screen(text.replace("\r\n", "\n"))
    if len(text) > _MOST_MARKDOWN:
        return Text(shown)
    return ChatMarkdown(shown)


def _call(name: str, given: object) -> Line:
    """Return which tool is called with what: in one row, if it only reads."""
    told = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    if isinstance(given, dict):
        told = " · ".join(f"{key}: {value}" for key, value in given.items())
    if name in TOOLS and not TOOLS[name].reads:
        return line((f"{said.CALL} {name}  {told}", "dim"), hang=2)
    text = f"{said.CALL} {one_line(name)}  {one_line(told)}".rstrip()
    most = max(output.width() - 1, _SHORTEST)
    while cells(text) > most:
        text = f"{text[: min(len(text) - 2, most - 1)].rstrip()}…"
    return line((text, "dim"), hang=2)


def _outcome(name: str, answer: Answer) -> Iterator[Line]:
    """Yield what a tool did, if it failed, or changed memory."""
    first = one_line(answer.text.partition("\n")[0])
    if answer.is_error:
        yield line((first, "warn"), indent=2, hang=4)
    elif name in _CHANGING:
        style = "warn" if first.startswith("Not ") else "good"
        yield line((first, style), indent=2, hang=4)

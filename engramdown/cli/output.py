"""Puts results where they belong: JSON for programs, lines for a person, errors on stderr.

Promises: what comes from memory passes :func:`engramdown.language.characters.on_screen` on its way to a
person and is exact in JSON and in patches; rich is loaded only for a terminal, and never by a
command that must start fast.

A person reads at the width of the terminal, of ``COLUMNS``, or 80; wider than 100 is never used.
What no terminal reads is not wrapped.
Colour follows the terminal, ``NO_COLOR``, ``FORCE_COLOR`` and ``TERM=dumb``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final, Protocol

import click

from engramdown.cli import process
from engramdown.cli.layout import Line, Part, line, wrap
from engramdown.language.characters import on_screen

_WIDEST: Final = 100
_USUAL: Final = 80
_ROWS: Final = 1_000
"""Rows that are printed at once."""
# Half surrogate pairs, controls above those that JSON escapes anyway, what turns the direction of
# text around, and what has no shape.
_UNSHOWN: Final = (
    "[\ud800-\udfff\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# For the screen without rich.
_ANSI: Final[dict[str, Callable[[str], str]]] = {
    "strong": partial(click.style, bold=True),
    "dim": partial(click.style, dim=True),
    "id": partial(click.style, fg="yellow"),
    "where": partial(click.style, fg="cyan"),
    "good": partial(click.style, fg="green"),
    "bad": partial(click.style, fg="red"),
    "warn": partial(click.style, fg="magenta"),
}


class Screen(Protocol):
    """Where lines for a person go."""

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, wrapped."""
        ...

    def box(self, title: str, lines: Iterable[Line]) -> None:
        """Print lines that belong together, with a title."""
        ...


class PlainScreen:
    """A screen without rich: for pipes, files and commands that must start fast."""

    def __init__(self, *, colour: bool = False, wrapped: bool | None = None) -> None:
        """Use plain ANSI colours if ``colour``; let long lines be long if not ``wrapped``.

        By default lines are wrapped on a terminal.
        """
        self._colour = colour
        self._wrapped = process.is_terminal(sys.stdout) if wrapped is None else wrapped

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, wrapped on a terminal; in a pipe a patch as it is.

        What stands around a patch is one line each, so that no text can pass for another patch.
        """
        lines = list(lines)
        if (
            self._colour
            or process.is_terminal(sys.stdout)
            or all(item.exact is None for item in lines)
        ):
            rows = list(self.rows(lines))
        else:
            rows = [_in_patch(item) for item in lines]
        if rows:
            click.echo("\n".join(rows), color=self._colour)

    def rows(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the rows that show ``lines``, one after the other, without their ends."""
        columns = width() if self._wrapped else sys.maxsize
        for item in lines:
            for row in wrap(item, columns):
                yield "".join(map(self._paint, row))

    def box(self, title: str, lines: Iterable[Line]) -> None:
        """Print lines between two rules, the first of which holds the title."""
        rule = "-" * width()
        head = f"-- {on_screen(title)} "
        self.show([line((head + rule[len(head) :], "dim")), *lines, line((rule, "dim"))])

    def _paint(self, part: Part) -> str:
        style = _ANSI.get(part.style) if self._colour else None
        return style(part.text) if style else part.text


def _in_patch(item: Line) -> str:
    if item.exact is not None:
        return item.exact
    text = " ".join("".join(part.text for part in item.parts).split("\n"))
    return f"{' ' * item.indent}{on_screen(text)}".rstrip()


def width() -> int:
    """Return how many columns a line for a person may have."""
    said = os.environ.get("COLUMNS", "")
    # Not shutil.get_terminal_size: shutil loads three compressors.
    columns = int(said) if said.isdecimal() else process.terminal_columns()
    return min(columns or _USUAL, _WIDEST)


def screen() -> Screen:
    """Return where lines for a person go."""
    if not _has_style():
        return PlainScreen()
    from engramdown.cli.rich_screen import RichScreen

    return RichScreen()


def fast_screen() -> PlainScreen:
    """Return a screen that never loads rich, and does not wrap what no terminal reads."""
    colour = _has_style() and not os.environ.get("NO_COLOR")
    return PlainScreen(colour=colour)


def is_person() -> bool:
    """Return whether a person sits at both ends: questions can be asked."""
    return process.is_terminal(sys.stdin) and process.is_terminal(sys.stdout)


def print_json(data: object) -> None:
    """Print ``data`` as JSON, exact: a byte that is not UTF-8 stands as a lone surrogate.

    What a terminal would obey or not show stands as an escape of JSON, which says the same.
    """
    import json

    ascii_only = "utf" not in (getattr(sys.stdout, "encoding", "") or "").casefold()
    text = json.dumps(data, ensure_ascii=ascii_only, indent=2)
    click.echo(re.sub(_UNSHOWN, lambda found: json.dumps(found[0])[1:-1], text))


def note(message: str) -> None:
    """Say something on stderr that is no result."""
    click.echo(process.wrapped(f"note: {process.one_line(message)}"), err=True)


def page(rows: Iterable[str]) -> None:
    """Print rows; on a terminal through the pager, which ends by itself if they fit."""
    colour = _has_style()
    if is_person():
        # As git does: leave what fits on the screen, and show colours.
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager((f"{row}\n" for row in rows), color=colour)
        return
    waiting = iter(rows)
    while piece := list(islice(waiting, _ROWS)):
        click.echo("\n".join(piece), color=colour)


def complain_more(message: str) -> None:
    """Say below a complaint what could have been meant."""
    click.echo(f"  {process.one_line(message)}", err=True)


def _has_style() -> bool:
    wanted = process.is_terminal(sys.stdout) or bool(os.environ.get("FORCE_COLOR"))
    return wanted and os.environ.get("TERM") != "dumb"

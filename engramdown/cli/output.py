"""Puts results where they belong: JSON for programs, lines for a person, errors on stderr.

Text from memory passes :func:`engramdown.language.characters.on_screen` on its way to a person, and
is exact in JSON and in patches. Rich is loaded only for a terminal, and never by a command that
must start fast. Here, too: the exit codes, dry runs and progress bars.

A line for a person is as wide as the terminal, ``COLUMNS``, or 80, but at most 100. What no
terminal reads is not wrapped. Colour follows the terminal, ``NO_COLOR``, ``FORCE_COLOR`` and
``TERM=dumb``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import messages, process
from engramdown.cli.layout import Line, Part, diff, diff_rows, line, wrap
from engramdown.language import on_screen

if TYPE_CHECKING:
    # Only named here: most commands change nothing, and many print without rich.
    from rich.text import Text

    from engramdown import Cortex
    from engramdown.hippocampus import FileChange

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
# How rich, and click where rich is not loaded, show each style of a part.
_STYLES: Final = {
    "strong": "bold",
    "dim": "dim",
    "id": "yellow",
    "where": "cyan",
    "good": "green",
    "bad": "red",
    "warn": "magenta",
}
_WEIGHTS: Final = ("bold", "dim")
_FRAME: Final = 4


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
        is_seen = self._colour or process.is_terminal(sys.stdout)
        if is_seen or all(item.exact is None for item in lines):
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
        style = _STYLES.get(part.style) if self._colour else None
        if style is None:
            return part.text
        return click.style(part.text, **({style: True} if style in _WEIGHTS else {"fg": style}))


class RichScreen:
    """A screen that draws with rich; what rich takes for markup or emoji stays as it is."""

    def __init__(self) -> None:
        """Draw on stdout."""
        from rich.console import Console
        from rich.theme import Theme

        self._console = Console(
            theme=Theme(_STYLES), width=width(), highlight=False, markup=False, emoji=False
        )

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, wrapped on a terminal."""
        columns = self._console.width if process.is_terminal(sys.stdout) else sys.maxsize
        text = self._text(lines, columns)
        if text is not None:
            self._console.print(text, soft_wrap=True)

    def box(self, title: str, lines: Iterable[Line]) -> None:
        """Print lines in a frame with a title."""
        from rich import box
        from rich.panel import Panel
        from rich.text import Text

        text = self._text(lines, self._console.width - _FRAME) or Text()
        shape = box.ROUNDED if self._console.encoding.startswith("utf") else box.ASCII
        panel = Panel(text, title=Text(on_screen(title)), title_align="left", box=shape)
        self._console.print(panel)

    def _text(self, lines: Iterable[Line], columns: int) -> Text | None:
        from rich.text import Text

        wrapped = (row for item in lines for row in wrap(item, columns))
        rows = [Text.assemble(*((part.text, part.style) for part in row)) for row in wrapped]
        return Text("\n").join(rows) if rows else None


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


def screen() -> PlainScreen | RichScreen:
    """Return where lines for a person go."""
    return RichScreen() if _has_style() else PlainScreen()


def fast_screen() -> PlainScreen:
    """Return a screen that never loads rich, and does not wrap what no terminal reads."""
    return PlainScreen(colour=_has_style() and not os.environ.get("NO_COLOR"))


def show(lines: Iterable[Line]) -> None:
    """Print lines for a person."""
    screen().show(lines)


def show_fast(lines: Iterable[Line]) -> None:
    """Print lines for a person without loading rich."""
    fast_screen().show(lines)


def show_paged(lines: Iterable[Line]) -> None:
    """Print lines for a person, on a terminal through the pager."""
    page(fast_screen().rows(lines))


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


def _has_style() -> bool:
    wanted = process.is_terminal(sys.stdout) or bool(os.environ.get("FORCE_COLOR"))
    return wanted and os.environ.get("TERM") != "dumb"


DONE: Final = 0
REFUSED: Final = 1
"""Nothing was found, or what was asked for was refused."""
USAGE: Final = 2
STORE_FAILED: Final = 3
"""A store could not be read or written."""
STOPPED: Final = 130
"""Ctrl-C, as shells count it: 128 and the number of the signal."""
PIPE_CLOSED: Final = 141
"""Whoever read the output went away, as shells count it."""


class RefusalError(click.ClickException):
    """What was asked for is refused; the message says the next step.

    Attributes:
        more: Lines below the message: what could have been meant.
        exit_code: The exit code of the command.
    """

    exit_code = REFUSED

    def __init__(self, message: str, more: Sequence[str] = ()) -> None:
        """Say why, and what could have been meant (``more``)."""
        super().__init__(message)
        self.more = tuple(more)


_IN_PATCH: Final = ("--- ./", "+++ ./")


class Outcome:
    """The result of a command that changes memory, in the form that was asked for."""

    def __init__(self, cortex: Cortex, *, as_json: bool, dry_run: bool) -> None:
        """Rehearse from now on if it is a dry run."""
        self._cortex = cortex
        self._as_json = as_json
        self._dry_run = dry_run
        if dry_run:
            cortex.scopes.rehearse()

    def show(self, lines: Iterable[Line], data: dict[str, Any]) -> None:
        """Print ``lines`` to a person, or ``data`` to a program."""
        changes = self._cortex.scopes.rehearsed() if self._dry_run else []
        if self._as_json:
            extra = {"dry_run": True, "changes": rehearsed_data(changes)} if self._dry_run else {}
            print_json({**data, **extra})
            return
        head = [line((messages.DRY_RUN, "warn"))] if self._dry_run else []
        screen().show([*head, *lines, *rehearsed_lines(changes)])


def rehearsed_lines(changes: Iterable[FileChange]) -> list[Line]:
    """Return the diff of every file that would change."""
    return [
        item for change in changes for item in file_diff(change.path, change.before, change.after)
    ]


def file_diff(path: Path, before: str | None, after: str | None, name: str = "") -> list[Line]:
    """Return the diff of a file; what no terminal reads is a patch.

    A patch is applied in the project, or here where there is none: ``patch -p1``, ``git apply``.
    A file elsewhere, as one of the global scope is, has its whole path, and a line above it says
    what applies it: ``patch -p1 -d /``.

    Args:
        path: The file.
        before: Its text before; ``None`` if there was no file.
        after: Its text after; ``None`` if there is none any more.
        name: What a person calls it; by default its path from here.
    """
    if before == "" and not path.exists():
        before = None
    here = Path.cwd()
    # Where git would apply a patch: the folder that has a memory of its own.
    with_memory = (each for each in (here, *here.parents) if (each / ".engramdown").is_dir())
    base = next(with_memory, here)
    whole = here / path
    is_below = whole.is_relative_to(base)
    in_patch = whole.relative_to(base if is_below else whole.anchor).as_posix()
    shown = diff(before, after, name or os.path.relpath(path), in_patch)
    is_patch = any(row.exact and row.exact.startswith(_IN_PATCH) for row in shown[:2])
    if is_patch and not is_below and not process.is_terminal(sys.stdout):
        # No program that applies patches follows a path that leaves the folder where it runs.
        return [line(messages.PATCH_ELSEWHERE), *shown]
    return shown


def rehearsed_data(changes: Iterable[FileChange]) -> list[dict[str, Any]]:
    """Return the files that would change, each with its unified diff."""
    return [
        {
            "path": str(change.path),
            "diff": "\n".join(diff_rows(change.before, change.after, change.path.name)),
        }
        for change in changes
        if change.before != change.after
    ]


@contextmanager
def bar(title: str, total: int, *, uneven: bool = False) -> Iterator[Callable[[int], object]]:
    """Show a bar for the length of a ``with`` block; yield what moves it on by a number.

    Args:
        title: What is done.
        total: How much there is to do.
        uneven: Whether its parts take too differently long to foretell when it is done: then it
            shows how long it has taken, and that it goes on.
    """
    if not process.is_terminal(sys.stderr):
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = Progress.get_default_columns()
    if uneven:
        columns = (*columns[:-1], TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


def _ignore(count: int) -> None:
    del count

"""Talks with whoever called: JSON for programs, lines and questions for a person, notes on stderr.

Text from memory passes :func:`engramdown.language.characters.on_screen` on its way to a person, and
is exact in JSON and in patches. A text that somebody types, on stdin or in an editor, comes back
byte for byte, without the one line end that editors and pipes add, and an editor's temporary file
is removed. Without a yes nothing goes on: a program is told which option says it. Rich is loaded
only for a progress bar. Here, too: the exit codes and dry runs.

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
from typing import TYPE_CHECKING, Any, Final, TextIO

import click
from click.exceptions import Exit

from engramdown.cli import process
from engramdown.cli.layout import Line, Part, cells, diff, diff_rows, line, shortened, wrap
from engramdown.errors import EngramdownError
from engramdown.language import on_screen

if TYPE_CHECKING:
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
# How each style of a part is shown.
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "strong": {"bold": True},
    "dim": {"dim": True},
    "id": {"fg": "yellow"},
    "where": {"fg": "cyan"},
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "warn": {"fg": "magenta"},
}
_FRAME: Final = 4
# In fewer columns a frame leaves too little room.
_NARROWEST: Final = 12
# The corners of a frame, from left to right and down, and its sides.
_FRAMES: Final = {True: tuple("╭╮╰╯─│"), False: tuple("++++-|")}


class Screen:
    """Where lines for a person go: a terminal, a pipe or a file."""

    def __init__(self, *, colour: bool = False, framed: bool = False) -> None:
        """Use ANSI colours if ``colour``, and draw a frame around a box if ``framed``."""
        self._colour = colour
        self._framed = framed
        self._is_terminal = process.is_terminal(sys.stdout)

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, wrapped on a terminal; in a pipe a patch as it is.

        What stands around a patch is one line each, so that no text can pass for another patch.
        """
        lines = list(lines)
        if self._framed or self._is_terminal or all(item.exact is None for item in lines):
            rows = list(self.rows(lines))
        else:
            rows = [_in_patch(item) for item in lines]
        if rows:
            click.echo("\n".join(rows), color=self._colour)

    def write(self, text: str, style: str = "") -> None:
        """Print a piece of a row at once, as it is."""
        click.echo(self._paint(Part(text, style)), nl=False, color=self._colour)
        process.flush()

    def rows(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the rows that show ``lines``, one after the other, without their ends."""
        columns = width() if self._is_terminal else sys.maxsize
        for item in lines:
            for row in wrap(item, columns):
                yield "".join(map(self._paint, row))

    def box(self, title: str, lines: Iterable[Line]) -> None:
        """Print lines in a frame, or between two rules, with a title."""
        columns = width()
        if not self._framed or columns < _NARROWEST:
            rule = "-" * columns
            head = f"-- {on_screen(title)} "
            self.show([line((head + rule[len(head) :], "dim")), *lines, line((rule, "dim"))])
            return
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        left, right, lower_left, lower_right, edge, side = _FRAMES[
            encoding.lower().startswith("utf")
        ]
        head = f"{edge} {shortened(on_screen(title), columns - 2 * _FRAME)} "
        rows = [f"{left}{head}{edge * (columns - 2 - cells(head))}{right}"]
        for row in (row for item in lines for row in wrap(item, columns - _FRAME)):
            room = columns - _FRAME - sum(cells(part.text) for part in row)
            rows.append(f"{side} {''.join(map(self._paint, row))}{' ' * room} {side}")
        rows.append(f"{lower_left}{edge * (columns - 2)}{lower_right}")
        click.echo("\n".join(rows), color=self._colour)

    def _paint(self, part: Part) -> str:
        if not self._colour or not part.style:
            return part.text
        return click.style(part.text, **_STYLES[part.style])


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
    styled = has_style()
    return Screen(colour=styled and not os.environ.get("NO_COLOR"), framed=styled)


def show(lines: Iterable[Line]) -> None:
    """Print lines for a person."""
    screen().show(lines)


def show_paged(lines: Iterable[Line]) -> None:
    """Print lines for a person, on a terminal through the pager."""
    page(screen().rows(lines))


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
    colour = has_style()
    if is_person():
        # As git does: leave what fits on the screen, and show colours.
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager((f"{row}\n" for row in rows), color=colour)
        return
    waiting = iter(rows)
    while piece := list(islice(waiting, _ROWS)):
        click.echo("\n".join(piece), color=colour)


def has_style() -> bool:
    """Return whether colours and frames are to be seen."""
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
        return [line("# The file is elsewhere; this applies the patch: patch -p1 -d /"), *shown]
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


def read_stdin() -> str:
    """Return what stdin holds."""
    stream: TextIO | None = sys.stdin
    data = stream.buffer.read() if stream is not None else b""
    return _without_end(data.decode("utf-8", "surrogateescape"))


def edit_text(text: str, instead: str) -> str:
    """Return ``text`` as a person left it in ``$VISUAL`` or ``$EDITOR``.

    Args:
        text: What the editor shows.
        instead: What to do where no editor can run, for the error.

    Raises:
        click.UsageError: No editor is set and there is no terminal to run one in.
        click.ClickException: The editor failed.
    """
    return _without_end(edit_whole(f"{text}\n", instead))


def edit_whole(text: str, instead: str) -> str:
    """Return the text of a file as a person left it, to the last byte; as above."""
    _check_editor(instead)
    # Imported here: it loads three compressors, which whoever only reads stdin does not need.
    import tempfile

    with tempfile.TemporaryDirectory(prefix="engramdown-") as folder:
        path = Path(folder) / "memory.md"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        click.edit(filename=str(path))
        return path.read_bytes().decode("utf-8", "surrogateescape")


def edit_file(path: Path, instead: str) -> None:
    """Let a person edit a file where it is; the arguments and errors are as above."""
    _check_editor(instead)
    click.edit(filename=str(path))


def keep_text(text: str) -> Path:
    """Keep what a person wrote in a file that they alone can read, and return its path."""
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix="engramdown-", suffix=".md")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return Path(name)


def draft_kept(text: str, error: EngramdownError) -> RefusalError:
    """Return the error for a text that could not be written, which says where it is kept."""
    return RefusalError(f"{error} Your text is kept in {keep_text(text)}")


def _check_editor(instead: str) -> None:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not chosen and not process.is_terminal(sys.stdin):
        raise click.UsageError(f"no $EDITOR is set and there is no terminal; {instead}")
    # Imported here: few commands open an editor, and click takes its words apart in this way.
    import shlex

    try:
        shlex.split(chosen or "")
    except ValueError as error:
        broken = f"$VISUAL or $EDITOR is {chosen!r}, which is no command: {error}"
        raise click.UsageError(f"{broken}; set it anew") from error


def _without_end(text: str) -> str:
    return text[:-1].removesuffix("\r") if text.endswith("\n") else text


def check(needed: str) -> None:
    """Make sure that a yes was said, is not needed, or can be asked for.

    The command has the options ``--yes``, ``--dry-run`` and ``--json``.

    Args:
        needed: What to say if nobody is there to ask.

    Raises:
        RefusalError: If nobody is there.
    """
    options = click.get_current_context().params
    said = options["yes"] or options["dry_run"]
    if not said and (options["as_json"] or not is_person()):
        raise RefusalError(needed)


def ask(question: str) -> None:
    """Ask a person, unless ``--yes`` was said.

    Raises:
        Exit: If the person says no.
    """
    if not click.get_current_context().params["yes"] and not click.confirm(question):
        note("nothing was done")
        raise Exit(REFUSED)

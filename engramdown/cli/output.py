"""Input and output of commands: JSON for programs, lines and questions for a person, exit codes.

Text from memory passes :func:`engramdown.language.characters.on_screen` on its way to a person, and
is exact in JSON and in patches. A text that somebody types, on stdin or in an editor, comes back
byte for byte, without the one line end that editors and pipes add. A command that needs a yes goes
no further without one, and names the option that says it.

A line for a person is as wide as the terminal, ``COLUMNS``, or 80, but at most 100, and is not
wrapped in a pipe. Colour follows the terminal, ``NO_COLOR``, ``FORCE_COLOR`` and ``TERM=dumb``.
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
from engramdown.cli.layout import Line, Part, cells, diff, line, shortened, wrap
from engramdown.errors import EngramdownError
from engramdown.language import on_screen

if TYPE_CHECKING:
    from engramdown.hippocampus import FileChange

_WIDEST: Final = 100
_USUAL: Final = 80
# Rows that are printed at once.
_ROWS: Final = 1_000
# Half surrogate pairs, controls beyond those that JSON escapes anyway, marks that change the
# direction of text, and characters without a shape.
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
# What stands beside a title at least: dashes and spaces.
_BESIDE_TITLE: Final = 6


class Screen:
    """Where lines for a person go: a terminal, a pipe or a file."""

    def __init__(self, *, colour: bool = False) -> None:
        """Use ANSI colours if ``colour``."""
        self._colour = colour
        self._is_terminal = process.is_terminal(sys.stdout)

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, wrapped on a terminal; in a pipe a patch as it is.

        Every text around a patch is one line, so that none can pass for another patch.
        """
        lines = list(lines)
        if self._colour or self._is_terminal or all(item.exact is None for item in lines):
            rows = list(self.rows(lines))
        else:
            rows = [_one_row(item) if item.exact is None else item.exact for item in lines]
        if rows:
            click.echo("\n".join(rows), color=self._colour)

    def write(self, text: str, style: str = "") -> None:
        """Print a piece of a row at once, as it is."""
        click.echo(self._paint(Part(text, style)), nl=False, color=self._colour)
        process.flush()

    def rows(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the rows that show ``lines``, without line ends."""
        columns = width() if self._is_terminal else sys.maxsize
        for item in lines:
            for row in wrap(item, columns):
                yield "".join(map(self._paint, row))

    def box(self, title: str, lines: Iterable[Line]) -> None:
        """Print lines between two rules, the first one with a title."""
        columns = width()
        head = f"-- {shortened(on_screen(title), columns - _BESIDE_TITLE)} "
        rule = f"{head}{'-' * (columns - cells(head))}"
        self.show([line((rule, "dim")), *lines, line(("-" * columns, "dim"))])

    def _paint(self, part: Part) -> str:
        if not self._colour or not part.style:
            return part.text
        return click.style(part.text, **_STYLES[part.style])


def _one_row(item: Line) -> str:
    text = " ".join("".join(part.text for part in item.parts).split("\n"))
    return f"{' ' * item.indent}{on_screen(text)}".rstrip()


def width() -> int:
    """Return how many columns a line for a person may have."""
    setting = os.environ.get("COLUMNS", "")
    # Not shutil.get_terminal_size: shutil loads three compressors.
    columns = int(setting) if setting.isdecimal() else process.terminal_columns()
    return min(columns or _USUAL, _WIDEST)


def screen() -> Screen:
    """Return where lines for a person go."""
    return Screen(colour=has_style() and not os.environ.get("NO_COLOR"))


def show(lines: Iterable[Line]) -> None:
    """Print lines for a person."""
    screen().show(lines)


def show_paged(lines: Iterable[Line]) -> None:
    """Print lines for a person, on a terminal through the pager."""
    page(screen().rows(lines))


def is_person() -> bool:
    """Return whether both ends are a terminal, so that a person can be asked."""
    return process.is_terminal(sys.stdin) and process.is_terminal(sys.stdout)


def print_json(data: object) -> None:
    """Print ``data`` as JSON, exactly: a byte that is not UTF-8 is a lone surrogate.

    A path is its text, a day as YYYY-MM-DD.
    Characters that a terminal would obey or not show are escaped as JSON allows.
    """
    import json

    ascii_only = "utf" not in (getattr(sys.stdout, "encoding", "") or "").casefold()
    text = json.dumps(data, ensure_ascii=ascii_only, indent=2, default=str)
    click.echo(re.sub(_UNSHOWN, lambda found: json.dumps(found[0])[1:-1], text))


def print_exact(text: str) -> None:
    """Print a text as it is; a terminal shows characters that could fool it as what they are."""
    if process.is_terminal(sys.stdout):
        click.echo(on_screen(text), nl=False)
        return
    # As bytes, so that no encoding and no line end of the system gets in between.
    try:
        exact = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half surrogate pairs that are not bytes of stdin
        exact = text.encode("utf-8", "surrogatepass")
    click.echo(exact, nl=False)


def note(message: str) -> None:
    """Print a note on stderr, which is not part of the result."""
    click.echo(process.wrapped(f"note: {process.one_line(message)}"), err=True)


def page(rows: Iterable[str]) -> None:
    """Print rows, on a terminal through the pager, which exits at once if they fit."""
    colour = has_style()
    if is_person():
        # As git does: exit if the text fits on the screen, keep it there, and show colours.
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager((f"{row}\n" for row in rows), color=colour)
        return
    waiting = iter(rows)
    while piece := list(islice(waiting, _ROWS)):
        click.echo("\n".join(piece), color=colour)


def has_style() -> bool:
    """Return whether to show colours."""
    is_visible = process.is_terminal(sys.stdout) or bool(os.environ.get("FORCE_COLOR"))
    return is_visible and os.environ.get("TERM") != "dumb"


DONE: Final = 0
# Nothing was found, or the request was refused.
REFUSED: Final = 1
USAGE: Final = 2
# A store could not be read or written.
STORE_FAILED: Final = 3
# Ctrl-C, as shells count it: 128 and the number of the signal.
STOPPED: Final = 130
# The reader of the output went away, as shells count it.
PIPE_CLOSED: Final = 141


class RefusalError(click.ClickException):
    """A request is refused; the message says the next step.

    Attributes:
        more: Lines below the message: what could have been meant.
        exit_code: The exit code of the command.
    """

    exit_code = REFUSED

    def __init__(self, message: str, more: Sequence[str] = ()) -> None:
        """Take the reason, and lines to show below it."""
        super().__init__(message)
        self.more = tuple(more)


_IN_PATCH: Final = ("--- ./", "+++ ./")


def planned_lines(changes: Iterable[FileChange]) -> list[Line]:
    """Return the diff of every file that would change."""
    return [
        item for change in changes for item in file_diff(change.path, change.before, change.after)
    ]


def file_diff(path: Path, before: str | None, after: str | None, name: str = "") -> list[Line]:
    """Return the diff of a file, which is a valid patch when it is not shown on a terminal.

    It applies in the project, or in the working directory outside of one: ``patch -p1``, ``git
    apply``. The patch of a file elsewhere, as in the global scope, has the absolute path, and a
    line above it names the command that applies it: ``patch -p1 -d /``.

    Args:
        path: The file.
        before: Its text before; ``None`` if there was no file.
        after: Its text after; ``None`` if it is removed.
        name: What a person calls it; by default its relative path.
    """
    if before == "" and not path.exists():
        before = None
    here = Path.cwd()
    # Where git would apply a patch: the folder of the project.
    with_memory = (each for each in (here, *here.parents) if (each / ".engramdown").is_dir())
    base = next(with_memory, here)
    whole = here / path
    is_below = whole.is_relative_to(base)
    in_patch = whole.relative_to(base if is_below else whole.anchor).as_posix()
    rows = diff(before, after, name or os.path.relpath(path), in_patch)
    is_patch = any(row.exact and row.exact.startswith(_IN_PATCH) for row in rows[:2])
    if is_patch and not is_below and not process.is_terminal(sys.stdout):
        # No patch program follows a path that leaves its working directory.
        return [line("# The file is elsewhere; this applies the patch: patch -p1 -d /"), *rows]
    return rows


@contextmanager
def bar(title: str, total: int, *, uneven: bool = False) -> Iterator[Callable[[int], object]]:
    """Show a progress bar during a ``with`` block; yield a function that advances it.

    Args:
        title: What is done.
        total: How many parts there are.
        uneven: Whether the parts take too different times to predict the end.
    """
    if not process.is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    # Of width 0 it fills the row and no more, so that it is drawn anew in its place.
    with click.progressbar(
        length=total, label=title, file=sys.stderr, width=0, show_eta=not uneven, show_pos=uneven
    ) as progress:
        yield progress.update


def read_stdin() -> str:
    """Return the text on stdin."""
    stream: TextIO | None = sys.stdin
    data = stream.buffer.read() if stream is not None else b""
    return _without_end(data.decode("utf-8", "surrogateescape"))


def edit_text(text: str, instead: str) -> str:
    """Return ``text`` as a person left it in ``$VISUAL`` or ``$EDITOR``.

    Args:
        text: What the editor shows.
        instead: What to do where no editor can run, for the message.

    Raises:
        click.UsageError: No editor is set and there is no terminal to run one in.
        click.ClickException: The editor failed.
    """
    return _without_end(edit_whole(f"{text}\n", instead))


def edit_whole(text: str, instead: str) -> str:
    """Return the whole text of a file as a person left it; arguments and errors as above."""
    _check_editor(instead)
    # Imported here: it loads three compressors.
    import tempfile

    with tempfile.TemporaryDirectory(prefix="engramdown-") as folder:
        path = Path(folder) / "memory.md"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        click.edit(filename=str(path))
        return path.read_bytes().decode("utf-8", "surrogateescape")


def edit_file(path: Path, instead: str) -> None:
    """Let a person edit a file in its place; arguments and errors as above."""
    _check_editor(instead)
    click.edit(filename=str(path))


def draft_kept(text: str, error: EngramdownError) -> RefusalError:
    """Return an error for a text that could not be written; it says where the text is kept.

    Only the person can read the file.
    """
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix="engramdown-", suffix=".md")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return RefusalError(f"{error} Your text is kept in {name}")


def _check_editor(instead: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor and not process.is_terminal(sys.stdin):
        raise click.UsageError(f"no $EDITOR is set and there is no terminal; {instead}")
    # Imported here: few commands open an editor. Click splits the command in this way.
    import shlex

    try:
        shlex.split(editor or "")
    except ValueError as error:
        broken = f"$VISUAL or $EDITOR is {editor!r}, which is not a command: {error}"
        raise click.UsageError(f"{broken}; set it again") from error


def _without_end(text: str) -> str:
    return text[:-1].removesuffix("\r") if text.endswith("\n") else text


def check(needed: str) -> None:
    """Make sure that a person said yes, need not, or can be asked.

    The command has the options ``--yes``, ``--dry-run`` and ``--json``.

    Args:
        needed: The message if nobody can be asked.

    Raises:
        RefusalError: Nobody can be asked.
    """
    options = click.get_current_context().params
    is_settled = options["yes"] or options["dry_run"]
    if not is_settled and (options["as_json"] or not is_person()):
        raise RefusalError(needed)


def ask(question: str) -> None:
    """Ask a person, unless ``--yes`` is given.

    Raises:
        Exit: The person says no.
    """
    if not click.get_current_context().params["yes"] and not click.confirm(question):
        note("nothing was done")
        raise Exit(REFUSED)

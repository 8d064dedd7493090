"""Asks a person: for a text, on stdin or in an editor, or for a yes.

A text comes back byte for byte, without the one line end that editors and pipes add, and an
editor's temporary file is removed. Without a yes nothing goes on: a program is told which option
says it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

import click
from click.exceptions import Exit

from engramdown.cli import output, process
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.errors import EngramdownError


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
    if not said and (options["as_json"] or not output.is_person()):
        raise RefusalError(needed)


def ask(question: str) -> None:
    """Ask a person, unless ``--yes`` was said.

    Raises:
        Exit: If the person says no.
    """
    if not click.get_current_context().params["yes"] and not click.confirm(question):
        output.note("nothing was done")
        raise Exit(REFUSED)

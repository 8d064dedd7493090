"""``engramdown journal write``: a person, or an assistant in a shell, adds an entry.

Promises: says where the entry stands; a secret is hidden and never repeated; a text from an editor
that cannot be written is kept in a file that is named.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from engramdown.cli import day_messages as said
from engramdown.cli import messages, output, process
from engramdown.cli.access import meant, one_journal, settings_of
from engramdown.cli.commands import (
    WordsCommand,
    dry_run_option,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.day_lines import section_data
from engramdown.cli.layout import diff_rows, line, whole
from engramdown.cli.output import RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_text, keep_text, read_stdin
from engramdown.errors import EngramdownError
from engramdown.journal.journal import Written


@click.command(cls=WordsCommand)
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("-t", "--theme", "themes", multiple=True, metavar="THEME", help="What it is about.")
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="To the page of a day that has passed: 2026-02-27.",
)
@click.option("--edit", is_flag=True, help="Write it in your editor, beginning with TEXT.")
@click.option(
    "--by",
    type=click.Choice(["person", "agent"]),
    default="person",
    show_default=True,
    help="Who writes.",
)
@scope_options("Write to the journal of all projects.", "Write to that of this project (default).")
@json_option
@dry_run_option
@pass_place
def write(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Add TEXT to the page of today, or of DATE; "-", or a pipe, reads it from stdin.

    Without TEXT your editor opens. What stands on the page is never changed.
    """
    chosen = given()
    scope, root = meant(place, chosen["scope"])
    if chosen["by"] == "agent" and settings_of(place, scope, root).mode == "off":
        raise RefusalError(said.OFF)
    text, is_typed = _text(chosen)
    if not text.strip():
        raise click.UsageError(said.NO_TEXT)
    try:
        journal = one_journal(place, chosen["scope"])
        act = journal.rehearse if dry_run else journal.write
        day = chosen["day"].date() if chosen["day"] else None
        where = act(text, by=chosen["by"], themes=chosen["themes"], day=day)
    except EngramdownError as error:
        if not is_typed:
            raise
        raise RefusalError(said.draft_kept(keep_text(text), str(error))) from error
    _show(where, as_json=as_json, dry_run=dry_run)


def _text(chosen: dict[str, Any]) -> tuple[str, bool]:
    """Return what is to be written, and whether a person has just typed it in an editor."""
    words = chosen["words"]
    piped = words == ("-",) or (not words and not process.is_terminal(sys.stdin))
    if piped and not chosen["edit"]:
        return read_stdin(), False
    if words and not chosen["edit"]:
        return " ".join(words), False
    return edit_text(" ".join(words), said.EDIT_INSTEAD), True


def _show(where: Written, *, as_json: bool, dry_run: bool) -> None:
    data: dict[str, Any] = {
        "changed": True,
        **section_data(where.day, where.path, where.section),
        "hidden": list(where.hidden),
    }
    if as_json:
        if dry_run:
            rows = diff_rows(where.before, where.after, where.path.name)
            changes = [{"path": str(where.path), "diff": "\n".join(rows)}]
            data |= {"changed": False, "dry_run": True, "changes": changes}
        output.print_json(data)
        return
    screen = output.screen()
    if dry_run:
        shown = file_diff(where.path, where.before, where.after)
        screen.show([line((messages.DRY_RUN, "warn")), *shown])
    else:
        screen.show([whole((said.written(where), "good"))])
    if where.hidden:
        screen.show([line((said.hidden(where.hidden), "warn"))])

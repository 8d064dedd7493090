"""``engramdown journal list``, ``show`` and ``search``.

Promises: none changes a page; one that cannot be read hides no other.
"""

from __future__ import annotations

from datetime import date, timedelta

import click
from click.exceptions import Exit

from engramdown.cli import day_messages as said
from engramdown.cli import output, process
from engramdown.cli.access import all_journals, one_journal
from engramdown.cli.commands import WordsCommand, json_option, pass_place, scope_options
from engramdown.cli.day_lines import (
    day_data,
    listed_lines,
    match_data,
    match_lines,
    page_lines,
)
from engramdown.cli.output import REFUSED, STORE_FAILED
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.journal.journal import Journal

_scopes = scope_options("The global scope.", "This project (default where there is one).")


@click.command("list")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="At most so many days.",
)
@_scopes
@json_option
@pass_place
def list_days(place: Place, /, *, limit: int, scope: Scope | None, as_json: bool) -> None:
    """List the days that have a page, newest first."""
    found = one_journal(place, scope).days(limit)
    if as_json:
        output.print_json([day_data(day, sections=False) for day in found])
    else:
        output.screen().show(listed_lines(found))
    if any(day.problem for day in found):
        raise Exit(STORE_FAILED)
    if not found:
        process.complain(said.NO_DAYS)
        raise Exit(REFUSED)


@click.command("show")
@click.argument("day", metavar="[DAY]", default="today")
@_scopes
@json_option
@pass_place
def show_day(place: Place, /, *, day: str, scope: Scope | None, as_json: bool) -> None:
    """Show what was written on DAY: 2026-02-27, today (default) or yesterday."""
    journal = one_journal(place, scope)
    found = journal.day(_day(day, journal))
    if found is None:
        process.complain(said.no_day(day))
        raise Exit(REFUSED)
    if as_json:
        output.print_json(day_data(found, sections=True))
    else:
        output.screen().show(page_lines(found))


@click.command("search", cls=WordsCommand)
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="At most so many entries.",
)
@click.option("--exact", is_flag=True, help="What holds WORDS as they are, newest first.")
@scope_options("Only the global scope.", "Only this project.")
@json_option
@pass_place
def search_journal(
    place: Place,
    /,
    *,
    words: tuple[str, ...],
    limit: int,
    exact: bool,
    scope: Scope | None,
    as_json: bool,
) -> None:
    """Search the journal for WORDS, best hits first; `engramdown recall` searches it, too."""
    query = " ".join(words)
    found = [
        match
        for journal in all_journals(place, scope)
        for match in journal.search(query, limit, exact=exact)
    ]
    if exact:
        found.sort(key=lambda match: match.date, reverse=True)
    else:
        found.sort(key=lambda match: -match.score)
    if as_json:
        output.print_json([match_data(match) for match in found[:limit]])
    else:
        output.screen().show(match_lines(found[:limit]))
    if not found:
        process.complain(said.nothing_found(query))
        raise Exit(REFUSED)


def _day(text: str, journal: Journal) -> date:
    ago = {"today": 0, "yesterday": 1}.get(text.lower())
    if ago is not None:
        return journal.today() - timedelta(days=ago)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise click.UsageError(said.no_such_day(text)) from None

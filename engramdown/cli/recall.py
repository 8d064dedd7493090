"""``engramdown recall``: the memories that fit some words, best first.

Promises: starts fast: neither rich nor anything heavy is loaded. One hit is one line when the
output is no terminal.
"""

from __future__ import annotations

import sys

import click
from click.exceptions import Exit

from engramdown.cli import messages, output
from engramdown.cli.codes import REFUSED
from engramdown.cli.entries import hit_lines
from engramdown.cli.opening import folders, open_cortex
from engramdown.cli.options import Place, json_option, pass_place

__all__ = ["recall"]


@click.command()
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="At most so many hits.",
)
@json_option
@pass_place
def recall(place: Place, /, *, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Search memory for WORDS, best hits first."""
    query = " ".join(words)
    cortex = open_cortex(place)
    found = cortex.recall(query, limit=limit)
    if as_json:
        from engramdown.cli import data

        where = folders(cortex)
        output.print_json([data.entry_data(entry, where) for entry in found])
    else:
        folded = not output.is_terminal(sys.stdout)
        output.fast_screen().show(hit_lines(found, folded=folded))
    if not found:
        output.complain(messages.nothing_found(query))
        raise Exit(REFUSED)

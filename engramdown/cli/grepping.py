"""``engramdown log grep``: a text in one conversation, whatever summaries stand for what was said.

Promises: changes nothing; the text is looked for as it stands, capitals or not, and the newest is
found first; each hit says where it stands.
"""

from __future__ import annotations

from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import conversation_messages as said
from engramdown.cli import log_show, output, process
from engramdown.cli.access import open_transcripts
from engramdown.cli.commands import (
    WordsCommand,
    complete_sessions,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.gists import looking
from engramdown.cli.layout import Line, line
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.cortex.conversation.lineage import GREP, SCOPES, Found, pointer

_HANG: Final = 4


@click.command(cls=WordsCommand)
@click.argument("pattern")
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@click.option(
    "--scope",
    "where",
    type=click.Choice(SCOPES),
    default=SCOPES[0],
    show_default=True,
    help="Where to look.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    default=GREP,
    show_default=True,
    metavar="N",
    help="At most so many hits.",
)
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def grep(
    place: Place, /, *, pattern: str, session: str, scope: str | None, as_json: bool, **_: object
) -> None:
    """Find a text in a conversation, the newest first; also where a summary stands for it.

    PATTERN is looked for as it stands, capitals or not. SESSION is an id or the beginning of one;
    without it, the session that began last. `engramdown recall` looks into all sessions.
    """
    if not pattern.strip():
        raise click.UsageError(said.NO_PATTERN)
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session)
    lineage = looking(transcripts, name)[1]
    chosen = given()
    # One more, to know whether there are more.
    found = lineage.grep(pattern, chosen["where"], chosen["limit"] + 1)
    hits = found[: chosen["limit"]]
    if as_json:
        output.print_json([_data(name, hit) for hit in hits])
    else:
        output.fast_screen().show([_line(name, hit) for hit in hits])
    if len(found) > len(hits):
        output.note(said.more_hits(len(hits)))
    if not hits:
        process.complain(said.no_hits(name))
        raise Exit(REFUSED)


def _line(session: str, hit: Found) -> Line:
    is_summary = isinstance(hit.source, str)
    who = said.summary(hit.role) if is_summary else log_show.speaks(hit.role, hit.name)
    return line(
        (pointer(session, hit.source), "id" if is_summary else "where"),
        (f"  {said.when(hit.ts)}  ", "dim"),
        (who, "strong"),
        (f"  {said.covered(hit.gist)}" if hit.gist else "", "dim"),
        "  ",
        " ".join(hit.snippet.split()),
        hang=_HANG,
    )


def _data(session: str, hit: Found) -> dict[str, Any]:
    return {**hit._asdict(), "source": pointer(session, hit.source)}

"""``engramdown recall``: searches memories, then transcripts, journal and notes.

It starts fast: nothing heavy is loaded, and nothing for transcripts if there are none. Outside a
terminal every hit is one line.
"""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown.cli import commands, output, process
from engramdown.cli.access import home_of, open_cortex, project_of, tell_unread
from engramdown.cli.layout import Line, line
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.cli.views import hit_lines
from engramdown.context import Asked, Found, search_all

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.recall import Finder


NO_WORDS: Final = "nothing to look for; give WORDS, or --since, --until or --days for all of a time"
ONE_END: Final = "--as-of is the end of the time already; leave out --until"
_FOLDER: Final = "episodes"
_ROLES: Final = (
    *("user", "assistant", "system", "tool_call", "tool_result"),
    *("scratchpad", "memory_read", "memory_write"),
)


@click.command(cls=commands.WordsCommand)
@click.argument("words", metavar="[WORDS]...", nargs=-1)
@commands.number_option(
    "At most so many memories, and so many lines of transcripts.", 20, "--limit"
)
@click.option("--exact", is_flag=True, help="What holds WORDS as they are, newest first.")
@click.option("--days", type=click.IntRange(0), metavar="DAYS", help="Only of the last DAYS days.")
@commands.since_option("Only what is of DATE or later.")
@commands.until_option("Only what is of DATE or earlier.")
@click.option(
    "--role", type=click.Choice(_ROLES), multiple=True, metavar="ROLE", help="Only in this role."
)
@commands.session_option("Only what was said in this session.")
@commands.as_of_option()
@commands.shows
def recall(place: Place, /, *, words: tuple[str, ...], as_json: bool, **_: object) -> None:
    """Search memory for WORDS, best hits first, then transcripts and the journal.

    Without WORDS, but with --since, --until or --days, it shows everything of that time, newest
    first.

    With --role or --session only transcripts are searched. A session is an id or the beginning of
    one. `engramdown log show SESSION#NUMBER` shows a line whole.
    """
    query = " ".join(words)
    options = commands.given()
    in_time = options["since"] or options["until"] or options["days"] is not None
    if not (query.strip() or in_time):
        raise click.UsageError(NO_WORDS)
    if options["as_of"] and options["until"]:
        raise click.UsageError(ONE_END)
    cortex = open_cortex(place, as_of=options["as_of"])
    finder = _finder(place, cortex)
    session, since, until = options["session"], options["since"], options["until"]
    if finder and session:
        # Imported here: it loads what records, too.
        from engramdown.cli.access import open_transcripts

        session = open_transcripts(place, None).find(session)
    search = Asked(
        query=query,
        limit=options["limit"],
        mode="exact" if options["exact"] else "best",
        days_back=options["days"],
        session=session,
        role=options["role"],
        since=datetime.fromisoformat(since) if since else None,
        until=datetime.fromisoformat(until) if until else None,
    )
    results = search_all(cortex.context.notebooks, search, finder)
    cortex.scopes.count("recalled", results.memories)
    for note in results.notes:
        output.note(note)
    if as_json:
        output.print_json(serializers.recall_data(results, serializers.folders(cortex)))
    else:
        output.show(_lines(results))
    if not results:
        nothing = f"nothing found for {query!r}; `engramdown list` shows everything"
        process.complain(nothing if query.strip() else "nothing was learned or said in that time")
        raise Exit(REFUSED)


def _finder(place: Place, cortex: Cortex) -> Finder | None:
    """Return a finder for the transcripts of ``engramdown log``, if there are any."""
    root = project_of(place) or home_of(place)
    if not (root / _FOLDER).is_dir():
        return None
    from engramdown.recall import Finder
    from engramdown.storage import Disk
    from engramdown.transcripts import Sessions

    tell_unread(Sessions(root / _FOLDER, Disk()).obstacles())
    return Finder(root, cortex.scopes.settings.episodes)


def _lines(results: Found) -> list[Line]:
    lines = hit_lines(results.memories, results.newer, folded=not process.is_terminal(sys.stdout))
    if results.episodes:
        from engramdown.cli.log_show import found_lines

        lines += found_lines(results.episodes)
    if results.journal or results.working:
        # Imported here: there is seldom any.
        from engramdown.cli import journal

        if results.journal:
            lines += [line((journal.JOURNAL_HEAD, "dim")), *journal.match_lines(results.journal)]
        if results.working:
            lines += [line((journal.NOTES_HEAD, "dim")), *journal.note_lines(results.working)]
    return lines

"""``engramdown log grep``, ``describe`` and ``expand``: from the summaries back to the words.

They are the tools that a model has, and hidden in the help: people have ``log show`` and
``recall``. A summary is found without its session, in the newest one that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import click

from engramdown.cli import commands, log_show, output
from engramdown.cli.access import Transcripts, open_transcripts
from engramdown.cli.layout import Line, clock, line, pick
from engramdown.cli.log_summaries import span, summary_data
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.conversation import EXPAND, GREP, SCOPES, Expanded, Found, Lineage, Track
from engramdown.errors import EngramdownError, StoreError
from engramdown.tokens import estimate_tokens
from engramdown.transcripts import FOLDER, Pointer


def _lookup(transcripts: Transcripts, session: str) -> tuple[Track, Lineage]:
    """Return the view of a session, and what searches it."""
    track = Track(transcripts.memory, session)
    return track, Lineage(track, transcripts.memory, estimate_tokens)


def _lookup_with(transcripts: Transcripts, session: str, gist: str) -> tuple[Track, Lineage]:
    """Return the view of the named session, or of the newest one that has a summary.

    Raises:
        RefusalError: No session has the summary.
        GistNotFoundError: The named session does not have it.
    """
    if session:
        track, lineage = _lookup(transcripts, transcripts.find(session))
        lineage.describe(gist)
        return track, lineage
    folder = transcripts.memory.folder.parent / FOLDER
    for info in reversed(transcripts.sessions.list()):
        # A file that cannot be read hides no other session.
        with suppress(OSError, StoreError):
            if transcripts.disk.find(folder / f"{info.id}.jsonl") is not None:
                track, lineage = _lookup(transcripts, info.id)
                lineage.describe(gist)
                return track, lineage
    raise RefusalError(f"no session has a summary {gist!r}; `engramdown log grep` shows the ids")


@click.command(cls=commands.WordsCommand)
@click.argument("pattern")
@commands.session_argument
@click.option("--scope", "where", type=click.Choice(SCOPES), default=SCOPES[0], show_default=True)
@commands.number_option("At most so many hits.", GREP, "--limit")
@commands.in_scope
def grep(
    place: Place, /, *, pattern: str, session: str, scope: str | None, limit: int, **_: object
) -> None:
    """Find a text in a conversation, the newest first, in messages and in summaries.

    PATTERN is matched literally, ignoring case. SESSION is an id or the beginning of one; without
    it, the session that began last.
    """
    if not pattern.strip():
        raise click.UsageError("the text to look for is empty")
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session)
    # One more, to know whether there are more.
    hits = _lookup(transcripts, name)[1].grep(pattern, commands.given()["where"], limit + 1)
    shown = hits[:limit]
    data = [{**hit._asdict(), "source": _name(name, hit.source)} for hit in shown]
    commands.show([_hit_line(name, hit) for hit in shown], data)
    if len(hits) > limit:
        output.note(f"there are more than {limit:,}; --limit shows more")
    if not hits:
        raise RefusalError(f"not found in {name}; the text is matched literally")


def _of_a_summary(command: commands.Command) -> commands.Command:
    """Add what the commands about one summary share."""
    which = "The session; by default the newest one that has the summary."
    session = commands.session_option(which, default="")
    return click.argument("gist", metavar="SUMMARY")(session(commands.in_scope(command)))


@click.command()
@_of_a_summary
def describe(place: Place, /, *, gist: str, session: str, scope: str | None, **_: object) -> None:
    """Show a summary, and what it was made from.

    SUMMARY is an id, or its beginning: at least four characters.
    """
    track, lineage = _lookup_with(open_transcripts(place, scope), session, gist)
    summary = lineage.describe(gist).gist
    data = {"session": track.session, **summary_data(track, summary)}
    sources = [run if isinstance(run, str) else span(*run) for run in summary.runs]
    facts = [
        ("summary", summary.id),
        ("session", track.session),
        ("form", f"{summary.form}, depth {summary.depth}"),
        ("covers", f"{counted(summary.messages, 'message')}, {span(data['first'], data['last'])}"),
        ("made from", ", ".join(sources)),
        ("tokens", f"{summary.tokens:,} of {summary.source_tokens:,}"),
        ("replaced by", data["derived"]),
    ]
    text = line(summary.text.rstrip("\n"))
    commands.show([*log_show.fact_lines(facts), line(), text], data, output.show_paged)


@click.command()
@_of_a_summary
@click.option("--tokens", type=click.IntRange(1), default=EXPAND, show_default=True, metavar="N")
@click.option("--cursor", default="", metavar="CURSOR", help="Go on where the last answer ended.")
@click.option("--depth", type=click.IntRange(1, 1_000), default=1, show_default=True, metavar="N")
def expand(place: Place, /, *, gist: str, session: str, scope: str | None, **_: object) -> None:
    """Show what a summary covers: messages, or the summaries that it was made from.

    SUMMARY is an id, or its beginning: at least four characters; or SESSION#NUMBER for all of one
    message. --tokens is the most at once, --depth how many levels to go down.
    """
    transcripts = open_transcripts(place, scope)
    prefix, mark, number = gist.rpartition("#")
    if mark and number.isdecimal():
        track, lineage = _lookup(transcripts, transcripts.find(prefix))
        gist = f"{track.session}#{number}"
    else:
        track, lineage = _lookup_with(transcripts, session, gist)
    name, options = track.session, commands.given()
    try:
        expansion = lineage.expand(gist, options["tokens"], options["cursor"], options["depth"])
    except ValueError as error:
        if isinstance(error, EngramdownError):
            raise
        raise click.UsageError(str(error)) from error
    items = [{**item._asdict(), "source": _name(name, item.source)} for item in expansion.items]
    data = {"session": name, "id": expansion.gist, "items": items}
    data |= pick(expansion, "tokens truncated cursor")
    commands.show(_item_lines(name, expansion.items), data, output.show_paged)
    if expansion.truncated and not options["as_json"]:
        size = "" if options["tokens"] == EXPAND else f" --tokens {options['tokens']}"
        output.note(
            f"there is more: `engramdown log expand {expansion.gist} --session {name} --cursor "
            f"{expansion.cursor}{size}`"
        )


def _name(session: str, source: int | str) -> str:
    """Return the pointer of a message, or the id of a summary."""
    return source if isinstance(source, str) else str(Pointer(session, source))


def _item_lines(session: str, items: Iterable[Expanded]) -> Iterator[Line]:
    for number, item in enumerate(items):
        if number:
            yield line()
        part = ("  a part of it" if item.cut else "", "warn")
        yield line(*_heading(session, item), part, hang=2)
        if item.text:
            yield line(item.text.rstrip("\n"), indent=2)


def _hit_line(session: str, hit: Found) -> Line:
    summary = (f"  in {hit.gist}" if hit.gist else "", "dim")
    text = " ".join(hit.snippet.split())
    return line(*_heading(session, hit), summary, "  ", text, hang=4)


def _heading(session: str, item: Expanded | Found) -> list[tuple[str, str]]:
    """Return the place and the time of a message or a summary, and who wrote it."""
    is_summary = isinstance(item.source, str)
    who = f"{item.role} summary" if is_summary else log_show.speaks(item.role, item.name)
    where = (_name(session, item.source), "id" if is_summary else "where")
    try:
        time = clock(item.ts)
    except (ValueError, OverflowError):  # a log may be edited by hand
        time = ""
    return [where, (f"  {time}  ", "dim"), (who, "strong")]

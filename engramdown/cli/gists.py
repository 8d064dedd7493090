"""``engramdown log gists``, ``describe`` and ``expand``: the summaries of a conversation.

Promises: changes nothing; a summary is found without its session, in the newest one that has it;
what could fool a terminal is made visible, and JSON is exact.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import conversation_messages as said
from engramdown.cli import log_show, output, process
from engramdown.cli.access import Transcripts, meant, open_transcripts, settings_at
from engramdown.cli.commands import (
    Command,
    complete_sessions,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, line, table
from engramdown.cli.log_show import fact_lines
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.consolidation.conversation.pressure import Pressure, Thresholds, pressure
from engramdown.cortex.conversation.lineage import (
    EXPAND,
    Expanded,
    Expansion,
    Lineage,
    pointer,
)
from engramdown.cortex.conversation.track import Track
from engramdown.errors import EngramdownError, GistNotFoundError, StoreError
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.summary_log import FOLDER, Gist

_INDENT: Final = 2
_STYLES: Final = ("id",)
_LOG: Final = ".jsonl"


def _of_a_gist(command: Command) -> Command:
    """Add what the commands about one summary share."""
    which = click.option(
        "--session",
        default="",
        metavar="SESSION",
        shell_complete=complete_sessions,
        help="The session; by default the newest one that has the summary.",
    )
    scope = scope_options("The global scope.", "This project (default where there is one).")
    return click.argument("gist", metavar="SUMMARY")(which(scope(json_option(pass_place(command)))))


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def gists(place: Place, /, *, session: str, scope: str | None, as_json: bool) -> None:
    """List the summaries of a conversation, each above those that it was made from.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session)
    track, _ = looking(transcripts, name)
    track.refresh()
    tree = list(_tree(track))
    now = _pressure(place, scope, track)
    if as_json:
        told = [whole_data(track, gist) for _, gist in tree]
        output.print_json({"session": name, **now._asdict(), "gists": told})
    else:
        output.page(output.fast_screen().rows(_tree_lines(track, tree, now)))
    if not tree:
        process.complain(said.no_gists(name))
        raise Exit(REFUSED)


@click.command()
@_of_a_gist
def describe(place: Place, /, *, gist: str, session: str, scope: str | None, as_json: bool) -> None:
    """Show a summary, and what it was made from.

    SUMMARY is an id, or its beginning: four characters at least.
    """
    track, lineage = _with(open_transcripts(place, scope), session, gist)
    found = lineage.describe(gist)
    known = track.fold.gists
    if as_json:
        output.print_json({"session": track.session, **whole_data(track, found.gist)})
        return
    lines, sources = said.span(*_ends(found.gist, known)), _sources(found.gist)
    facts = fact_lines(said.facts(track.session, found, lines, sources))
    output.page(output.fast_screen().rows([*facts, line(), line(found.gist.text.rstrip("\n"))]))


@click.command()
@_of_a_gist
@click.option(
    "--tokens",
    type=click.IntRange(1),
    default=EXPAND,
    show_default=True,
    metavar="N",
    help="About so much of it at once.",
)
@click.option("--cursor", default="", metavar="CURSOR", help="Go on there, as was told.")
@click.option(
    "--depth",
    type=click.IntRange(1, 1_000),
    default=1,
    show_default=True,
    metavar="N",
    help="Go down so many levels; with enough of them, to what was said.",
)
def expand(
    place: Place, /, *, gist: str, session: str, scope: str | None, as_json: bool, **_: object
) -> None:
    """Show what a summary stands for: what was said, or the summaries that it was made from.

    SUMMARY is an id, or its beginning: four characters at least; or SESSION#NUMBER for all of one
    message.
    """
    transcripts = open_transcripts(place, scope)
    wanted, mark, number = gist.rpartition("#")
    if mark and number.isdecimal():
        name = transcripts.find(wanted)
        track, lineage = looking(transcripts, name)
        gist = f"{name}#{number}"
    else:
        track, lineage = _with(transcripts, session, gist)
    chosen = given()
    try:
        found = lineage.expand(gist, chosen["tokens"], chosen["cursor"], chosen["depth"])
    except ValueError as error:
        if isinstance(error, EngramdownError):
            raise
        raise click.UsageError(str(error)) from error
    if as_json:
        output.print_json(_expansion_data(track.session, found))
        return
    output.page(output.fast_screen().rows(_expansion_lines(track.session, found.items)))
    if found.truncated:
        tokens = chosen["tokens"] if chosen["tokens"] != EXPAND else 0
        output.note(said.going_on(track.session, found, tokens))


# ---- where it is ----


def looking(transcripts: Transcripts, session: str) -> tuple[Track, Lineage]:
    """Return the view of a session, and what finds the way back to the words."""
    track = Track(transcripts.memory, session)
    return track, Lineage(track, transcripts.memory, estimate_tokens)


def _with(transcripts: Transcripts, session: str, gist: str) -> tuple[Track, Lineage]:
    """Return a session that has a summary.

    Raises:
        RefusalError: There is none.
    """
    if session:
        names: Sequence[str] = [transcripts.find(session)]
    else:
        names = _sessions_with(transcripts, gist)
    refused = RefusalError(said.no_gist(gist))
    for name in names:
        track, lineage = looking(transcripts, name)
        try:
            lineage.describe(gist)
        except GistNotFoundError as error:
            # Of several sessions it may be another one.
            refused = RefusalError(str(error)) if session else refused
        else:
            return track, lineage
    raise refused


def _sessions_with(transcripts: Transcripts, gist: str) -> list[str]:
    """Return the sessions whose logs name a summary, the newest first."""
    mark = re.compile(rb'"id"\s*:\s*"' + re.escape(gist.encode("utf-8", "replace")))
    folder = transcripts.memory.folder.parent / FOLDER
    logs = {name.removesuffix(_LOG) for name in transcripts.disk.names(folder)}
    found = []
    for session in logs & set(transcripts.sessions.ids()):
        # What is somebody else's in one session's place hides no other.
        with contextlib.suppress(OSError, StoreError):
            info = transcripts.sessions.info(session)
            if info and mark.search(transcripts.disk.load(folder / f"{session}{_LOG}") or b""):
                found.append((info.started, session))
    return [session for _, session in sorted(found, reverse=True)]


def _pressure(place: Place, scope: str | None, track: Track) -> Pressure:
    own, root = meant(place, scope)
    chosen = settings_at(place, root if own == "project" else None).conversation
    thresholds = Thresholds(chosen.max_tokens, chosen.share, chosen.max_messages)
    return pressure(track.items(), thresholds)


# ---- what is shown of it ----


def row_of(gist: Gist, known: Mapping[str, Gist], indent: int = 0) -> tuple[str, ...]:
    """Return a summary as a row of a table."""
    return (
        f"{' ' * indent}{' '.join(gist.id.split())}",
        gist.form,
        str(gist.depth),
        str(gist.messages),
        str(gist.tokens),
        said.span(*_ends(gist, known)),
        said.way(gist),
    )


def gist_data(gist: Gist, known: Mapping[str, Gist]) -> dict[str, Any]:
    """Return a summary as JSON shows it."""
    first, last = _ends(gist, known)
    told = gist._asdict()
    return {**told, "sources": [*gist.runs], "first": first, "last": last}


def whole_data(track: Track, gist: Gist) -> dict[str, Any]:
    """Return a summary of a view as JSON shows it, with what became of it."""
    derived = track.fold.derived.get(gist.id, "")
    known = gist_data(gist, track.fold.gists)
    return {**known, "derived": derived, "in_view": gist.id in track.fold}


def _ends(gist: Gist, known: Mapping[str, Gist]) -> tuple[int, int]:
    """Return the first and the last message that a summary stands for."""
    ends = []
    for at in (0, -1):
        source = gist.sources[at]
        while isinstance(source, str):
            source = known[source].sources[at]
        ends.append(source)
    return ends[0], ends[1]


def _sources(gist: Gist) -> str:
    told = [run if isinstance(run, str) else said.span(*run) for run in gist.runs]
    return ", ".join(told)


def _tree(track: Track) -> Iterator[tuple[int, Gist]]:
    """Yield each summary behind the one that was made from it, with how far down it is."""
    waiting = [(0, source) for source in [*track.fold][::-1]]
    while waiting:
        level, source = waiting.pop()
        if isinstance(source, str):
            gist = track.fold.gists[source]
            yield level, gist
            waiting.extend((level + 1, each) for each in gist.sources[::-1])


def _tree_lines(track: Track, tree: Sequence[tuple[int, Gist]], now: Pressure) -> Iterator[Line]:
    if tree:
        rows = [row_of(gist, track.fold.gists, _INDENT * level) for level, gist in tree]
        yield from table([said.GISTS_HEAD, *rows], _STYLES)
        yield line()
    yield line((said.fullness(now, sum(not level for level, _ in tree)), "dim"))


def _expansion_lines(session: str, items: Sequence[Expanded]) -> Iterator[Line]:
    for number, item in enumerate(items):
        if number:
            yield line()
        yield _head(session, item)
        if item.text:
            yield line(item.text.rstrip("\n"), indent=_INDENT)


def _head(session: str, item: Expanded) -> Line:
    is_summary = isinstance(item.source, str)
    who = said.summary(item.role) if is_summary else log_show.speaks(item.role, item.name)
    return line(
        (pointer(session, item.source), "id" if is_summary else "where"),
        "  ",
        (who, "strong"),
        (f"  {said.when(item.ts)}", "dim"),
        (f"  {said.part()}" if item.cut else "", "warn"),
        hang=_INDENT,
    )


def _expansion_data(session: str, found: Expansion) -> dict[str, Any]:
    return {
        "session": session,
        "id": found.gist,
        "items": [
            {**item._asdict(), "source": pointer(session, item.source)} for item in found.items
        ],
        "tokens": found.tokens,
        "truncated": found.truncated,
        "cursor": found.cursor,
    }

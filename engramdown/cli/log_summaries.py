"""``engramdown log compact``, ``gists``, ``grep``, ``describe`` and ``expand``.

Only ``compact`` changes anything. A summary is found without its session, in the newest one that
has it. On a terminal characters that could fool it are made visible; JSON is exact.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex
from engramdown.cli import access, commands, log_show, messages, output, process
from engramdown.cli.layout import Line, clock, line, pick, table
from engramdown.cli.log_show import fact_lines
from engramdown.cli.messages import counted
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.consolidation import Pressure, Thresholds, pressure
from engramdown.conversation import (
    EXPAND,
    GREP,
    MODES,
    SCOPES,
    Compacted,
    Conversation,
    Expanded,
    Expansion,
    Found,
    Lineage,
    Track,
    pointer,
)
from engramdown.errors import EngramdownError, GistNotFoundError, StoreError
from engramdown.tokens import estimate_tokens
from engramdown.transcripts import FOLDER, Gist

if TYPE_CHECKING:
    from engramdown.conversation import Described


_INDENT: Final = 2
_STYLES: Final = ("id",)
_LOG: Final = ".jsonl"


def _of_a_gist(command: commands.Command) -> commands.Command:
    """Add what the commands about one summary share."""
    which = click.option(
        "--session",
        default="",
        metavar="SESSION",
        shell_complete=commands.complete_sessions,
        help="The session; by default the newest one that has the summary.",
    )
    scope = commands.scope_options(
        "The global scope.", "This project (default where there is one)."
    )
    return click.argument("gist", metavar="SUMMARY")(
        which(scope(commands.json_option(commands.pass_place(command))))
    )


@click.command()
@commands.session_argument
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
def gists(place: Place, /, *, session: str, scope: str | None, as_json: bool) -> None:
    """List the summaries of a conversation, each above those that it was made from.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = access.open_transcripts(place, scope)
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
        process.complain(no_gists(name))
        raise Exit(REFUSED)


@click.command()
@_of_a_gist
def describe(place: Place, /, *, gist: str, session: str, scope: str | None, as_json: bool) -> None:
    """Show a summary, and what it was made from.

    SUMMARY is an id, or its beginning: four characters at least.
    """
    track, lineage = _with(access.open_transcripts(place, scope), session, gist)
    found = lineage.describe(gist)
    known = track.fold.gists
    if as_json:
        output.print_json({"session": track.session, **whole_data(track, found.gist)})
        return
    lines, sources = span(*_ends(found.gist, known)), _sources(found.gist)
    facts = fact_lines(summary_facts(track.session, found, lines, sources))
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
    transcripts = access.open_transcripts(place, scope)
    wanted, mark, number = gist.rpartition("#")
    if mark and number.isdecimal():
        name = transcripts.find(wanted)
        track, lineage = looking(transcripts, name)
        gist = f"{name}#{number}"
    else:
        track, lineage = _with(transcripts, session, gist)
    chosen = commands.given()
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
        output.note(going_on(track.session, found, tokens))


# ---- where it is ----


def looking(transcripts: access.Transcripts, session: str) -> tuple[Track, Lineage]:
    """Return the view of a session, and what finds the way back to the words."""
    track = Track(transcripts.memory, session)
    return track, Lineage(track, transcripts.memory, estimate_tokens)


def _with(transcripts: access.Transcripts, session: str, gist: str) -> tuple[Track, Lineage]:
    """Return a session that has a summary.

    Raises:
        RefusalError: There is none.
    """
    if session:
        names: Sequence[str] = [transcripts.find(session)]
    else:
        names = _sessions_with(transcripts, gist)
    refused = RefusalError(no_gist(gist))
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


def _sessions_with(transcripts: access.Transcripts, gist: str) -> list[str]:
    """Return the sessions whose logs name a summary, the newest first."""
    mark = re.compile(rb'"id"\s*:\s*"' + re.escape(gist.encode("utf-8", "replace")))
    folder = transcripts.memory.folder.parent / FOLDER
    logs = {name.removesuffix(_LOG) for name in transcripts.disk.files(folder)}
    found = []
    for session in logs & set(transcripts.sessions.ids()):
        # What is somebody else's in one session's place hides no other.
        with contextlib.suppress(OSError, StoreError):
            info = transcripts.sessions.info(session)
            if info and mark.search(transcripts.disk.load(folder / f"{session}{_LOG}") or b""):
                found.append((info.started, session))
    return [session for _, session in sorted(found, reverse=True)]


def _pressure(place: Place, scope: str | None, track: Track) -> Pressure:
    own, root = access.meant(place, scope)
    chosen = access.settings_at(place, root if own == "project" else None).conversation
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
        span(*_ends(gist, known)),
        way(gist),
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
    told = [run if isinstance(run, str) else span(*run) for run in gist.runs]
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
        yield from table([GISTS_HEAD, *rows], _STYLES)
        yield line()
    yield line((fullness(now, sum(not level for level, _ in tree)), "dim"))


def _expansion_lines(session: str, items: Sequence[Expanded]) -> Iterator[Line]:
    for number, item in enumerate(items):
        if number:
            yield line()
        yield _head(session, item)
        if item.text:
            yield line(item.text.rstrip("\n"), indent=_INDENT)


def _head(session: str, item: Expanded) -> Line:
    is_summary = isinstance(item.source, str)
    who = summary(item.role) if is_summary else log_show.speaks(item.role, item.name)
    return line(
        (pointer(session, item.source), "id" if is_summary else "where"),
        "  ",
        (who, "strong"),
        (f"  {when(item.ts)}", "dim"),
        (f"  {part()}" if item.cut else "", "warn"),
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


_HANG: Final = 4


@click.command(cls=commands.WordsCommand)
@click.argument("pattern")
@commands.session_argument
@click.option(
    "--scope",
    "where",
    type=click.Choice(SCOPES),
    default=SCOPES[0],
    show_default=True,
    help="Where to look.",
)
@commands.number_option("At most so many hits.", GREP, "--limit")
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
def grep(
    place: Place, /, *, pattern: str, session: str, scope: str | None, as_json: bool, **_: object
) -> None:
    """Find a text in a conversation, the newest first; also where a summary stands for it.

    PATTERN is looked for as it stands, capitals or not. SESSION is an id or the beginning of one;
    without it, the session that began last. `engramdown recall` looks into all sessions.
    """
    if not pattern.strip():
        raise click.UsageError(NO_PATTERN)
    transcripts = access.open_transcripts(place, scope)
    name = transcripts.find(session)
    lineage = looking(transcripts, name)[1]
    chosen = commands.given()
    # One more, to know whether there are more.
    found = lineage.grep(pattern, chosen["where"], chosen["limit"] + 1)
    hits = found[: chosen["limit"]]
    if as_json:
        output.print_json([_data(name, hit) for hit in hits])
    else:
        output.fast_screen().show([_line(name, hit) for hit in hits])
    if len(found) > len(hits):
        output.note(more_hits(len(hits)))
    if not hits:
        process.complain(no_hits(name))
        raise Exit(REFUSED)


def _line(session: str, hit: Found) -> Line:
    is_summary = isinstance(hit.source, str)
    who = summary(hit.role) if is_summary else log_show.speaks(hit.role, hit.name)
    return line(
        (pointer(session, hit.source), "id" if is_summary else "where"),
        (f"  {when(hit.ts)}  ", "dim"),
        (who, "strong"),
        (f"  {covered(hit.gist)}" if hit.gist else "", "dim"),
        "  ",
        " ".join(hit.snippet.split()),
        hang=_HANG,
    )


def _data(session: str, hit: Found) -> dict[str, Any]:
    return {**hit._asdict(), "source": pointer(session, hit.source)}


# What is known of a summary before it is written.
_PLANNED: Final = (
    *("form", "depth", "messages", "source_tokens", "tokens", "first", "last"),
    *("earliest", "latest"),
)


@click.command()
@commands.session_argument
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="One round, as many as help, or one text for somebody who has not read it.",
)
@click.option("--without-model", is_flag=True, help="By rules; ask no model.")
@click.option(
    "--tail", type=click.IntRange(0), metavar="N", help="Leave the newest N messages alone."
)
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@click.option("--dry-run", is_flag=True, help="Change nothing; tell what would be summarised.")
@commands.pass_place
def compact(
    place: Place, /, *, session: str, scope: str | None, as_json: bool, dry_run: bool, **_: object
) -> None:
    """Summarise what is older than the newest messages, whether it is time for that or not.

    Shows the summaries that it wrote.

    SESSION is an id or the beginning of one; without it, the session that runs. What was said
    stays: `engramdown log expand` and `engramdown log grep` find it.
    """
    transcripts = access.open_transcripts(place, scope)
    name = transcripts.find(session) if session else _running(transcripts)
    cortex = access.open_cortex(place)
    notebooks = cortex.context.notebooks
    conversation = Conversation(cortex.scopes, transcripts.memory, notebooks, name)
    chosen = commands.given()
    if dry_run:
        done = conversation.rehearse(chosen["mode"], tail=chosen["tail"])
    else:
        by_rules = chosen["without_model"]
        if not by_rules:
            _tell_model(cortex)
        done = conversation.compact(chosen["mode"], without_model=by_rules, tail=chosen["tail"])
    known = {gist.id: gist for gist in (*conversation.gists, *done.gists)}
    if as_json:
        if dry_run:
            told = [_planned_data(gist, known) for gist in done.gists]
        else:
            told = [whole_data(conversation.track, gist) for gist in done.gists]
        output.print_json({"session": name, "dry_run": dry_run, **_compacted_data(done, told)})
    else:
        output.fast_screen().show(_lines(done, known, dry_run=dry_run))
    if done.lost:
        output.note(lost(done.lost))
    if not done.gists:
        process.complain(f"{name}: {done.reason}")
        raise Exit(REFUSED)


def _running(transcripts: access.Transcripts) -> str:
    found = transcripts.running()
    if found is None:
        raise RefusalError(access.NONE_RUNS)
    return found.id


def _tell_model(cortex: Cortex) -> None:
    """Say which model is asked, as it will take a while.

    Raises:
        RefusalError: There is none.
    """
    model = cortex.scopes.model or cortex.scopes.settings.consolidation.model
    if not model:
        raise RefusalError(NO_MODEL)
    output.note(thinks(model if isinstance(model, str) else type(model).__name__))


def _lines(done: Compacted, known: Mapping[str, Gist], *, dry_run: bool) -> Iterator[Line]:
    if dry_run:
        yield line((messages.DRY_RUN, "warn"))
    if not done.gists:
        return
    if dry_run:
        yield line(planned(done))
        rows = [_planned_row(gist, known) for gist in done.gists]
        yield from table([PLANNED_HEAD, *rows])
    else:
        yield line(summarised(done))
        rows = [row_of(gist, known) for gist in done.gists]
        yield from table([GISTS_HEAD, *rows], _STYLES)
        for gist in done.gists:
            yield line()
            if done.gists[1:]:
                yield line((gist.id, "id"))
            yield line(gist.text.rstrip("\n"))


def _planned_row(gist: Gist, known: Mapping[str, Gist]) -> tuple[str, ...]:
    _, form, depth, count, tokens, lines, _ = row_of(gist, known)
    return form, depth, count, str(gist.source_tokens), tokens, lines


def _planned_data(gist: Gist, known: Mapping[str, Gist]) -> dict[str, Any]:
    told = gist_data(gist, known)
    return {key: told[key] for key in _PLANNED}


def _compacted_data(done: Compacted, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "mode": done.mode,
        "gists": told,
        **pick(done, "messages tokens_before tokens_after rounds lost reload_required reason"),
    }


GISTS_HEAD: Final = ("summary", "form", "depth", "messages", "tokens", "lines", "how")
PLANNED_HEAD: Final = ("form", "depth", "messages", "tokens", "at most", "lines")
NO_MODEL: Final = (
    "no model is set to summarise with; --without-model does it by rules, or name a model as "
    "`model` under [consolidation] in the global scope's config.toml"
)
NO_PATTERN: Final = "the text to look for is empty"
_WAYS: Final = {
    "normal": "",
    "aggressive": "asked twice",
    "cut": "cut",
    "extractive": "without a model",
}


def thinks(model: str) -> str:
    """Say who is about to be asked.

    >>> thinks("ollama/small")
    'ollama/small writes the summaries; this may take a while'
    """
    return f"{model} writes the summaries; this may take a while"


# ---- what came of it ----


def summarised(done: Compacted) -> str:
    """Say what was summarised."""
    return f"Wrote {_written(done)}: {done.tokens_before:,} tokens are now {done.tokens_after:,}."


def planned(done: Compacted) -> str:
    """Say what would be summarised."""
    before, after = f"{done.tokens_before:,}", f"{done.tokens_after:,}"
    return f"Would write {_written(done)}: {before} tokens would be {after} at most."


def lost(count: int) -> str:
    """Say that somebody else was faster."""
    was = "1 summary was" if count == 1 else f"{count:,} summaries were"
    return f"{was} dropped: somebody else summarised the same meanwhile"


# ---- how full it is ----


def fullness(now: Pressure, summaries: int) -> str:
    """Say how full a conversation is, and when it is time to summarise it."""
    count = f"{counted(summaries, 'summary', 'summaries')} and " if summaries else ""
    shown = f"A model sees {count}{_messages(now.messages)}: {now.tokens:,} tokens"
    if now.limit < 0:
        return f"{shown}. Nothing is summarised unless somebody asks."
    if now.due:
        return f"{shown}. It is time to summarise: {now.reason}."
    most = f", or with {_messages(now.most)}" if now.most else ""
    return f"{shown}. It is time to summarise above {now.limit:,} tokens{most}."


def no_gists(session: str) -> str:
    """Say that a conversation has no summaries."""
    return f"no summary of {session}; `engramdown log compact {session}` writes one"


def way(gist: Gist) -> str:
    """Say how a summary came about, where that is worth a word."""
    return _WAYS[gist.level]


# ---- one summary ----


def span(first: int, last: int) -> str:
    """Name the lines that a summary stands for.

    >>> span(1, 20), span(4, 4)
    ('#1-20', '#4')
    """
    return f"#{first}" if first == last else f"#{first}-{last}"


def summary_facts(
    session: str, known: Described, lines: str, sources: str
) -> list[tuple[str, str]]:
    """Return what is known of a summary, name and value."""
    gist = known.gist
    return [
        ("summary", gist.id),
        ("session", session),
        ("form", f"{gist.form}, depth {gist.depth}"),
        ("stands for", f"{_messages(gist.messages)}, {session}{lines}"),
        ("said", " to ".join(filter(None, map(when, (gist.earliest, gist.latest))))),
        ("made from", sources),
        ("written", when(gist.ts)),
        ("by", ", ".join(filter(None, (gist.model, way(gist))))),
        ("tokens", f"{gist.tokens:,} of {gist.source_tokens:,}"),
        ("shown", "to the model, as it is" if known.in_view else f"not: {known.derived} is"),
    ]


def when(ts: str) -> str:
    """Return a moment by the person's clock, or ``""`` if it is none: anybody may edit a log.

    >>> when("")
    ''
    """
    try:
        return clock(ts)
    except (ValueError, OverflowError):
        return ""


def summary(form: str) -> str:
    """Name a summary by its form.

    >>> summary("leaf")
    'leaf summary'
    """
    return f"{form} summary"


def part() -> str:
    """Say that a text is not all, or not from the beginning."""
    return "a part of it"


def going_on(session: str, found: Expansion, tokens: int) -> str:
    """Say how to read on."""
    room = f" --tokens {tokens}" if tokens else ""
    return (
        f"there is more: `engramdown log expand {found.gist} --session {session} "
        f"--cursor {found.cursor}{room}`"
    )


def no_gist(wanted: str) -> str:
    """Say that no session has such a summary."""
    return f"no session has a summary {wanted!r}; `engramdown log gists SESSION` lists the ids"


# ---- finding ----


def covered(gist: str) -> str:
    """Say which summary stands for a message, or was made from another one."""
    return f"in {gist}"


def no_hits(session: str) -> str:
    """Say that a text was not found."""
    return f"not found in {session}; the very text is looked for, without wildcards"


def more_hits(count: int) -> str:
    """Say that there are more hits than were asked for."""
    return f"there are more than {count:,}; --limit shows more"


def _written(done: Compacted) -> str:
    of = _messages(done.messages) if done.messages else "what was summarised before"
    return f"{counted(len(done.gists), 'summary', 'summaries')} of {of}"


def _messages(number: int) -> str:
    return counted(number, "message", "messages")

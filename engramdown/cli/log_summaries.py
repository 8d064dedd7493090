"""``engramdown log compact``, ``gists``, ``grep``, ``describe`` and ``expand``.

Only ``compact`` changes anything. A summary is found without its session, in the newest one that
has it. On a terminal characters that could fool it are made visible; JSON is exact.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import access, commands, log_show, output, process, views
from engramdown.cli.layout import Line, clock, line, pick, table
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.consolidation import Pressure, Thresholds, pressure
from engramdown.conversation import (
    EXPAND,
    GREP,
    MODES,
    SCOPES,
    Compacted,
    Conversation,
    Expanded,
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
_HANG: Final = 4
_STYLES: Final = ("id",)
_LOG: Final = ".jsonl"
_GISTS_HEAD: Final = ("summary", "form", "depth", "messages", "tokens", "lines", "how")
_PLANNED_HEAD: Final = ("form", "depth", "messages", "tokens", "at most", "lines")
# What is known of a summary before it is written.
_PLANNED: Final = (
    *("form", "depth", "messages", "source_tokens", "tokens", "first", "last"),
    *("earliest", "latest"),
)
_WAYS: Final = {
    "normal": "",
    "aggressive": "asked twice",
    "cut": "cut",
    "extractive": "without a model",
}


# ---- which summary ----


def _of_a_gist(command: commands.Command) -> commands.Command:
    """Add what the commands about one summary share."""
    which = commands.session_option(
        "The session; by default the newest one that has the summary.", default=""
    )
    return click.argument("gist", metavar="SUMMARY")(which(commands.in_scope(command)))


def _open_view(transcripts: access.Transcripts, session: str) -> tuple[Track, Lineage]:
    """Return the view of a session, and what finds the way back to the words."""
    track = Track(transcripts.memory, session)
    return track, Lineage(track, transcripts.memory, estimate_tokens)


def _with(transcripts: access.Transcripts, session: str, gist: str) -> tuple[Track, Lineage]:
    """Return a session that has a summary.

    Raises:
        RefusalError: There is none.
    """
    names = [transcripts.find(session)] if session else _sessions_with(transcripts, gist)
    refused = RefusalError(
        f"no session has a summary {gist!r}; `engramdown log gists SESSION` lists the ids"
    )
    for name in names:
        track, lineage = _open_view(transcripts, name)
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


# ---- the list ----


@click.command()
@commands.session_argument
@commands.in_scope
def gists(place: Place, /, *, session: str, scope: str | None, **_: object) -> None:
    """List the summaries of a conversation, each above those that it was made from.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = access.open_transcripts(place, scope)
    name = transcripts.find(session)
    track, _lineage = _open_view(transcripts, name)
    track.refresh()
    tree = list(_tree(track))
    own, root = access.meant(place, scope)
    chosen = access.settings_at(place, root if own == "project" else None).conversation
    thresholds = Thresholds(chosen.max_tokens, chosen.share, chosen.max_messages)
    now = pressure(track.items(), thresholds)
    found = [_whole_data(track, gist) for _, gist in tree]
    data = {"session": name, **now._asdict(), "gists": found}
    commands.show(_tree_lines(track, tree, now), data, output.show_paged)
    if not tree:
        raise RefusalError(f"no summary of {name}; `engramdown log compact {name}` writes one")


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
        rows = [_row_of(gist, track.fold.gists, _INDENT * level) for level, gist in tree]
        yield from table([_GISTS_HEAD, *rows], _STYLES)
        yield line()
    summaries = sum(not level for level, _ in tree)
    count = f"{counted(summaries, 'summary', 'summaries')} and " if summaries else ""
    shown = f"A model sees {count}{counted(now.messages, 'message')}: {now.tokens:,} tokens"
    if now.limit < 0:
        when_due = "Nothing is summarised unless somebody asks"
    elif now.due:
        when_due = f"It is time to summarise: {now.reason}"
    else:
        most = f", or with {counted(now.most, 'message')}" if now.most else ""
        when_due = f"It is time to summarise above {now.limit:,} tokens{most}"
    yield line((f"{shown}. {when_due}.", "dim"))


def _row_of(gist: Gist, known: Mapping[str, Gist], indent: int = 0) -> tuple[str, ...]:
    return (
        f"{' ' * indent}{' '.join(gist.id.split())}",
        gist.form,
        *map(str, (gist.depth, gist.messages, gist.tokens)),
        _span(*_ends(gist, known)),
        _WAYS[gist.level],
    )


def _gist_data(gist: Gist, known: Mapping[str, Gist]) -> dict[str, Any]:
    """Return a summary as JSON shows it."""
    first, last = _ends(gist, known)
    return {**gist._asdict(), "sources": [*gist.runs], "first": first, "last": last}


def _whole_data(track: Track, gist: Gist) -> dict[str, Any]:
    """Return a summary of a view as JSON shows it, with what became of it."""
    derived = track.fold.derived.get(gist.id, "")
    known = _gist_data(gist, track.fold.gists)
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


def _span(first: int, last: int) -> str:
    return f"#{first}" if first == last else f"#{first}-{last}"


def _when(ts: str) -> str:
    """Return a moment by the person's clock, or ``""`` if it is none: anybody may edit a log."""
    try:
        return clock(ts)
    except (ValueError, OverflowError):
        return ""


# ---- one summary ----


@click.command()
@_of_a_gist
def describe(place: Place, /, *, gist: str, session: str, scope: str | None, **_: object) -> None:
    """Show a summary, and what it was made from.

    SUMMARY is an id, or its beginning: four characters at least.
    """
    track, lineage = _with(access.open_transcripts(place, scope), session, gist)
    found = lineage.describe(gist)
    data = {"session": track.session, **_whole_data(track, found.gist)}
    commands.show(_description(track, found), data, output.show_paged)


def _description(track: Track, found: Described) -> list[Line]:
    gist = found.gist
    lines = _span(*_ends(gist, track.fold.gists))
    sources = [run if isinstance(run, str) else _span(*run) for run in gist.runs]
    facts = [
        ("summary", gist.id),
        ("session", track.session),
        ("form", f"{gist.form}, depth {gist.depth}"),
        ("stands for", f"{counted(gist.messages, 'message')}, {track.session}{lines}"),
        ("said", " to ".join(filter(None, map(_when, (gist.earliest, gist.latest))))),
        ("made from", ", ".join(sources)),
        ("written", _when(gist.ts)),
        ("by", ", ".join(filter(None, (gist.model, _WAYS[gist.level])))),
        ("tokens", f"{gist.tokens:,} of {gist.source_tokens:,}"),
        ("shown", "to the model, as it is" if found.in_view else f"not: {found.derived} is"),
    ]
    return [*log_show.fact_lines(facts), line(), line(gist.text.rstrip("\n"))]


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
def expand(place: Place, /, *, gist: str, session: str, scope: str | None, **_: object) -> None:
    """Show what a summary stands for: what was said, or the summaries that it was made from.

    SUMMARY is an id, or its beginning: four characters at least; or SESSION#NUMBER for all of one
    message.
    """
    transcripts = access.open_transcripts(place, scope)
    wanted, mark, number = gist.rpartition("#")
    if mark and number.isdecimal():
        track, lineage = _open_view(transcripts, transcripts.find(wanted))
        gist = f"{track.session}#{number}"
    else:
        track, lineage = _with(transcripts, session, gist)
    chosen = commands.given()
    try:
        found = lineage.expand(gist, chosen["tokens"], chosen["cursor"], chosen["depth"])
    except ValueError as error:
        if isinstance(error, EngramdownError):
            raise
        raise click.UsageError(str(error)) from error
    items = [
        {**item._asdict(), "source": pointer(track.session, item.source)} for item in found.items
    ]
    data = {"session": track.session, "id": found.gist, "items": items}
    data |= pick(found, "tokens truncated cursor")
    commands.show(_expansion_lines(track.session, found.items), data, output.show_paged)
    if found.truncated and not chosen["as_json"]:
        room = "" if chosen["tokens"] == EXPAND else f" --tokens {chosen['tokens']}"
        output.note(
            f"there is more: `engramdown log expand {found.gist} --session {track.session} "
            f"--cursor {found.cursor}{room}`"
        )


def _expansion_lines(session: str, items: Iterable[Expanded]) -> Iterator[Line]:
    for number, item in enumerate(items):
        if number:
            yield line()
        where, who = _said_where(session, item)
        yield line(
            where,
            "  ",
            who,
            (f"  {_when(item.ts)}", "dim"),
            ("  a part of it" if item.cut else "", "warn"),
            hang=_INDENT,
        )
        if item.text:
            yield line(item.text.rstrip("\n"), indent=_INDENT)


def _said_where(session: str, item: Expanded | Found) -> list[tuple[str, str]]:
    """Return where a message or a summary stands, and who said it, or its form."""
    is_summary = isinstance(item.source, str)
    who = f"{item.role} summary" if is_summary else log_show.speaks(item.role, item.name)
    where = pointer(session, item.source)
    return [(where, "id" if is_summary else "where"), (who, "strong")]


# ---- finding ----


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
@commands.in_scope
def grep(
    place: Place, /, *, pattern: str, session: str, scope: str | None, limit: int, **_: object
) -> None:
    """Find a text in a conversation, the newest first; also where a summary stands for it.

    PATTERN is looked for as it stands, capitals or not. SESSION is an id or the beginning of one;
    without it, the session that began last. `engramdown recall` looks into all sessions.
    """
    if not pattern.strip():
        raise click.UsageError("the text to look for is empty")
    transcripts = access.open_transcripts(place, scope)
    name = transcripts.find(session)
    _track, lineage = _open_view(transcripts, name)
    # One more, to know whether there are more.
    found = lineage.grep(pattern, commands.given()["where"], limit + 1)
    hits = found[:limit]
    data = [{**hit._asdict(), "source": pointer(name, hit.source)} for hit in hits]
    commands.show([_hit_line(name, hit) for hit in hits], data)
    if len(found) > len(hits):
        output.note(f"there are more than {len(hits):,}; --limit shows more")
    if not hits:
        raise RefusalError(f"not found in {name}; the very text is looked for, without wildcards")


def _hit_line(session: str, hit: Found) -> Line:
    where, who = _said_where(session, hit)
    summarised_in = (f"  in {hit.gist}" if hit.gist else "", "dim")
    text = " ".join(hit.snippet.split())
    return line(where, (f"  {_when(hit.ts)}  ", "dim"), who, summarised_in, "  ", text, hang=_HANG)


# ---- summarising ----


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
@commands.here_options
@commands.json_option
@click.option("--dry-run", is_flag=True, help="Change nothing; tell what would be summarised.")
@commands.pass_place
def compact(
    place: Place, /, *, session: str, scope: str | None, dry_run: bool, **_: object
) -> None:
    """Summarise what is older than the newest messages, whether it is time for that or not.

    Shows the summaries that it wrote.

    SESSION is an id or the beginning of one; without it, the session that runs. What was said
    stays: `engramdown log expand` and `engramdown log grep` find it.
    """
    transcripts = access.open_transcripts(place, scope)
    name = transcripts.find_or_current(session)
    cortex = access.open_cortex(place)
    notebooks = cortex.context.notebooks
    conversation = Conversation(cortex.scopes, transcripts.memory, notebooks, name)
    mode, tail, by_rules = (commands.given()[name] for name in ("mode", "tail", "without_model"))
    if dry_run:
        done = conversation.rehearse(mode, tail=tail)
    else:
        if not by_rules:
            # Said before, as it will take a while.
            model = cortex.scopes.model or cortex.scopes.settings.consolidation.model
            if not model:
                raise RefusalError(
                    "no model is set to summarise with; --without-model does it by rules, or name "
                    "a model as `model` under [consolidation] in the global scope's config.toml"
                )
            output.note(thinks(model if isinstance(model, str) else type(model).__name__))
        done = conversation.compact(mode, without_model=by_rules, tail=tail)
    known = {gist.id: gist for gist in (*conversation.gists, *done.gists)}
    if dry_run:
        planned = [_gist_data(gist, known) for gist in done.gists]
        written = [{key: gist[key] for key in _PLANNED} for gist in planned]
    else:
        written = [_whole_data(conversation.track, gist) for gist in done.gists]
    data = {"session": name, "dry_run": dry_run, "mode": done.mode, "gists": written}
    data |= pick(done, "messages tokens_before tokens_after rounds lost reload_required reason")
    commands.show(_compacted_lines(done, known, dry_run=dry_run), data)
    if done.lost:
        was = "1 summary was" if done.lost == 1 else f"{done.lost:,} summaries were"
        output.note(f"{was} dropped: somebody else summarised the same meanwhile")
    if not done.gists:
        process.complain(f"{name}: {done.reason}")
        raise Exit(REFUSED)


def _compacted_lines(
    done: Compacted, known: Mapping[str, Gist], *, dry_run: bool
) -> Iterator[Line]:
    if dry_run:
        yield line((views.DRY_RUN, "warn"))
    if not done.gists:
        return
    rows = [_row_of(gist, known) for gist in done.gists]
    if dry_run:
        before, after = f"{done.tokens_before:,}", f"{done.tokens_after:,}"
        yield line(f"Would write {_written(done)}: {before} tokens would be {after} at most.")
        planned = [
            (form, depth, count, str(gist.source_tokens), tokens, lines)
            for gist, (_, form, depth, count, tokens, lines, _) in zip(
                done.gists, rows, strict=True
            )
        ]
        yield from table([_PLANNED_HEAD, *planned])
        return
    yield line(summarised(done))
    yield from table([_GISTS_HEAD, *rows], _STYLES)
    for gist in done.gists:
        yield line()
        if done.gists[1:]:
            yield line((gist.id, "id"))
        yield line(gist.text.rstrip("\n"))


def thinks(model: str) -> str:
    """Say who is about to be asked.

    >>> thinks("ollama/small")
    'ollama/small writes the summaries; this may take a while'
    """
    return f"{model} writes the summaries; this may take a while"


def summarised(done: Compacted) -> str:
    """Say what was summarised."""
    return f"Wrote {_written(done)}: {done.tokens_before:,} tokens are now {done.tokens_after:,}."


def _written(done: Compacted) -> str:
    of = counted(done.messages, "message") if done.messages else "what was summarised before"
    return f"{counted(len(done.gists), 'summary', 'summaries')} of {of}"

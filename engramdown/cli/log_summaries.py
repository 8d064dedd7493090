"""``engramdown log compact``, ``grep``, ``describe``, ``expand``: summaries, and back to the words.

The last three are the tools that a model has, and hidden in the help: people have ``log show`` and
``recall``. A summary is found without its session, in the newest one that has it. On a terminal,
characters that could mislead it are made visible; JSON is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown.cli import commands, log_show, output, process
from engramdown.cli.access import Transcripts, open_cortex, open_transcripts
from engramdown.cli.layout import Line, clock, line, table
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import counted
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
    ends,
)
from engramdown.errors import EngramdownError, StoreError
from engramdown.transcripts import FOLDER, Gist

_HEAD: Final = ("summary", "form", "depth", "messages", "tokens", "lines", "how")
_WAYS: Final = {
    "normal": "",
    "aggressive": "asked twice",
    "cut": "cut",
    "extractive": "without a model",
}


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
@click.option("--dry-run", is_flag=True, help="Change nothing; say what would be summarised.")
@commands.in_scope
def compact(
    place: Place, /, *, session: str, scope: str | None, dry_run: bool, **_: object
) -> None:
    """Summarise all but the newest messages, whether a summary is due or not.

    Shows the summaries that it wrote.

    SESSION is an id or the beginning of one; without it, the session that runs. What was said
    stays: `engramdown log show` and `engramdown recall` find it.
    """
    transcripts = open_transcripts(place, scope)
    name = transcripts.find_or_current(session)
    cortex = open_cortex(place)
    conversation = Conversation(cortex.context, transcripts.memory, name)
    mode, tail, by_rules = (commands.given()[name] for name in ("mode", "tail", "without_model"))
    if not (dry_run or by_rules):
        model = cortex.scopes.model or cortex.scopes.settings.consolidation.model
        if not model:
            raise RefusalError(
                "no model is set to summarise with; --without-model does it by rules, or name "
                "a model as `model` under [consolidation] in the global scope's config.toml"
            )
        writer = model if isinstance(model, str) else type(model).__name__
        output.note(f"{writer} writes the summaries; this may take a while")
    done = conversation.compact(mode, without_model=by_rules, tail=tail, dry_run=dry_run)
    known = {gist.id: gist for gist in (*conversation.gists, *done.gists)}
    data = serializers.compacted_data(conversation.track, done, known, dry_run=dry_run)
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
    before, after = f"{done.tokens_before:,}", f"{done.tokens_after:,}"
    if dry_run:
        if done.gists:
            yield line(f"Would write {_written(done)}: {before} tokens would be {after} at most.")
        return
    if not done.gists:
        return
    yield line(f"Wrote {_written(done)}: {before} tokens are now {after}.")
    yield from table([_HEAD, *(_row_of(gist, known) for gist in done.gists)], ("id",))
    for gist in done.gists:
        yield line()
        if done.gists[1:]:
            yield line((gist.id, "id"))
        yield line(gist.text.rstrip("\n"))


def _row_of(gist: Gist, known: Mapping[str, Gist]) -> tuple[str, ...]:
    numbers = map(str, (gist.depth, gist.messages, gist.tokens))
    return (gist.id, gist.form, *numbers, _span(*ends(known, gist.id)), _WAYS[gist.level])


def _span(first: int, last: int) -> str:
    """Return the numbers of the messages from one to another."""
    return f"#{first}" if first == last else f"#{first}-{last}"


def _written(done: Compacted) -> str:
    of = counted(done.messages, "message") if done.messages else "what was summarised before"
    return f"{counted(len(done.gists), 'summary', 'summaries')} of {of}"


# ---- back to the words ----


def _lookup(transcripts: Transcripts, session: str) -> tuple[Track, Lineage]:
    """Return the view of a session, and what searches it."""
    track = Track(transcripts.memory, session)
    return track, Lineage(track, transcripts.memory)


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
    data = [serializers.source_data(name, hit) for hit in shown]
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
    data = {"session": track.session, **serializers.gist_data(track, summary)}
    sources = [run if isinstance(run, str) else _span(*run) for run in summary.runs]
    facts = [
        ("summary", summary.id),
        ("session", track.session),
        ("form", f"{summary.form}, depth {summary.depth}"),
        ("covers", f"{counted(summary.messages, 'message')}, {_span(data['first'], data['last'])}"),
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
    data = serializers.expansion_data(name, expansion)
    commands.show(_item_lines(name, expansion.items), data, output.show_paged)
    if expansion.truncated and not options["as_json"]:
        size = "" if options["tokens"] == EXPAND else f" --tokens {options['tokens']}"
        output.note(
            f"there is more: `engramdown log expand {expansion.gist} --session {name} --cursor "
            f"{expansion.cursor}{size}`"
        )


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
    where = (serializers.source_name(session, item.source), "id" if is_summary else "where")
    return [where, (f"  {clock(item.ts)}  ", "dim"), (who, "strong")]

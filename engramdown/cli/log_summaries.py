"""``engramdown log compact``: summarises the older part of a conversation.

On a terminal, characters that could mislead it are made visible; JSON is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import access, commands, output, process
from engramdown.cli.layout import Line, line, pick, table
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.conversation import MODES, Compacted, Conversation, Track, ends
from engramdown.transcripts import Gist

_HEAD: Final = ("summary", "form", "depth", "messages", "tokens", "lines", "how")
# The facts of a summary that is not written yet.
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
    transcripts = access.open_transcripts(place, scope)
    name = transcripts.find_or_current(session)
    cortex = access.open_cortex(place)
    notebooks = cortex.context.notebooks
    conversation = Conversation(cortex.scopes, transcripts.memory, notebooks, name)
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
    if dry_run:
        planned = [_gist_data(gist, known) for gist in done.gists]
        written = [{key: gist[key] for key in _PLANNED} for gist in planned]
    else:
        written = [summary_data(conversation.track, gist) for gist in done.gists]
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
    return (gist.id, gist.form, *numbers, span(*ends(known, gist.id)), _WAYS[gist.level])


def _gist_data(gist: Gist, known: Mapping[str, Gist]) -> dict[str, Any]:
    """Return a summary as JSON shows it."""
    first, last = ends(known, gist.id)
    return {**gist._asdict(), "sources": [*gist.runs], "first": first, "last": last}


def summary_data(track: Track, gist: Gist) -> dict[str, Any]:
    """Return a summary that was written, and whether the conversation shows it."""
    derived = track.fold.derived.get(gist.id, "")
    data = _gist_data(gist, track.fold.gists)
    return {**data, "derived": derived, "in_view": gist.id in track.fold}


def span(first: int, last: int) -> str:
    """Return the numbers of the messages from one to another."""
    return f"#{first}" if first == last else f"#{first}-{last}"


def _written(done: Compacted) -> str:
    of = counted(done.messages, "message") if done.messages else "what was summarised before"
    return f"{counted(len(done.gists), 'summary', 'summaries')} of {of}"

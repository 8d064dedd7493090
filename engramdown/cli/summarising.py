"""``engramdown log compact``: the older part of a conversation, summarised when a person says so.

Promises: what was said stays where it is; what could not be summarised is said, and then nothing
was written for it; a rehearsal asks no model and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex
from engramdown.cli import conversation_messages as said
from engramdown.cli import messages, output, process
from engramdown.cli.access import NONE_RUNS, Transcripts, open_cortex, open_transcripts
from engramdown.cli.commands import complete_sessions, given, json_option, pass_place, scope_options
from engramdown.cli.gists import gist_data, row_of, whole_data
from engramdown.cli.layout import Line, line, table
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.cortex.conversation.compacting import MODES, Compacted
from engramdown.cortex.conversation.conversation import Conversation
from engramdown.transcripts.summary_log import Gist

_STYLES: Final = ("id",)
# What is known of a summary before it is written.
_PLANNED: Final = (
    *("form", "depth", "messages", "source_tokens", "tokens", "first", "last"),
    *("earliest", "latest"),
)


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
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
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@click.option("--dry-run", is_flag=True, help="Change nothing; tell what would be summarised.")
@pass_place
def compact(
    place: Place, /, *, session: str, scope: str | None, as_json: bool, dry_run: bool, **_: object
) -> None:
    """Summarise what is older than the newest messages, whether it is time for that or not.

    Shows the summaries that it wrote.

    SESSION is an id or the beginning of one; without it, the session that runs. What was said
    stays: `engramdown log expand` and `engramdown log grep` find it.
    """
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session) if session else _running(transcripts)
    cortex = open_cortex(place)
    conversation = Conversation(cortex, transcripts.memory, name)
    chosen = given()
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
        output.print_json({"session": name, "dry_run": dry_run, **_data(done, told)})
    else:
        output.fast_screen().show(_lines(done, known, dry_run=dry_run))
    if done.lost:
        output.note(said.lost(done.lost))
    if not done.gists:
        process.complain(f"{name}: {done.reason}")
        raise Exit(REFUSED)


def _running(transcripts: Transcripts) -> str:
    found = transcripts.running()
    if found is None:
        raise RefusalError(NONE_RUNS)
    return found.id


def _tell_model(cortex: Cortex) -> None:
    """Say which model is asked, as it will take a while.

    Raises:
        RefusalError: There is none.
    """
    model = cortex.model or cortex.settings.consolidation.model
    if not model:
        raise RefusalError(said.NO_MODEL)
    output.note(said.thinks(model if isinstance(model, str) else type(model).__name__))


def _lines(done: Compacted, known: Mapping[str, Gist], *, dry_run: bool) -> Iterator[Line]:
    if dry_run:
        yield line((messages.DRY_RUN, "warn"))
    if not done.gists:
        return
    if dry_run:
        yield line(said.planned(done))
        rows = [_planned_row(gist, known) for gist in done.gists]
        yield from table([said.PLANNED_HEAD, *rows])
    else:
        yield line(said.summarised(done))
        rows = [row_of(gist, known) for gist in done.gists]
        yield from table([said.GISTS_HEAD, *rows], _STYLES)
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


def _data(done: Compacted, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "mode": done.mode,
        "gists": told,
        "messages": done.messages,
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "rounds": done.rounds,
        "lost": done.lost,
        "reload_required": done.reload_required,
        "reason": done.reason,
    }

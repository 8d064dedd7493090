"""``engramdown remember``: writes one memory in the words of a person, through the gate.

It says where the memory stands, or why nothing was written. A secret is never repeated.
"""

from __future__ import annotations

from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import commands, messages, process, views
from engramdown.cli.access import open_cortex
from engramdown.cli.layout import line
from engramdown.cli.output import REFUSED, STORE_FAILED, Outcome
from engramdown.cli.process import Place
from engramdown.cli.user_input import read_stdin
from engramdown.clock import today
from engramdown.engram import BASES, CONFIDENCES, KINDS, SOURCES, Confidence, Engram, Kind, Source
from engramdown.gate import kind_of
from engramdown.kinds import KIND_TABLE, scope_for

_STYLES: Final = {"encoded": "good", "merged": "good", "queued": "warn"}
_WRITTEN: Final = ("encoded", "merged", "queued")
_BULLETS: Final = ("-", "*", "+")
PROFILE_IS_GLOBAL: Final = (
    "a fact about you is kept for all projects; leave out --project, or say --lesson"
)


def _kind_flags(command: commands.Command) -> commands.Command:
    """Add ``--always`` and its siblings as the argument ``kinds``."""
    for kind in reversed(KINDS):
        flag = click.option(f"--{kind}", kind, is_flag=True, help=KIND_TABLE[kind].help)
        command = flag(command)
    return command


@click.command(cls=commands.WordsCommand)
@click.argument("words", metavar="TEXT...", nargs=-1, required=True)
@_kind_flags
@click.option("--kind", type=click.Choice(KINDS), help="The kind by its name.")
@commands.scope_options("Keep it for all projects.", "Keep it in this project (default).")
@click.option("--topic", default="", metavar="TOPIC", help="Also file it under a topic.")
@click.option(
    "--confidence",
    type=click.Choice(CONFIDENCES),
    help="How sure it is (default: high from the user, else medium).",
)
@click.option("--source", type=click.Choice(SOURCES), default="user", help="Who says so.")
@click.option("--basis", type=click.Choice(BASES), help="How it is known.")
@click.option("--expires", default="", metavar="DATE", help="The last day it holds, YYYY-MM-DD.")
@click.option("--from", "origin", default="", metavar="ORIGIN", help="Where it was learned.")
@click.option("--via", type=click.Choice(["tool", "web"]), help="Text that came from outside.")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def remember(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Remember TEXT; "-" reads it from stdin.

    Without an option the words say the kind: "Always ...", "Never ...", "When ..." are rules,
    "My name is ..." and "I prefer ..." facts about you, anything else a lesson. Facts about you
    are kept for all projects.
    """
    engram = _engram(commands.given())
    if engram.expires and engram.expires < today().isoformat():
        over = f"{engram.expires} is over; name today or a later day, YYYY-MM-DD"
        raise click.UsageError(f"--expires: {over}")
    cortex = open_cortex(place, "project" if engram.scope == "project" else "nothing")
    if commands.given()["scope"] == "global":
        cortex.scopes.allow_global()
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    receipt = cortex.propose([engram], by_person=True)[0]
    written = receipt.action in _WRITTEN
    sentence = messages.receipt(receipt)
    lines = [line((sentence, _STYLES[receipt.action]), hang=2)] if written else []
    outcome.show(lines, views.receipt_data(receipt))
    if not written:
        process.complain(sentence)
        raise Exit(STORE_FAILED if receipt.action == "failed" else REFUSED)


def _engram(options: dict[str, Any]) -> Engram:
    words: tuple[str, ...] = options["words"]
    text = read_stdin() if words == ("-",) else " ".join(words)
    # Who types a line of a list means what stands in it; several lines of one are a text.
    mark, space, rest = text.lstrip().partition(" ")
    if mark in _BULLETS and space and "\n" not in rest.strip():
        text = rest
    chosen = {kind for kind in KINDS if options[kind] or options["kind"] == kind}
    if len(chosen) > 1:
        several = " and ".join(sorted(chosen))
        raise click.UsageError(f"a memory has one kind, not {several}; give one of these options")
    kind: Kind = chosen.pop() if chosen else kind_of(text)
    if options["scope"] and options["scope"] not in KIND_TABLE[kind].scopes:
        raise click.UsageError(PROFILE_IS_GLOBAL)
    source: Source = options["source"]
    sure: Confidence = "high" if source == "user" else "medium"
    return Engram(
        text,
        kind,
        options["scope"] or scope_for(kind, "project"),
        options["confidence"] or sure,
        options["topic"],
        source,
        basis=options["basis"] or "",
        origin=options["origin"],
        via=options["via"] or "",
        expires=options["expires"],
    )

"""``engramdown hook``: what a coding agent calls as things happen to it.

The exit code is 0 whatever happens, because an agent takes any other code for its own failure, and
2 for an order to stop. Only a person at a terminal gets 2 for wrong usage.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli.commands import given, pass_place
from engramdown.cli.hook_process import SESSION, complain, happen, read_input
from engramdown.cli.output import DONE
from engramdown.cli.process import Place, is_terminal
from engramdown.integrations.claude_code.payload import EVENTS, Event, event_named, read_event

NO_EVENT: Final = (
    "name an event, such as session-start; an agent writes it as JSON to the standard input"
)
_SESSION_HELP: Final = "What the agent calls the conversation; also in ENGRAMDOWN_SESSION."
_WORDS: Final = ("text", "tool", "input", "output", "error", "call", "transcript")


class _Hook(click.Command):
    """A command whose wrong usage is not an error for the agent that calls it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; without a person, a mistake in it is only reported."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if is_terminal(sys.stdin):
                raise
            complain("", error.format_message())
            raise Exit(DONE) from error


@click.command(cls=_Hook)
@click.argument("event", metavar="[EVENT]", default="")
@click.option("--session", metavar="ID", default="", envvar=SESSION, help=_SESSION_HELP)
@click.option("--text", metavar="TEXT", help='What was written; "-" reads it from stdin.')
@click.option("--tool", metavar="NAME", help="The tool that was called.")
@click.option("--input", metavar="TEXT", help="What it was given.")
@click.option("--output", metavar="TEXT", help='What it gave back; "-" reads it from stdin.')
@click.option("--error", metavar="TEXT", help="Why it failed.")
@click.option("--call", metavar="ID", help="The id of the call.")
@click.option("--source", metavar="WORD", help="Why a session starts: startup, resume, compact.")
@click.option("--reason", metavar="WORD", help="Why it ends.")
@click.option("--transcript", metavar="FILE", help="Where the agent keeps its transcript.")
@pass_place
def hook(place: Place, /, *, event: str, **_: object) -> None:
    """Tell memory that EVENT happened to a coding agent, and print what the agent is to know.

    EVENT is session-start, prompt-submit, post-tool, stop or session-end; codex/, gemini/ or
    cursor/ before it answers as that agent expects. Agents write what happened as JSON to the
    standard input; any other program can use the options. `engramdown init --claude` sets it up.
    """
    is_person = is_terminal(sys.stdin)
    if is_person and not event_named(event):
        known = f"no event {event!r}; use one of {', '.join(EVENTS)}"
        raise click.UsageError(known if event else NO_EVENT)
    happen(place, event, lambda: _event(event, is_person=is_person))


def _event(name: str, *, is_person: bool) -> Event:
    """Return the event from the options, or else from standard input."""
    options = given()
    # Imported here: agents write what happened as JSON.
    from click.core import ParameterSource

    source = click.get_current_context().get_parameter_source("session")
    by_words = source is ParameterSource.COMMANDLINE
    by_words |= any(options[key] is not None for key in _WORDS)
    data = b"" if is_person or by_words else read_input()
    event = read_event(data, name)
    names = ("call", "source", "reason", "tool")
    more: dict[str, Any] = {key: options[key] for key in names if options[key]}
    for key, field in (("input", "given"), ("output", "got"), ("text", "text")):
        if options[key] is not None:
            value = options[key]
            more[field] = read_input().decode("utf-8", "replace") if value == "-" else value
    if options["error"] is not None:
        more["error"] = options["error"] or True
        more.setdefault("got", options["error"])
    if options["transcript"]:
        more["transcript"] = str(Path(options["transcript"]).absolute())
    return event._replace(**more, session=event.session or options["session"])

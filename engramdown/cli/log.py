"""``engramdown log``: the group of commands on transcripts, and those that record.

Without a command it lists the sessions; with ``--follow`` it follows one. The other commands are
loaded when they are called, so that a hook starts fast.
"""

from __future__ import annotations

from typing import Final

import click

from engramdown.cli import commands, output
from engramdown.cli.access import Transcripts, open_transcripts
from engramdown.cli.layout import clock
from engramdown.cli.output import RefusalError, read_stdin
from engramdown.cli.process import Place
from engramdown.episodes import Said
from engramdown.errors import StoreError
from engramdown.transcripts import check_session_id

COMMANDS: Final = commands.read_table(__file__)
_REMOVED: Final = {
    "ingest": "EpisodicMemory.ingest, or `engramdown import`",
    "gists": "`engramdown log compact`, or `engramdown log show`",
    "steps": "`engramdown log tools --json`, or EpisodicMemory.iterations",
}
_FOLLOW: Final = "--follow"
_SPOKEN: Final = frozenset({"user", "assistant", "system"})
_REASONS: Final = ("finished", "reset", "shutdown", "manual")


class _Log(commands.ListingCommands):
    """The group, which lists or follows if no command is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; without a command it is ``list`` or ``follow``."""
        if _FOLLOW in args and args[0].startswith("-"):
            args = ["follow", *(item for item in args if item != _FOLLOW)]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; ``tool-call`` is ``tool_call``, and ``show`` is suggested for an id."""
        name, *rest = args
        plain = name.replace("-", "_")
        if plain not in self.homes and name[:1].isdigit() and not ctx.resilient_parsing:
            instead = f"did you mean `engramdown log show {name}`?"
            raise click.UsageError(f"no command {name!r}; {instead}", ctx)
        return super().resolve_command(ctx, [plain if plain in self.homes else name, *rest])


@click.group(
    cls=_Log,
    table=COMMANDS,
    removed=_REMOVED,
    subcommand_metavar="[COMMAND] [ARGS]...",
    epilog="`engramdown log COMMAND --help` says more about a command.",
)
def log() -> None:
    """Record what is said and done, and read it.

    Without a command it lists the sessions, as `engramdown log list` does; `engramdown log
    --follow` follows the one that runs.
    """


# ---- recording ----

_in_scope = commands.scoped("In the global scope.", "In this project (default where there is one).")
_name = click.option("--name", metavar="NAME", default="", help="Who speaks.")
_tool = click.option("--name", metavar="TOOL", default="", help="The tool.")
_call = click.option(
    "--call", metavar="ID", default="", help="The id that a call and its result share."
)
_model = click.option("--model", metavar="MODEL", default="", help="The model that speaks.")
_ms = click.option(
    "--ms", type=click.FloatRange(0), metavar="MS", help="How long it took, in milliseconds."
)
_error = click.option("--error", is_flag=True, help="It failed.")
_WHERE: Final = (
    'Prints its place: SESSION#NUMBER. "-" reads TEXT from stdin. Without --session it goes to the '
    "running session: the one that began last and has not ended, unless nothing was said in it for "
    "an hour. If no session runs, a new one begins."
)


def _role(name: str, *options: commands.Command) -> click.Command:
    """Return the command that records an episode of the role ``name``."""
    spoken = name in _SPOKEN

    def record(place: Place, /, **_: object) -> None:
        _record(place, name)

    record.__doc__ = f"{COMMANDS['Record'][name][1]}\n\n{_WHERE}"
    made: commands.Command = _in_scope(record)
    session = commands.session_option(
        "The session; without it, the one that runs, or a new one.", default="", metavar="ID"
    )
    for option in (session, *reversed(options)):
        made = option(made)
    metavar = "TEXT..." if spoken else "[TEXT]..."
    words = click.argument("words", metavar=metavar, nargs=-1, required=spoken)
    return click.command(name, cls=commands.WordsCommand)(words(made))


def _record(place: Place, role: str) -> None:
    options = commands.given()
    transcripts = open_transcripts(place, options["scope"], write=True)
    words = options["words"]
    text = read_stdin() if words == ("-",) else " ".join(words)
    if role in _SPOKEN and not text:
        raise RefusalError(
            "the text is empty, so nothing was recorded; give it as an argument, "
            'or "-" to read stdin'
        )
    session = options["session"] and check_session_id(options["session"])
    session = session or transcripts.memory.running_or_new()
    facts = Said(
        name=options["name"],
        call=options.get("call", ""),
        model=options.get("model", ""),
        ms=options.get("ms"),
        error=options.get("error", False),
    )
    pointer = transcripts.memory.log(session, role, text, **facts)
    if pointer is None:
        _raise_trouble(transcripts)
    if options["as_json"]:
        seq = None if pointer is None else pointer.seq
        output.print_json({"pointer": pointer and str(pointer), "session": session, "seq": seq})
    else:
        # A line that was written at the second attempt has no known number.
        click.echo(pointer or session)


user = _role("user", _name)
assistant = _role("assistant", _name, _model)
system = _role("system", _name)
tool_call = _role("tool_call", _tool, _call)
tool_result = _role("tool_result", _tool, _call, _ms, _error)
scratchpad = _role("scratchpad", _name, _ms, _error)


# ---- beginning and ending ----


@click.command()
@click.argument("session", metavar="[SESSION]", default="")
@click.option("--title", metavar="TITLE", default="", help="What to call it.")
@commands.session_option("The session that begins it.", "--parent", metavar="ID")
@click.option("--parent-call", metavar="ID", help="The tool call that begins it.")
@click.option(
    "--conversation",
    type=click.UUID,
    metavar="UUID",
    help="Under which UUID another program has it; a session that began with it goes on.",
)
@_in_scope
def start(place: Place, /, *, session: str, title: str, as_json: bool, **_: object) -> None:
    """Begin a session and print its id.

    SESSION is an id of your own; a session of this id goes on. Without it, a new id is made.
    """
    options = commands.given()
    transcripts = open_transcripts(place, options["scope"], write=True)
    memory = transcripts.memory
    memory.tidy()
    parent, call = options["parent"], options["parent_call"]
    uuid = str(options["conversation"] or "")
    name = memory.start_session(session or None, parent, call, title=title, conversation=uuid)
    _raise_trouble(transcripts)
    if as_json:
        output.print_json({"session": name, "path": str(transcripts.sessions.path(name))})
    else:
        click.echo(name)


@click.command()
@commands.session_argument
@click.option(
    "--reason",
    type=click.Choice(_REASONS),
    default=_REASONS[0],
    show_default=True,
    help="Why it ends.",
)
@_in_scope
def end(place: Place, /, *, session: str, reason: str, scope: str | None, as_json: bool) -> None:
    """End SESSION, or the one that runs.

    Nothing is kept of a session in which nothing was said.
    """
    transcripts = open_transcripts(place, scope, write=True)
    name = transcripts.find_or_current(session)
    before = transcripts.sessions.info(name)
    if before is not None and before.ended:
        how = f"{before.reason or 'ended'}, {clock(before.ended)}"
        raise RefusalError(f"{before.id} has ended already ({how})")
    transcripts.memory.end(name, reason)
    _raise_trouble(transcripts)
    is_kept = transcripts.sessions.info(name) is not None
    if as_json:
        output.print_json({"session": name, "reason": reason, "kept": is_kept})
    else:
        nothing = "" if is_kept else "; nothing was said in it, so nothing is kept"
        click.echo(f"Ended {name}{nothing}")


def _raise_trouble(transcripts: Transcripts) -> None:
    """Try a last time to write what is queued.

    Raises:
        StoreError: Something could not be written.
    """
    memory = transcripts.memory
    if memory.trouble is not None:
        memory.recorder.flush()
    if memory.trouble is not None:
        raise StoreError(f"not recorded: {memory.trouble.reason}")

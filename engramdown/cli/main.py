"""The program ``engramdown``, short ``egd``: finds the command and turns errors into one line.

Only the module of the command that is called is loaded. An expected error is one line on stderr
with the next step, never a traceback, and ends with one of the exit codes of
:mod:`engramdown.cli.output`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from click.exceptions import Abort, Exit

from engramdown import __version__
from engramdown.cli import output, process, views
from engramdown.cli.commands import Commands, read_table
from engramdown.cli.process import Place
from engramdown.errors import (
    ChangedError,
    EngramdownError,
    SkillExistsError,
    StoreError,
    UndoRefusedError,
)
from engramdown.storage import one_call

COMMANDS: Final = read_table(__file__)
# Those that go on for long, with a person or a client: each thing that they do is a call.
_LASTING: Final = frozenset({"chat", "log", "mcp", "review", "serve", "tour", "watch", "worker"})
_BOLD: Final = frozenset(
    {"--accept", "--all", "--decline", "--force", "--forever", "--remove", "--yes"}
)
_MODES: Final = ("autopilot", "copilot", "off")
_NAMES: Final = ("engramdown", "egd")
_ENDS: Final = (Abort, EOFError, Exit, KeyboardInterrupt)
# Errors of a store that leave it as it should be.
_REFUSED: Final = (LookupError, ChangedError, SkillExistsError, UndoRefusedError)


@click.group(
    cls=Commands,
    table=COMMANDS,
    name="engramdown",
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # the default, which differs between versions
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`engramdown COMMAND --help` says more about a command.",
)
@click.version_option(__version__, prog_name="engramdown", message="%(prog)s %(version)s")
@click.option(
    "-C",
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look for the project in DIR instead of here.",
)
@click.option(
    "--home",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the global scope in DIR instead of ~/.engramdown.",
)
@click.option("--mode", type=click.Choice(_MODES), help="Decide on new memory in this mode.")
@click.pass_context
def program(ctx: click.Context, project: Path | None, home: Path | None, mode: str | None) -> None:
    """Memory for assistants, in markdown files that you own."""
    ctx.obj = Place(project, home.expanduser() if home else None, mode)
    if ctx.invoked_subcommand not in _LASTING:
        ctx.with_resource(one_call())
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    Args:
        arguments: The words behind the name of the program; by default those of the process.
    """
    process.set_up_streams()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        _run([*words])
        process.flush()
    except (click.ClickException, EngramdownError, OSError, *_ENDS) as error:
        code = _end(error)
        options = words[: words.index("--") if "--" in words else None]
        if code == output.USAGE and "--json" in options:
            output.print_json({"error": _sentence(error), "code": code})
        return code
    return output.DONE


def _sentence(error: BaseException) -> str:
    """Return the sentence for stderr about a mistake in a command line."""
    # Imported here: most commands go right.
    from engramdown.secrets import redact

    if not isinstance(error, click.UsageError):
        text = error.format_message() if isinstance(error, click.ClickException) else str(error)
        return redact(text)
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        # No typing error leads to an option that takes something away, or asks nothing.
        safe = [each for each in error.possibilities if each not in _BOLD]
        error = click.NoSuchOption(error.option_name, possibilities=safe, ctx=error.ctx)
    path = error.ctx.command_path if error.ctx else _program_name()
    text = error.format_message().rstrip(". ")
    joint = " " if text.endswith("?") else "; "
    return redact(f"{text[:1].lower()}{text[1:]}{joint}see `{path} --help`")


def _end(error: BaseException) -> int:
    """Say what ended the command, if that is not plain, and return the exit code."""
    code = output.STORE_FAILED
    match error:
        case Exit():
            code = error.exit_code
        case click.ClickException():
            path = "engramdown"
            if isinstance(error, click.UsageError):
                path = error.ctx.command_path if error.ctx else _program_name()
            process.complain(_sentence(error), path)
            for item in error.more if isinstance(error, output.RefusalError) else ():
                click.echo(f"  {process.one_line(item)}", err=True)
            code = error.exit_code
        case EngramdownError():
            process.complain(str(error))
            if not isinstance(error, StoreError) or isinstance(error, _REFUSED):
                code = output.USAGE if isinstance(error, ValueError) else output.REFUSED
        case BrokenPipeError():
            process.give_up_stdout()
            code = output.PIPE_CLOSED
        case OSError():
            process.complain(views.system_error(error))
            process.give_up_stdout()
        case _:  # Ctrl-C, or the end of the input where an answer was expected
            click.echo("\nStopped.", err=True)
            code = output.STOPPED
    return code


def _run(arguments: list[str]) -> None:
    name = _program_name()
    # The variable that click's own completion scripts set.
    variable = f"_{name}_COMPLETE".upper()
    instruction = os.environ.get(variable)
    if instruction:
        from click.shell_completion import FishComplete, add_completion_class, shell_complete

        # Its own script cuts a description at the first comma.
        source = FishComplete.source_template.replace("string split", "string split --max 1")
        add_completion_class(type("_Fish", (FishComplete,), {"source_template": source}), "fish")
        raise Exit(shell_complete(program, {}, name, variable, instruction))
    with program.make_context(name, arguments) as ctx:
        program.invoke(ctx)


def _program_name() -> str:
    name = Path(sys.argv[0]).stem if sys.argv else ""
    return name if name in _NAMES else _NAMES[0]

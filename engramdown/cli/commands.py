"""What commands are made of: groups that load a command when it is called, options, completion.

Listing or completing the names of commands loads none of them, and parsing a command line reads no
file, except to complete an id.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from engramdown import serializers
from engramdown.cli import layout, output, views
from engramdown.cli.layout import Line
from engramdown.cli.process import Place

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from engramdown import Cortex


# What other programs call some commands; hidden.
_ALIASES: Final = {"add": "remember", "search": "recall", "get": "show", "ls": "list"}
# These are answered with the commands that take something away, and run none of them.
_TAKES_AWAY: Final = frozenset({"rm", "delete", "remove", "erase", "del", "purge"})
# Never suggested for a typing error.
_DESTRUCTIVE: Final = frozenset(
    {"delete", "exclude", "forget", "purge", "redact", "remove", "undo"}
)


class WordsCommand(click.Command):
    """A command that takes words: a word with a space is not an option, even behind a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        end = args.index("--") if "--" in args else len(args)
        texts = {f" {word}" for word in args[:end] if self._is_text(word)}
        marked = [f" {word}" if f" {word}" in texts else word for word in args[:end]]
        rest = super().parse_args(ctx, [*marked, *args[end:]])
        for name, value in ctx.params.items():
            ctx.params[name] = _without_marks(value, texts)
        return rest

    def _is_text(self, word: str) -> bool:
        if not word.startswith("-") or not re.search(r"\s", word.partition("=")[0]):
            return False
        # As in -ofile name: the rest is the value of an option of one letter.
        return not any(
            word[:2] in each.opts and not each.is_flag
            for each in self.params
            if isinstance(each, click.Option)
        )


def _without_marks(value: Any, texts: set[str]) -> Any:  # noqa: ANN401 - whatever an option gives
    if isinstance(value, tuple):
        return tuple(_without_marks(each, texts) for each in value)
    return value[1:] if isinstance(value, str) and value in texts else value


# Commands by the titles of the help: where each is, and what it does.
Table = Mapping[str, Mapping[str, tuple[str, str]]]


def read_table(file: str) -> Table:
    """Return the commands of a group, from the text beside its module, without loading any.

    Each row below a title has the name of a command, where it is, and what it does.

    Args:
        file: The path of the module.
    """
    table: dict[str, dict[str, tuple[str, str]]] = {"": {}}
    title = ""
    for row in Path(file).with_suffix(".txt").read_text(encoding="utf-8").split("\n"):
        if row.startswith(" "):
            name, home, does = row.split(maxsplit=2)
            table[title][name] = home, does
        elif row and not row.startswith("#"):
            title = row
            table[title] = {}
    return table


class Commands(click.Group):
    """A group that loads a command when it is called.

    Attributes:
        table: Below each title of the help, each command, where it is (``module:name``) and what it
            does. Commands without a title are hidden.
        homes: Where each command is.
        removed: Commands that were removed, and what to use instead.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - whatever click.Group takes
        table: Table,
        removed: Mapping[str, str] | None = None,
        **kwargs: Any,  # noqa: ANN401 - the same
    ) -> None:
        """Hold the commands of a table."""
        super().__init__(*args, **kwargs)
        self.table = table
        self.removed = removed or {}
        self.homes = {name: row[0] for rows in table.values() for name, row in rows.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, as ``--help`` lists them."""
        del ctx
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; ``None`` if no command has this name."""
        del ctx
        if cmd_name not in self.homes:
            return None
        module, _, name = self.homes[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"engramdown.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, also by the name that other programs use; or suggest one."""
        name, *rest = args
        real = _ALIASES.get(name, "")
        if name in self.homes or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if real in self.homes:
            output.note(f"{name} is `{ctx.command_path} {real}` here")
            return super().resolve_command(ctx, [real, *rest])
        if name in self.removed:
            gone = f"`{ctx.command_path} {name}` was removed; use {self.removed[name]}"
            raise click.UsageError(gone, ctx)
        hint = ""
        if name in _TAKES_AWAY:
            takes = [each for each in self.homes if each in _DESTRUCTIVE - {"undo"}]
            named = ", ".join(f"`{ctx.command_path} {each}`" for each in takes)
            hint = f"; to remove something, use {named}" if takes else ""
        else:
            import difflib

            safe = [each for each in self.homes if each not in _DESTRUCTIVE]
            near = difflib.get_close_matches(name, safe, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"no command {name!r}{hint}", ctx)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a usage error knows which one, where click does not say."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if error.ctx is None:
                error.ctx = click.Context(self, info_name=ctx.invoked_subcommand, parent=ctx)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups, without loading any."""
        del ctx
        for title, rows in filter(itemgetter(0), self.table.items()):
            with formatter.section(title):
                formatter.write_dl([(name, does) for name, (_, does) in rows.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, without loading any."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=does)
            for title, rows in self.table.items()
            for name, (_, does) in rows.items()
            if title and name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


class ListingCommands(Commands):
    """A group that lists when no command is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; without a command, it is the command ``list``."""
        asks = args[:1] and args[0] in self.get_help_option_names(ctx)
        if not ctx.resilient_parsing and not asks and (not args or args[0].startswith("-")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


# A command before click has made it one.
Command = Callable[..., Any]

_SHOWN: Final = 60
_Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


pass_place = click.make_pass_decorator(Place, ensure=True)


def _completer(kind: Literal["ids", "proposals", "sessions", "labels"]) -> _Complete:
    """Return a function that completes a word by the items of a kind.

    A shell shows the text of each item beside it, in one line. Nothing is completed if memory
    cannot be read.
    """

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del param
        from click.shell_completion import CompletionItem

        from engramdown.cli.access import known
        from engramdown.errors import EngramdownError
        from engramdown.language import on_screen

        # While a line is completed the program does not run, so ctx.obj is not set.
        values = ctx.find_root().params
        place = Place(values.get("project"), values.get("home"), values.get("mode"))
        try:
            items = known(kind, place, ctx.params.get("scope"), incomplete)
        except (EngramdownError, click.ClickException, OSError):
            return []
        return [
            CompletionItem(word, help=on_screen(" ".join(text.split()))[:_SHOWN])
            for word, text in items
            if word.startswith(incomplete)
        ]

    return complete


complete_ids = _completer("ids")
complete_proposals = _completer("proposals")
complete_sessions = _completer("sessions")


class _MissingError(output.RefusalError):
    exit_code = output.USAGE


def needs_extra(module: str, extra: str, what: str) -> None:
    """Make sure that an extra is installed.

    Args:
        module: A module of ours that imports what the extra brings.
        extra: The name of the extra.
        what: What needs it.

    Raises:
        RefusalError: It is not.
    """
    try:
        importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").startswith("engramdown"):
            raise
        how = f'install it with: pip install "engramdown[{extra}]"'
        raise _MissingError(f"{what} needs the extra `{extra}` ({error}); {how}") from error


def given() -> dict[str, Any]:
    """Return the options and arguments of the current command."""
    return click.get_current_context().params


def show(
    lines: Iterable[Line], data: object, printed: Callable[[Iterable[Line]], None] = output.show
) -> None:
    """Print lines for a person, or ``data`` if the current command has ``--json``.

    A dry run says first that it is one.
    """
    options = given()
    if options["as_json"]:
        output.print_json(data)
    else:
        if options.get("dry_run") and (lines := [*lines]):
            lines = [layout.line((views.DRY_RUN, "warn")), *lines]
        printed(lines)


def dry_run_if_asked(cortex: Cortex) -> None:
    """Write nothing from now on if the current command has ``--dry-run``."""
    if given()["dry_run"]:
        cortex.scopes.dry_run()


def show_change(cortex: Cortex, lines: Iterable[Line], data: dict[str, Any]) -> None:
    """Print what a command changed, as :func:`show` does; a dry run also shows the diffs."""
    if given()["dry_run"]:
        changes = cortex.scopes.planned_changes()
        lines = [*lines, *output.planned_lines(changes)]
        data = {**data, "dry_run": True, "changes": serializers.planned_data(changes)}
    show(lines, data)


def show_dry_run(
    path: Path,
    before: str,
    after: str,
    data: dict[str, Any],
    *,
    name: str = "",
    more: Iterable[Line] = (),
) -> None:
    """Print the diff of a file that would change, or ``data`` with it.

    Args:
        path: The file.
        before: Its text as it is.
        after: Its text as it would be.
        data: The JSON for a program, without the diff.
        name: What a person calls it; by default its relative path.
        more: More lines for a person.
    """
    rows = serializers.diff_rows(before, after, path.name)
    changes = [{"path": str(path), "diff": "\n".join(rows)}] if rows else []
    lines = [*output.file_diff(path, before, after, name), *more]
    show(lines, {**data, "dry_run": True, "changes": changes})


# A path as the person typed it.
PATH: Final = click.Path(path_type=Path)
label_argument = click.argument("label", metavar="LABEL", shell_complete=_completer("labels"))
id_argument = click.argument("entry_id", metavar="ID", shell_complete=complete_ids)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
session_argument = click.argument(
    "session", metavar="[SESSION]", default="", shell_complete=complete_sessions
)


def session_option(
    text: str, name: str = "--session", *, default: str | None = None, metavar: str = "SESSION"
) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for a session with the help ``text``."""
    return click.option(
        name, metavar=metavar, default=default, shell_complete=complete_sessions, help=text
    )


dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Change nothing; show the diff of what would change."
)


def shows(command: Command) -> Command:
    """Add ``--json``, and pass the :class:`Place` first."""
    return json_option(pass_place(command))


def changes(command: Command) -> Command:
    """Add ``--json`` and ``--dry-run``, and pass the :class:`Place` first."""
    return json_option(dry_run_option(pass_place(command)))


def number_option(
    text: str, default: int, name: str = "--number", *, least: int = 1
) -> Callable[[Command], Command]:
    """Return a decorator that adds ``-n``; ``text`` is its help, ``name`` its long form."""
    number = click.IntRange(least)
    return click.option(
        "-n", name, type=number, default=default, show_default=True, metavar="N", help=text
    )


def since_option(text: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--since`` with the help ``text``."""
    return click.option("--since", type=Moment(), metavar="DATE", help=text)


def until_option(text: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--until`` with the help ``text``."""
    return click.option("--until", type=Moment(end=True), metavar="DATE", help=text)


def as_of_option(*names: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--as-of``, which has other ``names`` as well."""
    text = "As it was on a day, at a time, or in a commit of git."

    def check(_: click.Context, __: click.Parameter, value: str | None) -> str:
        # A variable of a script that is not set must not show memory as it is now.
        if value is not None and not value.strip():
            raise click.BadParameter("it is empty; name a day (2026-02-27), a time or a commit")
        return value or ""

    return click.option("--as-of", *names, "as_of", metavar="DATE|REV", callback=check, help=text)


def scope_options(help_global: str, help_project: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--global`` and ``--project`` as the argument ``scope``."""

    def add(command: Command) -> Command:
        project = click.option("--project", "scope", flag_value="project", help=help_project)
        everywhere = click.option("--global", "scope", flag_value="global", help=help_global)
        return everywhere(project(command))

    return add


def scoped(
    help_global: str, help_project: str, *, dry_run: bool = False
) -> Callable[[Command], Command]:
    """Return a decorator for a command about one scope: where memory is, and how it is shown.

    It adds what :func:`scope_options` adds, ``--json``, and ``--dry-run`` if that is asked for, and
    passes the :class:`Place` first.
    """

    def add(command: Command) -> Command:
        shown = pass_place(command)
        shown = dry_run_option(shown) if dry_run else shown
        return scope_options(help_global, help_project)(json_option(shown))

    return add


HERE: Final = ("The global scope.", "This project (default where there is one).")
here_options = scope_options(*HERE)
# What most commands end with: ``--global``, ``--project``, ``--json``, and the place.
in_scope = scoped(*HERE)


class Moment(click.ParamType[str]):
    """A day or a time of the person's clock, converted to the form of transcripts."""

    name = "date"

    def __init__(self, *, end: bool = False) -> None:
        """Take a day for its first moment, or for its last if ``end``."""
        self._end = end

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the moment in UTC."""
        from engramdown.clock import moment_of
        from engramdown.transcripts import stamp

        text = str(value)
        with suppress(ValueError, OverflowError):
            return stamp(moment_of(text, end=self._end))
        return self.fail(
            f'{text!r} is not a date; write 2026-02-27 or "2026-02-27 10:15"', param, ctx
        )

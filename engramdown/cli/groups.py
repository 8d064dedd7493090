"""Groups of commands that load a command when it is called, and no other.

Promises: to list or to complete the names of commands loads none of them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import messages, output

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# What other programs call them; hidden, and they work where the command is there.
_ALIASES: Final = {"add": "remember", "search": "recall", "get": "show", "ls": "list"}
# These are named, and never run: what they take away is not what was asked for.
_TAKES_AWAY: Final = frozenset({"rm", "delete", "remove", "erase", "del", "purge"})
# No typing error leads to one of these.
_DESTRUCTIVE: Final = frozenset(
    {"delete", "exclude", "forget", "purge", "redact", "remove", "undo"}
)


class WordsCommand(click.Command):
    """A command that is given words: one that holds a space is no option, also behind a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        end = args.index("--") if "--" in args else len(args)
        told = {f" {word}" for word in args[:end] if self._is_text(word)}
        marked = [f" {word}" if f" {word}" in told else word for word in args[:end]]
        rest = super().parse_args(ctx, [*marked, *args[end:]])
        for name, value in ctx.params.items():
            ctx.params[name] = _without_marks(value, told)
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


def _without_marks(value: Any, told: set[str]) -> Any:  # noqa: ANN401 - whatever an option gives
    if isinstance(value, tuple):
        return tuple(_without_marks(each, told) for each in value)
    return value[1:] if isinstance(value, str) and value in told else value


class Commands(click.Group):
    """A group that loads a command when it is called.

    Attributes:
        homes: Where each command is: ``module:name``, below :mod:`engramdown.cli`.
        sections: The names below each title of the help.
        said: The sentence about each name.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - whatever click.Group takes
        homes: Mapping[str, str],
        sections: Mapping[str, Sequence[str]],
        said: Mapping[str, str],
        **kwargs: Any,  # noqa: ANN401 - the same
    ) -> None:
        """Hold the commands of ``homes``, listed in ``sections`` with what is ``said`` of them."""
        super().__init__(*args, **kwargs)
        self.homes = homes
        self.sections = sections
        self.said = said

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, as ``--help`` lists them."""
        del ctx
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; ``None`` if there is none of this name."""
        del ctx
        if cmd_name not in self.homes:
            return None
        module, _, name = self.homes[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"engramdown.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, also under the name that it has elsewhere; or say which was meant."""
        name, *rest = args
        real = _ALIASES.get(name, "")
        if name in self.homes or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if real in self.homes:
            output.note(messages.real_name(f"{ctx.command_path} {real}", name))
            return super().resolve_command(ctx, [real, *rest])
        if name in _TAKES_AWAY:
            takes = [each for each in self.homes if each in _DESTRUCTIVE - {"undo"}]
            raise click.UsageError(messages.takes_away(name, ctx.command_path, takes), ctx)
        safe = [each for each in self.homes if each not in _DESTRUCTIVE]
        raise click.UsageError(messages.no_such_command(name, safe), ctx)

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
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.said[name]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, without loading any."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.homes if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self.said[name]) for name in names]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

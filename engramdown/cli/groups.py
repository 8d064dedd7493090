"""Groups of commands that load a command when it is called, and no other.

Promises: to list or to complete the names of commands loads none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from engramdown.cli import messages

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["Commands"]


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
        """Find the command, or say which one was perhaps meant."""
        name = args[0]
        if name not in self.homes and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(messages.no_such_command(name, self.homes), ctx)
        return super().resolve_command(ctx, args)

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

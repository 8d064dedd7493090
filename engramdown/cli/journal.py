"""``engramdown journal``: dated pages that people and assistants add to.

Promises: without a command it lists the days; no module of a command is loaded before it is called.
"""

from __future__ import annotations

from typing import Final

import click

from engramdown.cli import day_messages as said
from engramdown.cli.commands import Commands

# Where each command is; what is said of it stands in day_messages.SHORT_HELP.
_COMMANDS: Final = {
    "write": "journal_writing:write",
    "show": "journal_reading:show_day",
    "search": "journal_reading:search_journal",
    "list": "journal_reading:list_days",
}


class _Journal(Commands):
    """The group, which lists when no command is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; one without a command is given the one that it means."""
        asks = args[:1] and args[0] in self.get_help_option_names(ctx)
        if not ctx.resilient_parsing and not asks and (not args or args[0].startswith("-")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Journal,
    homes=_COMMANDS,
    sections=said.COMMAND_GROUPS,
    said=said.SHORT_HELP,
    subcommand_metavar="[COMMAND] [ARGS]...",
)
def journal() -> None:
    """Keep a journal: a page for each day, which you and assistants add to.

    Without a command it lists the days, as `engramdown journal list` does.
    """

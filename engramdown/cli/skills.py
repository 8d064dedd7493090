"""``engramdown skills``: procedures that an assistant follows, each a folder with a SKILL.md.

Promises: without a command it lists them; no module of a command is loaded before it is called.
"""

from __future__ import annotations

from typing import Final

import click

from engramdown.cli import skill_messages as said
from engramdown.cli.commands import Commands

# Where each command is; what is said of it stands in skill_messages.SHORT_HELP.
_COMMANDS: Final = {
    "list": "skill_listing:list_skills",
    "show": "skill_listing:show_skill",
    "new": "skill_editing:new",
    "edit": "skill_editing:edit_skill",
    "delete": "skill_editing:delete_skill",
    "restore": "skill_editing:restore_skill",
    "import": "skill_importing:import_skills",
    "validate": "skill_listing:validate",
}


class _Skills(Commands):
    """The group, which lists when no command is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; one without a command is given the one that it means."""
        asks = args[:1] and args[0] in self.get_help_option_names(ctx)
        if not ctx.resilient_parsing and not asks and (not args or args[0].startswith("-")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Skills,
    homes=_COMMANDS,
    sections=said.COMMAND_GROUPS,
    said=said.SHORT_HELP,
    subcommand_metavar="[COMMAND] [ARGS]...",
)
def skills() -> None:
    """Keep procedures that an assistant follows, each a folder with a SKILL.md.

    Without a command it lists them, as `engramdown skills list` does.
    """

"""``engramdown log``: transcripts, recorded from a shell and read by a person.

Promises: without a command it lists the sessions, and with ``--follow`` it follows one; no module
of a command is loaded before it is called, so that a hook may record every line of a conversation.
"""

from __future__ import annotations

from typing import Final

import click

from engramdown.cli import conversation_messages as summaries
from engramdown.cli import log_messages as said
from engramdown.cli.groups import Commands

# Where each command is; what is said of it stands in log_messages and conversation_messages.
_COMMANDS: Final = {
    "user": "recording:user",
    "assistant": "recording:assistant",
    "system": "recording:system",
    "tool_call": "recording:tool_call",
    "tool_result": "recording:tool_result",
    "scratchpad": "recording:scratchpad",
    "ingest": "recording:ingest",
    "start": "recording:start",
    "end": "recording:end",
    "list": "sessions:list_sessions",
    "show": "transcript:show",
    "follow": "following:follow",
    "tools": "calls:tools",
    "steps": "calls:steps",
    "card": "cards:card",
    "notes": "notes:notes",
    "compact": "summarising:compact",
    "gists": "gists:gists",
    "grep": "grepping:grep",
    "describe": "gists:describe",
    "expand": "gists:expand",
    "exclude": "forgetting:exclude",
    "include": "forgetting:include",
    "redact": "forgetting:redact",
    "purge": "forgetting:purge",
}
_READ: Final = "Read"
_SECTIONS: Final = {
    _READ: said.COMMAND_GROUPS[_READ],
    **summaries.COMMAND_GROUPS,
    **said.COMMAND_GROUPS,
}
_FOLLOW: Final = "--follow"


class _Log(Commands):
    """The group, which lists or follows when no command is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; one without a command is given the one that it means."""
        asks = args[:1] and args[0] in self.get_help_option_names(ctx)
        if not ctx.resilient_parsing and not asks and (not args or args[0].startswith("-")):
            if _FOLLOW in args:
                args = ["follow", *(item for item in args if item != _FOLLOW)]
            else:
                args = ["list", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; ``tool-call`` is ``tool_call``, and an id asks to be shown."""
        name, *rest = args
        plain = name.replace("-", "_")
        if plain not in self.homes and name[:1].isdigit() and not ctx.resilient_parsing:
            raise click.UsageError(said.show_instead(name), ctx)
        return super().resolve_command(ctx, [plain if plain in self.homes else name, *rest])


@click.group(
    cls=_Log,
    homes=_COMMANDS,
    sections=_SECTIONS,
    said={**said.SHORT_HELP, **summaries.SHORT_HELP},
    subcommand_metavar="[COMMAND] [ARGS]...",
    epilog=said.EPILOG,
)
def log() -> None:
    """Record what is said and done, and read it.

    Without a command it lists the sessions, as `engramdown log list` does; `engramdown log
    --follow` follows the one that runs.
    """

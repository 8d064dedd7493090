"""``engramdown log``: transcripts, recorded from a shell and read by a person.

Promises: without a command it lists the sessions, and with ``--follow`` it follows one; no module
of a command is loaded before it is called, so that a hook may record every line of a conversation.
"""

from __future__ import annotations

from typing import Final

import click

from engramdown.cli.commands import Commands

# Where each command is.
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
    "list": "log_show:list_sessions",
    "show": "log_show:show",
    "follow": "log_show:follow",
    "tools": "log_show:tools",
    "steps": "log_show:steps",
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
SHORT_HELP: Final = {
    "list": "List sessions, the newest first.",
    "show": "Show a session, or one line of it.",
    "follow": "Follow a session that runs.",
    "tools": "Sum up which tools a session called, or all sessions.",
    "steps": "Show the steps of the assistant in a session: model, time, tokens, tools.",
    "user": "Record what the user said.",
    "assistant": "Record what the assistant said.",
    "system": "Record what the program told the assistant.",
    "tool_call": "Record that a tool is called, with its input.",
    "tool_result": "Record what a tool gave back.",
    "scratchpad": "Record what was run in a scratchpad.",
    "ingest": "Record messages of another program, each once.",
    "start": "Begin a session.",
    "end": "End a session.",
    "card": "Show, or correct, what a session was about.",
    "notes": "Show, or change, the notes on a session.",
    "exclude": "Keep sessions or lines out of recall.",
    "include": "Take an exclusion back.",
    "redact": "Empty lines for ever.",
    "purge": "Remove sessions for ever.",
    "compact": "Summarise the older part of a conversation.",
    "gists": "List the summaries of a conversation.",
    "grep": "Find a text in a conversation, summarised or not.",
    "describe": "Show a summary, and what it was made from.",
    "expand": "Show what a summary stands for.",
}
COMMAND_GROUPS: Final = {
    "Read": ("list", "show", "follow", "tools", "steps", "card", "notes"),
    "Summarise": ("compact", "gists", "grep", "describe", "expand"),
    "Record": ("user", "assistant", "system", "tool_call", "tool_result", "scratchpad", "ingest"),
    "Begin and end": ("start", "end"),
    "Take back": ("exclude", "include", "redact", "purge"),
}
EPILOG: Final = "`engramdown log COMMAND --help` says more about a command."
_FOLLOW: Final = "--follow"


def show_instead(pointer: str) -> str:
    """Say that a session is shown by a command."""
    return f"no command {pointer!r}; did you mean `engramdown log show {pointer}`?"


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
            raise click.UsageError(show_instead(name), ctx)
        return super().resolve_command(ctx, [plain if plain in self.homes else name, *rest])


@click.group(
    cls=_Log,
    homes=_COMMANDS,
    sections=COMMAND_GROUPS,
    said=SHORT_HELP,
    subcommand_metavar="[COMMAND] [ARGS]...",
    epilog=EPILOG,
)
def log() -> None:
    """Record what is said and done, and read it.

    Without a command it lists the sessions, as `engramdown log list` does; `engramdown log
    --follow` follows the one that runs.
    """

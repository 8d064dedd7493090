"""What several commands share: the options of the program, ids that complete, ``--json``.

Promises: no option reads a file while a command line is parsed, except to complete an id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli.process import Place

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Command = Callable[..., Any]
"""A command before click has made it one."""

_SHOWN: Final = 60


pass_place = click.make_pass_decorator(Place, ensure=True)


def complete_ids(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the ids of memories that begin with what was typed, and the beginning of each text."""
    del param
    return _completed(ctx, incomplete, pending=False)


def complete_proposals(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the ids of proposals, as :func:`complete_ids` does."""
    del param
    return _completed(ctx, incomplete, pending=True)


def complete_sessions(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the ids of sessions that begin with what was typed, and what each is about."""
    del param
    from click.shell_completion import CompletionItem

    from engramdown.cli.transcripts import known_sessions

    found = known_sessions(_place(ctx), ctx.params.get("scope"), incomplete)
    return [CompletionItem(session, help=_help(said)) for session, said in found]


def complete_labels(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the labels that begin with what was typed, each with what it is for."""
    del param
    from click.shell_completion import CompletionItem

    from engramdown.cli.skill_opening import opened
    from engramdown.errors import EngramdownError

    try:
        found = [each.skill for each in opened(_place(ctx)).known() if each.counts]
    except (EngramdownError, click.ClickException, OSError):
        return []
    return [
        CompletionItem(skill.label, help=_help(skill.description))
        for skill in found
        if skill.label.startswith(incomplete)
    ]


def given() -> dict[str, Any]:
    """Return the values of the options of the command that runs."""
    return click.get_current_context().params


label_argument = click.argument("label", metavar="LABEL", shell_complete=complete_labels)
id_argument = click.argument("entry_id", metavar="ID", shell_complete=complete_ids)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Change nothing; show the diff of what would change."
)


def scope_options(help_global: str, help_project: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--global`` and ``--project`` as the argument ``scope``."""

    def add(command: Command) -> Command:
        project = click.option("--project", "scope", flag_value="project", help=help_project)
        everywhere = click.option("--global", "scope", flag_value="global", help=help_global)
        return everywhere(project(command))

    return add


def _completed(ctx: click.Context, incomplete: str, *, pending: bool) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from engramdown.cli.opening import known_ids

    return [
        CompletionItem(entry_id, help=_help(text))
        for entry_id, text in known_ids(_place(ctx), pending=pending)
        if entry_id.startswith(incomplete)
    ]


def _help(text: str) -> str:
    """Return the beginning of a text in one line, as a shell shows it beside a word."""
    from engramdown.language.characters import on_screen

    return on_screen(" ".join(text.split()))[:_SHOWN]


def _place(ctx: click.Context) -> Place:
    # While a line is completed the program itself does not run, so ctx.obj is not there.
    values = ctx.find_root().params
    return Place(values.get("project"), values.get("home"), values.get("mode"))

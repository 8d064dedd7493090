"""Opens skills for a command, in the order of what an interrupted program left.

Promises: starts no scope; what cannot be swept up is said on stderr and stops nobody who reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from engramdown.cli import output
from engramdown.cli import skill_messages as said
from engramdown.cli.opening import project_of, settings_at
from engramdown.cli.options import Place
from engramdown.cli.scopes import meant, roots
from engramdown.engram import Scope
from engramdown.errors import EngramdownError, StoreError
from engramdown.skills.library import Skills, open_skills

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["label_argument", "opened"]

_SHOWN = 60


def opened(place: Place, scope: Scope | None = None) -> Skills:
    """Open the skills of a scope, or of all that there are.

    Raises:
        click.ClickException: There is no such scope.
    """
    places = [meant(place, scope)] if scope else roots(place)
    skills = open_skills(places, settings_at(place, project_of(place)))
    try:
        skills.tidy()
    except StoreError as error:
        output.note(said.not_tidied(str(error)))
    return skills


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the labels that begin with what was typed, each with what it is for."""
    del param
    from click.shell_completion import CompletionItem

    values = ctx.find_root().params
    place = Place(values.get("project"), values.get("home"), values.get("mode"))
    try:
        found = [each.skill for each in opened(place).known() if each.counts]
    except (EngramdownError, click.ClickException, OSError):
        return []
    return [
        CompletionItem(skill.label, help=" ".join(skill.description.split())[:_SHOWN])
        for skill in found
        if skill.label.startswith(incomplete)
    ]


label_argument = click.argument("label", metavar="LABEL", shell_complete=_complete)

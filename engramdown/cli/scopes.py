"""Which scope a command means that works in one.

Promises: opens nothing; what is not there is named, with the next step.
"""

from __future__ import annotations

from pathlib import Path

import click

from engramdown.cli import messages
from engramdown.cli.opening import home_of, project_of, start_of
from engramdown.cli.process import Place
from engramdown.engram import Scope


def meant(place: Place, scope: str | None) -> tuple[Scope, Path]:
    """Return the scope that is meant: by default the project, or else the global one.

    Raises:
        click.ClickException: There is no such scope.
    """
    home, project = home_of(place), project_of(place)
    if scope == "global":
        return "global", home
    if project is not None:
        return "project", project
    if scope == "project":
        raise click.ClickException(messages.no_project(start_of(place)))
    if not home.is_dir():
        raise click.ClickException(messages.no_memory(start_of(place), home))
    return "global", home


def roots(place: Place) -> list[tuple[Scope, Path]]:
    """Return the scopes that there are, the project first.

    Raises:
        click.ClickException: There is none.
    """
    first = meant(place, None)
    home = home_of(place)
    return [first, ("global", home)] if first[0] == "project" and home.is_dir() else [first]

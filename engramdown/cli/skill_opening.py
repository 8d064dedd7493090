"""Opens skills for a command, in the order of what an interrupted program left.

Promises: starts no scope; what cannot be swept up is said on stderr and stops nobody who reads.
"""

from __future__ import annotations

from engramdown.cli import output
from engramdown.cli.opening import project_of, settings_at
from engramdown.cli.process import Place
from engramdown.cli.scopes import meant, roots
from engramdown.engram import Scope
from engramdown.errors import StoreError
from engramdown.skills.library import Skills, open_skills


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
        output.note(_not_tidied(str(error)))
    return skills


def _not_tidied(reason: str) -> str:
    """Say that what a crash left could not be swept up."""
    return f"what was left by a program that was stopped stays for now: {reason}"

"""Every sentence of ``engramdown skills``.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown.skills.store import Skill

__all__ = [
    "COMMAND_GROUPS",
    "EDIT_INSTEAD",
    "EMPTY_EDIT",
    "NO_BODY_TWICE",
    "NO_SKILLS",
    "SHORT_HELP",
    "added",
    "changed",
    "draft_kept",
    "findings",
    "healthy",
    "not_tidied",
    "now_edit",
    "shadowed",
    "shadows",
    "unchanged",
]

SHORT_HELP: Final = {
    "list": "List skills, each with what it is for.",
    "show": "Show one skill as it stands.",
    "new": "Write a new skill.",
    "edit": "Change a skill.",
    "validate": "Check skills against the standard.",
}
COMMAND_GROUPS: Final = {
    "Look": ("list", "show", "validate"),
    "Change": ("new", "edit"),
}
NO_SKILLS: Final = "none of yours yet; begin with `engramdown skills new LABEL --description TEXT`"
EDIT_INSTEAD: Final = "give --description or --body-file"
EMPTY_EDIT: Final = "the text is empty; to remove the skill, delete its folder"
NO_BODY_TWICE: Final = "stdin can be read once; give --body-file - alone"
_SCOPES: Final = {
    "project": "this project's",
    "global": "the one of all projects",
    "builtin": "the built-in one",
}


def added(skill: Skill) -> str:
    """Say that a skill was written."""
    return f"Wrote {skill.path}"


def changed(skill: Skill) -> str:
    """Say that a skill was changed."""
    return f"Changed {skill.path}"


def unchanged(skill: Skill) -> str:
    """Say that a skill is as it was."""
    return f"Nothing changed in {skill.path}"


def now_edit(label: str) -> str:
    """Say how to write what a new skill lacks."""
    return f"`engramdown skills edit {label}` opens it, to write how it is done."


def shadows(scope: str) -> str:
    """Say that a skill hides one with the same label in ``scope``."""
    return f"instead of {_SCOPES[scope]}"


def shadowed(scope: str) -> str:
    """Say that a skill is hidden by one with the same label in ``scope``."""
    return f"not used: {_SCOPES[scope]} counts"


def draft_kept(path: str, reason: str) -> str:
    """Say where a text is that could not be written."""
    return f"{reason} Your text is kept in {path}"


def healthy(count: int) -> str:
    """Say that nothing is wrong."""
    return f"{count} skill{'s are' if count != 1 else ' is'} fine."


def findings(count: int) -> str:
    """Say how much is wrong."""
    return f"{count} finding{'s' if count != 1 else ''}."


def not_tidied(reason: str) -> str:
    """Say that what a crash left could not be swept up."""
    return f"what was left by a program that was stopped stays for now: {reason}"

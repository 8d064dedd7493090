"""Every sentence of ``engramdown skills``.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections import Counter

    from engramdown.skills.library import Action, Fate
    from engramdown.skills.store import Skill


SHORT_HELP: Final = {
    "list": "List skills, each with what it is for.",
    "show": "Show one skill as it stands.",
    "new": "Write a new skill.",
    "edit": "Change a skill.",
    "delete": "Put a skill aside.",
    "restore": "Bring back a skill that was put aside.",
    "import": "Bring in skills of other assistants, folders or a .zip.",
    "validate": "Check skills against the standard.",
}
COMMAND_GROUPS: Final = {
    "Look": ("list", "show", "validate"),
    "Change": ("new", "edit", "delete", "restore", "import"),
}
NO_SKILLS: Final = "none of yours yet; begin with `engramdown skills new LABEL --description TEXT`"
FOUND: Final = "bring them in with `engramdown skills import PATH`; --dry-run shows what comes"
NOTHING_FOUND: Final = "no assistant keeps skills here or at home; give the path of some"
NO_SKILL_THERE: Final = "{path}: holds no skill; one is a folder with a SKILL.md"
NO_SUCH_LABEL: Final = "there is no skill {labels} among them; there are: {known}"
EDIT_INSTEAD: Final = "give --description or --body-file"
EMPTY_EDIT: Final = "the text is empty; `engramdown skills delete LABEL` removes the skill"
NO_BODY_TWICE: Final = "stdin can be read once; give --body-file - alone"
_SCOPES: Final = {
    "project": "this project's",
    "global": "the one of all projects",
    "builtin": "the built-in one",
}


def added(skill: Skill) -> str:
    """Say that a skill was written."""
    return f"Wrote {skill.path}"


def built_in(label: str) -> str:
    """Say that a built-in skill cannot be deleted."""
    return f"{label} comes with the program and stays; a skill of yours with this label replaces it"


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


def found_in(count: int, place: str) -> str:
    """Say how many skills an assistant keeps in a place."""
    return f"{place}  {count} skill{'s' if count != 1 else ''}"


def comes(fate: Fate) -> str:
    """Say what became of a skill that was to be brought in, or will."""
    size = sum(len(content.data) for content in fate.incoming.files.values())
    kilobyte = 1024
    shown = f"{size // kilobyte} KB" if size >= kilobyte else f"{size} bytes"
    files = len(fate.incoming.files)
    about = f"{files} file{'s' if files != 1 else ''}, {shown}"
    hidden = fate.incoming.hidden
    without = f", without {hidden} hidden" if hidden else ""
    return fate.reason or f"{about}{without}, from {fate.incoming.source}"


def imported(counts: Counter[Action], *, dry_run: bool) -> str:
    """Say how many skills were brought in."""
    new = counts["added"] + counts["replaced"]
    words = [f"{new} skill{'s' if new != 1 else ''} {'would come in' if dry_run else 'came in'}"]
    rest: tuple[Action, ...] = ("unchanged", "refused", "failed")
    return ", ".join([*words, *(f"{counts[key]} {key}" for key in rest if counts[key])]) + "."


def kept_at(path: str) -> str:
    """Say where a skill is kept whose place another one took."""
    return f"the one before is kept in {path}"


def used(times: int, last: str) -> str:
    """Say how often assistants read a skill."""
    return f"read by assistants {times} time{'s' if times != 1 else ''}, last on {last}"


def healthy(count: int) -> str:
    """Say that nothing is wrong."""
    return f"{count} skill{'s are' if count != 1 else ' is'} fine."


def findings(count: int) -> str:
    """Say how much is wrong."""
    return f"{count} finding{'s' if count != 1 else ''}."

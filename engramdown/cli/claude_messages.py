"""The words of ``engramdown init --claude``.

Promises: what is going to be written is said before it is; each refusal has its next step.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = [
    "ASK",
    "ASK_REMOVE",
    "ELSEWHERE",
    "NEEDS_CLAUDE",
    "NEEDS_YES",
    "PASTE",
    "known",
    "undo",
    "written",
]

NEEDS_CLAUDE: Final = "--remove belongs to --claude; give both"
NEEDS_YES: Final = "nothing is written without a yes; give --yes, or --dry-run to look only"
ASK: Final = "Write these hooks?"
ASK_REMOVE: Final = "Take these hooks out?"
PASTE: Final = "To set it up by hand, put this into the settings:"
ELSEWHERE: Final = (
    "`engramdown` is not on the PATH here, so the hooks name the program by where it stands; "
    "in settings that others share, that is not where theirs is."
)


def known(path: Path, *, remove: bool) -> str:
    """Say that nothing is left to do."""
    if remove:
        return f"{path} has no hooks of Engramdown."
    return f"{path} has the hooks already."


def undo(*, everywhere: bool) -> str:
    """Say how the hooks are taken out again."""
    command = "engramdown init --claude --remove"
    return f"To take them out again: {command}{' --global' if everywhere else ''}"


def written(path: Path, *, remove: bool, dry: bool) -> str:
    """Say what became of the settings, or would."""
    if remove:
        return f"The hooks {'would be' if dry else 'are'} gone from {path}."
    return f"Claude Code {'would call' if dry else 'calls'} memory, as {path} says."

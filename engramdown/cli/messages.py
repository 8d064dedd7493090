"""Words that several commands use.

This module is loaded at every start, so it imports nothing of memory itself. What only one command
says stands in that command.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown import Receipt


OFF: Final = 'memory is switched off; set mode = "autopilot" or "copilot" in config.toml, or --mode'
DRY_RUN: Final = "Dry run: nothing is written."


def system_error(error: OSError) -> str:
    """Say what the system refused, and for which file."""
    what = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else what


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "line"), counted(2_000, "line"), counted(2, "summary", "summaries")
    ('1 line', '2,000 lines', '2 summaries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


# ---- names ----

BY_NAMES: Final = {
    "user": "you",
    "person": "you, by hand",
    "llm": "the assistant",
    "consolidation": "tidying up",
    "engramdown": "Engramdown",
    "git": "somebody else, in a commit",
}
SOURCE_NAMES: Final = {"user": "you", "llm": "the assistant", "consolidation": "tidying up"}

# ---- where memory is ----

SCOPE_NAMES: Final = {"project": "this project", "global": "all projects", "builtin": "built in"}


def no_project(start: Path) -> str:
    """Say that there is no project here."""
    return f"no project memory in {start} or above; run `engramdown init`, or use --global"


def no_memory(start: Path, home: Path) -> str:
    """Say that there is no memory at all."""
    return f"no memory in {start} or above, nor in {home}; run `engramdown init`"


# ---- remembering ----

_DECLINED: Final = "Declined; it is not proposed again."
_NOT_YOURS: Final = "(ticked by somebody else: it came with git)"


def receipt(item: Receipt) -> str:
    """Say what happened to a memory, where, and why."""
    # Imported here: who has a receipt has loaded it.
    from engramdown.hippocampus import REFUSED

    if item.reason == "declined":
        return _DECLINED if item.is_ours else f"{_DECLINED} {_NOT_YOURS}"
    place = f"{item.file}:{item.line}" if item.line else item.file
    kind = f"({item.engram.kind}, {item.engram.scope})"
    reason = f": {item.reason}" if item.reason else ""
    aside = f", in this project: {REFUSED}" if REFUSED in item.reason else ""
    said = {
        "encoded": f"Remembered in {place} {kind} id {item.id}{aside}",
        "merged": f"Known already: {place} {kind} id {item.id}{aside}",
        "queued": (
            f"Waiting for you in {place} {kind} id {item.id}, because: {item.reason}. "
            "Decide with `engramdown review`."
        ),
        "discarded": f"Not written{reason}",
        "forgotten": f"Forgot {item.id}",
        "failed": f"Could not write it{reason}",
    }
    is_told = item.is_ours or item.action in ("discarded", "failed")
    return said[item.action] if is_told else f"{said[item.action]} {_NOT_YOURS}"

"""Words that several commands use.

This module is loaded at every start, so it imports nothing of memory itself. What only one command
says stands in that command.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown import Receipt


# ---- the program ----

EPILOG: Final = "`engramdown COMMAND --help` says more about a command."


def broken_settings(trouble: str) -> str:
    """Say why nothing is changed where the settings of a project are broken."""
    return f"{trouble}; until that is mended nothing is changed here"


def strictest_settings(trouble: str) -> str:
    """Say what held instead of the broken settings of a project."""
    return f"{trouble}; until that is mended the strictest settings hold here"


def left_out(reason: str) -> str:
    """Say of a file that what was shown is without it."""
    return f"could not be read, and is left out: {reason}"


OFF: Final = 'memory is switched off; set mode = "autopilot" or "copilot" in config.toml, or --mode'
STOPPED: Final = "Stopped."
PATCH_ELSEWHERE: Final = "# The file is elsewhere; this applies the patch: patch -p1 -d /"
DRY_RUN: Final = "Dry run: nothing is written."


def no_such_command(name: str, commands: Iterable[str]) -> str:
    """Say that there is no command of this name, and which one was perhaps meant."""
    import difflib

    near = difflib.get_close_matches(name, commands, n=1)
    return f"no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def real_name(command: str, name: str) -> str:
    """Say what a command is called here."""
    return f"{name} is `{command}` here"


def takes_away(name: str, path: str, commands: Sequence[str]) -> str:
    """Say which command takes something away, for one who called it otherwise."""
    named = ", ".join(f"`{path} {command}`" for command in commands)
    return f"no command {name!r}" + (f"; what takes something away is {named}" if named else "")


def wrong_usage(message: str, path: str) -> str:
    """Say what is wrong in a command line, and where to read how it is right."""
    said = message.rstrip(". ")
    said = said[:1].lower() + said[1:]
    joint = " " if said.endswith("?") else "; "
    return f"{said}{joint}see `{path} --help`"


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
NO_FOLDER: Final = "the working directory is gone; cd to another one, or use -C DIR"
NOT_DONE: Final = "nothing was done"


def no_project(start: Path) -> str:
    """Say that there is no project here."""
    return f"no project memory in {start} or above; run `engramdown init`, or use --global"


def no_memory(start: Path, home: Path) -> str:
    """Say that there is no memory at all."""
    return f"no memory in {start} or above, nor in {home}; run `engramdown init`"


# ---- remembering ----

DECLINED: Final = "Declined; it is not proposed again."
_DECLINED: Final = "declined"
_NOT_YOURS: Final = "(ticked by somebody else: it came with git)"


def kept_here(receipts: Iterable[Receipt]) -> str:
    """Say that what was meant for all projects is kept in this one, or ``""``."""
    # Imported here: who has a receipt has loaded it.
    from engramdown.hippocampus import REFUSED

    is_kept = any(REFUSED in each.reason for each in receipts)
    return f"facts about you are kept in this project: {REFUSED}" if is_kept else ""


def receipt(item: Receipt) -> str:
    """Say what happened to a memory, where, and why."""
    # Imported here: who has a receipt has loaded it.
    from engramdown.hippocampus import REFUSED

    if item.reason == _DECLINED:
        return DECLINED if item.is_ours else f"{DECLINED} {_NOT_YOURS}"
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

"""What ``engramdown why`` says of where a memory comes from.

Promises: pure; plain words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from engramdown.cli.history import commit

if TYPE_CHECKING:
    from engramdown.cortex.why import Brought, Taught


MADE_OF: Final = "It stands for"
PROBLEMS: Final[Mapping[str, str]] = {
    "no-session": "This transcript is not here: it was purged, or is on another machine.",
    "no-line": "The transcript is here, but has no line of this number.",
    "unreadable": "The transcript cannot be read; `engramdown doctor` says why.",
}
"""Why there is no line, by the code of it."""
HIDDEN: Final[Mapping[str, str]] = {
    "redacted": "(redacted)",
    "excluded": "(excluded from memory; `engramdown log show` shows it)",
}
"""Why a line is not shown, by the code of it."""


def waited(reason: str) -> str:
    """Say that a person was asked first, and why."""
    return f"It waited for you first, because: {reason}."


def brought(item: Brought, *, by_git: bool) -> str:
    """Say which commit brought a memory, or why there is none."""
    if item.commit is None:
        return f"It {item.problem}." if item.problem.startswith("is ") else f"git: {item.problem}"
    how = "It came with commit" if by_git else "It is in git since commit"
    more = "; what was before was not fetched" if item.shallow else ""
    return f"{how} {commit(item.commit)}: {item.commit.subject}{more}"


def said_in(taught: Taught) -> str:
    """Name the line that taught a memory, and the program that it was imported from."""
    source = f", imported from {taught.source}" if taught.source else ""
    return f"Learned in {taught.pointer}{source}"

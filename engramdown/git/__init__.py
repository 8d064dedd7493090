"""Memory under git: what its merges leave of memory files, and what its history tells.

The files stay the person's; nothing here commits, fetches or moves a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.git.diff import VERBS, Change, Known, Place, State, compare, find, raw, words
    from engramdown.git.driver import DRIVER, Setup, drive, plan_setup, program, set_up
    from engramdown.git.lines import Markers
    from engramdown.git.repository import Commit, find_repository

__all__ = [
    "DRIVER",
    "VERBS",
    "Change",
    "Commit",
    "Known",
    "Markers",
    "Place",
    "Setup",
    "State",
    "compare",
    "drive",
    "find",
    "find_repository",
    "plan_setup",
    "program",
    "raw",
    "set_up",
    "words",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "diff": ["Change", "Known", "Place", "State", "VERBS", "compare", "find", "raw", "words"],
        "driver": ["DRIVER", "Setup", "drive", "plan_setup", "program", "set_up"],
        "lines": ["Markers"],
        "repository": ["Commit", "find_repository"],
    },
)

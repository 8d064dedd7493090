"""Memory under git: how branches are merged, and what changed since a commit.

The files stay the person's; nothing here commits, fetches or moves a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.git.diff import VERBS as VERBS
    from engramdown.git.diff import Change as Change
    from engramdown.git.diff import Place as Place
    from engramdown.git.diff import State as State
    from engramdown.git.diff import compare as compare
    from engramdown.git.diff import words as words
    from engramdown.git.driver import DRIVER as DRIVER
    from engramdown.git.driver import Setup as Setup
    from engramdown.git.driver import drive as drive
    from engramdown.git.driver import plan_setup as plan_setup
    from engramdown.git.driver import program as program
    from engramdown.git.driver import set_up as set_up
    from engramdown.git.lines import Markers as Markers
    from engramdown.git.repository import Commit as Commit
    from engramdown.git.repository import find_repository as find_repository

__getattr__, __dir__ = door(
    __name__,
    {
        "diff": ["Change", "Place", "State", "VERBS", "compare", "words"],
        "driver": ["DRIVER", "Setup", "drive", "plan_setup", "program", "set_up"],
        "lines": ["Markers"],
        "repository": ["Commit", "find_repository"],
    },
)

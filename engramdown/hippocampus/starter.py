"""The files that a new scope begins with.

Promises: what explains the format stands in private notes, which no model ever sees; a starter
file holds no memory.
"""

from __future__ import annotations

from typing import Final

from engramdown.engram import Scope
from engramdown.hippocampus.placement import LESSONS, PROFILE, RULES

__all__ = ["GITIGNORE", "is_for_git", "starter_files"]

_RULES: Final = """\
# Rules

<!--
One rule is one list item under Always, Never or When:

  - Run the linter before pushing

Write, change and delete lines as you like: what you wrote is yours, and no automatic job
touches it. The comment that ends some lines is metadata (id, source, date); leave it there.
A comment on a line of its own, like this one, is a private note: no model ever sees it.
-->

## Always

## Never

## When
"""

_LESSONS: Final = """\
# Lessons

<!--
What was learned, one list item each, the newest last:

  - The staging database is reset every night at two

A lesson with a topic is also filed in topics/<topic>.md.
-->

"""

_PROFILE: Final = """\
# Profile

<!--
Facts about you, one list item each. A fact with a key replaces the older one of that key:

  - Name: Ada
  - Prefers short answers
-->

"""

GITIGNORE: Final = """\
# Memory is for git; transcripts, the journal of changes and caches stay on this machine.
/*
!/.gitignore
!/config.toml
!/memory/
!/skills/
!/journal/
!/templates/
!/prompts/
/memory/.lock
/memory/**/.*.tmp
/skills/**/.SKILL.md.*.tmp
/journal/.*.tmp
"""


def starter_files(scope: Scope) -> dict[str, str]:
    """Return the text of each starter file by its name relative to the memory folder."""
    files = {RULES: _RULES, LESSONS: _LESSONS}
    return files | {PROFILE: _PROFILE} if scope == "global" else files


def is_for_git(name: str) -> bool:
    """Whether a file of a scope, by its name relative to its folder, is for git.

    >>> is_for_git("memory/rules.md"), is_for_git("episodes/a.jsonl"), is_for_git("memory/.lock")
    (True, False, False)
    """
    folder, _, rest = name.partition("/")
    last = rest.rpartition("/")[2]
    is_temporary = last[:1] == "." and last.endswith(".tmp")
    if (folder == "memory" and rest == ".lock") or (
        folder in ("memory", "skills", "journal") and is_temporary
    ):
        return False
    return f"!/{folder}{'/' if rest else ''}" in GITIGNORE.split("\n")

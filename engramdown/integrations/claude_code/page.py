"""Memory as it stands in a file that agents read by themselves: ``AGENTS.md``, ``CLAUDE.md``.

Promises: rules and lessons of one scope, the ones that count most first, within a budget; nothing
of the profile, because such files are shared (where a memory for all projects was refused, facts
about the user are lessons of the project, and stand there); the same memory gives the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.clock import today
from engramdown.engram import Scope
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.cortex.context import Memory

__all__ = ["BUDGET", "page"]

BUDGET: Final = 2000
"""What it may cost in tokens, unless something else is asked for."""

_TRIES: Final = 4
_RULES: Final = 0.6
"""The part of it that is for rules; lessons get the rest, and what rules leave."""


def page(cortex: Cortex, scope: Scope, budget: int = BUDGET) -> str:
    """Return what an agent is to know of one scope; ``""`` if there is nothing.

    Args:
        cortex: Whose memory it is.
        scope: Whether it is that of the project, or that of all projects.
        budget: What it may cost, in tokens.

    Raises:
        StoreError: If memory cannot be read.
    """
    from engramdown.cortex.context import Memory

    store = cortex.global_hc if scope == "global" else cortex.project_hc
    usable = {(entry.file, entry.line, entry.text) for entry in cortex.usable(store)}
    rules, lessons = (
        [entry for entry in found if (entry.file, entry.line, entry.text) in usable]
        for found in (store.recall_rules(), store.recall_lessons())
    )
    memory = (
        Memory(global_rules=rules, global_lessons=lessons)
        if scope == "global"
        else Memory(project_rules=rules, project_lessons=lessons)
    )
    room = budget
    for _ in range(_TRIES):
        text = _within(memory, scope, room)
        over = estimate_tokens(text) - budget
        if over <= 0:
            return text
        # The words around the sections cost something, too.
        room -= over
    return ""


def _within(memory: Memory, scope: Scope, room: int) -> str:
    from engramdown.cortex.context import build

    share = int(room * _RULES)
    made = build(memory, "", today(), _budgets(scope, share, room - share))
    spent = sum(part.tokens for part in made.sections if part.name.endswith("rules"))
    if spent < share:
        made = build(memory, "", today(), _budgets(scope, share, room - spent))
    return str(made).rstrip("\n")


def _budgets(scope: Scope, rules: int, lessons: int) -> dict[str, int]:
    return {f"{scope}_rules": rules, f"{scope}_lessons": lessons}

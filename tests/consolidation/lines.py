"""Lines of a transcript for the tests of what learns from them.

Promises: :func:`talk` needs roles and texts; lines are the episodes that a transcript has.
"""

from __future__ import annotations

import json
from typing import Any, Final

from engramdown.consolidation.actions import Cell, cells_of
from engramdown.transcripts.episode import Episode

__all__ = ["SESSION", "call", "cell", "failing", "result", "said", "talk"]

SESSION: Final = "20260227-101500-4f2a"


def said(role: str, text: str, **fields: object) -> Episode:
    """Return a line, which :func:`talk` numbers."""
    more: dict[str, Any] = dict(fields)
    return Episode(0, "2026-02-27T10:15:00.000000Z", "0123456789abcdef", role, text, **more)


def call(name: str, given: dict[str, Any] | str, **fields: object) -> Episode:
    """Return the line of a call."""
    text = given if isinstance(given, str) else json.dumps(given)
    return said("tool_call", text, name=name, **fields)


def result(name: str, output: dict[str, Any] | str, **fields: object) -> Episode:
    """Return the line of a result."""
    text = output if isinstance(output, str) else json.dumps(output)
    return said("tool_result", text, name=name, **fields)


def talk(*lines: Episode) -> list[Episode]:
    """Return ``lines`` numbered from 1."""
    return [line._replace(seq=at) for at, line in enumerate(lines, 1)]


def cell(*lines: Episode) -> Cell:
    """Return the only cell of some lines."""
    (found,) = cells_of(SESSION, talk(*lines))
    return found


def failing(code: str, error: str = "ValueError: no", name: str = "shell") -> tuple[Episode, ...]:
    """Return a call that fails."""
    return call(name, {"command": code}), result(name, "", error=error)

"""Offline work on memory: given memories or transcripts, it returns plans, and writes no memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.consolidation.actions import by_turn, cells_of
    from engramdown.consolidation.error_lessons import lessons_of_turn
    from engramdown.consolidation.plan import Move, Name, Operation, Row, Ruling, diff
    from engramdown.consolidation.summaries import Pressure, Thresholds, format_summary, pressure

__all__ = [
    "Move",
    "Name",
    "Operation",
    "Pressure",
    "Row",
    "Ruling",
    "Thresholds",
    "by_turn",
    "cells_of",
    "diff",
    "format_summary",
    "lessons_of_turn",
    "pressure",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "actions": ["by_turn", "cells_of"],
        "error_lessons": ["lessons_of_turn"],
        "plan": ["Move", "Name", "Operation", "Row", "Ruling", "diff"],
        "summaries": ["Pressure", "Thresholds", "format_summary", "pressure"],
    },
)

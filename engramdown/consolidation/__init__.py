"""Offline work on memory: given memories or transcripts, it returns plans, and writes no memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.consolidation.actions import by_turn as by_turn
    from engramdown.consolidation.actions import cells_of as cells_of
    from engramdown.consolidation.error_lessons import lessons_of_turn as lessons_of_turn
    from engramdown.consolidation.notes import Note as Note
    from engramdown.consolidation.notes import Omission as Omission
    from engramdown.consolidation.notes import read_notes as read_notes
    from engramdown.consolidation.plan import Name as Name
    from engramdown.consolidation.plan import Operation as Operation
    from engramdown.consolidation.plan import Row as Row
    from engramdown.consolidation.plan import Ruling as Ruling
    from engramdown.consolidation.plan import diff as diff
    from engramdown.consolidation.summaries import format_summary as format_summary

__getattr__, __dir__ = door(
    __name__,
    {
        "actions": ["by_turn", "cells_of"],
        "error_lessons": ["lessons_of_turn"],
        "notes": ["Note", "Omission", "read_notes"],
        "plan": ["Name", "Operation", "Row", "Ruling", "diff"],
        "summaries": ["format_summary"],
    },
)

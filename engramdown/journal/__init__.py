"""The journal, a page of markdown for each day, and working notes, one page for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.journal.journal import Day, Journal, Match, Written
    from engramdown.journal.page import Section, normalized
    from engramdown.journal.page_search import NoteMatch, preview
    from engramdown.journal.working_notes import Note, WorkingNotes

__all__ = [
    "Day",
    "Journal",
    "Match",
    "Note",
    "NoteMatch",
    "Section",
    "WorkingNotes",
    "Written",
    "normalized",
    "preview",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "journal": ["Day", "Journal", "Match", "Written"],
        "page": ["Section", "normalized"],
        "page_search": ["NoteMatch", "preview"],
        "working_notes": ["Note", "WorkingNotes"],
    },
)

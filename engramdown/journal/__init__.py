"""The journal, a page of markdown for each day, and working notes, one page for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.journal.journal import Day as Day
    from engramdown.journal.journal import Journal as Journal
    from engramdown.journal.journal import Match as Match
    from engramdown.journal.page import Section as Section
    from engramdown.journal.page import normalized as normalized
    from engramdown.journal.page_search import NoteMatch as NoteMatch
    from engramdown.journal.page_search import preview as preview
    from engramdown.journal.working_notes import Note as Note
    from engramdown.journal.working_notes import WorkingNotes as WorkingNotes

__getattr__, __dir__ = door(
    __name__,
    {
        "journal": ["Day", "Journal", "Match"],
        "page": ["Section", "normalized"],
        "page_search": ["NoteMatch", "preview"],
        "working_notes": ["Note", "WorkingNotes"],
    },
)

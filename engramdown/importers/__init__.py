"""Brings in what other programs keep: transcripts of sessions, and notes.

One reader for each source, which sees no file and no clock, and one importer around them. Importing
twice changes nothing; what is not understood is counted, and never a reason to stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.importers.claude_code import CLAUDE_CODE
    from engramdown.importers.importer import FileReport, Importer, Report, purge_import, sources
    from engramdown.importers.inputs import Input, Ledger, Lines, find_inputs, sample
    from engramdown.importers.migration import MIGRATED, Came, Migration, Surveyed
    from engramdown.importers.records import FILE

__all__ = [
    "CLAUDE_CODE",
    "FILE",
    "MIGRATED",
    "Came",
    "FileReport",
    "Importer",
    "Input",
    "Ledger",
    "Lines",
    "Migration",
    "Report",
    "Surveyed",
    "find_inputs",
    "purge_import",
    "sample",
    "sources",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "claude_code": ["CLAUDE_CODE"],
        "importer": ["FileReport", "Importer", "Report", "purge_import", "sources"],
        "inputs": ["Input", "Ledger", "Lines", "find_inputs", "sample"],
        "migration": ["Came", "MIGRATED", "Migration", "Surveyed"],
        "records": ["FILE"],
    },
)

"""Imports the transcripts and notes of other programs.

Each source has a reader, which sees neither files nor the clock, and one importer runs them all.
Importing twice changes nothing; what is not understood is counted, and never stops an import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.importers.importer import Importer as Importer
    from engramdown.importers.importer import Report as Report
    from engramdown.importers.importer import import_running as import_running
    from engramdown.importers.importer import purge_import as purge_import
    from engramdown.importers.importer import sources as sources
    from engramdown.importers.inputs import Input as Input
    from engramdown.importers.inputs import Ledger as Ledger
    from engramdown.importers.inputs import find_inputs as find_inputs
    from engramdown.importers.migration import MIGRATED as MIGRATED
    from engramdown.importers.migration import Came as Came
    from engramdown.importers.migration import Migration as Migration
    from engramdown.importers.migration import Surveyed as Surveyed

__getattr__, __dir__ = door(
    __name__,
    {
        "importer": ["Importer", "Report", "import_running", "purge_import", "sources"],
        "inputs": ["Input", "Ledger", "find_inputs"],
        "migration": ["Came", "MIGRATED", "Migration", "Surveyed"],
    },
)

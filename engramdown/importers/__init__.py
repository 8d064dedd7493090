"""Imports the transcripts and notes of other programs.

Each source has a reader, which sees neither files nor the clock, and one importer runs them all.
Importing twice changes nothing; what is not understood is counted, and never stops an import.
"""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

"""Transcripts: one line of JSON for each thing said or done, one file for each session."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

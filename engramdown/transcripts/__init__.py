"""Transcripts: one line of JSON for each thing said or done, one file for each session."""

__all__: list[str] = []

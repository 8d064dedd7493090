"""Transcripts."""

__all__: list[str] = []

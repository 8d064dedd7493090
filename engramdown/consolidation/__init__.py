"""Offline work on memory: given memories or transcripts, it returns plans, and writes no memory."""

__all__: list[str] = []

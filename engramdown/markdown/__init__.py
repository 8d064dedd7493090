"""Lossless markdown: documents, entries and their metadata, merges, front matter. Pure."""

__all__: list[str] = []

"""Lossless markdown: documents, entries and their metadata, merges, front matter. Pure."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

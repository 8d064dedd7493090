"""Offline work on memory: given memories or transcripts, it returns plans, and writes no memory."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

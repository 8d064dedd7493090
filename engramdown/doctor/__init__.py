"""Finds what is wrong in the files of a memory, and mends it."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

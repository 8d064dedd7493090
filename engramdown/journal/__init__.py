"""The journal, a page of markdown for each day, and working notes, one page for each session."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

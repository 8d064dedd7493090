"""Finds secrets in texts and hides them. Pure."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

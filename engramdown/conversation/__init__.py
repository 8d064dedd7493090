"""A running conversation: its view, its summaries, its prompts."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

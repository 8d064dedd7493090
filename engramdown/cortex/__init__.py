"""The facade, a session as turns, and the tools that a model may call."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

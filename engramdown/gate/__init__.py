"""What may be written, and what waits for a person: the way into memory."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

"""What a model is shown of memory."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

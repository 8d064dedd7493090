"""A conversation with a model behind OpenAI's protocol, with memory but without the terminal."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

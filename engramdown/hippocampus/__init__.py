"""One scope's memory: markdown files that a person owns, and the protocol that writes them."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

"""What ``--json`` prints, as values: a command prints them, and the HTTP API answers with them."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

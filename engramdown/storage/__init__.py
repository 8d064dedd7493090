"""Every system call: one disk, locks, safe opening, atomic exchange, the git program."""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)

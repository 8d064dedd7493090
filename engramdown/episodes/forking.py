"""Before a process forks, what recording loads late is loaded.

Promises: a child process can record, whatever other threads of its parent were doing. A thread
that is loading a module does not live on in the child, but its lock on the module does, and whoever
loads the same module there waits for ever. What is loaded takes no lock.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

from engramdown import locking

__all__ = ["LATE"]

LATE: Final = (
    "hashlib",
    "engramdown.redaction",
    "engramdown.episodes.forgetting",
    "engramdown.episodes.leftovers",
    "engramdown.episodes.sessions",
    "engramdown.episodes.silence",
)
"""What is imported inside of functions on the way of an episode into its file."""


def _load() -> None:
    for name in LATE:
        import_module(name)
    locking.prepare()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_load)

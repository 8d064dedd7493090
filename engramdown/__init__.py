"""Engramdown: memory for assistants that a person can open, read, correct and commit.

These are the public names; importing them costs nothing until one is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engramdown.context.sections import MemoryContext
    from engramdown.conversation.rendering import WorkingContext
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.session import Session
    from engramdown.engram import Engram
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.errors import EngramdownError
    from engramdown.gate.gate import Decision
    from engramdown.gate.intake import Receipt
    from engramdown.gate.pending import Proposal
    from engramdown.hippocampus.entry import Entry
    from engramdown.hippocampus.store import Hippocampus, HippocampusProtocol

__version__ = "0.1.0"

__all__ = [
    "Cortex",
    "Decision",
    "Engram",
    "EngramdownError",
    "Entry",
    "EpisodicMemory",
    "Hippocampus",
    "HippocampusProtocol",
    "MemoryContext",
    "Proposal",
    "Receipt",
    "Session",
    "WorkingContext",
    "__version__",
]

_HOMES = {
    "Cortex": "engramdown.cortex.cortex",
    "Decision": "engramdown.gate.gate",
    "Engram": "engramdown.engram",
    "EngramdownError": "engramdown.errors",
    "Entry": "engramdown.hippocampus.entry",
    "EpisodicMemory": "engramdown.episodes.memory",
    "Hippocampus": "engramdown.hippocampus.store",
    "HippocampusProtocol": "engramdown.hippocampus.store",
    "MemoryContext": "engramdown.context.sections",
    "Proposal": "engramdown.gate.pending",
    "Receipt": "engramdown.gate.intake",
    "Session": "engramdown.cortex.session",
    "WorkingContext": "engramdown.conversation.rendering",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)


class _Moved:
    """Finds modules by their names of 0.1, once nobody else has found them."""

    @staticmethod
    def find_spec(name: str, path: object, target: object = None) -> ModuleSpec | None:
        del path, target
        if not name.startswith("engramdown."):
            return None
        from engramdown.lazy import find_spec

        return find_spec(name)


sys.meta_path.append(_Moved)

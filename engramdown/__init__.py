"""Engramdown: memory for assistants that a person can open, read, correct and commit.

These are the public names; importing them costs nothing until one is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engramdown.context.sections import MemoryContext as MemoryContext
    from engramdown.conversation.rendering import WorkingContext as WorkingContext
    from engramdown.cortex.cortex import Cortex as Cortex
    from engramdown.cortex.session import Session as Session
    from engramdown.engram import Engram as Engram
    from engramdown.episodes.memory import EpisodicMemory as EpisodicMemory
    from engramdown.errors import EngramdownError as EngramdownError
    from engramdown.gate.gate import Decision as Decision
    from engramdown.gate.intake import Receipt as Receipt
    from engramdown.gate.pending import Proposal as Proposal
    from engramdown.hippocampus.entry import Entry as Entry
    from engramdown.hippocampus.store import Hippocampus as Hippocampus
    from engramdown.hippocampus.store import HippocampusProtocol as HippocampusProtocol

__version__ = "0.1.0"

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
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - all of them are strings


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

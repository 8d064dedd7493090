"""Modules of 0.1 that users import by name, and where they are now; this goes with 0.3.

An old module is the new one, not a copy of it, and importing it warns. Nothing here runs unless an
import would fail otherwise.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

MOVED: Final = {
    "adapters.anthropic_memory": "integrations.anthropic_memory",
    "adapters.chat.address": "integrations.chat.endpoint",
    "adapters.chat.endpoint": "integrations.chat.endpoint",
    "adapters.chat.files": "integrations.chat.project_files",
    "adapters.chat.pieces": "integrations.chat.endpoint",
    "adapters.chat.turns": "integrations.chat.turns",
    "adapters.langgraph": "integrations.langgraph",
    "adapters.openai_agents": "integrations.openai_agents",
    "adapters.pydantic_ai": "integrations.pydantic_ai",
    "consolidation.cells": "consolidation.actions",
    "consolidation.extraction": "consolidation.statement_reader",
    "consolidation.identity": "consolidation.facts",
    "consolidation.mended": "consolidation.error_lessons",
    "consolidation.model": "models.port",
    "consolidation.worth": "consolidation.facts",
    "cortex.card_state": "sleep.session_cards",
    "cortex.context": "context.sections",
    "cortex.conversation.conversation": "conversation.conversation",
    "cortex.conversation.rendering.validating": "conversation.provider_rules",
    "cortex.conversation.working": "conversation.rendering",
    "cortex.gate": "gate.gate",
    "cortex.memory_folder.folder": "integrations.memory_folder",
    "cortex.news": "sleep.watcher",
    "cortex.proposals": "gate.proposals",
    "cortex.receipts": "gate.receipts",
    "cortex.turns": "cortex.session",
    "cortex.worker": "sleep.worker",
    "episodes.episode": "transcripts.episode",
    "hippocampus.document": "markdown.document",
}
"""Old and new names of modules within the package."""
_PARENTS: Final = frozenset(
    old.rsplit(".", count)[0] for old in MOVED for count in range(1, old.count(".") + 1)
)


def find_spec(name: str) -> ModuleSpec | None:
    """Return how an old name is imported, or ``None`` if it is none.

    Args:
        name: The full name of a module.
    """
    short = name.removeprefix("engramdown.")
    if short in MOVED:
        return ModuleSpec(name, _Loader())
    return ModuleSpec(name, _Loader(), is_package=True) if short in _PARENTS else None


class _Loader(Loader):
    """Gives the new module for an old name."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the new module in the place of the old one."""
        old = module.__name__
        short = old.removeprefix("engramdown.")
        if short in MOVED:
            new = f"engramdown.{MOVED[short]}"
            warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=2)
            sys.modules[old] = importlib.import_module(new)

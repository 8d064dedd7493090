"""The old place of :mod:`engramdown.integrations`: it works for one release, and warns.

An old module is the new one, not a copy of it.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

__all__: list[str] = []

_MOVED: Final = {
    "anthropic_memory": "anthropic_memory",
    "chat": "chat",
    "chat.address": "chat.endpoint",
    "chat.endpoint": "chat.endpoint",
    "chat.failures": "chat.endpoint",
    "chat.files": "chat.project_files",
    "chat.pieces": "chat.endpoint",
    "chat.turns": "chat.turns",
    "langgraph": "langgraph",
    "openai_agents": "openai_agents",
    "pydantic_ai": "pydantic_ai",
}


class _Moved(MetaPathFinder, Loader):
    """Finds the new module for an old name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        is_old = name.startswith(f"{__name__}.") and name[len(__name__) + 1 :] in _MOVED
        return ModuleSpec(name, self) if is_old else None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = f"engramdown.integrations.{_MOVED[old.removeprefix(f'{__name__}.')]}"
        warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=2)
        sys.modules[old] = importlib.import_module(new)


sys.meta_path.insert(0, _Moved())

"""Imports from ``engramdown.adapters`` work for one release, and warn."""

from __future__ import annotations

import importlib
import sys

import pytest

import engramdown.adapters


@pytest.mark.parametrize(
    "old, new",
    [
        ("langgraph", "langgraph"),
        ("anthropic_memory", "anthropic_memory"),
        ("openai_agents", "openai_agents"),
        ("pydantic_ai", "pydantic_ai"),
        ("chat.pieces", "chat.endpoint"),
        ("chat.turns", "chat.turns"),
    ],
)
def test_an_old_module_is_the_new_one(old: str, new: str) -> None:
    for name in [name for name in sys.modules if name.startswith("engramdown.adapters.")]:
        del sys.modules[name]
    with pytest.warns(DeprecationWarning, match="is now engramdown.integrations."):
        found = importlib.import_module(f"engramdown.adapters.{old}")
    assert found is importlib.import_module(f"engramdown.integrations.{new}")


def test_what_never_was_there_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"{engramdown.adapters.__name__}.nothing")

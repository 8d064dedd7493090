"""How providers want the definition of a tool.

Promises: pure; the same name, description and schema everywhere, wrapped as each provider asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

__all__ = ["STYLES", "Definition"]


class Definition(NamedTuple):
    """What a model is told of a tool.

    Attributes:
        name: What it is called by.
        description: What it does.
        parameters: The JSON schema of its arguments.
        reads: Whether it changes nothing.
        takes_away: Whether it may take something away.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    reads: bool = True
    takes_away: bool = False


def _plain(tool: Definition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _openai(tool: Definition) -> dict[str, Any]:
    return {"type": "function", "function": _plain(tool)}


def _responses(tool: Definition) -> dict[str, Any]:
    return {"type": "function", **_plain(tool), "strict": False}


def _anthropic(tool: Definition) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    }


def _mcp(tool: Definition) -> dict[str, Any]:
    hints = {
        "readOnlyHint": tool.reads,
        "destructiveHint": tool.takes_away,
        "openWorldHint": False,
    }
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "annotations": hints,
    }


STYLES: Final[Mapping[str, Callable[[Definition], dict[str, Any]]]] = MappingProxyType(
    {
        "openai": _openai,
        "openai-responses": _responses,
        "anthropic": _anthropic,
        "mcp": _mcp,
        "plain": _plain,
    }
)
"""What wraps a definition, by the name of the style."""

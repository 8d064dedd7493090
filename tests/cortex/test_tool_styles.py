"""A tool is the same whoever is told of it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from engramdown.cortex.tools import STYLES, ReviewArguments, Tool

SCHEMA: Final[dict[str, Any]] = {"type": "object", "properties": {}}
TOOL: Final = Tool(
    "look", "Looks.", ReviewArguments, lambda *_: ("", ()), reads=False, takes_away=True
)
TOLD: Final[dict[str, Any]] = {
    "openai": {
        "type": "function",
        "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA},
    },
    "openai-responses": {
        "type": "function",
        "name": "look",
        "description": "Looks.",
        "parameters": SCHEMA,
        "strict": False,
    },
    "anthropic": {"name": "look", "description": "Looks.", "input_schema": SCHEMA},
    "mcp": {
        "name": "look",
        "description": "Looks.",
        "inputSchema": SCHEMA,
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    },
    "plain": {"name": "look", "description": "Looks.", "parameters": SCHEMA},
}


@pytest.mark.parametrize("style", STYLES)
def test_a_definition_is_wrapped_as_the_provider_asks(style: str) -> None:
    assert TOOL.definition(style) == TOLD[style]

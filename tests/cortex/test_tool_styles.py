"""A tool is the same whoever is told of it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from engramdown.cortex.tools import STYLES, Definition

TOOL: Final = Definition("look", "Looks.", {"type": "object"}, reads=False, takes_away=True)
TOLD: Final[dict[str, Any]] = {
    "openai": {
        "type": "function",
        "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
    },
    "openai-responses": {
        "type": "function",
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object"},
        "strict": False,
    },
    "anthropic": {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}},
    "mcp": {
        "name": "look",
        "description": "Looks.",
        "inputSchema": {"type": "object"},
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "openWorldHint": False,
        },
    },
    "plain": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
}


@pytest.mark.parametrize("style", STYLES)
def test_a_definition_is_wrapped_as_the_provider_asks(style: str) -> None:
    assert STYLES[style](TOOL) == TOLD[style]

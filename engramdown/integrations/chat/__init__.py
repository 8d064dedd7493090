"""A conversation with a model behind OpenAI's protocol, with memory: all but the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.integrations.chat.endpoint import (
        OPENAI_KEY,
        Address,
        AddressError,
        Endpoint,
        Reply,
        address_of,
        is_installed,
    )
    from engramdown.integrations.chat.project_files import ProjectFiles
    from engramdown.integrations.chat.turns import BUDGET, Chat, Turn

__all__ = [
    "BUDGET",
    "OPENAI_KEY",
    "Address",
    "AddressError",
    "Chat",
    "Endpoint",
    "ProjectFiles",
    "Reply",
    "Turn",
    "address_of",
    "is_installed",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "endpoint": [
            "OPENAI_KEY",
            "Address",
            "AddressError",
            "Endpoint",
            "Reply",
            "address_of",
            "is_installed",
        ],
        "project_files": ["ProjectFiles"],
        "turns": ["BUDGET", "Chat", "Turn"],
    },
)

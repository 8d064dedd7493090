"""Memory in the terms of other programs and libraries, each of which is an extra.

Import what you need from its module: ``engramdown.integrations.langgraph``, ``.openai_agents``,
``.pydantic_ai``, ``.anthropic_memory``, and ``.memory_folder`` for any other client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.integrations.agents_md import BLOCK_BUDGET, Change, page, read, write
    from engramdown.integrations.chat.endpoint import (
        OPENAI_KEY,
        Address,
        AddressError,
        Endpoint,
        address_of,
        is_installed,
    )
    from engramdown.integrations.chat.project_files import ProjectFiles
    from engramdown.integrations.chat.turns import BUDGET, Chat, Turn
    from engramdown.integrations.claude_code.environment import (
        FOLDER,
        TROUBLE,
        find_place,
        troubles,
    )
    from engramdown.integrations.claude_code.events import handle_event
    from engramdown.integrations.claude_code.install import AGENTS, plan, program, to_paste
    from engramdown.integrations.claude_code.payload import (
        EVENTS,
        Event,
        answer,
        event_named,
        read_event,
        reads_json,
    )

__all__ = [
    "AGENTS",
    "BLOCK_BUDGET",
    "BUDGET",
    "EVENTS",
    "FOLDER",
    "OPENAI_KEY",
    "TROUBLE",
    "Address",
    "AddressError",
    "Change",
    "Chat",
    "Endpoint",
    "Event",
    "ProjectFiles",
    "Turn",
    "address_of",
    "answer",
    "event_named",
    "find_place",
    "handle_event",
    "is_installed",
    "page",
    "plan",
    "program",
    "read",
    "read_event",
    "reads_json",
    "to_paste",
    "troubles",
    "write",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "agents_md": ["BLOCK_BUDGET", "Change", "page", "read", "write"],
        "chat.endpoint": [
            "Address",
            "AddressError",
            "Endpoint",
            "OPENAI_KEY",
            "address_of",
            "is_installed",
        ],
        "chat.project_files": ["ProjectFiles"],
        "chat.turns": ["BUDGET", "Chat", "Turn"],
        "claude_code.environment": ["FOLDER", "TROUBLE", "find_place", "troubles"],
        "claude_code.events": ["handle_event"],
        "claude_code.install": ["AGENTS", "plan", "program", "to_paste"],
        "claude_code.payload": [
            "EVENTS",
            "Event",
            "answer",
            "event_named",
            "read_event",
            "reads_json",
        ],
    },
)

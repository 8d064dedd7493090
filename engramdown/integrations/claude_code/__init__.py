"""Hooks of coding agents: what their events mean to memory, and how they are set up.

No event of an agent ends in an error of the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.integrations.claude_code.environment import (
        FOLDER,
        TROUBLE,
        complain,
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
    "EVENTS",
    "FOLDER",
    "TROUBLE",
    "Event",
    "answer",
    "complain",
    "event_named",
    "find_place",
    "handle_event",
    "plan",
    "program",
    "read_event",
    "reads_json",
    "to_paste",
    "troubles",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "environment": ["FOLDER", "TROUBLE", "complain", "find_place", "troubles"],
        "events": ["handle_event"],
        "install": ["AGENTS", "plan", "program", "to_paste"],
        "payload": ["EVENTS", "Event", "answer", "event_named", "read_event", "reads_json"],
    },
)

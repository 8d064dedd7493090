"""A running conversation: its view, its summaries, its prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.conversation.conversation import Conversation
    from engramdown.conversation.conversations import CompactionBeside
    from engramdown.conversation.lookup import (
        EXPAND,
        GREP,
        SCOPES,
        Described,
        Expanded,
        Found,
        Lineage,
        pointer,
    )
    from engramdown.conversation.rendering import ends
    from engramdown.conversation.summarize import MODES, Compacted
    from engramdown.conversation.view import Track

__all__ = ["EXPAND", "GREP", "MODES", "SCOPES", "Compacted", "CompactionBeside", "Conversation"]
__all__ += ["Described", "Expanded", "Found", "Lineage", "Track", "ends", "pointer"]

__getattr__, __dir__ = door(
    __name__,
    {
        "conversation": ["Conversation"],
        "conversations": ["CompactionBeside"],
        "lookup": [
            *("Described", "EXPAND", "Expanded", "Found"),
            *("GREP", "Lineage", "SCOPES", "pointer"),
        ],
        "rendering": ["ends"],
        "summarize": ["Compacted", "MODES"],
        "view": ["Track"],
    },
)

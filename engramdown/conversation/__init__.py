"""A running conversation: its view, its summaries, its prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.conversation.conversation import Conversation as Conversation
    from engramdown.conversation.conversations import CompactionBeside as CompactionBeside
    from engramdown.conversation.lookup import EXPAND as EXPAND
    from engramdown.conversation.lookup import GREP as GREP
    from engramdown.conversation.lookup import SCOPES as SCOPES
    from engramdown.conversation.lookup import Expanded as Expanded
    from engramdown.conversation.lookup import Found as Found
    from engramdown.conversation.lookup import Lineage as Lineage
    from engramdown.conversation.summarize import MODES as MODES
    from engramdown.conversation.summarize import Compacted as Compacted
    from engramdown.conversation.view import Track as Track
    from engramdown.conversation.view import ends as ends


__getattr__, __dir__ = door(
    __name__,
    {
        "conversation": ["Conversation"],
        "conversations": ["CompactionBeside"],
        "lookup": ["EXPAND", "Expanded", "Found", "GREP", "Lineage", "SCOPES"],
        "summarize": ["Compacted", "MODES"],
        "view": ["Track", "ends"],
    },
)

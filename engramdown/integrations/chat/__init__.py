"""A conversation with a model behind OpenAI's protocol, with memory but without the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.integrations.chat.endpoint import Reply as Reply
    from engramdown.integrations.chat.turns import Chat as Chat
    from engramdown.integrations.chat.turns import Listener as Listener

__getattr__, __dir__ = door(__name__, {"endpoint": ["Reply"], "turns": ["Chat", "Listener"]})

"""Recording what was said and done, taking it back, and showing it: on cards and as exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.episodes.card import Card as Card
    from engramdown.episodes.card import CardFiles as CardFiles
    from engramdown.episodes.card import as_page as as_page
    from engramdown.episodes.forget import Forgotten as Forgotten
    from engramdown.episodes.forget import Traces as Traces
    from engramdown.episodes.forget import digests as digests
    from engramdown.episodes.memory import EpisodicMemory as EpisodicMemory
    from engramdown.episodes.recorder import Said as Said
    from engramdown.episodes.session_export import as_json as as_json
    from engramdown.episodes.session_export import as_markdown as as_markdown

__getattr__, __dir__ = door(
    __name__,
    {
        "card": ["Card", "CardFiles", "as_page"],
        "forget": ["Forgotten", "Traces", "digests"],
        "memory": ["EpisodicMemory"],
        "recorder": ["Said"],
        "session_export": ["as_json", "as_markdown"],
    },
)

"""Recording what was said and done, taking it back, and showing it: on cards and as exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.episodes.card import Card, CardFiles, as_page
    from engramdown.episodes.eraser import Held
    from engramdown.episodes.forget import Forgotten, Traces, digests
    from engramdown.episodes.memory import EpisodicMemory, Ingested
    from engramdown.episodes.recorder import Said
    from engramdown.episodes.session_export import as_json, as_markdown

__all__ = [
    "Card",
    "CardFiles",
    "EpisodicMemory",
    "Forgotten",
    "Held",
    "Ingested",
    "Said",
    "Traces",
    "as_json",
    "as_markdown",
    "as_page",
    "digests",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "card": ["Card", "CardFiles", "as_page"],
        "eraser": ["Held"],
        "forget": ["Forgotten", "Traces", "digests"],
        "memory": ["EpisodicMemory", "Ingested"],
        "recorder": ["Said"],
        "session_export": ["as_json", "as_markdown"],
    },
)

"""Finding: which memories, and which lines of transcripts, answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.recall.finder import Finder
    from engramdown.recall.hits import Context, Hit, Hits, Message, Mode
    from engramdown.recall.memories import MemoryIndex

__all__ = ["Context", "Finder", "Hit", "Hits", "MemoryIndex", "Message", "Mode"]

__getattr__, __dir__ = door(
    __name__,
    {
        "finder": ["Finder"],
        "hits": ["Context", "Hit", "Hits", "Message", "Mode"],
        "memories": ["MemoryIndex"],
    },
)

"""Finding: which memories, and which lines of transcripts, answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.recall.finder import Finder as Finder
    from engramdown.recall.hits import Context as Context
    from engramdown.recall.hits import Hit as Hit
    from engramdown.recall.hits import Hits as Hits
    from engramdown.recall.hits import Message as Message
    from engramdown.recall.hits import Mode as Mode
    from engramdown.recall.memories import MemoryIndex as MemoryIndex

__all__ = ["Context", "Finder", "Hit", "Hits", "MemoryIndex", "Message", "Mode"]

__getattr__, __dir__ = door(
    __name__,
    {
        "finder": ["Finder"],
        "hits": ["Context", "Hit", "Hits", "Message", "Mode"],
        "memories": ["MemoryIndex"],
    },
)

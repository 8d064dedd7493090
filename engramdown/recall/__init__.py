"""Finding: which memories, and which lines of transcripts, answer a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.recall.finder import Finder as Finder
    from engramdown.recall.memories import MemoryIndex as MemoryIndex
    from engramdown.recall.query import Hit as Hit

__getattr__, __dir__ = door(
    __name__, {"finder": ["Finder"], "memories": ["MemoryIndex"], "query": ["Hit"]}
)

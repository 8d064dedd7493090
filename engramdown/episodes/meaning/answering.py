"""What answers a recall: the words alone, or the words and an embedder if one is set.

Promises: without an embedder nothing that only embeddings need is imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.recall import Recall
from engramdown.episodes.watch import CACHE
from engramdown.settings import EpisodeSettings

if TYPE_CHECKING:
    from engramdown.models.embedders import Embedder
    from engramdown.recall.vectors import Lane

__all__ = ["answering"]


def answering(
    folder: Path, disk: EpisodeDisk, settings: EpisodeSettings, embedder: Embedder | None
) -> Recall | Lane:
    """Return what answers for the transcripts in ``folder``."""
    cache = folder.parent / CACHE
    words = Recall(folder, cache, disk)
    chosen = embedder or settings.embedder
    if not chosen:
        return words
    from engramdown.recall.vectors import Lane

    return Lane(words, cache, disk, chosen, settings.embedder_timeout)

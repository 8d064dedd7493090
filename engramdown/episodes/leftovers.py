"""What processes that died were writing beside transcripts, and left half done.

Promises: only an unfinished file of a process that is gone is removed, and only once it is old
enough that no process of another machine can still be at it; a whole text goes with the note about
it if no line refers to it. Who still wants to refer to that text looks once more under the lock.
"""

from __future__ import annotations

from pathlib import Path

from engramdown.episodes.card import FOLDER as PAGES
from engramdown.episodes.traces import Traces, digests
from engramdown.storage.disk import EpisodeDisk
from engramdown.storage.locks import FolderLock

__all__ = ["remove_leftovers"]


def remove_leftovers(episodes: Path, disk: EpisodeDisk, lock: FolderLock, timeout: float) -> None:
    """Remove unfinished transcripts in ``episodes``, texts, pages, and what sleep had in hand.

    Args:
        episodes: The folder of the transcripts.
        disk: What they are written with.
        lock: That of their writers; it is taken only if a text was left.
        timeout: How long to wait for it, in seconds.
    """
    root = episodes.parent
    for folder in (root, root / PAGES, episodes):
        disk.remove_unfinished(folder)
    traces = Traces(root, disk)
    left = traces.left(patiently=True)
    if left:
        with lock.hold(timeout):
            # The notes last: they say what to look for.
            for path in (*traces.unsaid(digests(left)), *left):
                disk.remove(path)

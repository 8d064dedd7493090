"""Which result answers which tool call.

Promises: an answer stands behind its call and answers no other; each call has one answer at most.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from engramdown.episodes.episode import Episode

__all__ = ["answers"]


def answers(episodes: Sequence[Episode]) -> dict[int, int]:
    """Return the place of the answer of each call that has one, by the place of the call.

    A result answers the oldest open call of its id; one without an id, the oldest open call
    without one of the same tool. An id may come up again.
    """
    waiting: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    found: dict[int, int] = {}
    for place, episode in enumerate(episodes):
        key = (episode.call, "" if episode.call else episode.name)
        if episode.role == "tool_call":
            waiting[key].append(place)
        elif episode.role == "tool_result" and waiting[key]:
            found[waiting[key].popleft()] = place
    return found

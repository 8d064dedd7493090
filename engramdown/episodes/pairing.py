"""Which result answers which tool call.

Promises: an answer stands behind its call and answers no other; each call has one answer at most.
Nothing is read further than to the answer of the call that comes next.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from engramdown.transcripts.episode import Episode

__all__ = ["paired"]


class _Place:
    """An episode, and its answer if it came already."""

    __slots__ = ("answer", "episode")

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.answer: Episode | None = None

    def is_settled(self) -> bool:
        return self.answer is not None or self.episode.role != "tool_call"


def paired(episodes: Iterable[Episode]) -> Iterator[tuple[Episode, Episode | None]]:
    """Yield each episode that answers none, and its answer if there is one.

    A result answers the oldest open call of its id; one without an id, the oldest open call
    without one of the same tool. An id may come up again.
    """
    waiting: defaultdict[tuple[str, str], deque[_Place]] = defaultdict(deque)
    places: deque[_Place] = deque()
    for episode in episodes:
        key = (episode.call, "" if episode.call else episode.name)
        if episode.role == "tool_result" and waiting[key]:
            waiting[key].popleft().answer = episode
        else:
            places.append(_Place(episode))
        if episode.role == "tool_call":
            waiting[key].append(places[-1])
        while places and places[0].is_settled():
            place = places.popleft()
            yield place.episode, place.answer
    for place in places:
        yield place.episode, place.answer

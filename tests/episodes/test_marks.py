"""What an event takes out of recall."""

from __future__ import annotations

import pytest

from engramdown.episodes.episode import Episode
from engramdown.episodes.marks import marked


def event(kind: str, **more: object) -> Episode:
    return Episode(seq=9, ts="", id="", role="event", event=kind, more=more)


@pytest.mark.parametrize(
    "episode, expected",
    [
        pytest.param(event("exclude", of=[1, 2]), (True, [1, 2]), id="lines"),
        pytest.param(event("include", of=[1]), (False, [1]), id="back"),
        pytest.param(event("exclude"), (True, None), id="session"),
        pytest.param(event("exclude", of="all"), (True, []), id="no-list"),
        pytest.param(event("exclude", of=[True, -1, 1 << 40, "1", 7]), (True, [7]), id="nonsense"),
        pytest.param(event("end"), (None, None), id="other"),
    ],
)
def test_an_event_says_what_it_takes_out(
    episode: Episode, expected: tuple[bool | None, list[int] | None]
) -> None:
    assert marked(episode) == expected

"""What was excluded or redacted is not live; the last word counts."""

from __future__ import annotations

from typing import Any

import pytest

from engramdown.transcripts.episode import Episode
from engramdown.transcripts.visibility import Excluded, excluded, visible

NOW = "2026-02-27T10:15:00.000000Z"


def said(seq: int, **more: Any) -> Episode:  # noqa: ANN401 - keys of a line
    return Episode(seq=seq, ts=NOW, id="x", role="user", text=f"line {seq}", more=more)


def event(seq: int, name: str, **more: Any) -> Episode:  # noqa: ANN401 - keys of a line
    return Episode(seq=seq, ts=NOW, id="x", role="event", event=name, more=more)


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param([], Excluded(whole=False, seqs=frozenset()), id="nothing"),
        pytest.param([("exclude", [1, 2])], Excluded(False, frozenset({1, 2})), id="lines"),
        pytest.param([("exclude", None)], Excluded(True, frozenset()), id="whole"),
        pytest.param(
            [("exclude", [1, 2]), ("include", [2])], Excluded(False, frozenset({1})), id="one-back"
        ),
        pytest.param(
            [("exclude", [1]), ("exclude", None), ("include", None)],
            Excluded(False, frozenset()),
            id="all-back",
        ),
        pytest.param(
            [("exclude", None), ("include", [1])],
            Excluded(True, frozenset()),
            id="a-line-of-a-session-that-is-out",
        ),
        pytest.param(
            [("exclude", [1]), ("exclude", None)], Excluded(True, frozenset({1})), id="line-whole"
        ),
        pytest.param([("redact", [1])], Excluded(False, frozenset({1})), id="redacted"),
        pytest.param([("redact", None)], Excluded(False, frozenset()), id="redacted-nothing"),
        pytest.param([("archive", [1])], Excluded(False, frozenset()), id="another-event"),
    ],
)
def test_the_last_word_counts(
    events: list[tuple[str, list[int] | None]], expected: Excluded
) -> None:
    lines = [
        event(3 + at, name, **({} if of is None else {"of": of}))
        for at, (name, of) in enumerate(events)
    ]
    assert excluded(lines) == expected


def test_events_and_excluded_and_redacted_lines_are_not_live() -> None:
    lines = [event(0, "start"), said(1), said(2, redacted={"sha256": "0"}), said(3)]
    assert [each.seq for each in visible([*lines, event(4, "exclude", of=[3])])] == [1]


def test_nothing_of_an_excluded_session_is_live() -> None:
    assert visible([said(1), event(2, "exclude")]) == []

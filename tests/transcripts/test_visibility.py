"""What was excluded or redacted is not live, the last word counting; what only repeats memory."""

from __future__ import annotations

from typing import Any

import pytest

from engramdown.transcripts.episode import Episode
from engramdown.transcripts.visibility import (
    LOOKED_UP,
    Excluded,
    excluded,
    read_mark,
    repeats_memory,
    visible,
    without_repeats,
)
from tests.tables import every

NOW = "2026-02-27T10:15:00.000000Z"


def said(seq: int, **more: Any) -> Episode:  # noqa: ANN401 - keys of a line
    return Episode(seq=seq, ts=NOW, id="x", role="user", text=f"line {seq}", more=more)


def event(seq: int, name: str, **more: Any) -> Episode:  # noqa: ANN401 - keys of a line
    return Episode(seq=seq, ts=NOW, id="x", role="event", event=name, more=more)


@every(
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


def mark(name: str, **more: object) -> Episode:
    return event(9, name, **more)


@every(
    "episode, expected",
    [
        pytest.param(mark("exclude", of=[1, 2]), (True, [1, 2]), id="lines"),
        pytest.param(mark("include", of=[1]), (False, [1]), id="back"),
        pytest.param(mark("exclude"), (True, None), id="session"),
        pytest.param(mark("exclude", of="all"), (True, []), id="no-list"),
        pytest.param(mark("exclude", of=[True, -1, 1 << 40, "1", 7]), (True, [7]), id="nonsense"),
        pytest.param(mark("end"), (None, None), id="other"),
    ],
)
def test_an_event_says_what_it_takes_out(
    episode: Episode, expected: tuple[bool | None, list[int] | None]
) -> None:
    assert read_mark(episode) == expected


def tool(name: str, role: str = "tool_result", recalled: tuple[str, ...] = ()) -> Episode:
    return Episode(seq=9, ts="", id="", role=role, name=name, recalled=recalled)


@every(
    "name",
    [
        *("recall", "search_journals", "mcp__engramdown__recall", "mcp__engramdown__grep"),
        *("engramdown.describe", "engramdown_expand", "engramdown/search_journals"),
        *("recall_topic", "recall_skill", "mcp__engramdown__review"),
    ],
)
@every("role", ["tool_call", "tool_result"])
def test_our_own_tools_only_repeat(name: str, role: str) -> None:
    assert repeats_memory(tool(name, role))


@every(
    "name",
    ["grep", "describe", "expand", "review", "ripgrep", "mcp__other__grep", "kubectl_describe", ""],
)
def test_the_tool_of_somebody_else_gives_something_new(name: str) -> None:
    assert not repeats_memory(tool(name))
    assert not repeats_memory(tool(name, "tool_call"))
    assert repeats_memory(tool(name, recalled=("a#1",)))


def test_who_speaks_says_something_new_whatever_was_recalled() -> None:
    assert not repeats_memory(tool("grep", "user", ("a#1",)))
    assert not repeats_memory(tool("", "assistant", ("a#1",)))
    assert not repeats_memory(tool("recall", "user"))


def test_nothing_is_learned_from_what_was_looked_up() -> None:
    result = tool("recall")._replace(text="Quoted from memory")
    assert without_repeats(result).text == LOOKED_UP
    assert without_repeats(result._replace(name="shell")).text == "Quoted from memory"
    assert without_repeats(result._replace(role="tool_call")).text == "Quoted from memory"
    assert without_repeats(tool("shell", recalled=("a#1",))).text == LOOKED_UP

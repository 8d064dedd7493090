"""Calls of tools and steps of the assistant are read from lines; what was taken back is in none."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import InvalidSessionError, SessionNotFoundError
from engramdown.transcripts.episode import Episode, Pointer
from engramdown.transcripts.tool_calls import (
    Iteration,
    ToolCall,
    ToolSum,
    find_tool_calls,
    iterations,
    newest,
    paired,
    sums,
)
from tests.episodes.strategies import episodes
from tests.tables import every


def said(seq: int, role: str, text: str = "", **more: Any) -> Episode:  # noqa: ANN401 - fields
    ts = more.pop("ts", f"2026-02-27T10:15:{seq:02}.000000Z")
    return Episode(seq=seq, ts=ts, id="i", role=role, text=text, **more)


def call(seq: int, own: str = "", name: str = "shell", **more: Any) -> Episode:  # noqa: ANN401 - fields
    return said(seq, "tool_call", f"in {seq}", call=own, name=name, **more)


def result(seq: int, own: str = "", name: str = "shell", **more: Any) -> Episode:  # noqa: ANN401 - fields
    return said(seq, "tool_result", f"out {seq}", call=own, name=name, **more)


def event(seq: int, kind: str, **more: Any) -> Episode:  # noqa: ANN401 - fields
    return said(seq, "event", event=kind, more=more)


def calls(*lines: Episode) -> list[tuple[int, str | None]]:
    return [(each.pointer.seq, each.result) for each in find_tool_calls("s", lines)]


def steps(*lines: Episode) -> list[tuple[int, list[int]]]:
    """Return where each step begins, and its calls."""
    found = iterations("s", lines)
    assert [each.index for each in found] == list(range(len(found)))
    return [(each.pointer.seq, [one.pointer.seq for one in each.calls]) for each in found]


def spoken(*lines: str) -> list[Episode]:
    """Return episodes from lines such as ``call c1 shell``; ``-`` stands for no id."""
    roles = {"call": "tool_call", "result": "tool_result", "user": "user"}
    parts = [text.split() for text in lines]
    return [
        said(seq, roles[role], call=own.strip("-"), name=name.strip("-"))
        for seq, (role, own, name) in enumerate(parts, 1)
    ]


def pairs(episodes: Iterable[Episode]) -> list[tuple[int, int]]:
    """Return the numbers of each episode and its answer, 0 for none."""
    return [(each.seq, 0 if answer is None else answer.seq) for each, answer in paired(episodes)]


def test_a_result_answers_the_call_of_its_id() -> None:
    lines = spoken("call a shell", "call b shell", "result b shell", "result a shell")
    assert pairs(lines) == [(1, 4), (2, 3)]


def test_an_id_that_comes_up_again_is_answered_in_order() -> None:
    lines = spoken("call a x", "call a x", "result a x", "result a x", "result a x")
    assert pairs(lines) == [(1, 3), (2, 4), (5, 0)]


def test_without_an_id_the_oldest_open_call_of_the_tool_is_answered() -> None:
    lines = spoken("call - x", "call - y", "call a x", "result - y", "result - x", "result - x")
    assert pairs(lines) == [(1, 5), (2, 4), (3, 0), (6, 0)]


def test_what_comes_before_its_call_answers_nothing() -> None:
    assert pairs(spoken("result a x", "call a x", "user - -")) == [(1, 0), (2, 0), (3, 0)]


def test_no_more_is_read_than_is_needed() -> None:
    waiting = iter(spoken("user - -", "call a x", "user - -", "result a x", "user - -", "user - -"))
    found = paired(waiting)
    next(found)
    assert next(found)[1] is not None
    assert [each.seq for each in waiting] == [5, 6]


class TestToolCalls:
    """A call and what came of it."""

    def test_a_call_has_all_that_its_two_lines_say(self) -> None:
        (found,) = find_tool_calls(
            "s", [call(1, "a", turn=3), result(4, "a", error="exit 2", ms=812.5)]
        )
        assert found == ToolCall(
            pointer=Pointer("s", 1),
            name="shell",
            arguments="in 1",
            result="out 4",
            answer=Pointer("s", 4),
            error="exit 2",
            started="2026-02-27T10:15:01.000000Z",
            ended="2026-02-27T10:15:04.000000Z",
            ms=812.5,
            turn=3,
        )

    def test_without_its_result_it_is_open(self) -> None:
        (found,) = find_tool_calls("s", [call(1, "a")])
        assert (found.result, found.answer, found.ended, found.ms) == (None, None, "", None)
        assert found.error is False

    def test_a_result_without_a_call_is_none(self) -> None:
        assert calls(result(1, "a"), result(2)) == []

    def test_of_two_results_the_first_answers(self) -> None:
        assert calls(call(1, "a"), result(2, "a"), result(3, "a")) == [(1, "out 2")]

    def test_an_id_may_be_used_again(self) -> None:
        lines = (call(1, "a"), result(2, "a"), call(3, "a"), call(4, "a"), result(5, "a"))
        assert calls(*lines) == [(1, "out 2"), (3, "out 5"), (4, None)]

    @pytest.mark.parametrize(
        "answered, ms",
        [
            pytest.param("2026-02-27T10:15:02.250000Z", 1250.0, id="later"),
            pytest.param("2026-02-27T10:14:00.000000Z", 0.0, id="the-clock-went-back"),
        ],
    )
    def test_what_says_no_time_took_the_time_in_between(self, answered: str, ms: float) -> None:
        (found,) = find_tool_calls("s", [call(1), result(2, ts=answered)])
        assert found.ms == ms

    def test_a_step_that_goes_on_hides_no_call(self) -> None:
        lines = (said(1, "user"), call(2, "a"), said(3, "assistant"), result(4, "a"), call(5))
        assert calls(*lines) == [(2, "out 4"), (5, None)]


class TestTakenBack:
    """Excluded and redacted lines leave nothing."""

    def test_an_excluded_call_is_gone_and_its_result_answers_no_other(self) -> None:
        lines = (call(1), call(2), result(3), event(4, "exclude", of=[1]))
        assert calls(*lines) == [(2, None)]
        assert calls(*lines, event(5, "include", of=[1])) == [(1, "out 3"), (2, None)]

    def test_of_an_excluded_or_redacted_result_nothing_is_left(self) -> None:
        assert calls(call(1), result(2), event(3, "exclude", of=[2])) == [(1, None)]
        redacted = result(2, error=True, ms=5, more={"redacted": {"sha256": "0"}})
        (found,) = find_tool_calls("s", [call(1), redacted])
        assert (found.result, found.answer, found.error, found.ms) == (None, None, False, None)

    def test_a_redacted_call_is_gone(self) -> None:
        assert calls(call(1, more={"redacted": {"sha256": "0"}}), result(2)) == []

    def test_an_excluded_session_has_no_steps(self) -> None:
        lines = (said(1, "assistant"), call(2), event(3, "end", reason="reset"))
        assert steps(*lines, event(4, "exclude")) == []

    def test_a_call_stays_in_its_step_when_the_line_before_it_is_taken_back(self) -> None:
        lines = [said(1, "assistant", model="a"), call(2), said(3, "assistant", model="b"), call(4)]
        lines += [event(5, "exclude", of=[3])]
        assert steps(*lines) == [(1, [2]), (4, [4])]
        assert [each.model for each in iterations("s", lines)] == ["a", ""]


class TestIterations:
    """A step is what the assistant said, with its calls."""

    def test_a_step_ends_where_the_assistant_or_the_user_speaks(self) -> None:
        lines = [said(1, "user"), call(2), result(3), said(4, "assistant"), said(5, "user")]
        lines += [said(6, "assistant"), call(7, "a"), call(8, "b"), said(9, "system"), call(10)]
        assert steps(*lines) == [(2, [2]), (4, []), (6, [7, 8, 10])]

    def test_one_has_all_that_its_lines_say(self) -> None:
        usage = {"input_tokens": 900, "output_tokens": 40}
        meta = {"usage": usage, "stop_reason": "tool_use"}
        spoken = said(1, "assistant", model="m-1", turn=2, meta=meta)
        (found,) = iterations("s", [spoken, call(2, "a"), result(9, "a")])
        assert found == Iteration(
            index=0,
            pointer=Pointer("s", 1),
            model="m-1",
            turn=2,
            calls=tuple(find_tool_calls("s", [call(2, "a"), result(9, "a")])),
            started="2026-02-27T10:15:01.000000Z",
            ms=8_000.0,
            tokens_in=900,
            tokens_out=40,
            reason="tool_use",
        )

    @every(
        "told, offered",
        [
            (["shell", "read"], ("shell", "read")),
            (
                [{"name": "shell"}, {"type": "function", "function": {"name": "read"}}],
                ("shell", "read"),
            ),
            (["shell", 5, {"function": "read"}, {}, ""], ("shell",)),
            ("shell", ()),
            (None, ()),
        ],
    )
    def test_the_tools_that_were_offered_are_those_that_a_line_of_it_tells(
        self, told: object, offered: tuple[str, ...]
    ) -> None:
        (found,) = iterations("s", [said(1, "assistant", meta={"tools_offered": told})])
        assert found.tools_offered == offered
        (found,) = iterations("s", [call(1, "a", meta={"tools_offered": told}), result(2, "a")])
        assert found.tools_offered == offered

    def test_without_calls_it_took_what_its_line_says(self) -> None:
        first, second = iterations("s", [said(1, "assistant", ms=70), said(2, "assistant")])
        assert (first.ms, second.ms) == (70, None)
        assert (second.tokens_in, second.tokens_out, second.turn) == (None, None, None)

    def test_the_end_of_the_session_ends_the_step_before_it(self) -> None:
        lines = [said(1, "assistant"), said(2, "assistant"), event(3, "end", reason="reset")]
        lines += [call(4), event(5, "end", reason=7)]
        assert [each.reason for each in iterations("s", lines)] == ["", "reset", ""]
        assert steps(*lines) == [(1, []), (2, []), (4, [4])]

    @every(
        "usage, tokens",
        [
            pytest.param({"prompt_tokens": 7, "completion_tokens": 1}, (14, 2), id="other-names"),
            pytest.param({"input_tokens": 7, "prompt_tokens": 7}, (14, None), id="counted-once"),
            pytest.param({"input_tokens": True, "output_tokens": -1}, (None, None), id="no-count"),
            pytest.param({"input_tokens": "7", "output_tokens": [1]}, (None, None), id="no-number"),
            pytest.param("much", (None, None), id="no-usage"),
        ],
    )
    def test_tokens_are_added_up_as_far_as_they_are_known(
        self, usage: object, tokens: tuple[int | None, int | None]
    ) -> None:
        lines = [said(1, "assistant", meta={"usage": usage}), call(2, meta={"usage": usage})]
        (found,) = iterations("s", [*lines, call(3)])
        assert (found.tokens_in, found.tokens_out) == tokens


def summed(
    name: str,
    count: int,
    times: list[float],
    seconds: tuple[int, int],
    errors: dict[str, int] | None = None,
) -> ToolSum:
    first, last = (f"2026-02-27T10:15:{second:02}.000000Z" for second in seconds)
    return ToolSum(
        name=name,
        calls=count,
        failed=sum((errors or {}).values()),
        mean_ms=sum(times) / len(times) if times else None,
        total_ms=sum(times),
        longest_ms=max(times, default=None),
        errors=errors or {},
        sessions=1,
        first=first,
        last=last,
    )


class TestSums:
    """What the calls of each tool come to."""

    def test_the_tool_that_was_called_most_comes_first(self) -> None:
        lines = [call(1, "a", "write"), result(2, "a", "write", ms=30, error=True)]
        lines += [call(3, "b"), result(4, "b", ms=10), call(5, "c"), result(6, "c", ms=20)]
        lines += [call(7, "d"), call(8, "e", "read")]
        found = sums(find_tool_calls("s", lines))
        assert found == [
            summed("shell", 3, [10, 20], (3, 7)),
            summed("read", 1, [], (8, 8)),
            summed("write", 1, [30], (1, 1), {"": 1}),
        ]
        assert [each.error_rate for each in found] == [0, 0, 1]
        assert sums([]) == []

    def test_reasons_and_sessions_are_counted(self) -> None:
        lines = [
            *(call(1, "a"), result(2, "a", error="exit 2")),
            *(call(3, "b"), result(4, "b", error=True)),
            *(call(5, "c"), result(6, "c", error="exit 2")),
        ]
        (found,) = sums([*find_tool_calls("s", lines), *find_tool_calls("t", lines)])
        assert found.errors == {"exit 2": 4, "": 2}
        assert list(found.errors) == ["exit 2", ""]
        assert (found.calls, found.failed, found.sessions) == (6, 6, 2)
        assert (found.first[-10:], found.last[-10:]) == ("01.000000Z", "05.000000Z")

    def test_the_newest_come_last_and_are_not_too_many(self) -> None:
        made = find_tool_calls(
            "s", [call(seq, ts="2026-02-27T10:15:00.000000Z") for seq in range(1_100)]
        )
        for limit, count in ((100, 100), (5_000, 1_000), (1, 1), (0, 0), (-3, 0)):
            found = newest(made, "", limit)
            assert [each.pointer.seq for each in found] == list(range(1_100 - count, 1_100))

    def test_only_those_of_one_tool(self) -> None:
        made = find_tool_calls("s", [call(1), call(2, name="read"), call(3)])
        assert [each.pointer.seq for each in newest(made, "shell")] == [1, 3]


@pytest.mark.slow
@given(st.lists(episodes, max_size=12))
def test_any_lines_can_be_read_and_every_call_is_in_one_step(lines: list[Episode]) -> None:
    within = [one for step in iterations("s", lines) for one in step.calls]
    assert within == find_tool_calls("s", lines)
    assert sum(each.calls for each in sums(within)) == len(within)


class TestMemory:
    """The same of a session on the disk."""

    def test_a_recorded_session_has_its_calls_and_steps(self, tmp_path: Path) -> None:
        memory = EpisodicMemory(tmp_path)
        at = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
        memory.log("s", "user", "Why?", at=at)
        for name in ("read", "shell"):
            memory.log("s", "tool_call", {"n": 1}, name=name, at=at)
            memory.log("s", "tool_result", "x", name=name, at=at)
        memory.log("s", "assistant", "So.", model="m", at=at)
        memory.end("s", "reset", at=at)
        assert [each.name for each in memory.tool_calls("s")] == ["read", "shell"]
        assert [each.name for each in memory.tool_calls("s", limit=1)] == ["shell"]
        (found,) = memory.tool_calls("s", "read")
        assert (found.arguments, found.result) == ('{"n": 1}', "x")
        assert [(len(each.calls), each.model, each.reason) for each in memory.iterations("s")] == [
            (2, "", ""),
            (0, "m", "reset"),
        ]
        memory.forgetting().redact("s", [2, 5])
        assert [(each.name, each.result) for each in memory.tool_calls("s")] == [("shell", None)]

    def test_a_session_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        memory = EpisodicMemory(tmp_path)
        with pytest.raises(SessionNotFoundError):
            memory.tool_calls("s")
        with pytest.raises(SessionNotFoundError):
            memory.iterations("s")
        with pytest.raises(InvalidSessionError):
            memory.tool_calls("../s")

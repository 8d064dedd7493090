"""engramdown log tools: which tools a session called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from engramdown.episodes.memory import EpisodicMemory
from tests.cli.conftest import Runner

BEGIN: Final = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)


@pytest.fixture
def work(memory: Path) -> EpisodicMemory:
    """Record a session with four calls, one of them open and one without a name."""
    episodes = EpisodicMemory(memory.parent)
    episodes.start_session("s-1", at=BEGIN)
    for ms, error in ((1250, "exit 2"), (750, False)):
        episodes.log("s-1", "tool_call", {"n": ms}, name="shell\n2", at=BEGIN, turn=1)
        episodes.log("s-1", "tool_result", "x", name="shell\n2", ms=ms, error=error, at=BEGIN)
    episodes.log("s-1", "tool_call", "y", name="read", at=BEGIN)
    episodes.log("s-1", "tool_call", "z", at=BEGIN)
    episodes.close()
    return episodes


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("session", [(), ("s",), ("s-1",)])
def test_each_tool_is_a_row(session: tuple[str, ...], run: Runner) -> None:
    assert run.ok("log", "tools", *session).out == (
        "tool     calls  failed  mean ms  longest\n"
        "shell 2      2       1     1000     1250\n"
        "-            1       0        -        -\n"
        "read         1       0        -        -\n"
    )


@pytest.mark.usefixtures("work")
def test_a_program_is_told_each_call(run: Runner) -> None:
    found = run.ok("log", "tools", "--json").json
    assert list(found) == ["session", "tools", "calls"]
    assert found["tools"][0] == {
        "name": "shell\n2",
        "calls": 2,
        "failed": 1,
        "mean_ms": 1000,
        "total_ms": 2000,
        "longest_ms": 1250,
        "errors": {"exit 2": 1},
        "sessions": 1,
        "first": "2026-02-27T10:15:00.000000Z",
        "last": "2026-02-27T10:15:00.000000Z",
        "error_rate": 0.5,
    }
    assert [each["pointer"] for each in found["calls"]] == ["s-1#1", "s-1#3", "s-1#5", "s-1#6"]
    assert found["calls"][0] == {
        "pointer": "s-1#1",
        "name": "shell\n2",
        "arguments": '{"n": 1250}',
        "result": "x",
        "answer": "s-1#2",
        "error": "exit 2",
        "started": "2026-02-27T10:15:00.000000Z",
        "ended": "2026-02-27T10:15:00.000000Z",
        "ms": 1250,
        "turn": 1,
    }
    assert (found["calls"][2]["result"], found["calls"][2]["answer"]) == (None, None)


def test_what_was_taken_back_is_not_told(run: Runner, work: EpisodicMemory) -> None:
    work.forgetting().exclude("s-1")
    done = run("log", "tools", "s-1")
    assert (done.code, done.out) == (1, "")
    assert "no call of a tool in s-1" in done.err
    assert run("log", "tools", "--json").json == {"session": "s-1", "tools": [], "calls": []}


def test_lines_that_cannot_be_read_are_told(run: Runner, work: EpisodicMemory) -> None:
    with (work.folder / "s-1.jsonl").open("ab") as file:
        file.write(b"{\n")
    assert "1 line could not be read" in run.ok("log", "tools").out


@pytest.mark.usefixtures("work")
def test_a_session_that_is_not_there_is_refused(run: Runner) -> None:
    done = run("log", "tools", "t")
    assert (done.code, done.out) == (1, "")
    assert "no session 't'" in done.err


@pytest.fixture
def more(work: EpisodicMemory) -> EpisodicMemory:
    """Record another session, a day later."""
    later = BEGIN + timedelta(days=1)
    work.start_session("t-2", at=later)
    work.log("t-2", "tool_call", "y", name="read", at=later)
    work.log("t-2", "tool_result", "n", name="read", ms=20, error="no such file", at=later)
    work.close()
    return work


@pytest.mark.usefixtures("more")
def test_all_sessions_are_summed_up(run: Runner) -> None:
    rows = [row.split() for row in run.ok("log", "tools", "--all").out.split("\n")]
    assert rows[0] == ["tool", "calls", "failed", "mean", "ms", "longest", "sessions", "last"]
    assert ["read", "2", "1", "20", "20", "2"] in [row[:6] for row in rows]
    assert run("log", "tools", "s-1", "--all").code == 2
    found = run.ok("log", "tools", "--all", "--json").json
    assert found["session"] is None
    counts = {each["name"]: (each["calls"], each["failed"]) for each in found["tools"]}
    assert counts == {"shell\n2": (2, 1), "read": (2, 1), "": (1, 0)}
    assert found["tools"][0]["errors"] == {"no such file": 1}
    assert all(reason for each in found["tools"] for reason in each["errors"])
    assert [each["pointer"] for each in found["calls"]][-1] == "t-2#1"

"""What was said in a range of time is returned without a query, across sessions."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from engramdown import EpisodicMemory
from engramdown.recall.index_file import IndexFile

FIRST = datetime(2026, 2, 27, 10, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return FIRST + timedelta(minutes=minutes)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[EpisodicMemory]:
    """Record two sessions that ran at the same time, and one a day later."""
    with closing(EpisodicMemory(tmp_path)) as memory:
        memory.start_session("a", at=at(0))
        memory.log("a", "user", "one", at=at(1))
        memory.log("a", "tool_call", "ls", name="shell", call="c", at=at(3))
        memory.log(
            "a", "tool_result", "x", name="shell", call="c", at=at(3.5), error="exit 2", ms=9
        )
        memory.log("a", "assistant", "three", at=at(5))
        memory.start_session("b", at=at(0))
        memory.log("b", "user", "two", at=at(2))
        memory.log("b", "memory_read", "", at=at(2))
        memory.log("b", "user", "four", at=at(4))
        memory.start_session("c", at=at(24 * 60))
        memory.log("c", "user", "later", at=at(24 * 60))
        memory.log("c", "tool_call", "ls", name="shell", call="d", at=at(24 * 60))
        yield memory


@pytest.fixture(params=["index", "scan"])
def asked(
    memory: EpisodicMemory, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> EpisodicMemory:
    """Ask the index, or where there is none."""
    if request.param == "scan":
        monkeypatch.setattr(IndexFile, "ask", IndexFile._scanned)
    return memory


def texts(memory: EpisodicMemory, *range_: date, **wanted: str | int) -> list[str]:
    return [hit.text for hit in memory.messages(*range_, **wanted)]  # type: ignore[arg-type]


def test_all_sessions_come_in_the_order_of_time(asked: EpisodicMemory) -> None:
    day = date(2026, 2, 27)
    assert texts(asked, day, day) == ["one", "two", "ls", "x", "four", "three"]
    assert texts(asked, role="user") == ["one", "two", "four", "later"]
    assert texts(asked, at(2), at(4), role="user") == ["two", "four"]
    assert texts(asked, date(2026, 2, 28)) == ["later", "ls"]
    assert texts(asked, date(2027, 1, 1)) == []
    assert texts(asked, session="b") == ["two", "four"]
    assert texts(asked, session="nowhere") == []
    hit = asked.messages(at(1), at(1))[0]
    assert (str(hit.pointer), hit.role, hit.time) == ("a#1", "user", "2026-02-27T10:01:00.000000Z")


def test_the_range_may_be_told_in_texts(asked: EpisodicMemory) -> None:
    whole = asked.messages()
    first, last = whole[0].time, whole[-1].time
    assert asked.messages(since=first, until=last) == whole
    assert asked.messages(since=first[:10], until=last[:10]) == whole
    assert asked.messages(until=first) == [hit for hit in whole if hit.time == first]
    assert len(asked.recall("", 1_000, since=first[:10])) == len(whole)
    assert asked.tool_calls(since=first[:10]) == asked.tool_calls()
    assert asked.tool_sums(until=last[:10]) == asked.tool_sums()
    asks: tuple[Callable[..., object], ...] = (
        *(asked.messages, asked.tool_calls, asked.tool_sums),
        partial(asked.recall, ""),
    )
    for ask in asks:
        with pytest.raises(ValueError, match="since is 'yesterday'; give a date, a datetime, or"):
            ask(since="yesterday")


def test_of_many_the_newest_are_kept(asked: EpisodicMemory) -> None:
    assert texts(asked, limit=2, role="user") == ["four", "later"]
    assert texts(asked, limit=0) == texts(asked, limit=-1) == []
    with pytest.raises(ValueError, match="no role"):
        asked.messages(role="judge")


def test_recall_without_words_gives_the_range_newest_first(asked: EpisodicMemory) -> None:
    day = date(2026, 2, 27)
    found = [hit.text for hit in asked.recall("", since=day, until=day, role="user")]
    assert found == ["four", "two", "one"]
    assert [hit.text for hit in asked.recall(" ", 1, until=day)] == ["three"]
    assert asked.recall("") == []


def test_what_was_taken_back_is_left_out(memory: EpisodicMemory) -> None:
    memory.forgetting().exclude("a", [1])
    memory.forgetting().redact("b", [1])
    assert texts(memory, role="user") == ["four", "later"]
    memory.forgetting().purge("c")
    assert texts(memory, role="user") == ["four"]
    assert {call.pointer.session for call in memory.tool_calls()} == {"a"}


def test_calls_are_found_in_all_sessions(asked: EpisodicMemory) -> None:
    assert [str(call.pointer) for call in asked.tool_calls()] == ["a#2", "c#2"]
    assert [str(call.pointer) for call in asked.tool_calls(until=at(60))] == ["a#2"]
    assert [str(call.pointer) for call in asked.tool_calls(name="shell", limit=1)] == ["c#2"]
    assert asked.tool_calls(name="none") == asked.tool_calls(since=date(2027, 1, 1)) == []
    assert [str(call.pointer) for call in asked.tool_calls("a", since=at(3))] == ["a#2"]
    (found,) = asked.tool_sums(name="shell")
    assert (found.calls, found.failed, found.errors) == (2, 1, {"exit 2": 1})
    assert (found.mean_ms, found.longest_ms, found.sessions) == (9, 9, 2)
    assert asked.tool_sums(since=date(2026, 2, 28))[0].calls == 1
    assert asked.tool_sums("a")[0].sessions == 1


def _record(root: Path, name: str) -> None:
    memory = EpisodicMemory(root)
    for n in range(200):
        memory.log(name, "user", f"{name} {n}", at=at(n))
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_killed_processes_wrote_side_by_side_is_all_there(tmp_path: Path) -> None:
    spawning = multiprocessing.get_context("spawn")
    writers = [spawning.Process(target=_record, args=(tmp_path, name)) for name in ("p", "p", "q")]
    for writer in writers:
        writer.start()
    with closing(EpisodicMemory(tmp_path)) as memory:
        while any(writer.is_alive() for writer in writers):
            seen = memory.messages()
            assert [hit.time for hit in seen] == sorted(hit.time for hit in seen)
        found = memory.messages(limit=10_000)
    assert sorted(hit.text for hit in found) == sorted(
        f"{name} {n}" for name in ("p", "p", "q") for n in range(200)
    )

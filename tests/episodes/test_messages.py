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
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown import EpisodicMemory
from engramdown.recall.episodes import Moment
from engramdown.recall.lines import microseconds
from engramdown.recall.query import Hit, wanted

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


def texts(memory: EpisodicMemory, *range_: date, **wanted: str | int) -> list[str]:
    return [hit.text for hit in memory.messages(*range_, **wanted)]  # type: ignore[arg-type]


def test_all_sessions_come_in_the_order_of_time(memory: EpisodicMemory) -> None:
    day = date(2026, 2, 27)
    assert texts(memory, day, day) == ["one", "two", "ls", "x", "four", "three"]
    assert texts(memory, role="user") == ["one", "two", "four", "later"]
    assert texts(memory, at(2), at(4), role="user") == ["two", "four"]
    assert texts(memory, date(2026, 2, 28)) == ["later", "ls"]
    assert texts(memory, date(2027, 1, 1)) == []
    assert texts(memory, session="b") == ["two", "four"]
    assert texts(memory, session="nowhere") == []
    hit = memory.messages(at(1), at(1))[0]
    assert (str(hit.pointer), hit.role, hit.time) == ("a#1", "user", "2026-02-27T10:01:00.000000Z")


def test_the_range_may_be_told_in_texts(memory: EpisodicMemory) -> None:
    whole = memory.messages()
    first, last = whole[0].time, whole[-1].time
    assert memory.messages(since=first, until=last) == whole
    assert memory.messages(since=first[:10], until=last[:10]) == whole
    assert memory.messages(until=first) == [hit for hit in whole if hit.time == first]
    assert len(memory.recall("", 1_000, since=first[:10])) == len(whole)
    assert memory.tool_calls(since=first[:10]) == memory.tool_calls()
    assert memory.tool_sums(until=last[:10]) == memory.tool_sums()
    asks: tuple[Callable[..., object], ...] = (
        *(memory.messages, memory.tool_calls, memory.tool_sums),
        partial(memory.recall, ""),
    )
    for ask in asks:
        with pytest.raises(ValueError, match="since is 'yesterday'; give a date, a datetime, or"):
            ask(since="yesterday")


def test_of_many_the_newest_are_kept(memory: EpisodicMemory) -> None:
    assert texts(memory, limit=2, role="user") == ["four", "later"]
    assert texts(memory, limit=0) == texts(memory, limit=-1) == []
    with pytest.raises(ValueError, match="not a role"):
        memory.messages(role="judge")


def test_recall_without_words_gives_the_range_newest_first(memory: EpisodicMemory) -> None:
    day = date(2026, 2, 27)
    found = [hit.text for hit in memory.recall("", since=day, until=day, role="user")]
    assert found == ["four", "two", "one"]
    assert [hit.text for hit in memory.recall(" ", 1, until=day)] == ["three"]
    assert memory.recall("") == []


def test_what_was_taken_back_is_left_out(memory: EpisodicMemory) -> None:
    memory.forgetting().exclude("a", [1])
    memory.forgetting().redact("b", [1])
    assert texts(memory, role="user") == ["four", "later"]
    memory.forgetting().purge("c")
    assert texts(memory, role="user") == ["four"]
    assert {call.pointer.session for call in memory.tool_calls()} == {"a"}


def test_calls_are_found_in_all_sessions(memory: EpisodicMemory) -> None:
    assert [str(call.pointer) for call in memory.tool_calls()] == ["a#2", "c#2"]
    assert [str(call.pointer) for call in memory.tool_calls(until=at(60))] == ["a#2"]
    assert [str(call.pointer) for call in memory.tool_calls(name="shell", limit=1)] == ["c#2"]
    assert memory.tool_calls(name="none") == memory.tool_calls(since=date(2027, 1, 1)) == []
    assert [str(call.pointer) for call in memory.tool_calls("a", since=at(3))] == ["a#2"]
    (found,) = memory.tool_sums(name="shell")
    assert (found.calls, found.failed, found.errors) == (2, 1, {"exit 2": 1})
    assert (found.mean_ms, found.longest_ms, found.sessions) == (9, 9, 2)
    assert memory.tool_sums(since=date(2026, 2, 28))[0].calls == 1
    assert memory.tool_sums("a")[0].sessions == 1


def _record(root: Path, name: str) -> None:
    memory = EpisodicMemory(root)
    for n in range(200):
        memory.log(name, "user", f"{name} {n}", at=at(n))
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
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


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=30),
    st.integers(1, 12),
)
def test_pages_of_the_newest_give_every_line_once(lines: list[tuple[str, int]], size: int) -> None:
    with TemporaryDirectory() as folder, closing(EpisodicMemory(folder)) as memory:
        for number, (session, minute) in enumerate(lines):
            memory.log(session, "user", f"line {number}", at=at(minute))
        whole = memory.messages(limit=len(lines) + 1)
        places = [(hit.time, hit.session, hit.seq) for hit in whole]
        assert places == sorted(places)
        assert len(places) == len(lines)
        found: list[Hit] = []
        before = None
        while page := memory.newest(size, wanted(), before):
            found[:0] = page
            before = Moment(microseconds(page[0].time), page[0].session, page[0].seq)
        assert found == whole

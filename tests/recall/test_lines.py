"""What the index takes for a line is what everybody else takes for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.recall.lines import (
    BROKEN,
    Chunk,
    Facts,
    freshness,
    microseconds,
    moment_text,
    pack,
    read_lines,
    usual,
)
from engramdown.transcripts.episode import ROLES, Episode, read_line, write_line
from engramdown.transcripts.visibility import repeats_memory
from tests.episodes.strategies import episodes
from tests.episodes.transcripts import line
from tests.tables import every


@given(episodes)
def test_an_episode_is_read_as_read_line_reads_it(episode: Episode) -> None:
    written = write_line(episode)
    (taken,) = read_lines(written)
    known = read_line(written)
    assert known is not None
    assert (taken.seq, taken.name, taken.text) == (known.seq, known.name, known.text)
    role = "memory_read" if repeats_memory(known) else known.role
    assert (ROLES[taken.role], moment_text(taken.ts)) == (role, known.ts)


@given(episodes, st.data())
def test_a_line_with_any_byte_changed_is_read_as_read_line_reads_it(
    episode: Episode, data: st.DataObject
) -> None:
    written = bytearray(write_line(episode))
    at = data.draw(st.integers(0, len(written) - 2))
    written[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != ord("\n")))
    (taken,) = read_lines(bytes(written))
    known = read_line(bytes(written))
    if known is None:
        assert taken.role == BROKEN
    else:
        assert (taken.seq, taken.name, taken.text) == (known.seq, known.name, known.text)


@every("text", ["the boat", 'the "boat"', "das größte Boot"])
@every("name", ["Ana", "José", "recall"])
def test_a_line_with_a_name_is_read_as_read_line_reads_it(name: str, text: str) -> None:
    written = line(1, "before") + line(2, text, name=name)
    _, taken = read_lines(written)
    assert (taken.seq, taken.name, taken.text, taken.role) == (2, name, text, 1)


@pytest.mark.slow
@given(st.lists(episodes, max_size=4), st.data())
def test_lines_that_need_not_be_read_are_episodes(said: list[Episode], data: st.DataObject) -> None:
    block = bytearray(b"".join(map(write_line, said)))
    if block and data.draw(st.booleans()):
        block[data.draw(st.integers(0, len(block) - 1))] = data.draw(st.integers(0, 127))
    done = usual(bytes(block))
    assert done == 0 or block[done - 1] == ord("\n")
    assert all(read_line(line) for line in bytes(block[:done]).split(b"\n")[:-1])


@every("day", ["02-28", "04-30", "12-31", "01-29"])
@every("more", ["", ',"name":"shell","ms":12.5,"error":true', ',"turn":3,"cut":9,"payload":"ab"'])
def test_most_lines_need_not_be_read(day: str, more: str) -> None:
    at = f'"ts":"2026-{day}T10:15:00.000000Z","id":"1","role":"tool_result"'
    one = f'{{"seq":7,{at},"text":"naïve \\n"{more}}}\n'.encode()
    assert read_line(one) is not None
    assert usual(b"x\n" + one + one + b"broken", 2) == 2 + 2 * len(one)


@every(
    "old, new",
    [
        ("-28", "-29"),
        ("02-28", "04-31"),
        ("02-28", "00-01"),
        ("02-28", "01-00"),
        ("2026", "0000"),
        ("T10", "T24"),
        (":15:", ":60:"),
        (":00.", ":60."),
        ('"user"', '"judge"'),
        ('"seq":7', '"seq":07'),
        ('"1"', '""'),
        ("text", "test"),
    ],
)
def test_a_line_that_is_none_is_never_passed_over(old: str, new: str) -> None:
    at = '"ts":"2026-02-28T10:15:00.000000Z","id":"1","role":"user"'
    one = f'{{"seq":7,{at},"text":""}}\n'
    assert usual(one.encode())
    other = one.replace(old, new).encode()
    assert read_line(other) is None
    assert usual(other) == 0


@every(
    "change",
    [
        pytest.param({"ts": "2026-13-27T10:15:00.000000Z"}, id="no-month"),
        pytest.param({"ts": "2026-02-27T10:15:60.000000Z"}, id="no-second"),
        pytest.param({"seq": -1}, id="negative"),
        pytest.param({"seq": 1.0}, id="no-integer"),
        pytest.param({"role": "judge"}, id="role"),
        pytest.param({"text": None}, id="no-text"),
        pytest.param({"id": ""}, id="no-id"),
    ],
)
def test_what_is_no_episode_has_its_place_only(change: dict[str, Any]) -> None:
    record = json.loads(line(1, "text")) | change
    (taken,) = read_lines(json.dumps(record, separators=(",", ":")).encode() + b"\n")
    assert taken.role == BROKEN
    assert not taken.text


@every("text", ['"quoted" \\ and\n\tmore/', "\u2028", "naïve 😀", "", "\x00", "\ud800"])
def test_a_text_comes_back(text: str) -> None:
    episode = Episode(seq=1, ts="2026-02-27T10:15:00.000001Z", id="1", role="user", text=text)
    (taken,) = read_lines(write_line(episode))
    assert taken.text == text


def test_bytes_that_are_no_text_are_no_episode() -> None:
    (taken,) = read_lines(line(1, "text", name="x").replace(b'"x"', b'"\xff"'))
    assert taken.role == BROKEN


def test_lines_know_where_they_begin_and_the_last_waits_for_its_end() -> None:
    first, second = line(1, "one"), b"not json\n"
    taken = list(read_lines(first + second + b'{"seq":2'))
    assert [(each.start, each.role == BROKEN) for each in taken] == [
        (0, False),
        (len(first), True),
    ]


def test_an_event_comes_whole() -> None:
    (taken,) = read_lines(line(3, "", role="event", event="exclude", of=[1]))
    assert taken.event is not None
    assert taken.event.more == {"of": [1]}


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_microseconds_are_what_a_line_says(ts: int) -> None:
    assert microseconds(moment_text(ts)) == ts


@every(
    "fields, role",
    [
        ({"role": "tool_call", "name": "recall"}, "memory_read"),
        ({"role": "tool_result", "name": "mcp__engramdown__recall"}, "memory_read"),
        *(
            ({"role": "tool_result", "name": name}, "memory_read")
            for name in ("recall", "search_journals", "engramdown_grep")
        ),
        ({"role": "tool_result", "name": "grep"}, "tool_result"),
        ({"role": "tool_result", "name": "search", "recalled": ["a#1"]}, "memory_read"),
        ({"role": "scratchpad", "recalled": ["a#1"]}, "memory_read"),
        ({"role": "assistant", "recalled": ["a#1"]}, "assistant"),
        ({"role": "tool_result", "name": "product_recall"}, "tool_result"),
        ({"role": "user", "name": "recall"}, "user"),
    ],
)
def test_what_came_out_of_memory_counts_as_read_from_it(fields: dict[str, Any], role: str) -> None:
    written = line(1, "text", **fields)
    (taken,), known = read_lines(written), read_line(written)
    assert known is not None
    assert (ROLES[taken.role], repeats_memory(known)) == (role, role == "memory_read")


# ---- what is kept of a line comes back ----

_facts = st.tuples(
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 0xFFFFFFFF),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(0, 0xFFFF),
    st.integers(0, 255),
    st.integers(0, 0xFFFF),
)


@given(st.lists(_facts, min_size=1, max_size=32))
def test_facts_come_back(facts: list[Facts]) -> None:
    chunk = Chunk(1, 0, 0, 0, pack(facts))
    assert [chunk.line(at) for at in range(chunk.lines)] == facts


def test_a_number_that_is_too_large_is_the_largest() -> None:
    packed = pack([(0, 1 << 40, 0, 1 << 20, 0, 1 << 20)])
    assert Chunk(1, 0, 0, 0, packed).line(0)[1:] == (0xFFFFFFFF, 0, 0xFFFF, 0, 0xFFFF)


def test_a_chunk_tells_the_roles_in_it() -> None:
    facts = pack([(0, 1, 0, 1, 0, 7), (10, 2, 0, 1, 1, 7), (20, 3, 0, 1, 0, 7)])
    assert Chunk(1, 0, 0, 30, facts).roles() == {0, 1}


def test_a_line_ends_where_the_next_begins_and_the_last_where_the_chunk_does() -> None:
    facts = pack([(0, 1, 0, 1, 0, 0), (10, 2, 0, 1, 0, 0)])
    chunk = Chunk(1, 0, 100, 125, facts)
    assert [chunk.range(0), chunk.range(1)] == [(100, 110), (110, 125)]


def test_a_later_chunk_is_fresher_and_no_two_of_a_second_are_equal() -> None:
    early, late = freshness(1_000_000, "a", 0), freshness(2_000_000, "a", 0)
    assert early < late
    assert len({freshness(5, f"s{number}", 0) for number in range(1_000)}) == 1_000
    assert 0 <= freshness(-(1 << 60), "a", 0) <= freshness(1 << 62, "a", 0) < 1 << 63

"""What is kept of a line comes back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramdown.recall.lines import Chunk, Facts, freshness, pack

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

"""Which parts of a conversation are summarised next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.summaries import (
    FAN_IN,
    LEAF_MESSAGES,
    SOURCE_TOKENS,
    Chunk,
    Item,
    condensed_chunks,
    fresh_tail,
    handoff_chunk,
    leaf_chunks,
)
from tests.consolidation.view_laws import (
    condensed_gists_are_of_one_depth,
    handoffs_stand_for_all_that_is_old,
    leaves_can_be_read,
)
from tests.consolidation.views import any_view, gists, talk, tool_calls
from tests.tables import every


def _spans(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.start, chunk.end) for chunk in chunks]


class TestLeaves:
    """Runs of messages."""

    @given(any_view(), st.integers(0, 30), st.integers(0, 6), st.sampled_from([50, 100, 1000]))
    def test_they_can_be_read(self, items: list[Item], end: int, least: int, most: int) -> None:
        leaves_can_be_read(items, min(end, len(items)), least, most)

    @pytest.mark.parametrize("count", [0, 1, LEAF_MESSAGES - 1])
    def test_a_few_messages_are_none(self, count: int) -> None:
        assert leaf_chunks(talk(count), count) == []

    def test_ten_messages_are_one(self) -> None:
        assert leaf_chunks(talk(12, 30), 10) == [Chunk(0, 10, 300, 100, 0)]

    def test_its_summary_may_always_have_ten_tokens(self) -> None:
        assert leaf_chunks(talk(10, 0), 10)[0].target == 10

    def test_gists_part_them(self) -> None:
        items = [*talk(10), *gists([0]), *talk(9, start=20), *gists([1]), *talk(11, start=40)]
        assert _spans(leaf_chunks(items, len(items))) == [(0, 10), (21, 32)]

    def test_long_messages_are_one_though_they_are_few(self) -> None:
        assert _spans(leaf_chunks(talk(7, 7_000), 7)) == [(0, 2), (2, 4), (4, 6)]
        assert _spans(leaf_chunks(talk(3, SOURCE_TOKENS), 3)) == [(0, 1), (1, 2), (2, 3)]

    def test_a_trifle_before_a_long_message_is_none_of_its_own(self) -> None:
        items = [*talk(1, 5), *talk(1, SOURCE_TOKENS - 1, start=1), *talk(1, 9, start=2)]
        assert _spans(leaf_chunks(items, 3)) == [(1, 2)]
        items = [*talk(1, 5), *talk(1, SOURCE_TOKENS + 1, start=1), *talk(1, 9, start=2)]
        assert _spans(leaf_chunks(items, 3)) == [(0, 2)]

    def test_a_tool_call_that_is_too_long_is_read_as_one(self) -> None:
        calls = tool_calls("+a", "+b", "-a", "-b", tokens=9_000, start=100)
        items = [*talk(20, 500), *calls, *talk(9, start=200)]
        assert _spans(leaf_chunks(items, len(items))) == [(0, 20), (20, 24)]

    def test_what_was_cut_off_from_its_call_stays(self) -> None:
        late = [*tool_calls("+a"), *gists([0]), *tool_calls("-a", start=5), *talk(10, start=9)]
        assert _spans(leaf_chunks(late, len(late))) == [(3, 13)]
        assert leaf_chunks(late, 1, 0) == []
        assert leaf_chunks(tool_calls(*["+a", *["assistant"] * 20, "-a"]), 15) == []

    def test_a_whole_conversation_goes_but_for_its_tail(self) -> None:
        items = talk(2000, 100)
        end = fresh_tail(items)
        chunks = leaf_chunks(items, end)
        assert _spans(chunks) == [(at, min(at + 200, end)) for at in range(0, end, 200)]


class TestCondensed:
    """Runs of gists."""

    @given(any_view(), st.integers(0, 30), st.integers(0, 5))
    def test_they_are_of_one_depth(self, items: list[Item], end: int, fan_in: int) -> None:
        condensed_gists_are_of_one_depth(items, min(end, len(items)), fan_in)

    @given(st.lists(st.integers(0, 2), max_size=24), st.sampled_from([2, FAN_IN]))
    def test_gists_alone_are_too(self, depths: list[int], fan_in: int) -> None:
        condensed_gists_are_of_one_depth(gists(depths), len(depths), fan_in)

    @every(
        "depths, fan_in, chosen",
        [
            ([], 2, []),
            ([0], 2, []),
            ([0, 1, 0], 2, []),
            ([0, 0, 1, 1, 1], 2, [(0, 2), (2, 5)]),
            ([0] * 3, 4, []),
            ([0] * 7, 4, [(0, 7)]),
            ([0] * 8, 4, [(0, 4), (4, 8)]),
            ([0] * 5, 2, [(0, 3), (3, 5)]),
            ([0] * 3, 1, [(0, 3)]),
        ],
        ids=str,
    )
    def test_so_many_at_least(
        self, depths: list[int], fan_in: int, chosen: list[tuple[int, int]]
    ) -> None:
        chunks = condensed_chunks(gists(depths), len(depths), fan_in)
        assert _spans(chunks) == chosen
        assert [chunk.depth for chunk in chunks] == [depths[start] + 1 for start, _ in chosen]

    def test_messages_part_them(self) -> None:
        items = [*gists([0, 0]), *talk(1), *gists([0, 0])]
        assert _spans(condensed_chunks(items, 5, 2)) == [(0, 2), (3, 5)]

    def test_no_more_are_read_than_can_be_but_two(self) -> None:
        assert condensed_chunks(gists([0] * 4, 9_000), 4) == [Chunk(0, 2, 18_000, 9_000, 1)]
        assert _spans(condensed_chunks(gists([0] * 4, 99_000), 4)) == [(0, 2)]


class TestHandoff:
    """All that is old."""

    @given(any_view(), st.integers(0, 30))
    def test_it_stands_for_all_before_the_end(self, items: list[Item], end: int) -> None:
        handoffs_stand_for_all_that_is_old(items, min(end, len(items)))

    def test_nothing_and_one_handoff_need_none(self) -> None:
        handoff = Item("g1", 9, "handoff", depth=3)
        assert handoff_chunk([], 0) is None
        assert handoff_chunk([handoff], 1) is None
        assert handoff_chunk([handoff, *talk(1)], 2) == Chunk(0, 2, 18, 18, 4)
        assert handoff_chunk(gists([3]), 1) == Chunk(0, 1, 9, 10, 4)
        assert handoff_chunk(talk(1), 1) == Chunk(0, 1, 9, 10, 0)

    def test_it_has_so_many_tokens_at_most(self) -> None:
        items = [*gists([2], 50_000), *talk(10, 100)]
        assert handoff_chunk(items, 11) == Chunk(0, 11, 51_000, 2_000, 3)

"""Where a view may be cut, and what of it stays as it was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.summaries import FRESH_TAIL, MOST_FRESH, Item, cuts
from engramdown.consolidation.summaries import fresh_tail as tail
from tests.consolidation.view_laws import (
    a_result_stays_with_its_call,
    an_interrupted_call_ends_with_its_turn,
    what_must_be_seen_is_fresh,
)
from tests.consolidation.views import any_view, gists, talk, tool_calls
from tests.tables import every


class _Counted(list[Item]):
    """A view that counts how often an item of it is looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - as that of a list
        self.looks += 1
        return super().__getitem__(at)

    def __iter__(self) -> Iterator[Item]:
        for item in super().__iter__():
            self.looks += 1
            yield item


def _joined(*calls: str) -> list[int]:
    """Return the places at which such a conversation may not be cut."""
    free = cuts(tool_calls(*calls))
    return [at for at in range(len(free)) if not free[at]]


class TestCuts:
    """A tool call stays with its results."""

    @given(any_view())
    def test_a_result_stays_with_its_call(self, items: list[Item]) -> None:
        a_result_stays_with_its_call(items)

    @every(
        "calls, joined",
        [
            (("user", "assistant"), []),
            (("+a", "-a"), [1]),
            (("+a", "user", "-a"), [1, 2]),
            (("+a", "-a", "-a", "user"), [1, 2]),
            (("+a", "-a", "user", "-a"), [1, 2, 3]),
            (("+a", "+b", "-b", "-a", "+c", "-c"), [1, 2, 3, 5]),
            (("+a", "+b", "-a", "-b"), [1, 2, 3]),
            (("+a", "-a", "+a", "-a"), [1, 3]),
            (("+a", "+a", "-a", "-a"), [1, 2, 3]),
            (("-a", "+a"), []),
            (("-a", "+a", "-b"), []),
            (("+a", "user", "+a", "-a"), [3]),
            (("+a", "user", "-a", "user", "-a"), [1, 2, 3, 4]),
            (("+", "-"), [1]),
            (("+", "+", "-", "-"), [1, 2, 3]),
            (("+", "-a"), []),
        ],
    )
    def test_what_may_not_be_cut(self, calls: tuple[str, ...], joined: list[int]) -> None:
        assert _joined(*calls) == joined

    def test_results_without_an_id_go_by_the_tool(self) -> None:
        items = [Item(0, 1, "tool_call", "sh"), Item(1, 1, "tool_result", "py")]
        assert cuts(items) == [True, True, True]

    @pytest.mark.parametrize("turns", [1, 2, 9])
    def test_an_interrupted_call_ends_with_its_turn(self, turns: int) -> None:
        an_interrupted_call_ends_with_its_turn(turns)

    def test_a_gist_between_parts_nothing(self) -> None:
        call, gist, result = tool_calls("+a"), gists([0]), tool_calls("-a", start=5)
        assert cuts([*call, *gist, *result]) == [True, False, False, True]

    def test_an_empty_view_has_one_place(self) -> None:
        assert cuts([]) == [True]

    @pytest.mark.slow
    def test_each_item_is_looked_at_as_often_in_a_long_view_as_in_a_short_one(self) -> None:
        for calls in (["+a", "-a", "user"], ["+a"], ["-a"], ["user", "+a"]):
            for find in (cuts, tail):
                short, long = (_Counted(tool_calls(*calls * size)) for size in (200, 2000))
                find(short)
                find(long)
                assert long.looks <= 10 * short.looks + 100


class TestFreshTail:
    """The newest messages stay as they were said."""

    @given(any_view(), st.integers(-1, 12), st.integers(1, 12))
    def test_what_must_be_seen_is_fresh(self, items: list[Item], count: int, most: int) -> None:
        what_must_be_seen_is_fresh(items, count, most)

    @pytest.mark.parametrize("count", [1, 2, FRESH_TAIL - 1, FRESH_TAIL])
    def test_fewer_messages_than_the_tail_holds_are_all_in_it(self, count: int) -> None:
        assert tail(talk(count)) == 0
        assert tail([*gists([0, 1]), *talk(count)]) == 2
        assert tail([*talk(1), *gists([0]), *talk(count - 1, start=9)]) == 0

    def test_gists_alone_have_no_tail(self) -> None:
        assert tail(gists([0, 0, 1])) == 3
        assert tail([]) == 0

    def test_it_reaches_back_to_the_beginning_of_its_turn(self) -> None:
        roles = ["user", "assistant"] + ["user"] + ["assistant"] * 5 + ["user", "assistant"]
        items = [Item(at, 9, role) for at, role in enumerate(roles)]
        assert [tail(items, count) for count in (1, 2, 3, 6, 8, 9)] == [8, 8, 2, 2, 2, 0]

    def test_a_turn_that_is_too_long_is_shown_by_its_end(self) -> None:
        roles = ["user", *["assistant"] * 200, "user", "assistant"]
        items = [Item(at, 9, role) for at, role in enumerate(roles)]
        assert tail(items) == len(items) - MOST_FRESH
        assert tail(items, 20, 30) == len(items) - 30

    @pytest.mark.parametrize("count, most", [(20, 120), (0, 1), (1, 1), (0, 120)])
    def test_all_after_the_newest_words_of_the_user_is_in_it(self, count: int, most: int) -> None:
        items = [*talk(40), *(Item(40 + at, 9, "assistant") for at in range(1, 300))]
        assert tail(items, count, most) <= 38

    def test_with_no_count_it_begins_with_the_newest_words_of_the_user(self) -> None:
        assert tail(talk(10), 0) == 8
        assert tail(talk(10), 0, 1) == 8
        assert tail([Item(at, 9, "assistant") for at in range(9)], 0) == 9

    def test_it_never_begins_within_a_tool_call(self) -> None:
        calls = ["+a", *["assistant"] * 10, "-a", "assistant"]
        assert tail(tool_calls(*calls), 2) == 0
        assert tail(tool_calls("user", *calls), 2) == 0
        assert tail(tool_calls("assistant", "+a", "user", "-a"), 0) == 1

    def test_what_many_calls_at_once_brought_does_not_make_it_empty(self) -> None:
        calls = [f"{sign}{nth}" for sign in "+-" for nth in range(70)]
        items = tool_calls("user", *calls, "assistant", "user")
        assert tail(items, 20, 120) == 1
        assert tail(items, 1, 120) == len(items) - 1

"""What of a conversation fits into a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.summaries import Item, cuts, fresh_tail
from engramdown.conversation.prompt import LEAST, Fate, allotted, fates
from tests.consolidation.views import any_view, talk, tool_calls

_BRIEF = 30


def _fates(items: list[Item], tail: int, room: int) -> list[Fate]:
    return fates(items, tail, room, lambda _: _BRIEF)


def _cost(items: list[Item], chosen: list[Fate], tail: int) -> int:
    costs = ({"whole": item.tokens, "brief": _BRIEF, "out": 0} for item in items)
    return sum(cost[fate] for cost, fate in zip(costs, chosen[:tail], strict=False))


@given(any_view(), st.integers(0, 12), st.integers(-10, 200))
def test_what_is_chosen_fits_and_the_tail_is_whole(
    items: list[Item], count: int, room: int
) -> None:
    tail = fresh_tail(items, count)
    chosen = _fates(items, tail, room)
    assert len(chosen) == len(items)
    assert set(chosen[tail:]) <= {"whole"}
    assert _cost(items, chosen, tail) <= max(room, 0)


@given(any_view(), st.integers(0, 12), st.integers(0, 200))
def test_a_call_and_its_results_share_one_fate(items: list[Item], count: int, room: int) -> None:
    tail = fresh_tail(items, count)
    chosen = _fates(items, tail, room)
    free = cuts(items)
    for at in range(1, len(items)):
        if not free[at]:
            assert (chosen[at] == "out") == (chosen[at - 1] == "out")


@given(any_view(), st.integers(0, 12))
def test_with_room_for_all_nothing_is_left_out(items: list[Item], count: int) -> None:
    room = sum(item.tokens for item in items)
    assert set(_fates(items, fresh_tail(items, count), room)) <= {"whole"}


@given(st.lists(st.integers(1, 20), max_size=20), st.integers(0, 200))
def test_of_small_items_the_newest_are_shown(costs: list[int], room: int) -> None:
    items = [Item(seq, cost, "user") for seq, cost in enumerate(costs)]
    chosen = _fates(items, len(items), room)
    left = room
    for item, fate in zip(reversed(items), reversed(chosen), strict=True):
        assert (fate == "whole") == (item.tokens <= left)
        left -= item.tokens if fate == "whole" else 0


def test_one_huge_item_hides_nothing_behind_it() -> None:
    items = [*talk(1, 9), *talk(1, 90_000, start=1), *talk(2, 9, start=2)]
    assert _fates(items, 4, 27 + _BRIEF) == ["whole", "brief", "whole", "whole"]
    assert _fates(items, 4, 27 + _BRIEF - 1) == ["out", "brief", "whole", "whole"]
    assert _fates(items, 4, 27) == ["whole", "out", "whole", "whole"]


def test_a_call_that_is_small_stays_beside_the_placeholder_of_its_result() -> None:
    call, result = Item(0, 9, "tool_call", "sh", "a"), Item(1, 9_000, "tool_result", "sh", "a")
    assert _fates([call, result], 2, 9 + _BRIEF) == ["whole", "brief"]
    assert _fates([call, result], 2, 8 + _BRIEF) == ["out", "out"]


def test_without_room_nobody_asks_what_a_placeholder_costs() -> None:
    asked: list[int] = []

    def brief(at: int) -> int:
        asked.append(at)
        return 1

    assert fates(talk(9, 50), 9, LEAST - 1, brief) == ["out"] * 9
    assert asked == []


def test_nothing_is_chosen_from_nothing() -> None:
    assert _fates([], 0, 9) == []
    assert _fates(tool_calls("user"), 0, 0) == ["whole"]


@pytest.mark.parametrize("room, given", [(-1, [0, 0]), (0, [0, 0]), (7, [5, 2]), (99, [5, 6])])
def test_what_comes_first_gets_what_it_needs(room: int, given: list[int]) -> None:
    assert list(allotted({"rules": 5, "journal": 6}, room).values()) == given

"""When a conversation is to be summarised, and when nobody is asked for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.summaries import (
    MANUAL,
    MAX_TOKENS,
    Item,
    pressure,
    rests_until,
)
from engramdown.models.ledger import OUTCOMES, Call
from engramdown.settings import ConversationSettings
from tests.consolidation.views import any_view, gists, talk
from tests.tables import every

DEFAULTS = ConversationSettings()
BEGIN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def _at(minutes: float) -> str:
    moment = BEGIN + timedelta(minutes=minutes)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _calls(*ended: tuple[float, str]) -> list[Call]:
    return [Call(_at(minutes), "leaf", "some/model", 9, 9, 9, how) for minutes, how in ended]


class TestPressure:
    """How full a conversation is."""

    def test_a_limit_that_is_reached_is_not_passed(self) -> None:
        assert not pressure([Item(1, MAX_TOKENS, "user")], DEFAULTS).due
        full = pressure([Item(1, MAX_TOKENS + 1, "user")], DEFAULTS)
        assert (full.due, full.over) == (True, False)
        assert full.reason == "80,001 tokens are more than 80,000"

    def test_thirty_messages_are_enough(self) -> None:
        assert not pressure(talk(29), DEFAULTS).due
        found = pressure([*gists([0] * 50), *talk(30)], DEFAULTS)
        assert (found.due, found.over, found.messages, found.most) == (True, False, 30, 30)
        assert found.reason == "30 messages are not summarised; 30 are enough"

    def test_any_number_of_messages_may_be_allowed(self) -> None:
        assert not pressure(talk(1000), ConversationSettings(max_messages=0)).due

    def test_twice_as_much_cannot_wait(self) -> None:
        assert not pressure([Item(1, 2 * MAX_TOKENS, "user")], DEFAULTS).over
        assert pressure([Item(1, 2 * MAX_TOKENS + 1, "user")], DEFAULTS).over
        assert pressure([Item(1, 301, "user")], ConversationSettings(max_tokens=150)).over

    def test_none_is_the_default(self) -> None:
        assert pressure([], ConversationSettings(max_tokens=0)).limit == MAX_TOKENS

    @pytest.mark.parametrize(
        "budget, limit", [(1000, 750), (107_000, 80_000), (0, 0), (None, 80_000)]
    )
    def test_the_lower_of_limit_and_budget_counts(self, budget: int | None, limit: int) -> None:
        assert pressure([], DEFAULTS, budget).limit == limit
        assert pressure([Item(1, limit, "user")], DEFAULTS, budget).due is False
        assert pressure([Item(1, limit + 1, "user")], DEFAULTS, budget).due is True

    @given(any_view(), st.one_of(st.none(), st.integers(0, 100)))
    def test_by_hand_only_is_never_due(self, items: list[Item], budget: int | None) -> None:
        found = pressure(items, ConversationSettings(max_tokens=MANUAL, max_messages=1), budget)
        assert (found.due, found.over, found.limit, found.reason) == (False, False, MANUAL, "")
        assert found.tokens == sum(item.tokens for item in items)

    @given(any_view(), st.integers(1, 100), st.integers(0, 9))
    def test_what_cannot_wait_is_due_and_what_is_due_says_why(
        self, items: list[Item], limit: int, most: int
    ) -> None:
        found = pressure(items, ConversationSettings(max_tokens=limit, max_messages=most))
        assert found.due == bool(found.reason)
        assert found.due or not found.over


class TestRest:
    """When nobody is asked of its own accord."""

    def test_who_never_asked_need_not_rest(self) -> None:
        assert rests_until([], _at(0)) == ""

    def test_twenty_four_calls_in_ten_minutes_are_followed_by_half_an_hour_of_rest(self) -> None:
        calls = _calls(*((at * 0.4, "ok") for at in range(24)))
        assert rests_until(calls[:23], _at(9.5)) == ""
        assert rests_until(calls, _at(9.5)) == _at(23 * 0.4 + 30)
        assert rests_until(calls, _at(39.1)) == _at(39.2)
        assert rests_until(calls, _at(39.2)) == ""

    def test_as_many_in_ten_minutes_exactly_are_none_too_many(self) -> None:
        calls = _calls((0, "ok"), *((5, "ok") for _ in range(22)), (10, "ok"))
        assert rests_until(calls, _at(10)) == ""

    def test_calls_that_nobody_was_asked_for_count_for_nothing(self) -> None:
        free = _calls(*((0, "refused_spend") for _ in range(50)), (0, "missing_sdk"))
        assert rests_until(free, _at(0)) == ""

    @every("failures, minutes", [(1, 1), (2, 2), (3, 4), (4, 8), (5, 30), (6, 30), (20, 30)])
    def test_each_failure_doubles_the_pause_and_five_are_half_an_hour(
        self, failures: int, minutes: int
    ) -> None:
        calls = _calls(*((60 * at, "timeout") for at in range(failures)))
        last = 60 * (failures - 1)
        assert rests_until(calls, _at(last)) == _at(last + minutes)
        assert rests_until(calls, _at(last + minutes)) == ""

    def test_a_success_ends_the_pause(self) -> None:
        calls = _calls(*((0, "timeout") for _ in range(9)), (1, "ok"))
        assert rests_until(calls, _at(1)) == ""
        assert rests_until([*calls, *_calls((2, "malformed"))], _at(2)) == _at(3)

    def test_a_call_that_goes_on_is_no_failure_and_prolongs_nothing(self) -> None:
        assert rests_until(_calls((0, "asked")), _at(0)) == ""
        calls = _calls((0, "timeout"), (0.5, "asked"))
        assert rests_until(calls, _at(0.6)) == _at(1)

    def test_calls_of_a_later_clock_are_passed_over(self) -> None:
        assert rests_until(_calls((60, "timeout")), _at(0)) == ""

    @given(
        st.lists(st.tuples(st.floats(0, 60), st.sampled_from(sorted(OUTCOMES))), max_size=60).map(
            sorted
        ),
        st.floats(0, 120),
    )
    def test_rest_ends_within_half_an_hour_of_the_last_call(
        self, ended: list[tuple[float, str]], now: float
    ) -> None:
        found = rests_until(_calls(*ended), _at(now))
        last = max((at for at, _ in ended if at <= now), default=0)
        assert found == "" or _at(now) < found <= _at(last + 30)

"""Which statement says that another one holds no longer, and how two of them stand otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.language.judge import RELATIONS, ROWS, WEIGHTS, judge, may_differ, rows_of
from engramdown.language.updates import newer_first
from tests.tables import every


@every(
    "newer, older",
    [
        ("The pool size went up to 25", "The pool size is 10"),
        ("Standup is now at 10:15, not 9:30", "Standup is at 9:30 in the small room"),
        ("IT replaced OpenVPN by WireGuard", "The VPN client is OpenVPN"),
        ("Rehearsals got moved to Wednesdays", "The orchestra rehearses on Tuesdays"),
        ("Uploads may be up to 64 MB", "Uploads may be up to 10 MB"),
        ("Since the merger the lease is 1,900 euros", "The rent is 1,400 euros a month"),
        ("Viktor took the importer over", "Nadia owns the importer"),
    ],
)
def test_another_value_of_the_same_differs(newer: str, older: str) -> None:
    assert judge(older, newer).differ > 0.5


@every(
    "newer, older",
    [
        ("Runner ci-06 has 48 GB", "Runner ci-03 has 24 GB"),
        ("Leo's class is 2A", "Emma's class is 5B"),
        ("We also moved orders to ClickHouse", "We use Postgres for orders"),
        ("Chapter 4 is written", "Chapter 3 is written"),
        ("The mail service is Viktor's now", "The search service is Nadia's"),
        ("The hall now has 40 chairs", "The hall is in the annex"),
        ("The bus moved", "Standup is at 9:45"),
        ("", ""),
    ],
)
def test_what_is_about_something_else_goes_together(newer: str, older: str) -> None:
    assert judge(older, newer).differ < 0.4


def test_what_says_the_same_is_told_from_what_differs() -> None:
    found = judge("Use httpx for HTTP calls", "HTTP calls go through httpx")
    assert found.same > found.differ


@pytest.mark.parametrize(
    "newer",
    [
        "Standup is at 9:45",
        "Is standup at 10:15?",
        "Tomorrow only, standup is at 11",
        "The bus leaves at 10:15",
    ],
)
def test_what_states_nothing_else_is_not_asked_about(newer: str) -> None:
    assert not may_differ("Standup is at 9:45 now", newer)


def test_each_relation_has_a_weight_for_each_row() -> None:
    assert WEIGHTS.stat().st_size == ROWS * len(RELATIONS)


@given(st.text(max_size=500), st.text(max_size=500), st.text(max_size=60))
def test_any_texts_are_judged_the_same_way_each_time(one: str, other: str, asked: str) -> None:
    assert sum(judge(one, other, asked)) == pytest.approx(1)
    assert rows_of(one, other, asked) == rows_of(one, other, asked)


@every("piece", ["a", "9.", "x-", "'", "not ", "1-", "\u0130", "a.b/"])
def test_a_long_text_is_read_at_its_beginning(piece: str) -> None:
    assert rows_of(piece * 100_000, "b") == rows_of(piece * 200_000, "b")


def test_the_newer_comes_right_before_what_it_replaces() -> None:
    said = [
        ("2026-01-02", "Lunch is at noon"),
        ("2026-01-01", "The pool size is 10"),
        ("2026-01-01", "Ask first"),
        ("2026-01-03", "The pool size went up to 25"),
    ]
    assert newer_first(said, "How big is the pool?") == ([0, 3, 1, 2], {1: 3})
    assert newer_first(said, "Was the pool ever 10?") == ([0, 1, 2, 3], {1: 3})
    assert newer_first([said[3], said[1]], "the pool size") == ([0, 1], {1: 0})
    assert newer_first([("", text) for _, text in said], "the pool") == ([0, 1, 2, 3], {})


@given(st.lists(st.tuples(st.text(max_size=3), st.text()), max_size=9))
def test_every_hit_stays(said: list[tuple[str, str]]) -> None:
    order, replaced = newer_first(said, "")
    assert sorted(order) == list(range(len(said)))
    assert all(said[new][0] > said[old][0] for old, new in replaced.items())

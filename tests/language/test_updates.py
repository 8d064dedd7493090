"""Which statement says that another one holds no longer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.language.updates import certainty, newer_first


@pytest.mark.parametrize(
    "newer, older",
    [
        ("The pool size went up to 25", "The pool size is 10"),
        ("Standup is now at 10:15, not 9:30", "Standup is at 9:30 in the small room"),
        ("IT replaced OpenVPN by WireGuard", "The VPN client is OpenVPN"),
        ("Rehearsals got moved to Wednesdays", "The orchestra rehearses on Tuesdays"),
        ("New branches are called release/next", "Branches are called next"),
        ("Uploads may be up to 64 MB", "Uploads may be up to 10 MB"),
        ("Everybody moved to YouTrack in spring", "Tickets are tracked in Jira"),
        ("Since the merger the lease is 1,900 euros", "The rent is 1,400 euros a month"),
        ("Viktor took the importer over", "Nadia owns the importer"),
    ],
)
def test_another_value_of_the_same_replaces_it(newer: str, older: str) -> None:
    assert certainty(newer, older) > 0


@pytest.mark.parametrize(
    "newer, older",
    [
        ("Runner ci-06 has 48 GB", "Runner ci-03 has 24 GB"),
        ("Leo's class is 2A", "Emma's class is 5B"),
        ("Tomorrow only, standup is at 11", "Standup is at 9:45"),
        ("We also moved orders to ClickHouse", "We use Postgres for orders"),
        ("Chapter 4 is written", "Chapter 3 is written"),
        ("The mail service is Viktor's now", "The search service is Nadia's"),
        ("My sister moved to Leeds", "I live in Bergen"),
        ("The hall now has 40 chairs", "The hall is in the annex"),
        ("The bus moved", "Standup is at 9:45"),
        ("Standup is no longer here", "Standup is at 9:45"),
        ("Standup is at 9:45 now", "Standup is at 9:45"),
        ("We moved the standup", "We moved the standup"),
        ("The pool moved", "The payments service of the shop has a big pool of connections"),
        ("Standup moved to 10:15. " * 9, "Standup is at 9:45"),
        ("Was standup moved to 10:15?", "Standup is at 9:45"),
        ("", ""),
    ],
)
def test_what_is_about_something_else_replaces_nothing(newer: str, older: str) -> None:
    assert certainty(newer, older) == 0


def test_the_newer_comes_right_before_what_it_replaces() -> None:
    said = [
        ("2026-01-02", "Lunch is at noon"),
        ("2026-01-01", "Standup is at 9:30"),
        ("2026-01-01", "Ask first"),
        ("2026-01-03", "Standup got moved to 10:15"),
        ("2025-01-01", "Standup got moved to 9:00"),
    ]
    assert newer_first(said, "When is standup?") == ([0, 3, 1, 2, 4], {1: 3, 4: 3})
    assert newer_first(said, "Was standup ever at 9:30?") == ([0, 1, 2, 3, 4], {1: 3, 4: 3})
    assert newer_first([said[3], said[1]], "") == ([0, 1], {1: 0})
    assert newer_first([("", text) for _, text in said], "") == ([0, 1, 2, 3, 4], {})


@given(st.lists(st.tuples(st.text(max_size=3), st.text()), max_size=9))
def test_every_hit_stays(said: list[tuple[str, str]]) -> None:
    order, replaced = newer_first(said, "")
    assert sorted(order) == list(range(len(said)))
    assert all(said[new][0] > said[old][0] for old, new in replaced.items())

"""Which memories are about what was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.claude_code.injection import fitting, shared

MEMORIES = [
    "Postgres for tests listens on port 5433",
    "Run the linter before pushing",
    "Never commit to main",
    "CoinGecko's free tier rate-limits at 50 requests a minute",
    "The build needs two passes",
    "デプロイは月曜日に行う",
]


@pytest.mark.parametrize(
    "said, about",
    [
        ("connect to postgres", [0]),
        ("why does coingecko answer 429?", [3]),
        ("I pushed without linting, sorry", [1]),
        ("デプロイはいつ?", [5]),
        ("please fix the failing test", []),
        ("hello, thank you", []),
        ("write a function that adds two numbers", []),
        ("", []),
    ],
)
def test_only_what_a_message_is_about_is_found(said: str, about: list[int]) -> None:
    assert fitting(said, MEMORIES, 100) == about


def test_a_word_of_many_memories_is_not_enough() -> None:
    many = [f"The staging server {n} has its own password" for n in range(20)]
    assert fitting("restart staging", many) == []
    assert fitting("restart staging", many[:1], 20) == [0]


def test_what_two_texts_share_weighs_more_the_more_it_tells() -> None:
    assert shared("the linter of the harbour", "a harbour, a linter") == 2.0
    assert shared("run the test", "test the run") == 1.0
    assert shared("x", "y") == 0


@given(st.text(), st.lists(st.text(), max_size=5))
def test_any_texts_can_be_compared(said: str, texts: list[str]) -> None:
    found = fitting(said, texts)
    assert found == sorted(set(found))
    assert all(0 <= at < len(texts) for at in found)

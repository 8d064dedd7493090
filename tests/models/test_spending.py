"""`engramdown.models.port`: a limit is not passed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.models.ledger import Limits, Spent, refusal

LIMITS = Limits(
    calls_per_run=3,
    tokens_per_run=1000,
    window_hours=24,
    calls_per_window=10,
    tokens_per_window=5000,
)


@pytest.mark.parametrize(
    "run, window, said",
    [
        pytest.param(Spent(2, 600), Spent(9, 4600), "", id="just-fits"),
        pytest.param(
            Spent(3, 0), Spent(3, 0),
            "calls_per_run is 3, and 3 calls are spent in this run; "
            "to allow more, raise calls_per_run under [consolidation] in config.toml",
            id="calls-of-the-run",
        ),
        pytest.param(
            Spent(1, 601), Spent(1, 601),
            "tokens_per_run is 1,000, 601 tokens are spent in this run and the next call may "
            "need 400; to allow more, raise tokens_per_run under [consolidation] in config.toml",
            id="tokens-of-the-run",
        ),
        pytest.param(
            Spent(), Spent(10, 0),
            "calls_per_window is 10, and 10 calls are spent in the last 24 hours; "
            "to allow more, raise calls_per_window under [consolidation] in config.toml",
            id="calls-of-the-window",
        ),
        pytest.param(
            Spent(), Spent(1, 4601),
            "tokens_per_window is 5,000, 4,601 tokens are spent in the last 24 hours and the next "
            "call may need 400; to allow more, raise tokens_per_window under [consolidation] in "
            "config.toml",
            id="tokens-of-the-window",
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_the_limit_and_what_is_spent(run: Spent, window: Spent, said: str) -> None:
    assert refusal(LIMITS, run, window, 400) == said


def test_one_call_is_one_call() -> None:
    assert "and 1 call is spent" in refusal(
        LIMITS._replace(calls_per_run=1), Spent(1, 1), Spent(), 1
    )


def test_a_limit_of_nothing_allows_nothing() -> None:
    assert "calls_per_run is 0" in refusal(LIMITS._replace(calls_per_run=0), Spent(), Spent(), 0)


sizes = st.integers(0, 200)


@given(st.builds(Limits, sizes, sizes, sizes, sizes, sizes), st.lists(sizes), sizes)
def test_whatever_is_asked_no_limit_is_passed(
    limits: Limits, asked: list[int], before: int
) -> None:
    run, window = Spent(), Spent(0, before)
    for tokens in asked:
        if not refusal(limits, run, window, tokens):
            run, window = run.plus(tokens), window.plus(tokens)
            assert window.calls <= limits.calls_per_window
            assert window.tokens <= limits.tokens_per_window
    assert run.calls <= limits.calls_per_run
    assert run.tokens <= limits.tokens_per_run

"""What models may cost: so many calls and tokens in one run, and in a window of time.

Promises: pure; a call that could pass a limit is refused before it is made, with the limit, what
was spent of it, and where it is set.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["Limits", "Spent", "refusal"]


class Limits(NamedTuple):
    """What models may cost.

    Attributes:
        calls_per_run: Calls of one run of sleep, or of whatever else is done at once.
        tokens_per_run: Tokens of it, asked and answered.
        window_hours: How long the window is that ends now.
        calls_per_window: Calls in it, by all processes and for all projects.
        tokens_per_window: Tokens in it.
    """

    calls_per_run: int
    tokens_per_run: int
    window_hours: float
    calls_per_window: int
    tokens_per_window: int


class Spent(NamedTuple):
    """What was spent."""

    calls: int = 0
    tokens: int = 0

    def plus(self, tokens: int) -> Spent:
        """Return what is spent after one call more."""
        return Spent(self.calls + 1, self.tokens + tokens)


def refusal(limits: Limits, run: Spent, window: Spent, tokens: int) -> str:
    """Return why one more call is not made, or ``""``.

    Args:
        limits: What may be spent.
        run: What was spent in this run.
        window: What was spent in the window, this run included.
        tokens: What the call may need at most.

    >>> refusal(Limits(2, 9000, 24, 50, 90_000), Spent(1, 10), Spent(1, 10), 400)
    ''
    >>> refusal(Limits(2, 9000, 24, 50, 90_000), Spent(2, 900), Spent(2, 900), 400)[:44]
    'calls_per_run is 2, and 2 calls are spent in'
    """
    last = f"the last {limits.window_hours:g} hours"
    return (
        _calls("calls_per_run", limits.calls_per_run, run, "this run")
        or _tokens("tokens_per_run", limits.tokens_per_run, run, tokens, "this run")
        or _calls("calls_per_window", limits.calls_per_window, window, last)
        or _tokens("tokens_per_window", limits.tokens_per_window, window, tokens, last)
    )


_HOW: Final = "to allow more, raise {} under [consolidation] in config.toml"


def _calls(key: str, limit: int, spent: Spent, when: str) -> str:
    if spent.calls < limit:
        return ""
    are = "call is" if spent.calls == 1 else "calls are"
    return f"{key} is {limit:,}, and {spent.calls:,} {are} spent in {when}; {_HOW.format(key)}"


def _tokens(key: str, limit: int, spent: Spent, tokens: int, when: str) -> str:
    if spent.tokens + tokens <= limit:
        return ""
    return (
        f"{key} is {limit:,}, {spent.tokens:,} tokens are spent in {when} and the next call may "
        f"need {tokens:,}; {_HOW.format(key)}"
    )

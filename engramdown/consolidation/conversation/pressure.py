"""When a conversation is to be summarised, and when nobody is asked for it.

Promises: pure; what is counted here is what a model is shown. A gate on tokens sees one huge
message, a gate on their number a long run of short ones. After failures, and after many calls, the
answer is to wait; a person who asks is not told to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Final, NamedTuple

from engramdown.consolidation.asking.calls import ASKED, FREE, Call
from engramdown.consolidation.conversation.items import Item

__all__ = ["MANUAL", "MAX_TOKENS", "Pressure", "Thresholds", "pressure", "rests_until"]

MAX_TOKENS: Final = 80_000
"""So many tokens a conversation may have, unless it is set."""
MANUAL: Final = -1
"""As a number of tokens: nothing is summarised unless somebody asks."""

# So many calls in so many minutes, and the rest that follows; after so many failures, too.
_CALLS: Final = 24
_WINDOW: Final = timedelta(minutes=10)
_REST: Final = timedelta(minutes=30)
_BREAKS: Final = 5
# After the first failure so long, then twice as long each time.
_FIRST_PAUSE: Final = timedelta(minutes=1)


class Thresholds(NamedTuple):
    """What a conversation may grow to before it is summarised.

    Attributes:
        max_tokens: Tokens; 0 for :data:`MAX_TOKENS`, :data:`MANUAL` for no limit of either kind.
        share: Of a budget, if there is one, what may be filled; the lower of both counts.
        max_messages: Messages that no summary covers, the fresh tail included; 0 for any number.
        ceiling: How many times as much may not be passed, whatever fails.
    """

    max_tokens: int = MAX_TOKENS
    share: float = 0.75
    max_messages: int = 30
    ceiling: int = 2


class Pressure(NamedTuple):
    """How full a conversation is; true when it is time to summarise.

    Attributes:
        tokens: What the view costs.
        limit: What it may cost; :data:`MANUAL` for anything.
        messages: How many messages no summary covers.
        most: How many that may be; 0 for any number.
        due: Whether it is time to summarise.
        over: Whether it cannot wait: more than the ceiling.
        reason: Why it is due, or ``""``.
    """

    tokens: int
    limit: int
    messages: int
    most: int
    due: bool
    over: bool
    reason: str

    def __bool__(self) -> bool:
        """Whether it is time to summarise."""
        return self.due


def pressure(
    items: Sequence[Item], thresholds: Thresholds | None = None, budget: int | None = None
) -> Pressure:
    """Return how full a view is.

    Args:
        items: The view.
        thresholds: What it may grow to.
        budget: What a prompt may cost, in tokens, if that is known.

    Raises:
        ValueError: If a threshold makes no sense.

    >>> pressure([Item(1, 90_000, "user")]).reason
    '90,000 tokens are more than 80,000'
    >>> pressure([Item(1, 90_000, "user")], Thresholds(max_tokens=MANUAL)).due
    False
    """
    known = thresholds or Thresholds()
    _check(known)
    tokens = sum(item.tokens for item in items)
    messages = sum(item.is_message for item in items)
    if known.max_tokens == MANUAL:
        return Pressure(tokens, MANUAL, messages, 0, due=False, over=False, reason="")
    limit = known.max_tokens or MAX_TOKENS
    if budget is not None:
        limit = min(limit, int(known.share * budget))
    many = bool(known.max_messages) and messages >= known.max_messages
    reason = f"{tokens:,} tokens are more than {limit:,}" if tokens > limit else ""
    if many and not reason:
        reason = f"{messages:,} messages are not summarised; {known.max_messages:,} are enough"
    over = tokens > known.ceiling * limit
    return Pressure(
        tokens, limit, messages, known.max_messages, due=bool(reason), over=over, reason=reason
    )


def rests_until(calls: Iterable[Call], now: str) -> str:
    """Return until when no model is asked of its own accord, or ``""``.

    Args:
        calls: What was asked for summaries so far, in order.
        now: This moment; like all moments UTC, ISO 8601.
    """
    asked = [call for call in calls if call.outcome not in FREE and call.ts <= now]
    burst = _burst(asked)
    ends = [_later(burst, _REST)] if burst else []
    failed = _failed(asked)
    if failed:
        pause = _REST if len(failed) >= _BREAKS else _FIRST_PAUSE * 2 ** (len(failed) - 1)
        ends.append(_later(failed[0].ts, pause))
    last = max(ends, default="")
    return last if last > now else ""


def _failed(asked: Sequence[Call]) -> list[Call]:
    """Return the calls that failed since one gave something, newest first."""
    ended = (call for call in reversed(asked) if call.outcome != ASKED)
    return list(takewhile(lambda call: call.outcome != "ok", ended))


def _burst(asked: Sequence[Call]) -> str:
    """Return when calls were last as many in a row as are allowed, or ``""``."""
    spans = zip(asked, asked[_CALLS - 1 :], strict=False)
    return max(
        (last.ts for first, last in spans if last.ts < _later(first.ts, _WINDOW)), default=""
    )


def _later(moment: str, by: timedelta) -> str:
    later = datetime.fromisoformat(moment.removesuffix("Z")).replace(tzinfo=UTC) + by
    return later.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _check(known: Thresholds) -> None:
    for name, good, allowed in (
        (
            "max_tokens",
            known.max_tokens >= MANUAL,
            "-1 (manual only), 0 (the default), or more",
        ),
        ("share", 0 < known.share <= 1, "more than 0 and at most 1"),
        ("max_messages", known.max_messages >= 0, "0 for any number, or more"),
        ("ceiling", known.ceiling >= 1, "1 or more"),
    ):
        if not good:
            raise ValueError(f"{name} is {getattr(known, name)!r}; allowed is {allowed}")

"""Whether a call of a model that gave nothing is made again, and how.

Promises: pure; a call is made again at most as often as is allowed, and after an answer that was
cut off once more, with twice the room.
"""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isnan
from typing import Final, NamedTuple

__all__ = ["LONGEST_WAIT", "Again", "Course", "asked_to_wait"]

LONGEST_WAIT: Final = 60.0
"""How long we wait for a provider at most, in seconds; who asks for more is asked no more."""

_STEPS: Final = 6  # so often a wait is doubled until it is the longest

_TRANSIENT: Final = frozenset({"rate_limited", "server_error", "timeout", "unreachable"})
_ASKED_AGAIN: Final = frozenset({"malformed", "wrong_schema"})


class Again(NamedTuple):
    """A call that is made again.

    Attributes:
        wait: After how many seconds.
        course: How it stands then.
    """

    wait: float
    course: Course


class Course(NamedTuple):
    """How it stands with a question that may take several calls.

    Attributes:
        max_tokens: The ceiling of output tokens.
        retries: How many calls may still fail.
        failed: How many have failed.
        widened: Whether the ceiling was raised.
    """

    max_tokens: int
    retries: int
    failed: int = 0
    widened: bool = False

    def after(self, outcome: str, wait: float | None = None) -> Again | None:
        """Return how a call is made again, or ``None`` if it is not.

        Args:
            outcome: How the last one ended.
            wait: How many seconds the provider asks to wait, if it does.

        >>> Course(1000, retries=2).after("truncated").course.max_tokens
        2000
        >>> Course(1000, retries=2).after("rate_limited", 7).wait
        7.0
        """
        if outcome == "truncated":
            wider = self._replace(max_tokens=2 * self.max_tokens, widened=True)
            return None if self.widened else Again(0.0, wider)
        if self.failed >= self.retries or outcome not in _TRANSIENT | _ASKED_AGAIN:
            return None
        if wait is not None and wait > LONGEST_WAIT:
            return None
        if wait is None:
            # 1, 2, 4, … seconds; who asks again for another form need not wait.
            wait = (
                min(2.0 ** min(self.failed, _STEPS), LONGEST_WAIT) if outcome in _TRANSIENT else 0.0
            )
        return Again(float(wait), self._replace(failed=self.failed + 1))


def asked_to_wait(header: str, now: datetime) -> float | None:
    """Return how many seconds a ``Retry-After`` asks to wait, or ``None`` if it says nothing.

    >>> from datetime import UTC
    >>> asked_to_wait("12", datetime(2026, 3, 1, tzinfo=UTC))
    12.0
    >>> asked_to_wait("Sun, 01 Mar 2026 00:00:30 GMT", datetime(2026, 3, 1, tzinfo=UTC))
    30.0
    """
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
            seconds = (moment - now).total_seconds()
        except (ValueError, TypeError):  # a date without a zone cannot be compared
            return None
    return None if isnan(seconds) else max(seconds, 0.0)

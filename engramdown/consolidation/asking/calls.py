r"""The call of a model as a line of the ledger: what it cost and how it ended, never a text.

Promises: pure; a line that is read is the call that was written; what is no such line is ``None``.

A line is a JSON object: ``ts``, ``job``, ``model``, ``in`` and ``out`` (tokens), ``ms``,
``outcome``, ``call`` (an id), and ``"estimated": true`` if a provider did not count the tokens.
``call`` may be missing. Other keys are passed over, so that a newer program may add some.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from engramdown.secrets.redaction import redact

__all__ = [
    "ASKED",
    "FAILED",
    "FREE",
    "MOST",
    "OUTCOMES",
    "Call",
    "Sum",
    "read_line",
    "sums",
    "write_line",
]

ASKED: Final = "asked"
"""The outcome of a call that has begun; its tokens are the most that it can cost."""

OUTCOMES: Final = {
    ASKED: "a call that goes on, or whose program was killed",
    "ok": "an answer of the right form",
    "malformed": "an answer of no use: no JSON, or none at all",
    "wrong_schema": "an answer of another form",
    "truncated": "an answer that was cut off at the ceiling of output tokens",
    "timeout": "no answer in time",
    "rate_limited": "the provider asks to wait",
    "server_error": "the provider failed",
    "unreachable": "no connection",
    "unauthorized": "no key, or one that the provider does not take",
    "refused": "the provider or the model refused",
    "failed": "something else went wrong",
    "refused_spend": "a limit was reached, so nobody was asked",
    "missing_sdk": "the provider's package is not installed, so nobody was asked",
}
"""Every way in which a call ends, in plain words."""

FREE: Final = frozenset({"refused_spend", "missing_sdk"})
"""Outcomes of calls that nobody was asked for; they count for no limit."""

FAILED: Final = frozenset(OUTCOMES) - {"ok", ASKED} - FREE
"""Outcomes of calls that cost something and gave nothing."""

MOST: Final = 10_000_000
"""So many tokens one call may cost: who counts further would block a window for ever."""

_LONGEST_NAME: Final = 200


class Call(NamedTuple):
    """One call of a model.

    Attributes:
        ts: When it began, or when it ended, UTC.
        job: What it was for.
        model: The name of the model.
        tokens_in: Tokens of what was asked.
        tokens_out: Tokens of the answer.
        ms: How long it took, in milliseconds.
        outcome: See :data:`OUTCOMES`.
        estimated: Whether some of the tokens are not what a provider counted.
        id: Which call it is: its line says first that it begins, then how it ended.
    """

    ts: str
    job: str
    model: str
    tokens_in: int
    tokens_out: int
    ms: int
    outcome: str
    estimated: bool = False
    id: str = ""


class Sum(NamedTuple):
    """What some calls cost together.

    Attributes:
        calls: How many of them reached a provider.
        failed: How many of those gave nothing.
        tokens_in: Tokens of what was asked.
        tokens_out: Tokens of the answers.
        ms: How long they took, in milliseconds.
    """

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    ms: int = 0

    def plus(self, call: Call) -> Sum:
        """Return the sum with one call more."""
        if call.outcome in FREE:
            return self
        return Sum(
            self.calls + 1,
            self.failed + (call.outcome in FAILED),
            self.tokens_in + call.tokens_in,
            self.tokens_out + call.tokens_out,
            self.ms + call.ms,
        )


def write_line(call: Call) -> bytes:
    r"""Return a call as a line.

    >>> write_line(Call("2026-03-01T00:00:00Z", "replay", "openai/x", 9, 1, 250, "ok"))[:44]
    b'{"ts":"2026-03-01T00:00:00Z","job":"replay",'
    """
    told: dict[str, object] = {
        "ts": call.ts,
        "job": call.job,
        # A key that somebody put into a name is not written down.
        "model": redact(call.model)[:_LONGEST_NAME],
        "in": _bounded(call.tokens_in),
        "out": _bounded(call.tokens_out),
        "ms": _bounded(call.ms),
        "outcome": call.outcome,
    }
    if call.estimated:
        told["estimated"] = True
    if call.id:
        told["call"] = call.id
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def read_line(line: bytes) -> Call | None:
    """Return the call that a line tells, or ``None`` if it tells none."""
    try:
        told = json.loads(line)
        texts = [told[key] for key in ("ts", "job", "model", "outcome")]
        texts.append(told.get("call", ""))
        sizes = [told[key] for key in ("in", "out", "ms")]
        estimated = told.get("estimated") is True
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if not all(isinstance(text, str) for text in texts) or not all(map(_is_size, sizes)):
        return None
    ts, job, model, outcome, name = texts
    tokens_in, tokens_out, ms = sizes
    # What has no moment would count in every window, or in none.
    if not _is_moment(ts):
        return None
    return Call(ts, job, model, tokens_in, tokens_out, ms, outcome, estimated, name)


def sums(calls: Iterable[Call], key: str) -> dict[str, Sum]:
    """Return what calls cost by one of their fields, in the order in which they come."""
    found: dict[str, Sum] = {}
    for call in calls:
        if call.outcome not in FREE:
            name = getattr(call, key)
            found[name] = found.get(name, Sum()).plus(call)
    return found


def _bounded(size: int) -> int:
    return min(max(size, 0), MOST)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _is_moment(ts: str) -> bool:
    """Whether it is a moment as we write it, so that two can be compared as they stand."""
    try:
        return ts.endswith("Z") and datetime.fromisoformat(ts[:-1]).tzinfo is None
    except ValueError:
        return False

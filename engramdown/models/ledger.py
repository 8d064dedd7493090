r"""The ledger: the calls of models and their cost, in the folder of the global scope.

A line is one write to the end of the file, so several processes may write. A line that a crash cut
off stays on a line of its own, and lines that are not calls are skipped and counted. A call gets a
line when it begins and one when it ends, which replaces the first; neither holds any text. A call
that could pass a limit is refused before it is made. Reading creates nothing.

A line is a JSON object: ``ts``, ``job``, ``model``, ``in`` and ``out`` (tokens), ``ms``,
``outcome``, ``call`` (an id), and ``"estimated": true`` if a provider did not count the tokens.
``call`` may be missing. Other keys are ignored, so that a newer program may add some.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import MALFORMED
from engramdown.lazy import texts
from engramdown.secrets.redaction import redact
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.safe_open import make_folder

# ---- calls as lines ----

# The outcome of a call that has begun; its tokens are the most that it can cost.
ASKED: Final = "asked"

# Every outcome of a call, in plain words.
OUTCOMES: Final = texts(__file__)

# Outcomes of calls that were never made; they count for no limit.
FREE: Final = frozenset({"refused_spend", "missing_sdk"})

# Outcomes of calls that cost something and gave nothing.
FAILED: Final = frozenset(OUTCOMES) - {"ok", ASKED} - FREE

# The most tokens that one call counts for: an absurd number would block a window for ever.
MOST: Final = 10_000_000

_LONGEST_NAME: Final = 200


class Call(NamedTuple):
    """One call of a model.

    Attributes:
        ts: When it began, or when it ended, UTC.
        job: The job that made it.
        model: The name of the model.
        tokens_in: Tokens of the question.
        tokens_out: Tokens of the answer.
        ms: How long it took, in milliseconds.
        outcome: See :data:`OUTCOMES`.
        estimated: Whether some of the tokens were not counted by a provider.
        id: The id that the lines of its beginning and its end share.
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
        tokens_in: Tokens of the questions.
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
    record = {
        "ts": call.ts,
        "job": call.job,
        # A key that somebody put into a name is not written down.
        "model": redact(call.model)[:_LONGEST_NAME],
        "in": min(max(call.tokens_in, 0), MOST),
        "out": min(max(call.tokens_out, 0), MOST),
        "ms": min(max(call.ms, 0), MOST),
        "outcome": call.outcome,
        **({"estimated": True} if call.estimated else {}),
        **({"call": call.id} if call.id else {}),
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def read_line(line: bytes) -> Call | None:
    """Return the call in a line, or ``None`` if the line holds none."""
    try:
        record = json.loads(line)
        ts, job, model, outcome = (record[key] for key in ("ts", "job", "model", "outcome"))
        sizes = [record[key] for key in ("in", "out", "ms")]
        call, estimated = record.get("call", ""), record.get("estimated") is True
        # Any other form of time would count in every window, or in none.
        is_time = ts.endswith("Z") and datetime.fromisoformat(ts[:-1]).tzinfo is None
    except (AttributeError, *MALFORMED):
        return None
    # A bool is an int, too.
    is_counted = all(type(size) is int and 0 <= size <= MOST for size in sizes)
    is_named = all(isinstance(text, str) for text in (ts, job, model, outcome, call))
    if not (is_time and is_counted and is_named):
        return None
    tokens_in, tokens_out, ms = sizes
    return Call(ts, job, model, tokens_in, tokens_out, ms, outcome, estimated, call)


def sums(calls: Iterable[Call], key: str) -> dict[str, Sum]:
    """Return what calls cost by one of their fields, in the order in which they come."""
    by_name: dict[str, Sum] = {}
    for call in calls:
        if call.outcome not in FREE:
            name = getattr(call, key)
            by_name[name] = by_name.get(name, Sum()).plus(call)
    return by_name


# The name of the file.
NAME: Final = "ledger.jsonl"


class Known(NamedTuple):
    """The contents of a ledger.

    Attributes:
        calls: The calls, in the order in which they began.
        torn: How many lines are not calls.
    """

    calls: tuple[Call, ...]
    torn: int


class Ledger:
    """The ledger of a folder."""

    def __init__(self, folder: Path | None) -> None:
        """Keep the ledger in ``folder``, which need not exist; with ``None`` only in memory."""
        self.path = folder / NAME if folder else None
        self._lines: list[bytes] = []

    def add(self, call: Call) -> None:
        """Record a call.

        Raises:
            StoreError: If it cannot be written.
        """
        line = write_line(call)
        if self.path is None:
            self._lines.append(line)
            return
        with named_errors(self.path, "written", ""):
            make_folder(self.path.parent)
            Disk().add_lines(self.path, line)

    def known(self) -> Known:
        """Return all that was written, also by other processes.

        Raises:
            StoreError: If it cannot be read.
        """
        data: bytes | None = b"".join(self._lines)
        if self.path is not None:
            with named_errors(self.path, "read", ""):
                data = Disk().load(self.path)
        # A last line without an end was cut off by a crash; the next writer ends it.
        *lines, rest = (data or b"").split(b"\n")
        calls: dict[str, Call] = {}
        torn = int(bool(rest))
        for line in lines:
            call = read_line(line)
            if call is None:
                torn += bool(line)
                continue
            # The end of a call replaces its beginning; any other line is a call by itself.
            begun = calls.get(call.id)
            replaces = call.id and (begun is None or begun.outcome == ASKED)
            calls[call.id if replaces else f"{len(calls)} "] = call
        return Known(tuple(calls.values()), torn)

    def spent_since(self, hours: float, now: str, before: str = "") -> Spent:
        """Return what calls cost in the ``hours`` before ``now``.

        Args:
            hours: The length of the window.
            now: The time at which it ends.
            before: The id of a call: only earlier calls count.

        Raises:
            StoreError: If it cannot be read.
        """
        try:
            start = datetime.fromisoformat(now) - timedelta(hours=hours)
            first = start.astimezone(UTC).isoformat(timespec="microseconds")
        except OverflowError:  # before the first year: everything counts
            first = ""
        first = first.replace("+00:00", "Z")
        began = list(takewhile(lambda call: call.id != before or not before, self.known().calls))
        spent, later = Spent(), now
        for call in reversed(began):
            # If a clock was turned back since, the call was made before the one after it.
            at = call.ts if call.ts <= now else later
            later = min(later, at)
            if at > first and call.outcome not in FREE:
                spent = spent.plus(call.tokens_in + call.tokens_out)
        return spent


def new_id() -> str:
    """Return an id for a call."""
    return secrets.token_hex(4)


# ---- what models may cost ----


class Limits(NamedTuple):
    """What models may cost.

    Attributes:
        calls_per_run: Calls in one run, such as a sleep.
        tokens_per_run: Tokens in one run, of questions and answers.
        window_hours: The length of the window that ends now.
        calls_per_window: Calls in the window, by all processes and for all projects.
        tokens_per_window: Tokens in the window.
    """

    calls_per_run: int
    tokens_per_run: int
    window_hours: float
    calls_per_window: int
    tokens_per_window: int


class Spent(NamedTuple):
    """The calls and tokens that were spent."""

    calls: int = 0
    tokens: int = 0

    def plus(self, tokens: int) -> Spent:
        """Return the sum with one call more."""
        return Spent(self.calls + 1, self.tokens + tokens)


def refusal(limits: Limits, run: Spent, window: Spent, tokens: int) -> str:
    """Return why one more call is not made, or ``""``.

    Args:
        limits: What may be spent.
        run: What was spent in this run.
        window: What was spent in the window, including this run.
        tokens: What the call may need at most.

    >>> refusal(Limits(2, 9000, 24, 50, 90_000), Spent(1, 10), Spent(1, 10), 400)
    ''
    >>> refusal(Limits(2, 9000, 24, 50, 90_000), Spent(2, 900), Spent(2, 900), 400)[:44]
    'calls_per_run is 2, and 2 calls are spent in'
    """
    last = f"the last {limits.window_hours:g} hours"
    for period, spent, when in (("run", run, "this run"), ("window", window, last)):
        calls, tokens_key = f"calls_per_{period}", f"tokens_per_{period}"
        key, why = "", ""
        if spent.calls >= getattr(limits, calls):
            are = "call is" if spent.calls == 1 else "calls are"
            key, why = calls, f", and {spent.calls:,} {are} spent in {when}"
        elif spent.tokens + tokens > getattr(limits, tokens_key):
            why = f", {spent.tokens:,} tokens are spent in {when} and the next call may need"
            key, why = tokens_key, f"{why} {tokens:,}"
        if why:
            raising = f"to allow more, raise {key} under [consolidation] in config.toml"
            return f"{key} is {getattr(limits, key):,}{why}; {raising}"
    return ""

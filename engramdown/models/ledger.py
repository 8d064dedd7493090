r"""The ledger: what models were asked and what that cost, in the folder of the global scope.

A line is one write to the end of the file, so several processes may write; what a crash left of a
line stays on a line of its own; what is no call is skipped and counted. A call has a line when it
begins and one when it ends, which takes the place of the first, and never holds a text. A call that
could pass a limit is refused before it is made. Reading creates nothing.

A line is a JSON object: ``ts``, ``job``, ``model``, ``in`` and ``out`` (tokens), ``ms``,
``outcome``, ``call`` (an id), and ``"estimated": true`` if a provider did not count the tokens.
``call`` may be missing. Other keys are ignored, so that a newer program may add some.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.secrets.redaction import redact
from engramdown.storage.safe_open import make_folder, open_regular

# ---- calls as lines ----

# The outcome of a call that has begun; its tokens are the most that it can cost.
ASKED: Final = "asked"

# Every way in which a call ends, in plain words.
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

# Outcomes of calls that nobody was asked for; they count for no limit.
FREE: Final = frozenset({"refused_spend", "missing_sdk"})

# Outcomes of calls that cost something and gave nothing.
FAILED: Final = frozenset(OUTCOMES) - {"ok", ASKED} - FREE

# So many tokens one call may cost: who counts further would block a window for ever.
MOST: Final = 10_000_000

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
    told: dict[str, object] = {"ts": call.ts, "job": call.job}
    # A key that somebody put into a name is not written down.
    told["model"] = redact(call.model)[:_LONGEST_NAME]
    for key, size in (("in", call.tokens_in), ("out", call.tokens_out), ("ms", call.ms)):
        told[key] = min(max(size, 0), MOST)
    told["outcome"] = call.outcome
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
    # A bool is an int, too.
    is_counted = all(type(size) is int and 0 <= size <= MOST for size in sizes)
    if not is_counted or not all(isinstance(text, str) for text in texts):
        return None
    ts, job, model, outcome, call = texts
    try:
        # What has no moment as we write it would count in every window, or in none.
        is_moment = ts.endswith("Z") and datetime.fromisoformat(ts[:-1]).tzinfo is None
    except ValueError:
        return None
    there, back, ms = sizes
    return Call(ts, job, model, there, back, ms, outcome, estimated, call) if is_moment else None


def sums(calls: Iterable[Call], key: str) -> dict[str, Sum]:
    """Return what calls cost by one of their fields, in the order in which they come."""
    found: dict[str, Sum] = {}
    for call in calls:
        if call.outcome not in FREE:
            name = getattr(call, key)
            found[name] = found.get(name, Sum()).plus(call)
    return found


# The name of the file.
NAME: Final = "ledger.jsonl"

_APPENDING: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND


class Known(NamedTuple):
    """What a ledger tells.

    Attributes:
        calls: The calls, in the order in which they began.
        torn: How many lines are no calls.
    """

    calls: tuple[Call, ...]
    torn: int


class Ledger:
    """The ledger of a folder."""

    def __init__(self, folder: Path | None) -> None:
        """Keep the ledger in ``folder``, which need not exist; ``None`` keeps it in mind."""
        self.path = folder / NAME if folder else None
        self._calls: dict[str, Call] = {}
        self._torn = 0
        self._offset = self._rest = 0

    def add(self, call: Call) -> None:
        """Write a call down.

        Raises:
            StoreError: If it cannot be written.
        """
        if self.path is None:
            self._take(call)
            return
        try:
            make_folder(self.path.parent)
            descriptor = open_regular(self.path, _APPENDING)
            try:
                line = write_line(call)
                size = os.fstat(descriptor).st_size
                os.lseek(descriptor, max(size - 1, 0), os.SEEK_SET)
                if size and os.read(descriptor, 1) != b"\n":
                    line = b"\n" + line  # What a crash cut stays behind.
                if os.write(descriptor, line) < len(line):
                    raise StoreError(f"{self.path}: cannot be written; is the disk full?")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from error

    def known(self) -> Known:
        """Return what was written, by other processes too.

        Raises:
            StoreError: If it cannot be read.
        """
        if self.path is not None:
            self._read_on(self.path)
        return Known(tuple(self._calls.values()), self._torn + bool(self._rest))

    def spent_since(self, hours: float, now: str, before: str = "") -> Spent:
        """Return what calls cost in the ``hours`` before ``now``.

        Args:
            hours: How long the window is.
            now: The moment at which it ends.
            before: The id of a call: only those count that began before it.

        Raises:
            StoreError: If it cannot be read.
        """
        try:
            start = datetime.fromisoformat(now) - timedelta(hours=hours)
            first = start.astimezone(UTC).isoformat(timespec="microseconds")
        except OverflowError:  # before the first year: whatever was spent counts
            first = ""
        first = first.replace("+00:00", "Z")
        began = list(takewhile(lambda call: call.id != before or not before, self.known().calls))
        spent, later = Spent(), now
        for call in reversed(began):
            # A clock was turned back since: then it was made before whatever stands behind it.
            at = call.ts if call.ts <= now else later
            later = min(later, at)
            if at > first and call.outcome not in FREE:
                spent = spent.plus(call.tokens_in + call.tokens_out)
        return spent

    def _take(self, call: Call) -> None:
        """Let the end of a call take the place of its beginning; what has no such, is a call."""
        begun = self._calls.get(call.id)
        mine = begun is None or begun.outcome == ASKED
        self._calls[call.id if call.id and mine else f"{len(self._calls)} "] = call

    def _read_on(self, path: Path) -> None:
        """Read on from where we stopped; a file that is shorter now is another one."""
        try:
            descriptor = open_regular(path, os.O_RDONLY)
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_size < self._offset:
                self._forget()
            file.seek(self._offset)
            data = file.read()
        # A last line without its end was cut by a crash; whoever writes next ends it.
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._rest = len(data) - len(whole)
        for line in whole.split(b"\n")[:-1]:
            call = read_line(line)
            if call is not None:
                self._take(call)
            elif line:
                self._torn += 1

    def _forget(self) -> None:
        self._calls, self._torn, self._offset, self._rest = {}, 0, 0, 0


def new_id() -> str:
    """Return an id for a call."""
    return secrets.token_hex(4)


# ---- what models may cost ----


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
    for period, spent, when in (("run", run, "this run"), ("window", window, last)):
        key = f"calls_per_{period}"
        limit = getattr(limits, key)
        if spent.calls >= limit:
            are = "call is" if spent.calls == 1 else "calls are"
            why = f"{key} is {limit:,}, and {spent.calls:,} {are} spent in {when}"
            return f"{why}; {_HOW.format(key)}"
        key = f"tokens_per_{period}"
        limit = getattr(limits, key)
        if spent.tokens + tokens > limit:
            why = f"{key} is {limit:,}, {spent.tokens:,} tokens are spent in {when}"
            return f"{why} and the next call may need {tokens:,}; {_HOW.format(key)}"
    return ""


_HOW: Final = "to allow more, raise {} under [consolidation] in config.toml"

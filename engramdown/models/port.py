"""The port to language models: what one must do, and how a job may ask it.

Every call is written to the ledger before it is made, and again when it ends. A call that could
pass a limit, or cannot be recorded, is not made. The answer of a model is an instance of the
schema; anything else is a :class:`engramdown.errors.ModelError`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from engramdown.clock import moment
from engramdown.errors import ModelError, SpendError, StoreError
from engramdown.models.ledger import ASKED, FREE, Call, Ledger, Limits, Spent, new_id, refusal
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    import pydantic

T = TypeVar("T", bound="pydantic.BaseModel")


@runtime_checkable
class LanguageModel(Protocol):
    """Anything that answers in a form."""

    @property
    def name(self) -> str:
        """Its name in the ledger."""

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an answer.

        Args:
            schema: The form of the answer, a pydantic model.
            system: The instructions.
            user: The material to work on.

        Raises:
            ModelError: If there is no such answer.
        """


@runtime_checkable
class MeteredModel(LanguageModel, Protocol):
    """A language model that may make several calls for one answer, and reports each to a meter."""

    def ask_metered(self, schema: type[T], system: str, user: str, meter: Meter) -> T:
        """Return an answer as ``ask`` does."""


class Run:
    """A run of jobs under one set of limits."""

    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        """Record calls in ``ledger``, as far as ``limits`` allow any."""
        self.ledger = ledger
        self.limits = limits
        self.spent = Spent()

    def begin(self, call: Call) -> None:
        """Record that a call is about to be made, unless it could pass a limit.

        It is recorded before it is judged, so that several processes see each other's calls, and a
        call counts even if its program is killed.

        Raises:
            SpendError: If it could pass a limit, or cannot be recorded.
        """
        reason = ""
        with _counting():
            self.ledger.add(call)
            now = moment()
            window = self.ledger.spent_since(self.limits.window_hours, now, before=call.id)
            tokens = call.tokens_in + call.tokens_out
            reason = refusal(self.limits, self.spent, window, tokens)
            if reason:
                free = Call(now, call.job, call.model, 0, 0, 0, "refused_spend", id=call.id)
                self.ledger.add(free)
        if reason:
            raise SpendError(reason)

    def end(self, call: Call) -> None:
        """Record the cost of a call that has ended.

        Raises:
            SpendError: If that cannot be recorded; it then counts as the most it could have cost.
        """
        if call.outcome not in FREE:
            self.spent = self.spent.plus(call.tokens_in + call.tokens_out)
        with _counting():
            self.ledger.add(call)


@contextmanager
def _counting() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise SpendError(f"{error}; no model is asked while calls cannot be counted") from error


class Asker:
    """The language model that one job of a run uses; it keeps to the limits of the run."""

    def __init__(self, model: LanguageModel, job: str, run: Run) -> None:
        """Ask ``model`` for a ``job``, at the cost of a ``run``."""
        self._model = model
        self._job = job
        self._run = run

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an answer.

        Raises:
            ModelError: If there is none; a :class:`SpendError` if a limit does not allow the call,
                or the ledger cannot be written.
        """
        meter = Meter(self._run, self._job, self.name)
        if isinstance(self._model, MeteredModel):
            return self._model.ask_metered(schema, system, user, meter)
        tokens_in = estimate_tokens(system) + estimate_tokens(user)
        meter.before(tokens_in, 0)
        started, outcome, answered = time.monotonic(), "failed", 0
        try:
            answer = self._model.ask(schema, system, user)
            outcome = "ok" if isinstance(answer, schema) else "wrong_schema"
            if outcome == "ok":
                answered = estimate_tokens(answer.model_dump_json())
        except ModelError as error:
            outcome = error.outcome
            raise
        finally:
            ms = int(1000 * (time.monotonic() - started))
            meter.after(tokens_in, answered, ms, outcome, estimated=True)
        if outcome != "ok":
            raise ModelError(f"{self.name}: answered in another form than requested", outcome)
        return answer


class Meter:
    """Records the calls for one question, so that several threads may ask at once."""

    def __init__(self, run: Run, job: str, model: str) -> None:
        """Record in the ledger of ``run`` what a ``job`` asks a ``model``."""
        self._run = run
        self._asks = job, model
        self._id = ""

    def before(self, tokens_in: int, tokens_out: int) -> None:
        """Record the most that the next call may cost.

        Raises:
            SpendError: If that could pass a limit, or could not be recorded.
        """
        self._id = new_id()
        self._run.begin(Call(moment(), *self._asks, tokens_in, tokens_out, 0, ASKED, id=self._id))

    def after(
        self, tokens_in: int, tokens_out: int, ms: int, outcome: str, *, estimated: bool = False
    ) -> None:
        """Record what it cost.

        Args:
            tokens_in: Tokens of the question.
            tokens_out: Tokens of the answer.
            ms: How long it took, in milliseconds.
            outcome: See :data:`engramdown.models.ledger.OUTCOMES`.
            estimated: Whether some of the tokens were not counted by a provider.

        Raises:
            SpendError: If that could not be recorded.
        """
        call = Call(moment(), *self._asks, tokens_in, tokens_out, ms, outcome, estimated, self._id)
        self._run.end(call)

"""The port to language models: what one must do, and what asking one costs.

Promises: every call is written to the ledger, and none is made that could pass a limit; what a
model answers is an instance of the schema or a :class:`engramdown.errors.ModelError`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

from engramdown.clock import moment
from engramdown.consolidation.asking.calls import FREE, Call
from engramdown.consolidation.asking.ledger import Ledger
from engramdown.consolidation.asking.spending import Limits, Spent, refusal
from engramdown.errors import ModelError, SpendError
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    import pydantic

__all__ = ["Asker", "Attempt", "LanguageModel", "Meter", "MeteredModel", "Run"]

T = TypeVar("T", bound="pydantic.BaseModel")


@runtime_checkable
class LanguageModel(Protocol):
    """Anything that answers in a form."""

    @property
    def name(self) -> str:
        """What it is called in the ledger."""
        ...

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an answer.

        Args:
            schema: The form of the answer, a pydantic model.
            system: What to do.
            user: What to do it with.

        Raises:
            ModelError: If there is no such answer.
        """
        ...


class Attempt(NamedTuple):
    """What one call cost and how it ended.

    Attributes:
        tokens_in: Tokens of what was asked.
        tokens_out: Tokens of the answer.
        ms: How long it took, in milliseconds.
        outcome: See :data:`engramdown.consolidation.asking.calls.OUTCOMES`.
    """

    tokens_in: int
    tokens_out: int
    ms: int
    outcome: str


class Meter(Protocol):
    """Sees each call before and after it is made."""

    def before(self, tokens: int) -> None:
        """Hear that a call may need so many tokens.

        Raises:
            SpendError: If that could pass a limit.
        """
        ...

    def after(self, attempt: Attempt) -> None:
        """Hear what it cost."""
        ...


@runtime_checkable
class MeteredModel(LanguageModel, Protocol):
    """A language model that may make several calls for one answer, and shows each to a meter."""

    def ask_metered(self, schema: type[T], system: str, user: str, meter: Meter) -> T:
        """Return an answer as ``ask`` does."""
        ...


class Run:
    """What is done at once, under one set of limits."""

    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        """Write calls to ``ledger``, as far as ``limits`` allow any."""
        self.ledger = ledger
        self.limits = limits
        self.spent = Spent()

    def check(self, tokens: int) -> None:
        """Make sure that a call that may need so many tokens passes no limit.

        Raises:
            SpendError: If it could.
        """
        window = self.ledger.spent_since(self.limits.window_hours, moment())
        reason = refusal(self.limits, self.spent, window, tokens)
        if reason:
            raise SpendError(reason)

    def record(self, job: str, model: str, attempt: Attempt) -> None:
        """Write a call down."""
        if attempt.outcome not in FREE:
            self.spent = self.spent.plus(attempt.tokens_in + attempt.tokens_out)
        self.ledger.add(Call(moment(), job, model, *attempt))


class Asker:
    """A language model as one job of a run may use it; is a language model itself."""

    def __init__(self, model: LanguageModel, job: str, run: Run) -> None:
        """Ask ``model`` for a ``job``, at the cost of a ``run``."""
        self._model = model
        self._job = job
        self._run = run

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._model.name

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an answer.

        Raises:
            ModelError: If there is none; a :class:`SpendError` if a limit forbids to ask.
            StoreError: If the ledger cannot be written.
        """
        if isinstance(self._model, MeteredModel):
            return self._model.ask_metered(schema, system, user, self)
        asked = estimate_tokens(system) + estimate_tokens(user)
        self.before(asked)
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
            self.after(Attempt(asked, answered, ms, outcome))
        if outcome != "ok":
            raise ModelError(f"{self.name}: answered in another form than asked for", outcome)
        return answer

    def before(self, tokens: int) -> None:
        """Make sure that a call passes no limit; one that does is written down as refused."""
        try:
            self._run.check(tokens)
        except SpendError as error:
            self.after(Attempt(0, 0, 0, error.outcome))
            raise

    def after(self, attempt: Attempt) -> None:
        """Write a call down."""
        self._run.record(self._job, self.name, attempt)

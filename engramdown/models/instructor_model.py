"""Language models of every provider that instructor knows.

A call is made again only so often, and only where that may help. Keys come from the environment.
What goes wrong is said in one line. Several threads may ask at once, and so may a child after a
fork: nothing is shared between two questions, and no connection is left open behind one. Nothing
heavy is imported before the first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Final, TypeVar

from engramdown.errors import ModelError
from engramdown.language.untrusted import inert
from engramdown.models.ledger import OUTCOMES
from engramdown.models.port import Attempt, Meter
from engramdown.models.provider import LONGEST_WAIT, Answer, Course, Provider, Refusal
from engramdown.secrets.redaction import redact
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    import pydantic

T = TypeVar("T", bound="pydantic.BaseModel")

_SHOWN: Final = 200
_A_DAY: Final = 86_400


class _Unmetered:
    """A meter for whoever asks without one."""

    def before(self, tokens_in: int, tokens_out: int) -> None:
        """Allow everything."""

    def after(self, attempt: Attempt) -> None:
        """Forget it."""


class InstructorModel:
    """A language model by its provider and name.

    >>> InstructorModel("openai/gpt-4.1-mini").name
    'openai/gpt-4.1-mini'
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        *,
        timeout: float = 60,
        retries: int = 2,
        max_tokens: int = 4096,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Name a model; it is asked when somebody asks.

        Args:
            name: ``openai/…``, ``anthropic/…``, ``ollama/…``, or any other name that
                ``instructor.from_provider`` takes.
            base_url: Where a server listens that speaks the protocol of one of these three.
            timeout: How long one call may take, in seconds.
            retries: How many calls for one answer may fail before it is given up.
            max_tokens: The ceiling of an answer, in tokens; one that is cut off is asked for again
                with twice as many, once.
            sleep: Waits between two calls.
        """
        self.name = name
        self._base_url = base_url or ""
        self._timeout = min(timeout, _A_DAY)
        self._course = Course(max_tokens, retries)
        self._sleep = sleep

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an answer.

        Raises:
            ModelError: If there is none.
        """
        return self.ask_metered(schema, system, user, _Unmetered())

    def ask_metered(self, schema: type[T], system: str, user: str, meter: Meter) -> T:
        """Return an answer, and show a meter each call that it takes.

        Raises:
            ModelError: If there is none.
        """
        form = estimate_tokens(f"{system}{schema.model_json_schema()}")
        course, problem = self._course, ""
        with closing(Provider(self.name, self._base_url, self._timeout)) as provider:
            while True:
                asked = f"{user}{problem}"
                most = form + estimate_tokens(asked), course.max_tokens
                meter.before(*most)
                # What is interrupted was asked all the same.
                answer: Answer[T] | Refusal = Refusal("failed")
                started = time.monotonic()
                try:
                    closed = provider.open()
                    # To load a package takes its time, and is no time of the model.
                    started = time.monotonic()
                    answer = closed or provider.call(schema, system, asked, course.max_tokens)
                finally:
                    ms = int(1000 * (time.monotonic() - started))
                    meter.after(_attempt(answer, most, ms))
                if not isinstance(answer, Refusal):
                    return answer.value
                again = course.after(answer.outcome, answer.wait)
                if again is None:
                    raise ModelError(self._said(answer, course), answer.outcome)
                problem = _problem(answer)
                course = again.course
                if again.wait:
                    self._sleep(again.wait)

    def _said(self, refusal: Refusal, course: Course) -> str:
        """Return why there is no answer, in one line."""
        calls = course.failed + course.widened + 1
        often = f", {calls} times" if calls > 1 else ""
        # Hidden before it is cut: a piece of a secret does not look like one.
        reason = _line(refusal.reason)[:_SHOWN] or OUTCOMES[refusal.outcome]
        if refusal.wait is not None and refusal.wait > LONGEST_WAIT:
            often += f"; it asks to wait {_long(refusal.wait)}, try again then"
        if refusal.outcome == "truncated":
            often += f"; raise max_tokens, which is {self._course.max_tokens:,}"
        if refusal.outcome == "timeout":
            often += f"; raise timeout, which is {self._timeout:g} seconds"
        return f"{_line(self.name)}: {reason}{often}"


def _attempt(answer: Answer[T] | Refusal, most: tuple[int, int], ms: int) -> Attempt:
    """Return what a call cost; of what nobody counted the most that it can be."""
    counted = cost = answer.tokens_in, answer.tokens_out
    if isinstance(answer, Answer):
        outcome = "ok"
        cost = counted[0] or most[0], counted[1] or estimate_tokens(answer.value.model_dump_json())
    else:
        outcome = answer.outcome
        if answer.worked:
            cost = counted[0] or most[0], counted[1] or most[1]
    return Attempt(*cost, ms, outcome, estimated=cost != counted)


def _problem(refusal: Refusal) -> str:
    """Return what is said when the same is asked again."""
    if refusal.outcome not in {"malformed", "wrong_schema"}:
        return ""
    return (
        f"\n\nYour last answer was refused: {refusal.told or OUTCOMES[refusal.outcome]}. "
        "Answer again, in the form that was asked for."
    )


def _line(text: str) -> str:
    return " ".join(inert(redact(text)).split())


def _long(seconds: float) -> str:
    return f"{seconds:,.0f} seconds" if seconds <= _A_DAY else "more than a day"

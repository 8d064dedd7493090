"""Language models of every provider that instructor knows.

Promises: a call ends in time, however slowly its answer drips; it is made again only so often; it
goes where it was sent, and a redirect does not lead it elsewhere. Keys come from the environment,
and neither they nor what is asked or answered are logged. What goes wrong is said in one line.
Nothing heavy is imported before the first question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar, cast

from engramdown.consolidation.asking.calls import OUTCOMES
from engramdown.consolidation.asking.provider import Answer, Provider, Refusal
from engramdown.consolidation.asking.retrying import LONGEST_WAIT, Course
from engramdown.consolidation.model import Attempt, Meter
from engramdown.errors import ModelError
from engramdown.redaction import redact
from engramdown.tokens import estimate_tokens
from engramdown.wording.inert import inert

if TYPE_CHECKING:
    import pydantic

__all__ = ["InstructorModel"]

T = TypeVar("T", bound="pydantic.BaseModel")

_SHOWN: Final = 200


class _Unmetered:
    """A meter for whoever asks without one."""

    def before(self, tokens: int) -> None:
        """Allow everything."""

    def after(self, attempt: Attempt) -> None:
        """Forget it."""


class InstructorModel:
    """A language model by its provider and name.

    >>> InstructorModel("openai/gpt-4.1-mini").name
    'openai/gpt-4.1-mini'
    """

    def __init__(  # wide: what can be set about calls, by name
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
        self._provider = Provider(name, base_url or "", timeout)
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
        course, problem = self._course, ""
        form = estimate_tokens(str(schema.model_json_schema()))
        while True:
            asked = f"{user}{problem}"
            tokens = estimate_tokens(system) + estimate_tokens(asked) + form
            meter.before(tokens + course.max_tokens)
            closed = self._provider.open()
            started = time.monotonic()
            # What is interrupted was asked all the same.
            answer: Answer | Refusal = Refusal("failed", tokens_in=tokens)
            try:
                answer = closed or self._provider.call(schema, system, asked, course.max_tokens)
            finally:
                ms = int(1000 * (time.monotonic() - started))
                meter.after(_attempt(answer, tokens, ms))
            if isinstance(answer, Answer):
                return cast(T, answer.value)
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
        words = " ".join(inert(redact(refusal.reason)).split())
        reason = words[:_SHOWN] or OUTCOMES[refusal.outcome]
        if refusal.wait is not None and refusal.wait > LONGEST_WAIT:
            often += f"; it asks to wait {refusal.wait:,.0f} seconds, try again then"
        if refusal.outcome == "truncated":
            often += f"; raise max_tokens, which is {self._course.max_tokens:,}"
        if refusal.outcome == "timeout":
            often += f"; raise timeout, which is {self._provider.timeout:g} seconds"
        return f"{self.name}: {reason}{often}"


def _attempt(answer: Answer | Refusal, asked: int, ms: int) -> Attempt:
    """Return what a call cost; what nobody counted is estimated."""
    if isinstance(answer, Answer):
        said = estimate_tokens(answer.value.model_dump_json())
        return Attempt(answer.tokens_in or asked, answer.tokens_out or said, ms, "ok")
    # Who gave up waiting was asked all the same, and will be told what it costs.
    tokens_in = answer.tokens_in or (asked if answer.outcome == "timeout" else 0)
    return Attempt(tokens_in, answer.tokens_out, ms, answer.outcome)


def _problem(refusal: Refusal) -> str:
    """Return what is said when the same is asked again."""
    if refusal.outcome not in {"malformed", "wrong_schema"}:
        return ""
    return (
        f"\n\nYour last answer was refused: {refusal.told or OUTCOMES[refusal.outcome]}. "
        "Answer again, in the form that was asked for."
    )

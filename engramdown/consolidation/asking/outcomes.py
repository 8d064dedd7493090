"""How a call of a provider ended: an answer of the form, or why there is none.

Promises: whatever a client raises, and whatever a server sends, is one of the two; why there is
none is said in words for a person, without an error of somebody else's program; what nobody
counted is not made up here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.consolidation.asking.calls import MOST, OUTCOMES
from engramdown.consolidation.asking.retrying import asked_to_wait
from engramdown.language.untrusted import quoted

if TYPE_CHECKING:
    import pydantic

__all__ = ["Answer", "Refusal", "TooLongError", "refused", "usage_of"]

_SHOWN: Final = 300
_DEEPEST: Final = 20
_STATUS: Final = {401: "unauthorized", 403: "unauthorized", 408: "timeout", 429: "rate_limited"}
_SERVER_ERRORS: Final = 500
_REASONS: Final = ("message", "error", "detail")


class TooLongError(Exception):
    """A server sent more than any answer has."""


class Answer(NamedTuple):
    """An answer of the form that was asked for, and what it cost, as far as is known."""

    value: pydantic.BaseModel
    tokens_in: int
    tokens_out: int


class Refusal(NamedTuple):
    """No answer of use.

    Attributes:
        outcome: See :data:`engramdown.consolidation.asking.calls.OUTCOMES`.
        reason: Why, in words for a person; ``""`` if the outcome says it all.
        told: Why, in words for the model.
        wait: How many seconds the provider asks to wait, if it does.
        tokens_in: Tokens of what was asked, as far as is known.
        tokens_out: Tokens of the answer, as far as is known.
        worked: Whether a model may have worked on it all the same, and cost something.
    """

    outcome: str
    reason: str = ""
    told: str = ""
    wait: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    worked: bool = True


def refused(
    error: BaseException, schema: type[pydantic.BaseModel], *, answered: bool
) -> Answer | Refusal:
    """Return what an error of a call means.

    Args:
        error: What instructor raised.
        schema: The form that was asked for.
        answered: Whether the server had answered, so that what went wrong is in its answer.
    """
    from instructor.core.exceptions import IncompleteOutputException

    if isinstance(error, IncompleteOutputException):
        tokens = usage_of(error.last_completion)
        return Refusal("truncated", tokens_in=tokens[0], tokens_out=tokens[1])
    cause = error.__cause__ or error
    status = getattr(cause, "status_code", None)
    if isinstance(status, int):
        return _by_status(status, cause)
    return _unsent(cause) or _unfit(cause, error, schema, answered=answered)


def usage_of(completion: Any) -> tuple[int, int]:  # noqa: ANN401 - any provider's answer
    """Return how many tokens an answer says that it cost, 0 where it does not."""
    usage = getattr(completion, "usage", None)
    asked = (getattr(usage, key, None) for key in ("prompt_tokens", "input_tokens"))
    said = (getattr(usage, key, None) for key in ("completion_tokens", "output_tokens"))
    return _first_size(asked), _first_size(said)


def _by_status(status: int, cause: BaseException) -> Refusal:
    headers = getattr(getattr(cause, "response", None), "headers", {})
    wait = asked_to_wait(headers.get("retry-after", ""), datetime.now(UTC))
    outcome = _STATUS.get(status, "server_error" if status >= _SERVER_ERRORS else "refused")
    reason = f"the server answered {status}: {_message(cause)}"
    return Refusal(outcome, reason, wait=wait, worked=False)


def _message(cause: BaseException) -> str:
    """Return what a server says of an error; each has its own form for it."""
    told: object = getattr(cause, "body", None)
    while isinstance(told, dict):
        told = next((told[key] for key in _REASONS if key in told), None)
    return told if isinstance(told, str) and told.strip() else "it gives no reason"


def _unsent(cause: BaseException) -> Refusal | None:
    """Return what an error means that is about the connection, if it is."""
    causes = list(_causes(cause))
    names = [type(each).__name__ for each in causes]
    if any(isinstance(each, TooLongError) for each in causes):
        return Refusal("failed", str(causes[-1]))
    if "Timeout" in names[0]:
        return Refusal("timeout")
    if "Connect" not in names[0]:
        return None
    if "ConnectError" in names:
        return Refusal("unreachable", "no connection to the server", worked=False)
    return Refusal("unreachable", "the connection broke off, or what came over it was no answer")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    found: BaseException | None = error
    for _ in range(_DEEPEST):
        if found is None:
            return
        yield found
        found = found.__cause__


def _unfit(
    cause: BaseException, error: BaseException, schema: type[pydantic.BaseModel], *, answered: bool
) -> Answer | Refusal:
    """Return what is wrong with an answer; one that stands in a text is taken all the same."""
    from pydantic import ValidationError

    attempts = getattr(error, "failed_attempts", None) or []
    completion = attempts[-1].completion if attempts else None
    tokens = usage_of(completion)
    text = _json_in(_text_of(completion))
    if text:
        try:
            return Answer(schema.model_validate_json(text), *tokens)
        except ValidationError as invalid:
            cause = invalid
    if isinstance(cause, AssertionError) or getattr(completion, "stop_reason", "") == "refusal":
        return Refusal("refused", "the model refused to answer", "", None, *tokens)
    if isinstance(cause, ValidationError):
        problems = cause.errors(include_url=False, include_input=False, include_context=False)
        outcome = "malformed" if problems[0]["type"] == "json_invalid" else "wrong_schema"
        told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems]
        # Neither quotes what was answered, but for names of fields.
        reason = f"{OUTCOMES[outcome]}: {told[0].removeprefix(': ')}"
        return Refusal(outcome, reason, quoted("; ".join(told)[:_SHOWN]), None, *tokens)
    # Clients trip over an answer of no form they know, each with an error of its own.
    if answered or attempts or isinstance(cause, ValueError):
        return Refusal("malformed", "", "", None, *tokens)
    return Refusal("failed", f"{type(cause).__name__}: {cause}")


def _text_of(completion: Any) -> str:  # noqa: ANN401 - any provider's answer
    """Return what an answer says in words: in one message, or in several blocks."""
    choices = getattr(completion, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    said = getattr(getattr(first, "message", completion), "content", None)
    blocks = said if isinstance(said, list) else []
    texts = [said, *(getattr(block, "text", None) for block in blocks)]
    return "".join(text for text in texts if isinstance(text, str))


def _json_in(text: str) -> str:
    """Return what may be JSON in a text: models like to put words around it, and to think aloud."""
    said = text.rpartition("</think>")[2]
    return said[said.find("{") : said.rfind("}") + 1]


def _first_size(values: Any) -> int:  # noqa: ANN401 - whatever a provider says
    sizes = (value for value in values if isinstance(value, int) and value > 0)
    return min(next(sizes, 0), MOST)

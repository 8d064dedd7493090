"""One call of a provider, through instructor.

Promises: what goes wrong is a :class:`Refusal` and no exception of somebody else's; a call ends
in time, however slowly its answer drips; a redirect leads it nowhere; a key of a provider is sent
to that provider alone. Of what is asked or answered nothing is logged.
"""

from __future__ import annotations

import importlib
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from engramdown.consolidation.asking.retrying import asked_to_wait
from engramdown.wording.inert import quoted

if TYPE_CHECKING:
    import pydantic

__all__ = ["KEY", "Answer", "Provider", "Refusal"]

KEY: Final = "ENGRAMDOWN_MODEL_KEY"
"""The environment variable of the key for a server of one's own."""

_EXTRAS: Final = {"openai": "openai", "ollama": "openai", "anthropic": "anthropic"}
_OLLAMA: Final = "http://localhost:11434/v1"
_OPENAI: Final = "https://api.openai.com/"
# Clients refuse to be made without a key, also for servers that want none.
_NO_KEY: Final = "none"
_SHOWN: Final = 300
_MOST: Final = 10_000_000
_STATUS: Final = {401: "unauthorized", 403: "unauthorized", 408: "timeout", 429: "rate_limited"}
_SERVER_ERRORS: Final = 500

T = TypeVar("T")

_ours: ContextVar[bool] = ContextVar("ours", default=False)


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
    """

    outcome: str
    reason: str = ""
    told: str = ""
    wait: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0


class _Quiet(logging.Filter):
    """Drops what instructor logs of our calls: it quotes keys and answers."""

    def filter(self, _record: logging.LogRecord) -> bool:
        """Let pass what is not about a call of ours."""
        return not _ours.get()


_QUIET: Final = _Quiet()


class Provider:
    """A model of a provider, as instructor reaches it."""

    def __init__(self, name: str, base_url: str, timeout: float) -> None:
        """Name a model, where it is if not at its provider, and how long it may take."""
        self._name = name
        self._kind, _, self._model = name.partition("/")
        self._base_url = base_url
        self.timeout = timeout
        self._client: Any = None

    def open(self) -> Refusal | None:
        """Make a client, unless there is one; return why there can be none."""
        if self._client is not None:
            return None
        made = _outcome_of(self._made)
        if isinstance(made, ImportError):
            return Refusal("missing_sdk", _missing(self._kind, made))
        if isinstance(made, BaseException):
            return self._no_key(made) or _unopened(made)
        self._client = made
        return None

    def call(
        self, schema: type[pydantic.BaseModel], system: str, user: str, max_tokens: int
    ) -> Answer | Refusal:
        """Ask once; the provider must be open."""
        client = self._client
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        ceiling = "max_completion_tokens" if self._is_openai(client) else "max_tokens"

        def ask() -> Answer:
            value = client.create(
                response_model=schema,
                messages=messages,
                max_retries=0,
                strict=False,
                **{ceiling: max_tokens},
            )
            usage = _usage(getattr(value, "_raw_response", None))
            # Instructor answers in a class of its own below the schema, which equals no other.
            return Answer(schema.model_validate(value.model_dump(by_alias=True)), *usage)

        answer = _outcome_of(ask, self.timeout)
        if isinstance(answer, TimeoutError):
            self._abandon()
            return Refusal("timeout")
        if isinstance(answer, BaseException):
            return self._no_key(answer.__cause__) or _refused(answer, schema)
        return answer

    def _made(self) -> Any:  # noqa: ANN401 - instructor says no more
        import instructor

        if self._base_url and self._kind not in _EXTRAS:
            reason = f"base_url goes with {', '.join(f'{kind}/…' for kind in _EXTRAS)} only"
            raise ValueError(reason)
        if self._kind not in _EXTRAS:
            client = instructor.from_provider(self._name)
            _tame(getattr(client, "client", None), self.timeout)
            return client
        sdk = importlib.import_module(_EXTRAS[self._kind])
        made = sdk.Anthropic if self._kind == "anthropic" else sdk.OpenAI
        url = self._base_url or (_OLLAMA if self._kind == "ollama" else None)
        raw = made(
            # A key in the environment is its provider's, and goes to no other server.
            api_key=(os.environ.get(KEY) or _NO_KEY) if url else None,
            base_url=url,
            timeout=self.timeout,
            max_retries=0,
            http_client=sdk.DefaultHttpxClient(follow_redirects=False),
        )
        if self._kind == "anthropic":
            return instructor.from_anthropic(raw, model=self._model)
        # Not every model that runs at home can call tools; all can be asked for JSON.
        mode = instructor.Mode.JSON if self._kind == "ollama" else instructor.Mode.TOOLS
        return instructor.from_openai(raw, mode=mode, model=self._model)

    def _is_openai(self, client: Any) -> bool:  # noqa: ANN401 - as above
        """Whether it is OpenAI itself that is asked, which calls the ceiling by another name."""
        if self._kind != "openai":
            return False
        return str(client.client.base_url).startswith(_OPENAI)

    def _no_key(self, error: BaseException | None) -> Refusal | None:
        """Return what an error means that asks for a key: one client raises it early, one late."""
        if "api_key" not in str(error).lower():
            return None
        return Refusal("unauthorized", f"there is no key; set {self._kind.upper()}_API_KEY")

    def _abandon(self) -> None:
        """Close the connections of a call that nobody waits for any more."""
        close = getattr(getattr(self._client, "client", None), "close", None)
        self._client = None
        if close is not None:
            close()


def _tame(raw: Any, seconds: float) -> None:  # noqa: ANN401 - any provider's client
    """Let a client neither try again by itself nor wait for longer than we do."""
    for key, value in (("max_retries", 0), ("timeout", seconds)):
        if hasattr(raw, key):
            setattr(raw, key, value)


def _missing(kind: str, error: ImportError) -> str:
    extra = _EXTRAS.get(kind)
    if extra is None:
        return str(error)
    return f"{extra} is not installed; run pip install 'engramdown[{extra}]'"


def _unopened(error: BaseException) -> Refusal:
    """Return why a client could not be made: a missing package, or an unknown provider."""
    said = str(error)
    return Refusal("missing_sdk" if "package is required" in said else "failed", said)


def _quietly(work: Callable[[], T]) -> T:
    """Return what ``work`` gives, while instructor logs nothing of it."""
    import instructor

    token = _ours.set(True)
    try:
        _ = instructor.from_provider  # its modules, and so its loggers, are there after this
        for name in list(logging.Logger.manager.loggerDict):
            if name.partition(".")[0] == "instructor":
                logging.getLogger(name).addFilter(_QUIET)
        return work()
    finally:
        _ours.reset(token)


def _outcome_of(work: Callable[[], T], seconds: float | None = None) -> T | BaseException:
    """Return what ``work`` gives in another thread, or what it raises: a package may anything.

    After so many ``seconds`` nothing waits for it, and a ``TimeoutError`` is returned.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(_quietly(work))
        except BaseException as error:  # noqa: BLE001 - it is handed to who waits for the result
            future.set_exception(error)

    # A daemon, so that a program can end while an answer still drips.
    threading.Thread(target=run, name="engramdown-model", daemon=True).start()
    try:
        return future.exception(seconds) or future.result()
    except TimeoutError as late:
        return late


def _refused(error: BaseException, schema: type[pydantic.BaseModel]) -> Answer | Refusal:
    """Return what an error of a call means."""
    from instructor.core.exceptions import IncompleteOutputException

    if isinstance(error, IncompleteOutputException):
        tokens = _usage(error.last_completion)
        return Refusal("truncated", tokens_in=tokens[0], tokens_out=tokens[1])
    cause = error.__cause__ or error
    status = getattr(cause, "status_code", None)
    if isinstance(status, int):
        return _by_status(status, cause)
    kind = type(cause).__name__
    if "Timeout" in kind:
        return Refusal("timeout")
    if "Connect" in kind:
        return Refusal("unreachable", "no connection to the server")
    return _unfit(cause, getattr(error, "failed_attempts", None) or [], schema)


def _by_status(status: int, cause: BaseException) -> Refusal:
    headers = getattr(getattr(cause, "response", None), "headers", {})
    wait = asked_to_wait(headers.get("retry-after", ""), datetime.now(UTC))
    outcome = _STATUS.get(status, "server_error" if status >= _SERVER_ERRORS else "refused")
    return Refusal(outcome, f"the server answered {status}: {_message(cause)}", wait=wait)


def _message(cause: BaseException) -> str:
    body = getattr(cause, "body", None)
    told = body.get("message") if isinstance(body, dict) else None
    return told if isinstance(told, str) else "it gives no reason"


def _unfit(
    cause: BaseException, attempts: list[Any], schema: type[pydantic.BaseModel]
) -> Answer | Refusal:
    """Return what is wrong with an answer; one that stands in a text is taken all the same."""
    from pydantic import ValidationError

    completion = attempts[-1].completion if attempts else None
    tokens = _usage(completion)
    text = _json_in(completion)
    if text:
        try:
            return Answer(schema.model_validate_json(text), *tokens)
        except ValidationError as error:
            cause = error
    if isinstance(cause, ValidationError):
        problems = cause.errors(include_url=False, include_input=False, include_context=False)
        outcome = "malformed" if problems[0]["type"] == "json_invalid" else "wrong_schema"
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems)
        return Refusal(outcome, "", quoted(told[:_SHOWN]), None, *tokens)
    if isinstance(cause, AssertionError):
        return Refusal("refused", "the model refused to answer", "", None, *tokens)
    if attempts or isinstance(cause, ValueError):
        return Refusal("malformed", "", "", None, *tokens)
    return Refusal("failed", f"{type(cause).__name__}: {cause}")


def _json_in(completion: Any) -> str:  # noqa: ANN401 - any provider's answer
    """Return what may be JSON in the text of an answer: models like to put words around it."""
    choices = getattr(completion, "choices", None) or []
    text = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
    return text[text.find("{") : text.rfind("}") + 1] if isinstance(text, str) else ""


def _usage(completion: Any) -> tuple[int, int]:  # noqa: ANN401 - any provider's answer
    """Return how many tokens an answer says that it cost, 0 where it does not."""
    usage = getattr(completion, "usage", None)
    asked = (getattr(usage, key, None) for key in ("prompt_tokens", "input_tokens"))
    said = (getattr(usage, key, None) for key in ("completion_tokens", "output_tokens"))
    return _first_size(asked), _first_size(said)


def _first_size(values: Any) -> int:  # noqa: ANN401 - whatever a provider says
    sizes = (value for value in values if isinstance(value, int) and value > 0)
    return min(next(sizes, 0), _MOST)

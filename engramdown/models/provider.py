"""Language models of every provider that instructor knows.

A failed call is repeated a limited number of times, and only where that may help. Keys come from
the environment. A failure is one line for a person, never a foreign exception. Several threads may
ask at once, and so may a child after a fork: two questions share nothing, and no connection stays
open after one. Nothing heavy is imported before the first question.

A call ends in time, however slowly its answer arrives, and its connection is closed then. Redirects
are not followed, a key goes to its own provider only, and the size of a response is limited. No
error quotes a ``base_url``, which may hold a password. Questions and answers are never logged.
"""

from __future__ import annotations

import importlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isnan
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from engramdown import forks
from engramdown.errors import ModelError
from engramdown.language.untrusted import one_line, quoted
from engramdown.models.ledger import MOST, OUTCOMES
from engramdown.models.port import Meter
from engramdown.secrets.redaction import redact
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    import pydantic

A = TypeVar("A", bound="pydantic.BaseModel")
T = TypeVar("T")

# The longest wait for a provider, in seconds; one that wants more is not asked again.
LONGEST_WAIT: Final = 60.0
# The environment variable with the key for the user's own server.
KEY: Final = "ENGRAMDOWN_MODEL_KEY"
# How many bytes of a response are read at most: several times the longest answer.
LONGEST: Final = 4_000_000

_STEPS: Final = 6  # how often a wait doubles until it is the longest
_SHOWN: Final = 200
_SHOWN_TO_MODEL: Final = 300
_A_DAY: Final = 86_400
_TRANSIENT: Final = frozenset({"rate_limited", "server_error", "timeout", "unreachable"})
_IN_ANOTHER_FORM: Final = frozenset({"malformed", "wrong_schema"})


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
        """Name a model; nothing is asked yet.

        Args:
            name: ``openai/…``, ``anthropic/…``, ``ollama/…``, or any other name that
                ``instructor.from_provider`` takes.
            base_url: The address of a server that speaks the protocol of one of these three.
            timeout: How long one call may take, in seconds.
            retries: How often a failed call for one answer is repeated.
            max_tokens: The limit of an answer, in tokens. An answer that is cut off is requested
                again with twice as many, once.
            sleep: Waits between two calls.
        """
        self.name = name
        self._base_url = base_url or ""
        self._timeout = min(timeout, _A_DAY)
        self._course = Course(max_tokens, retries)
        self._sleep = sleep

    def ask(self, schema: type[A], system: str, user: str) -> A:
        """Return an answer.

        Raises:
            ModelError: If there is none.
        """
        return self.ask_metered(schema, system, user, None)

    def ask_metered(self, schema: type[A], system: str, user: str, meter: Meter | None) -> A:
        """Return an answer, and report each call for it to a meter.

        Raises:
            ModelError: If there is none.
        """
        form = estimate_tokens(f"{system}{schema.model_json_schema()}")
        course, problem = self._course, ""
        with closing(Provider(self.name, self._base_url, self._timeout)) as provider:
            while True:
                question = f"{user}{problem}"
                most = form + estimate_tokens(question), course.max_tokens
                if meter:
                    meter.before(*most)
                # An interrupted call was made all the same.
                answer: Answer[A] | Refusal = Refusal("failed")
                started = time.monotonic()
                try:
                    closed = provider.open()
                    # Loading a package takes time that is not the model's.
                    started = time.monotonic()
                    answer = closed or provider.call(schema, system, question, course.max_tokens)
                finally:
                    ms = int(1000 * (time.monotonic() - started))
                    if meter:
                        _meter(meter, answer, most, ms)
                if not isinstance(answer, Refusal):
                    return answer.value
                again = course.after(answer.outcome, answer.wait)
                if again is None:
                    raise ModelError(self._reason(answer, course), answer.outcome)
                course, problem = again, ""
                if answer.outcome in _IN_ANOTHER_FORM:
                    why = answer.for_model or OUTCOMES[answer.outcome]
                    problem = f"\n\nYour last answer was refused: {why}. {_AGAIN}"
                if course.wait:
                    self._sleep(course.wait)

    def _reason(self, refusal: Refusal, course: Course) -> str:
        """Return why there is no answer, in one line."""
        calls = course.failed + course.widened + 1
        more = f", {calls} times" if calls > 1 else ""
        # Redacted before it is cut: a piece of a secret does not look like one.
        reason = one_line(redact(refusal.reason))[:_SHOWN] or OUTCOMES[refusal.outcome]
        wait = refusal.wait
        if wait is not None and wait > LONGEST_WAIT:
            long = f"{wait:,.0f} seconds" if wait <= _A_DAY else "more than a day"
            more += f"; it asks to wait {long}, try again then"
        if refusal.outcome == "truncated":
            more += f"; raise max_tokens, which is {self._course.max_tokens:,}"
        if refusal.outcome == "timeout":
            more += f"; raise timeout, which is {self._timeout:g} seconds"
        return f"{one_line(redact(self.name))}: {reason}{more}"


_AGAIN: Final = "Answer again, in the form that was asked for."


def _meter(meter: Meter, answer: Answer[A] | Refusal, most: tuple[int, int], ms: int) -> None:
    """Report what a call cost; where nobody counted, the most that it can have cost."""
    counted = cost = answer.tokens_in, answer.tokens_out
    if isinstance(answer, Answer):
        cost = counted[0] or most[0], counted[1] or estimate_tokens(answer.value.model_dump_json())
    elif answer.worked:
        cost = counted[0] or most[0], counted[1] or most[1]
    outcome = answer.outcome if isinstance(answer, Refusal) else "ok"
    meter.after(*cost, ms, outcome, estimated=cost != counted)


class Course(NamedTuple):
    """The state of a question that may take several calls.

    Attributes:
        max_tokens: The limit of output tokens.
        retries: How many failed calls are repeated.
        failed: How many calls have failed.
        widened: Whether the limit was raised.
        wait: How many seconds to wait before the next call.
    """

    max_tokens: int
    retries: int
    failed: int = 0
    widened: bool = False
    wait: float = 0.0

    def after(self, outcome: str, wait: float | None = None) -> Course | None:
        """Return the state for the next call, or ``None`` if there is none.

        Args:
            outcome: How the last one ended.
            wait: How many seconds the provider asks to wait, if it does.

        >>> Course(1000, retries=2).after("truncated").max_tokens
        2000
        >>> Course(1000, retries=2).after("rate_limited", 7).wait
        7.0
        """
        if outcome == "truncated":
            wider = self._replace(max_tokens=2 * self.max_tokens, widened=True, wait=0.0)
            return None if self.widened else wider
        if self.failed >= self.retries or outcome not in _TRANSIENT | _IN_ANOTHER_FORM:
            return None
        if wait is None:
            # 1, 2, 4, … seconds; a question for another form need not wait.
            doubled = min(2.0 ** min(self.failed, _STEPS), LONGEST_WAIT)
            wait = doubled if outcome in _TRANSIENT else 0.0
        if wait > LONGEST_WAIT:
            return None
        return self._replace(failed=self.failed + 1, wait=float(wait))


def asked_to_wait(header: str, now: datetime) -> float | None:
    """Return how many seconds a ``Retry-After`` header asks to wait, or ``None``.

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
            seconds = (parsedate_to_datetime(header) - now).total_seconds()
        except (ValueError, TypeError):  # a date without a zone cannot be compared
            return None
    return None if isnan(seconds) else max(seconds, 0.0)


# ---- how a call ended ----

_DEEPEST: Final = 20
_STATUS: Final = {401: "unauthorized", 403: "unauthorized", 408: "timeout", 429: "rate_limited"}
_SERVER_ERRORS: Final = 500
_LONGEST_REASON: Final = 300
_NO_CONNECTION: Final = "no connection to the server"
_BREAKS: Final = ("Connect", "Protocol", "ReadError", "WriteError", "DecodingError")
_BROKEN_OFF: Final = "the connection broke off, or what came over it was not an answer"


class TooLongError(Exception):
    """An answer was too large, or took too long."""


class Answer(NamedTuple, Generic[A]):
    """An answer in the requested form, and its cost as far as it is known."""

    value: A
    tokens_in: int
    tokens_out: int


class Refusal(NamedTuple):
    """A call without a usable answer.

    Attributes:
        outcome: See :data:`engramdown.models.ledger.OUTCOMES`.
        reason: The reason for a person; ``""`` if the outcome says it all.
        for_model: The reason for the model.
        wait: How many seconds the provider asks to wait, if it does.
        tokens_in: Tokens of the question, as far as they are known.
        tokens_out: Tokens of the answer, as far as they are known.
        worked: Whether a model may have worked on it nevertheless, and cost something.
    """

    outcome: str
    reason: str = ""
    for_model: str = ""
    wait: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    worked: bool = True


def _refused(error: BaseException, schema: type[A], *, answered: bool) -> Answer[A] | Refusal:
    """Return what an error of a call means.

    Args:
        error: The error that instructor raised.
        schema: The requested form.
        answered: Whether the server had answered, so that the answer is the problem.
    """
    from instructor.core.exceptions import IncompleteOutputException

    if isinstance(error, IncompleteOutputException):
        tokens = _usage_of(error.last_completion)
        return Refusal("truncated", tokens_in=tokens[0], tokens_out=tokens[1])
    cause = error.__cause__ or error
    return refusal_of(cause) or _unfit(cause, error, schema, answered=answered)


def refusal_of(error: BaseException) -> Refusal | None:
    """Return what an error of a client says of its server or the connection; ``None`` if nothing.

    Errors of the connection are told apart by their names: their classes, and how clients wrap
    them, differ by version.
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        headers = getattr(getattr(error, "response", None), "headers", {})
        wait = asked_to_wait(headers.get("retry-after", ""), datetime.now(UTC))
        outcome = _STATUS.get(status, "server_error" if status >= _SERVER_ERRORS else "refused")
        reason = f"the server answered {status}: {reason_of(error)}"
        return Refusal(outcome, reason, wait=wait, worked=False)
    causes = [error]
    while len(causes) < _DEEPEST and (cause := causes[-1].__cause__ or causes[-1].__context__):
        causes.append(cause)
    if too_long := next((each for each in causes if isinstance(each, TooLongError)), None):
        return Refusal("failed", str(too_long))
    names = " ".join(type(each).__name__ for each in causes)
    if "Timeout" in names:
        return Refusal("timeout")
    if "ConnectError" in names:
        return Refusal("unreachable", _NO_CONNECTION, worked=False)
    is_broken = any(each in names for each in _BREAKS)
    return Refusal("unreachable", _BROKEN_OFF) if is_broken else None


def reason_of(error: BaseException) -> str:
    """Return the server's message of an error, for which each server has its own form."""
    said: object = getattr(error, "body", None)
    for _ in range(_DEEPEST):
        if not isinstance(said, dict):
            break
        said = next((said[key] for key in ("message", "error", "detail") if key in said), None)
    text = one_line(said) if isinstance(said, str) else ""
    # A web page would be useless here.
    if not text or text.startswith("<"):
        return "it gives no reason"
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def _usage_of(completion: Any) -> tuple[int, int]:  # noqa: ANN401 - any provider's answer
    """Return the tokens of question and answer that a provider counted, or 0."""
    usage = getattr(completion, "usage", None)

    def first_size(*keys: str) -> int:
        sizes = (getattr(usage, key, None) for key in keys)
        return min(next((it for it in sizes if isinstance(it, int) and it > 0), 0), MOST)

    return (
        first_size("prompt_tokens", "input_tokens"),
        first_size("completion_tokens", "output_tokens"),
    )


def _unfit(
    cause: BaseException, error: BaseException, schema: type[A], *, answered: bool
) -> Answer[A] | Refusal:
    """Return what is wrong with an answer, or the answer if a text holds a valid one."""
    from pydantic import ValidationError

    attempts = getattr(error, "failed_attempts", None) or []
    completion = attempts[-1].completion if attempts else None
    tokens = _usage_of(completion)
    # Models like to write words around JSON, and to think aloud.
    said = _text_of(completion).rpartition("</think>")[2]
    if text := said[said.find("{") : said.rfind("}") + 1]:
        try:
            return Answer(schema.model_validate_json(text), *tokens)
        except ValidationError as invalid:
            cause = invalid
    if isinstance(cause, AssertionError) or getattr(completion, "stop_reason", "") == "refusal":
        return Refusal("refused", "the model refused to answer", "", None, *tokens)
    if isinstance(cause, ValidationError):
        problems = cause.errors(include_url=False, include_input=False, include_context=False)
        outcome = "malformed" if problems[0]["type"] == "json_invalid" else "wrong_schema"
        faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems]
        # Both quote nothing of the answer but names of fields.
        reason = f"{OUTCOMES[outcome]}: {faults[0].removeprefix(': ')}"
        return Refusal(outcome, reason, quoted("; ".join(faults)[:_SHOWN_TO_MODEL]), None, *tokens)
    # Clients raise errors of their own for an answer in a form that they do not know.
    if answered or attempts or isinstance(cause, ValueError):
        return Refusal("malformed", "", "", None, *tokens)
    return Refusal("failed", f"{type(cause).__name__}: {cause}")


def _text_of(completion: Any) -> str:  # noqa: ANN401 - any provider's answer
    """Return the text of an answer, which is in one message or in several blocks."""
    choices = getattr(completion, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    said = getattr(getattr(first, "message", completion), "content", None)
    blocks = said if isinstance(said, list) else []
    texts = [said, *(getattr(block, "text", None) for block in blocks)]
    return "".join(text for text in texts if isinstance(text, str))


# ---- clients ----

_EXTRAS: Final = {"openai": "openai", "ollama": "openai", "anthropic": "anthropic"}
_OLLAMA: Final = "http://localhost:11434/v1"
_OPENAI: Final = "https://api.openai.com/"
# Clients demand a key, even for servers that need none.
_NO_KEY: Final = "none"


def client_of(name: str, base_url: str, timeout: float, heard: Callable[[], object]) -> Any:  # noqa: ANN401 - instructor says no more
    """Return instructor's client for a model.

    Args:
        name: The provider and the model, with a slash between.
        base_url: The address of the server, if it is not the provider's own.
        timeout: How long a call may take, in seconds.
        heard: Called when the server has sent a whole response, if the client uses httpx.

    Raises:
        ImportError: If the package of the provider is not installed.
        ValueError: If there is no such provider, or the address is wrong.
        Exception: Whatever else an unusable package raises.
    """
    import instructor

    kind, _, model = name.partition("/")
    if kind not in _EXTRAS:
        if base_url:
            kinds = ", ".join(f"{each}/…" for each in _EXTRAS)
            raise ValueError(f"base_url goes with {kinds} only")
        client = instructor.from_provider(name)
        _limit_client(getattr(client, "client", None), timeout, heard)
        return client
    url = base_url or (_OLLAMA if kind == "ollama" else "")
    if url and not is_address(url):
        raise ValueError("base_url is not an address that begins with http:// or https://")
    sdk = importlib.import_module(_EXTRAS[kind])
    http = sdk.DefaultHttpxClient()
    bound(http, heard)
    raw = (sdk.Anthropic if kind == "anthropic" else sdk.OpenAI)(
        # The provider's own key in the environment goes to no other server.
        api_key=(os.environ.get(KEY) or _NO_KEY) if url else None,
        base_url=url or None,
        timeout=timeout,
        max_retries=0,
        http_client=http,
    )
    if kind == "anthropic":
        return instructor.from_anthropic(raw, model=model)
    # Not every local model can call tools, but all can be asked for JSON.
    mode = instructor.Mode.JSON if kind == "ollama" else instructor.Mode.TOOLS
    return instructor.from_openai(raw, mode=mode, model=model)


def is_openai(name: str, client: Any) -> bool:  # noqa: ANN401 - as above
    """Whether the server is OpenAI's own, which calls the limit of an answer by another name."""
    return name.startswith("openai/") and str(client.client.base_url).startswith(_OPENAI)


def missing(name: str, error: ImportError) -> str:
    """Return which package the provider of a model needs, in one line."""
    if error.name == "instructor":
        command = 'pip install "engramdown[model]" (from a clone: pip install ".[model]")'
        return f"instructor is not installed; run {command}"
    extra = _EXTRAS.get(name.partition("/")[0])
    return (
        f"{extra} is not installed; run pip install 'engramdown[{extra}]'" if extra else str(error)
    )


def is_address(url: str) -> bool:
    """Whether a URL is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _limit_client(raw: Any, seconds: float, heard: Callable[[], object]) -> None:  # noqa: ANN401 - any provider's client
    """Limit the client of any package as far as possible.

    It must not retry by itself, nor wait longer than ``seconds``. If it is based on an httpx
    client, as many are, it must not follow redirects or read more than the limit.
    """
    for key, value in (("max_retries", 0), ("timeout", seconds)):
        if hasattr(raw, key):
            setattr(raw, key, value)
    http: Any = getattr(raw, "_client", None)
    if hasattr(http, "follow_redirects") and hasattr(http, "event_hooks"):
        bound(http, heard)


def bound(http: Any, heard: Callable[[], object] = bool) -> None:  # noqa: ANN401 - of whichever httpx it is
    """Keep an httpx client from following redirects and from reading too long a response.

    The limit counts what was unpacked: even a small packed body could fill the memory.

    Args:
        http: The client.
        heard: Called when a whole response was read.
    """

    def limit(response: Any) -> None:  # noqa: ANN401 - the same
        read = response.iter_bytes

        def bounded(*how: Any, **more: Any) -> Iterator[bytes]:  # noqa: ANN401 - the same
            count = 0
            for piece in read(*how, **more):
                count += len(piece)
                if count > LONGEST:
                    raise TooLongError(f"the server sent more than {LONGEST // 1_000_000} MB")
                yield piece
            heard()

        response.iter_bytes = bounded

    http.follow_redirects = False
    http.event_hooks["response"].append(limit)


# ---- calls ----

# Instructor logs keys and answers, the others whole requests and addresses.
_LOUD: Final = ("instructor", "openai", "anthropic", "httpx", "httpcore")

_THREAD: Final = "engramdown-model"


def _is_not_ours(record: logging.LogRecord) -> bool:
    """Let pass the records of other calls: each of ours has a thread of its own."""
    del record
    return threading.current_thread().name != _THREAD


class Provider:
    """A model of a provider, for one question of one thread."""

    def __init__(self, name: str, base_url: str, timeout: float) -> None:
        """Name a model, the address of its server or ``""``, and how long a call may take."""
        self._name = name
        self._base_url = base_url
        self._timeout = timeout
        self._client: Any = None
        self._heard = forks.Event()

    def open(self) -> Refusal | None:
        """Make a client unless there is one; return why that is not possible."""
        if self._client is not None:
            return None
        given = (self._name, self._base_url, self._timeout, self._heard.set)
        made = _outcome_of(lambda: client_of(*given))
        if isinstance(made, ImportError):
            return Refusal("missing_sdk", missing(self._name, made), worked=False)
        if isinstance(made, BaseException):
            # A package is missing, or there is no such provider.
            outcome = "missing_sdk" if "package is required" in str(made) else "failed"
            return self._no_key(made) or Refusal(outcome, str(made), worked=False)
        self._client = made
        return None

    def call(self, schema: type[A], system: str, user: str, max_tokens: int) -> Answer[A] | Refusal:
        """Ask once; the provider must be open."""
        client = self._client
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        ceiling = "max_completion_tokens" if is_openai(self._name, client) else "max_tokens"
        how = {"max_retries": 0, "strict": False, ceiling: max_tokens}

        def ask() -> Answer[A]:
            value = client.create(response_model=schema, messages=messages, **how)
            usage = _usage_of(getattr(value, "_raw_response", None))
            # Instructor answers with a subclass of the schema, whose values equal no others.
            answer = schema.model_validate(value.model_dump(by_alias=True))
            answer.__pydantic_private__ = value.__pydantic_private__
            return Answer(answer, *usage)

        self._heard.clear()
        answer = _outcome_of(ask, self._timeout)
        if isinstance(answer, TimeoutError):
            self.close()
            return Refusal("timeout")
        if isinstance(answer, BaseException):
            is_heard = self._heard.is_set()
            return self._no_key(answer.__cause__) or _refused(answer, schema, answered=is_heard)
        return answer

    def close(self) -> None:
        """Close the connections, including that of a call that nobody waits for any more."""
        close = getattr(getattr(self._client, "client", None), "close", None)
        self._client = None
        if close is not None:
            close()

    def _no_key(self, error: BaseException | None) -> Refusal | None:
        """Return what an error about a missing key means; clients raise it early or late."""
        if "api_key" not in str(error).lower():
            return None
        reason = f"there is no key; set {self._name.partition('/')[0].upper()}_API_KEY"
        return Refusal("unauthorized", reason, worked=False)


def _outcome_of(work: Callable[[], T], seconds: float | None = None) -> T | BaseException:
    """Return what ``work`` returns in another thread, or what it raises, whatever that is.

    Nothing that it does is logged. After ``seconds`` it is abandoned, and a ``TimeoutError`` is
    returned.
    """

    def quietly() -> T:
        import instructor

        _ = instructor.from_provider  # its modules, and so its loggers, are there after this
        for name in list(logging.Logger.manager.loggerDict):
            if name.startswith(_LOUD):
                logging.getLogger(name).addFilter(_is_not_ours)
        return work()

    future = forks.in_thread(quietly, _THREAD)
    try:
        return future.exception(seconds) or future.result()
    except TimeoutError as late:
        return late

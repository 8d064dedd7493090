"""A model behind OpenAI's chat completions, asked in a stream.

The package ``openai`` is loaded with the first question and not before. A redirect leads nowhere;
no more of an answer is read than any answer has, and none for longer than allowed. Whatever goes
wrong is one :class:`engramdown.errors.ModelError` with one line for a person, without a key, an
address or an error of somebody else's program. When a question is given up, its connection is
closed.

The key of a provider goes to that provider alone, or to where the person's own environment sends
it. Whatever a server sends as a piece of an answer raises nothing; what a model thinks aloud before
its answer, in ``<think>``, is not part of it.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from engramdown.errors import ModelError
from engramdown.language import one_line
from engramdown.models import OUTCOMES

LONGEST: Final = 4_000_000
"""So many bytes of an answer are read at most."""
KEY: Final = "ENGRAMDOWN_MODEL_KEY"
"""The environment variable of the key for a server of one's own."""
OPENAI_KEY: Final = "OPENAI_API_KEY"
"""That of OpenAI's key."""
OPENAI_URL: Final = "OPENAI_BASE_URL"
"""That of an address which a person set for all programs, together with that key."""

Heard = Callable[[str], object]
"""Is given each piece of a text as it comes."""

_CONNECTING: Final = 10.0
_LONGEST_SECONDS: Final = 900.0
_NOTHING: Final = {
    "length": ("the answer was cut off before it said anything", "truncated"),
    "content_filter": ("the provider held the answer back", "refused"),
}
_COUNTED: Final = {"stream_options": {"include_usage": True}}


def is_installed() -> bool:
    """Return whether the package that this needs is there, without loading it."""
    return importlib.util.find_spec("openai") is not None


class ToolCall(NamedTuple):
    """A tool that the model wants called.

    Attributes:
        id: What the server calls it, or ``""``.
        name: Of the tool.
        arguments: As the model wrote them: JSON, if it did as it was told.
    """

    id: str
    name: str
    arguments: str


class Reply(NamedTuple):
    """What a model answered at once.

    Attributes:
        text: What it said.
        calls: The tools that it wants called.
        finish: Why it stopped, or ``""`` if that was never said: then it was cut off.
        tokens_in: Tokens of what was asked, or 0 if the server does not count.
        tokens_out: Tokens of the answer, likewise.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Endpoint:
    """A model and the server that it is behind.

    Attributes:
        address: Which model, and where.
        lacking: What the server was found not to understand: ``tools``, ``stream_options``.
    """

    def __init__(self, address: Address, timeout: float = 120) -> None:
        """Name a model; ``timeout`` is how long the next piece may take, in seconds."""
        self.address = address
        self.lacking: set[str] = set()
        self._timeout = timeout
        self._client: Any = None

    def warm_up(self) -> None:
        """Load what the first question needs, and connect nowhere; may run beside a person."""
        import openai  # noqa: F401 - it is there when it is asked for

    def ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], heard: Heard
    ) -> Reply:
        """Return an answer.

        Args:
            messages: The prompt, as chat completions take it.
            tools: What the model may call, likewise.
            heard: Is given each piece of the text as it comes.

        Raises:
            ModelError: If there is no answer.
        """
        while True:
            try:
                return self._asked(messages, tools, heard)
            except ModelError:
                raise
            except Exception as error:  # over nonsense the package trips with errors of its own
                lacking = lacks(error)
                if not lacking or lacking in self.lacking:
                    raise failure(error) from error
                self.lacking.add(lacking)

    def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _asked(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], heard: Heard
    ) -> Reply:
        more: dict[str, Any] = {"messages": list(messages)}
        if tools and "tools" not in self.lacking:
            more["tools"] = list(tools)
        if "stream_options" not in self.lacking:
            more |= _COUNTED
        client = self._client = self._client or self._made()
        answer = Assembly()
        began = time.monotonic()
        # As they are: the package looks through each of a thousand messages for what it might spell
        # in another way, which takes longer than all that is ours.
        stream = client.chat.completions.create(
            model=self.address.model, messages=[], stream=True, extra_body=more
        )
        try:
            for chunk in stream:
                to_dict = getattr(chunk, "to_dict", None)
                # The package takes a piece in without looking at it.
                piece = to_dict(mode="python", warnings=False) if to_dict else chunk
                if said := answer.add(piece):
                    heard(said)
                if time.monotonic() - began > _LONGEST_SECONDS:
                    raise TooLongError(f"the answer took more than {_LONGEST_SECONDS:g} seconds")
        finally:
            stream.close()
        if left := answer.end():
            heard(left)
        return _checked(answer.reply(), stream.response.headers.get("content-type", ""))

    def _made(self) -> Any:  # noqa: ANN401 - the package is loaded here
        import openai

        http = openai.DefaultHttpxClient()
        http.follow_redirects = False
        # A small packed answer could fill the memory.
        http.headers["accept-encoding"] = "identity"
        http.event_hooks = {"response": [_bound]}
        return openai.OpenAI(
            api_key=self.address.key or "none",
            base_url=self.address.url,
            timeout=openai.Timeout(self._timeout, connect=min(_CONNECTING, self._timeout)),
            max_retries=0,
            http_client=http,
        )


def _checked(reply: Reply, kind: str) -> Reply:
    """Return an answer that says or wants something; ``kind`` is what the server calls it.

    Raises:
        ModelError: If it does neither.
    """
    if reply.text.strip() or reply.calls:
        return reply
    page = ("the server sent a web page, and no answer of a model", "not_found")
    other = page if kind.startswith("text/html") else ("the model said nothing", "malformed")
    raise ModelError(*_NOTHING.get(reply.finish, other))


def _bound(response: Any) -> None:  # noqa: ANN401 - of whichever httpx it is
    """Let no more be read of a response than allowed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise TooLongError("the server packed its answer, which was not asked for")
    read = response.iter_bytes

    def bounded(*how: Any, **more: Any) -> Iterator[bytes]:  # noqa: ANN401 - of whichever httpx it is
        count = 0
        for piece in read(*how, **more):
            count += len(piece)
            if count > LONGEST:
                raise TooLongError(f"the server sent more than {LONGEST // 1_000_000} MB")
            yield piece

    response.iter_bytes = bounded


# ---- where a model is ----

_OPENAI: Final = "https://api.openai.com/v1"
# Clients refuse to be made without a key, also for servers that want none.
_NO_KEY: Final = "none"


class AddressError(ValueError):
    """There is no such place: ``args[0]`` says why."""


class Address(NamedTuple):
    """Where a model is.

    Attributes:
        name: What it was called: ``ollama/llama3.2``.
        model: What its server calls it: ``llama3.2``.
        url: Where its server is.
        key: What is sent as the key, or ``""`` if one is needed and there is none.
        wanted: The environment variable that a key belongs into.
    """

    name: str
    model: str
    url: str
    key: str
    wanted: str

    @property
    def host(self) -> str:
        """Where its server is, as a person is told: without a password, or a path."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else f"{parts.hostname}"


def address_of(name: str, base_url: str, environment: Mapping[str, str]) -> Address:
    """Return where a model is.

    Args:
        name: Its name; ``openai/`` and ``ollama/`` before it say where it is if ``base_url`` does
            not, and are no part of the name that the server knows.
        base_url: Where its server is, or ``""``.
        environment: Of the process.

    Raises:
        AddressError: If that is no address, or nothing says where it is.

    >>> address_of("ollama/llama3.2", "", {})[:4]
    ('ollama/llama3.2', 'llama3.2', 'http://localhost:11434/v1', 'none')
    >>> address_of("gpt-5-mini", "", {"OPENAI_API_KEY": "k"}).host
    'api.openai.com'
    """
    kind, slash, rest = name.partition("/")
    model = rest if slash and kind in ("openai", "ollama") else name
    if not model.strip():
        raise AddressError("the model has no name; give one like ollama/llama3.2 or gpt-5-mini")
    if base_url or kind == "ollama":
        url = base_url or "http://localhost:11434/v1"
        _check(url, "--base-url")
        return Address(name, model, url, environment.get(KEY) or _NO_KEY, KEY)
    url = environment.get(OPENAI_URL, "").strip() or _OPENAI
    if url == _OPENAI and "/" in model:
        where = "say where it listens with --base-url. openai/… and ollama/… are known"
        raise AddressError(f"no server is known for {kind}/…; {where}")
    _check(url, OPENAI_URL)
    return Address(name, model, url, environment.get(OPENAI_KEY, ""), OPENAI_KEY)


def _check(url: str, what: str) -> None:
    try:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return
    except ValueError:
        pass
    raise AddressError(f"{what} is no address that begins with http:// or https://")


# ---- why there is no answer ----

_DEEPEST: Final = 20
_SHOWN: Final = 300
_NO_SUCH_KEY: Final = dict.fromkeys((401, 403), "unauthorized")
_STATUS: Final = _NO_SUCH_KEY | {404: "not_found", 408: "timeout", 429: "rate_limited"}
_SERVER_ERRORS: Final = 500
# Which httpx raised it, and how the package wrapped it, differs from version to version.
_BROKEN_OFF: Final = "the connection broke off in the middle of the answer"
_BY_NAME: Final = (
    (("Timeout",), "no answer in time", "timeout"),
    (("ConnectError",), "no connection to the server", "unreachable"),
    (("Connect", "Protocol", "ReadError", "WriteError"), _BROKEN_OFF, "unreachable"),
)
_NOT_UNDERSTOOD: Final = (400, 404, 422, 500)


class TooLongError(Exception):
    """A server sent more than any answer has, or for longer."""


def failure(error: BaseException) -> ModelError:
    """Return what an error of a client means."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        outcome = _STATUS.get(status, "server_error" if status >= _SERVER_ERRORS else "refused")
        return ModelError(f"the server answered {status}: {_reason(error)}", outcome)
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(causes) < _DEEPEST:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if too_long := next((each for each in causes if isinstance(each, TooLongError)), None):
        return ModelError(str(too_long), "failed")
    names = " ".join(type(each).__name__ for each in causes)
    for words, reason, outcome in _BY_NAME:
        if any(word in names for word in words):
            return ModelError(reason, outcome)
    if getattr(error, "body", None) is not None:
        return ModelError(f"the server broke off: {_reason(error)}", "server_error")
    if isinstance(error, ValueError):
        return ModelError(OUTCOMES["malformed"], "malformed")
    return ModelError(f"something went wrong ({type(error).__name__})", "failed")


def lacks(error: BaseException) -> str:
    """Return which part of a request a server does not understand: ``tools``, a count, or ``""``.

    Small models call no tools, and old servers do not count the tokens of a stream.
    """
    if getattr(error, "status_code", None) not in _NOT_UNDERSTOOD:
        return ""
    said = _reason(error).lower()
    if "stream_options" in said or "include_usage" in said:
        return "stream_options"
    is_about_tools = "tool" in said or "function call" in said
    return "tools" if is_about_tools and "support" in said else ""


def _reason(error: BaseException) -> str:
    """Return what a server says of an error; each has its own form for it."""
    told: object = getattr(error, "body", None)
    for _ in range(_DEEPEST):
        if not isinstance(told, dict):
            break
        told = next((told[key] for key in ("message", "error", "detail") if key in told), None)
    text = one_line(told) if isinstance(told, str) else ""
    # A page for a browser says nothing to a person here.
    if not text or text.startswith("<"):
        return "it gives no reason"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


# ---- an answer from its pieces ----

_MOST_CALLS: Final = 64
_MOST_TOKENS: Final = 10_000_000
_THINK: Final = "<think>"
_THOUGHT: Final = "</think>"


@dataclass(slots=True)
class _Call:
    """A call of which more may come."""

    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)


class Assembly:
    """Takes pieces as they come.

    >>> answer = Assembly()
    >>> answer.add({"choices": [{"delta": {"content": "Use "}}]})
    'Use '
    >>> answer.add({"choices": [{"delta": {"content": "uv"}, "finish_reason": "stop"}]})
    'uv'
    >>> answer.reply().text, answer.reply().finish
    ('Use uv', 'stop')
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._texts: list[str] = []
        self._calls: list[_Call] = []
        self._numbered: dict[object, _Call] = {}
        self._finish = ""
        self._tokens = (0, 0)
        # What may be a thought, until it is known; None once the answer has begun.
        self._held: str | None = ""

    def add(self, piece: object) -> str:
        """Take in a piece, and return what it adds to the text."""
        usage = _of(piece, "usage")
        there, back = _size(_of(usage, "prompt_tokens")), _size(_of(usage, "completion_tokens"))
        self._tokens = (there or self._tokens[0], back or self._tokens[1])
        choices = _of(piece, "choices")
        if not isinstance(choices, list) or not choices:
            return ""
        first = choices[0]
        self._finish = _text(_of(first, "finish_reason")) or self._finish
        delta = _of(first, "delta")
        calls = _of(delta, "tool_calls")
        for part in calls if isinstance(calls, list) else ():
            self._add_call(part)
        content = _of(delta, "content")
        blocks = [_of(block, "text") for block in content] if isinstance(content, list) else []
        said = "".join(map(_text, [*blocks, content, _of(delta, "refusal")]))
        return self._add_text(said)

    def end(self) -> str:
        """Take note that no more comes, and return what that adds to the text."""
        held, self._held = self._held or "", None
        left = "" if held.lstrip().startswith(_THINK) else held
        self._texts.append(left)
        return left

    def reply(self) -> Reply:
        """Return what came so far."""
        calls = tuple(ToolCall(each.id, each.name, "".join(each.parts)) for each in self._calls)
        return Reply("".join(self._texts), calls, self._finish, *self._tokens)

    def _add_text(self, text: str) -> str:
        """Take in a text, and return as much as belongs to the answer, without thoughts."""
        if self._held is not None:
            held = self._held + text
            head = held.lstrip()
            if head.startswith(_THINK):
                _, end, text = held.partition(_THOUGHT)
                # A thought may be long, and its end may come in pieces.
                self._held = None if end else _THINK + head[len(_THINK) :][-len(_THOUGHT) :]
            elif _THINK.startswith(head):
                self._held, text = held, ""  # It may become one.
            else:
                self._held, text = None, held
        self._texts.append(text)
        return text

    def _add_call(self, part: object) -> None:
        """Take in a part of a call: where it belongs its number says, or else its place."""
        name, number = _text(_of(part, "id")), _of(part, "index")
        function = _of(part, "function")
        place = number if isinstance(number, int) else None
        found = self._numbered.get(place)
        if place is None and _text(_of(function, "name")):
            found = None
        # Some servers call each of several calls the first one.
        if found is None or (name and found.id and name != found.id):
            if len(self._calls) >= _MOST_CALLS:
                return
            found = _Call()
            self._calls.append(found)
        self._numbered[place] = found
        found.id = found.id or name
        found.name = found.name or _text(_of(function, "name"))
        found.parts.append(_text(_of(function, "arguments")))


def _of(value: object, key: str) -> Any:  # noqa: ANN401 - whatever a server sends
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MOST_TOKENS)

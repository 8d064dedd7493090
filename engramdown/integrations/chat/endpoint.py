"""A model behind OpenAI's chat completions, with streamed answers.

The package ``openai`` is loaded with the first question. Redirects are not followed, and the size
and the duration of an answer are limited. Every failure is a :class:`engramdown.errors.ModelError`
with one line for a person, without a key, an address or an error of another program. Abandoning a
question closes its connection.

The key of a provider is sent to that provider alone, or to the address in the person's own
environment. No piece of an answer from a server raises an exception; thoughts before the answer, in
``<think>``, are not part of it.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from engramdown.errors import ModelError
from engramdown.models import OUTCOMES, TooLongError, bound, is_address, reason_of, refusal_of

# Environment variables: the key of one's own server, OpenAI's key, and the address for that key.
KEY: Final = "ENGRAMDOWN_MODEL_KEY"
OPENAI_KEY: Final = "OPENAI_API_KEY"
OPENAI_URL: Final = "OPENAI_BASE_URL"

# Called with each piece of a text as it comes.
Heard = Callable[[str], object]

_CONNECTING: Final = 10.0
_LONGEST_SECONDS: Final = 900.0
_NOTHING: Final = {
    "length": ("the answer was cut off before it said anything", "truncated"),
    "content_filter": ("the provider held the answer back", "refused"),
}


def is_installed() -> bool:
    """Return whether the required package is installed, without loading it."""
    return importlib.util.find_spec("openai") is not None


@dataclass(slots=True)
class ToolCall:
    """A call of a tool by the model, of which more may come while it answers.

    Attributes:
        id: The server's id of the call, or ``""``.
        name: The name of the tool.
        arguments: The text of the model, normally JSON.
    """

    id: str = ""
    name: str = ""
    arguments: str = ""


class Reply(NamedTuple):
    """One answer of a model.

    Attributes:
        text: Its text.
        calls: Its calls of tools.
        finish: Why it stopped, or ``""`` if it was cut off.
        tokens_in: Tokens of the prompt, or 0 if the server does not count.
        tokens_out: Tokens of the answer, likewise.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Endpoint:
    """A model and its server.

    Attributes:
        address: The model and its address.
        lacking: Request fields that the server does not understand: ``tools``, ``stream_options``.
    """

    def __init__(self, address: Address, timeout: float = 120) -> None:
        """Name a model; ``timeout`` is the longest wait for the next piece, in seconds."""
        self.address = address
        self.lacking: set[str] = set()
        self._timeout = timeout
        self._client: Any = None

    def warm_up(self) -> None:
        """Load the package for the first question, without connecting."""
        import openai  # noqa: F401 - loaded early, used later

    def ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], heard: Heard
    ) -> Reply:
        """Return an answer.

        Args:
            messages: The prompt, as chat completions take it.
            tools: The tools for the model, likewise.
            heard: Called with each piece of the text as it comes.

        Raises:
            ModelError: If there is no answer.
        """
        while True:
            try:
                return self._asked(messages, tools, heard)
            except ModelError:
                raise
            except Exception as error:  # the package raises any kind of error over bad answers
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
            more["stream_options"] = {"include_usage": True}
        client = self._client = self._client or self._made()
        answer = Assembly()
        began = time.monotonic()
        # In the extra body: the package would search each of a thousand messages for fields to
        # convert, which takes longer than all our work.
        stream = client.chat.completions.create(
            model=self.address.model, messages=[], stream=True, extra_body=more
        )
        try:
            for chunk in stream:
                to_dict = getattr(chunk, "to_dict", None)
                # The package does not validate pieces.
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
        bound(http)
        return openai.OpenAI(
            api_key=self.address.key or _NO_KEY,
            base_url=self.address.url,
            timeout=openai.Timeout(self._timeout, connect=min(_CONNECTING, self._timeout)),
            max_retries=0,
            http_client=http,
        )


def _checked(reply: Reply, kind: str) -> Reply:
    """Return an answer with a text or calls; ``kind`` is its content type.

    Raises:
        ModelError: If it has neither.
    """
    if reply.text.strip() or reply.calls:
        return reply
    page = ("the server sent a web page instead of an answer", "not_found")
    other = page if kind.startswith("text/html") else ("the model said nothing", "malformed")
    raise ModelError(*_NOTHING.get(reply.finish, other))


# ---- addresses ----

_OPENAI: Final = "https://api.openai.com/v1"
# A client needs a key, even for a server that does not.
_NO_KEY: Final = "none"


class AddressError(ValueError):
    """An address is wrong: ``args[0]`` says why."""


class Address(NamedTuple):
    """The address of a model.

    Attributes:
        name: Its name for a person: ``ollama/llama3.2``.
        model: Its name on the server: ``llama3.2``.
        url: The address of the server.
        key: The key to send, or ``""`` if a required one is missing.
        wanted: The environment variable for a key.
    """

    name: str
    model: str
    url: str
    key: str
    wanted: str

    @property
    def host(self) -> str:
        """The server's host and port, for a person."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else f"{parts.hostname}"


def address_of(name: str, base_url: str, environment: Mapping[str, str]) -> Address:
    """Return the address of a model.

    Args:
        name: Its name; a prefix ``openai/`` or ``ollama/`` selects the server unless ``base_url``
            does, and is not part of the name on the server.
        base_url: The address of the server, or ``""``.
        environment: The environment variables.

    Raises:
        AddressError: If the address is wrong or missing.

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
    if not is_address(url):
        raise AddressError(f"{what} must be an address that begins with http:// or https://")


# ---- failures ----

_NOT_FOUND: Final = 404
_NOT_UNDERSTOOD: Final = (400, 404, 422, 500)


def failure(error: BaseException) -> ModelError:
    """Return the meaning of an error of a client."""
    if refusal := refusal_of(error):
        is_missing = getattr(error, "status_code", None) == _NOT_FOUND
        outcome = "not_found" if is_missing else refusal.outcome
        return ModelError(refusal.reason or OUTCOMES[outcome], outcome)
    if getattr(error, "body", None) is not None:
        return ModelError(f"the server broke off: {reason_of(error)}", "server_error")
    if isinstance(error, ValueError):
        return ModelError(OUTCOMES["malformed"], "malformed")
    return ModelError(f"something went wrong ({type(error).__name__})", "failed")


def lacks(error: BaseException) -> str:
    """Return the field that a server does not understand: ``tools``, ``stream_options``, or ``""``.

    Small models cannot call tools, and old servers do not count the tokens of a stream.
    """
    if getattr(error, "status_code", None) not in _NOT_UNDERSTOOD:
        return ""
    said = reason_of(error).lower()
    if "stream_options" in said or "include_usage" in said:
        return "stream_options"
    is_about_tools = "tool" in said or "function call" in said
    return "tools" if is_about_tools and "support" in said else ""


# ---- an answer from its pieces ----

_MOST_CALLS: Final = 64
_MOST_TOKENS: Final = 10_000_000
_THINK: Final = "<think>"
_THOUGHT: Final = "</think>"


class Assembly:
    """Builds an answer from its pieces.

    >>> answer = Assembly()
    >>> answer.add({"choices": [{"delta": {"content": "Use "}}]})
    'Use '
    >>> answer.add({"choices": [{"delta": {"content": "uv"}, "finish_reason": "stop"}]})
    'uv'
    >>> answer.reply().text, answer.reply().finish
    ('Use uv', 'stop')
    """

    def __init__(self) -> None:
        """Begin an empty answer."""
        self._texts: list[str] = []
        self._calls: list[ToolCall] = []
        self._numbered: dict[object, ToolCall] = {}
        self._finish = ""
        self._tokens = (0, 0)
        # Text that may be a thought; None once the answer has begun.
        self._held: str | None = ""

    def add(self, piece: object) -> str:
        """Add a piece, and return its text."""
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
        """End the answer, and return the text that was held back."""
        held, self._held = self._held or "", None
        left = "" if held.lstrip().startswith(_THINK) else held
        self._texts.append(left)
        return left

    def reply(self) -> Reply:
        """Return the answer so far."""
        return Reply("".join(self._texts), tuple(self._calls), self._finish, *self._tokens)

    def _add_text(self, text: str) -> str:
        """Add a text, and return the part that belongs to the answer, without thoughts."""
        if self._held is not None:
            held = self._held + text
            head = held.lstrip()
            if head.startswith(_THINK):
                _, end, text = held.partition(_THOUGHT)
                # Only the end of a long thought is held: its end tag may come in pieces.
                self._held = None if end else _THINK + head[len(_THINK) :][-len(_THOUGHT) :]
            elif _THINK.startswith(head):
                self._held, text = held, ""  # It may become a thought.
            else:
                self._held, text = None, held
        self._texts.append(text)
        return text

    def _add_call(self, part: object) -> None:
        """Add a part of a call, which its number or else its order assigns to a call."""
        name, number = _text(_of(part, "id")), _of(part, "index")
        function = _of(part, "function")
        place = number if isinstance(number, int) else None
        call = self._numbered.get(place)
        if place is None and _text(_of(function, "name")):
            call = None
        # Some servers give several calls the same number.
        if call is None or (name and call.id and name != call.id):
            if len(self._calls) >= _MOST_CALLS:
                return
            call = ToolCall()
            self._calls.append(call)
        self._numbered[place] = call
        call.id = call.id or name
        call.name = call.name or _text(_of(function, "name"))
        call.arguments += _text(_of(function, "arguments"))


def _of(value: object, key: str) -> Any:  # noqa: ANN401 - whatever a server sends
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MOST_TOKENS)

"""A model behind OpenAI's chat completions, asked in a stream.

Promises: the package ``openai`` is loaded with the first question and not before; a redirect leads
nowhere; no more of an answer is read than any answer has, and none for longer than allowed; what
goes wrong is one :class:`engramdown.errors.ModelError`. When a question is given up, its connection
is closed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from engramdown.errors import ModelError
from engramdown.integrations.chat.address import Address
from engramdown.integrations.chat.failures import TooLongError, failure, lacks
from engramdown.integrations.chat.pieces import Assembly, Heard, Reply

__all__ = ["LONGEST", "Endpoint", "is_installed"]

LONGEST: Final = 4_000_000
"""So many bytes of an answer are read at most."""

_CONNECTING: Final = 10.0
_LONGEST_SECONDS: Final = 900.0
_COUNTED: Final = {"stream_options": {"include_usage": True}}


def is_installed() -> bool:
    """Return whether the package that this needs is there, without loading it."""
    return importlib.util.find_spec("openai") is not None


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
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]],
        heard: Heard,
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
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]],
        heard: Heard,
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
                said = answer.add(_plain(chunk))
                if said:
                    heard(said)
                if time.monotonic() - began > _LONGEST_SECONDS:
                    raise TooLongError(f"the answer took more than {_LONGEST_SECONDS:g} seconds")
        finally:
            stream.close()
        left = answer.end()
        if left:
            heard(left)
        return _whole(answer.reply(), stream.response.headers.get("content-type", ""))

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


def _whole(reply: Reply, kind: str) -> Reply:
    """Return an answer that says or wants something; ``kind`` is what the server calls it.

    Raises:
        ModelError: If it does neither.
    """
    if reply.text.strip() or reply.calls:
        return reply
    if reply.finish == "length":
        raise ModelError("the answer was cut off before it said anything", "truncated")
    if reply.finish == "content_filter":
        raise ModelError("the provider held the answer back", "refused")
    if kind.startswith("text/html"):
        raise ModelError("the server sent a web page, and no answer of a model", "not_found")
    raise ModelError("the model said nothing", "malformed")


def _plain(chunk: Any) -> object:  # noqa: ANN401 - a model of the package, or whatever came instead
    """Return a piece as what JSON holds; the package takes it in without looking at it."""
    to_dict = getattr(chunk, "to_dict", None)
    return chunk if to_dict is None else to_dict(mode="python", warnings=False)


def _bound(response: Any) -> None:  # noqa: ANN401 - of whichever httpx it is
    """Let no more be read of a response than allowed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise TooLongError("the server packed its answer, which was not asked for")
    response.iter_bytes = _bounded(response.iter_bytes)


def _bounded(read: Callable[..., Iterator[bytes]]) -> Callable[..., Iterator[bytes]]:
    """Return what reads as ``read`` does, and ends with an error where too much comes."""

    def bounded(*how: Any, **more: Any) -> Iterator[bytes]:  # noqa: ANN401 - of whichever httpx it is
        count = 0
        for piece in read(*how, **more):
            count += len(piece)
            if count > LONGEST:
                raise TooLongError(f"the server sent more than {LONGEST // 1_000_000} MB")
            yield piece

    return bounded

"""The clients of providers, as instructor wants them.

Promises: a redirect leads a client nowhere; a key of a provider is sent to that provider alone;
no more of an answer is read than any answer has, packed or not; an error quotes no ``base_url``,
which may hold a password.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from engramdown.consolidation.asking.outcomes import TooLongError

__all__ = ["KEY", "LONGEST", "client_of", "is_openai", "missing"]

KEY: Final = "ENGRAMDOWN_MODEL_KEY"
"""The environment variable of the key for a server of one's own."""

LONGEST: Final = 4_000_000
"""So many bytes of a response are read at most: several times the longest answer."""

_EXTRAS: Final = {"openai": "openai", "ollama": "openai", "anthropic": "anthropic"}
_OLLAMA: Final = "http://localhost:11434/v1"
_GZIP_OR_ZLIB: Final = 32  # told by the first bytes
_OPENAI: Final = "https://api.openai.com/"
# Clients refuse to be made without a key, also for servers that want none.
_NO_KEY: Final = "none"
# What was true of the bytes on the wire, and is not of those that were read.
_OF_THE_WIRE: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def client_of(name: str, base_url: str, timeout: float, heard: Callable[[], object]) -> Any:  # noqa: ANN401 - instructor says no more
    """Return instructor's client for a model.

    Args:
        name: The provider and the model, with a slash between.
        base_url: Where it is, if not at its provider.
        timeout: How long a call may take, in seconds.
        heard: Told when the server has sent a whole response, if it is one of a provider that
            has an extra.

    Raises:
        ImportError: If the package of the provider is not installed.
        ValueError: If there is no such provider, or no such place.
        Exception: Whatever else a package raises that cannot be used.
    """
    import instructor

    kind, _, model = name.partition("/")
    if kind not in _EXTRAS:
        if base_url:
            kinds = ", ".join(f"{each}/…" for each in _EXTRAS)
            raise ValueError(f"base_url goes with {kinds} only")
        client = instructor.from_provider(name)
        _tame(getattr(client, "client", None), timeout, heard)
        return client
    url = base_url or (_OLLAMA if kind == "ollama" else "")
    if url and not _is_address(url):
        raise ValueError("base_url is no address that begins with http:// or https://")
    sdk = importlib.import_module(_EXTRAS[kind])
    http = sdk.DefaultHttpxClient()
    _hold(http, heard)
    raw = (sdk.Anthropic if kind == "anthropic" else sdk.OpenAI)(
        # A key in the environment is its provider's, and goes to no other server.
        api_key=(os.environ.get(KEY) or _NO_KEY) if url else None,
        base_url=url or None,
        timeout=timeout,
        max_retries=0,
        http_client=http,
    )
    if kind == "anthropic":
        return instructor.from_anthropic(raw, model=model)
    # Not every model that runs at home can call tools; all can be asked for JSON.
    mode = instructor.Mode.JSON if kind == "ollama" else instructor.Mode.TOOLS
    return instructor.from_openai(raw, mode=mode, model=model)


def is_openai(name: str, client: Any) -> bool:  # noqa: ANN401 - as above
    """Whether it is OpenAI itself that is asked, which calls the ceiling by another name."""
    return name.startswith("openai/") and str(client.client.base_url).startswith(_OPENAI)


def missing(name: str, error: ImportError) -> str:
    """Return which package the provider of a model needs, in one line."""
    extra = _EXTRAS.get(name.partition("/")[0])
    if extra is None:
        return str(error)
    return f"{extra} is not installed; run pip install 'engramdown[{extra}]'"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _tame(raw: Any, seconds: float, heard: Callable[[], object]) -> None:  # noqa: ANN401 - any provider's client
    """Hold the client of a package that we do not know to what we promise, as far as it can be.

    It neither tries again by itself nor waits for longer than we do; and if it is one of the many
    that stand on an httpx client, it follows no redirect and reads no more than ours do.
    """
    for key, value in (("max_retries", 0), ("timeout", seconds)):
        if hasattr(raw, key):
            setattr(raw, key, value)
    http: Any = getattr(raw, "_client", None)
    if hasattr(http, "follow_redirects") and hasattr(http, "send"):
        _hold(http, heard)


def _hold(http: Any, heard: Callable[[], object]) -> None:  # noqa: ANN401 - of whichever httpx it is
    """Let an httpx client follow no redirect, and read no more than allowed."""
    http.follow_redirects = False
    http.headers["accept-encoding"] = "gzip"
    http.send = _bounded(http.send, heard)


def _bounded(send: Callable[..., Any], heard: Callable[[], object]) -> Callable[..., Any]:
    """Return what sends a request as ``send`` does, and reads no more of a response than allowed.

    A packed body is unpacked here, within the same bound: a small one could fill the memory, too.
    """

    def bounded(request: Any, **how: Any) -> Any:  # noqa: ANN401 - of whichever httpx it is
        response = send(request, **{**how, "stream": True})
        try:
            body = _read(response)
        finally:
            response.close()
        heard()
        kept = [pair for pair in response.headers.items() if pair[0].lower() not in _OF_THE_WIRE]
        return type(response)(response.status_code, headers=kept, content=body, request=request)

    return bounded


def _read(response: Any) -> bytes:  # noqa: ANN401 - as above
    packed = response.headers.get("content-encoding", "identity") != "identity"
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | _GZIP_OR_ZLIB)
    body = bytearray()
    for raw in response.iter_raw():
        room = LONGEST + 1 - len(body)
        body += unpacking.decompress(raw, room) if packed else raw
        if len(body) > LONGEST:
            raise TooLongError(f"the server sent more than {LONGEST // 1_000_000} MB")
    return bytes(body)

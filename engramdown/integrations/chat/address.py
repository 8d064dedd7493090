"""Which model is asked, where, and with which key.

Promises: pure; the key of a provider goes to that provider alone, or to where the person's own
environment sends it; an address is told without what may be a password in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

__all__ = ["KEY", "OPENAI_KEY", "OPENAI_URL", "Address", "AddressError", "address_of"]

KEY: Final = "ENGRAMDOWN_MODEL_KEY"
"""The environment variable of the key for a server of one's own."""
OPENAI_KEY: Final = "OPENAI_API_KEY"
"""That of OpenAI's key."""
OPENAI_URL: Final = "OPENAI_BASE_URL"
"""That of an address which a person set for all programs, together with that key."""

_OPENAI: Final = "https://api.openai.com/v1"
_OLLAMA: Final = "http://localhost:11434/v1"
# Clients refuse to be made without a key, also for servers that want none.
_NO_KEY: Final = "none"
_PROTOCOLS: Final = ("openai", "ollama")


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
    model = rest if slash and kind in _PROTOCOLS else name
    if not model.strip():
        raise AddressError("the model has no name; give one like ollama/llama3.2 or gpt-5-mini")
    if base_url or kind == "ollama":
        url = base_url or _OLLAMA
        _check(url, "--base-url")
        return Address(name, model, url, environment.get(KEY) or _NO_KEY, KEY)
    url = environment.get(OPENAI_URL, "").strip() or _OPENAI
    if url == _OPENAI and "/" in model:
        raise AddressError(
            f"no server is known for {kind}/…; say where it listens with --base-url. "
            "openai/… and ollama/… are known"
        )
    _check(url, OPENAI_URL)
    return Address(name, model, url, environment.get(OPENAI_KEY, ""), OPENAI_KEY)


def _check(url: str, what: str) -> None:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise AddressError(f"{what} is no address that begins with http:// or https://")

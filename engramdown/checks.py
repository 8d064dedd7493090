"""What one value of a configuration may be.

Promises: each check returns the value, as it is to be used, or raises a
:class:`engramdown.errors.SettingsError` that names where it stands and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from engramdown.errors import SettingsError

__all__ = [
    "Check",
    "amount",
    "boolean",
    "count",
    "model_of",
    "one_of",
    "patterns",
    "positive",
    "provider_model",
    "switch",
    "table",
    "text",
    "tokens",
    "web_address",
]

Check = Callable[[str, str, Any], Any]
"""Is given the source, the key and the value."""

_ADDRESS: Final = re.compile(r"https?://[^\s/]+(?:/\S*)?\Z")
# More seconds, or more megabytes, nobody means.
_LARGEST: Final = 1_000_000


def one_of(*allowed: str) -> Check:
    """Return the check for a word of a closed list."""

    def check(source: str, key: str, value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise SettingsError(source, key, f"{value!r} is not one of {', '.join(allowed)}")
        return value

    return check


def table(checks: Mapping[str, Check], like: str, what: str) -> Check:
    """Return the check for a table.

    Args:
        checks: The check for each of its keys.
        like: Its head, as one writes it.
        what: What a key is called.
    """

    def check(source: str, key: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise SettingsError(source, key, f"{value!r} is not a table like {like}")
        for name in value:
            if name not in checks:
                reason = f"is no {what}; allowed are {', '.join(checks)}"
                raise SettingsError(source, f"{key}.{name}", reason)
        return {name: checks[name](source, f"{key}.{name}", value[name]) for name in value}

    return check


def switch(source: str, key: str, value: str) -> bool:
    """Check the value of an environment variable: on or off."""
    return bool(one_of("on", "off")(source, key, value.lower()) == "on")


def boolean(source: str, key: str, value: object) -> bool:
    """Check for true or false."""
    if not isinstance(value, bool):
        raise SettingsError(source, key, f"{value!r} is not true or false")
    return value


def count(source: str, key: str, value: object) -> int:
    """Check for a whole number, 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise SettingsError(source, key, f"{value!r} is not a whole number, 0 to {_LARGEST:,}")
    return value


def amount(source: str, key: str, value: object) -> float:
    """Check for a number, 0 or more."""
    if not _is_number(value) or not 0 <= cast(float, value) <= _LARGEST:
        raise SettingsError(source, key, f"{value!r} is not a number, 0 to {_LARGEST:,}")
    return float(cast(float, value))


def text(source: str, key: str, value: object) -> str:
    """Check for a text."""
    if not isinstance(value, str):
        raise SettingsError(source, key, f"{value!r} is not a text in quotes")
    return value


def positive(source: str, key: str, value: object) -> float:
    """Check for a number above 0."""
    if not _is_number(value) or not 0 < cast(float, value) <= _LARGEST:
        raise SettingsError(source, key, f"{value!r} is not a number above 0, up to {_LARGEST:,}")
    return float(cast(float, value))


def model_of(*kinds: str) -> Check:
    """Return the check for a model with its kind before it, ``kind:model``, or nothing."""

    def check(source: str, key: str, value: object) -> str:
        if isinstance(value, str) and (not value or _named(value, kinds)):
            return value
        like = ", ".join(f"{kind}:MODEL" for kind in kinds)
        raise SettingsError(source, key, f"{value!r} is not one of {like}")

    return check


def provider_model(source: str, key: str, value: object) -> str:
    """Check for a language model with its provider before it, or nothing."""
    provider, _, model = value.partition("/") if isinstance(value, str) else ("", "", "")
    if value == "" or (provider.strip() and model.strip()):
        return str(value)
    reason = f"{value!r} is not PROVIDER/MODEL, like openai/gpt-4.1-mini or ollama/qwen3"
    raise SettingsError(source, key, reason)


def web_address(source: str, key: str, value: object) -> str:
    """Check for an address that begins with http:// or https://, or nothing."""
    if isinstance(value, str) and (not value or _ADDRESS.match(value)):
        return value
    raise SettingsError(source, key, "is not an address like http://localhost:8080/v1")


def patterns(source: str, key: str, value: object) -> tuple[str, ...]:
    """Check for a list of texts that are not empty."""
    if isinstance(value, list) and all(isinstance(each, str) and each for each in value):
        return tuple(value)
    raise SettingsError(source, key, f'{value!r} is not a list like ["cron-*"]')


def tokens(source: str, key: str, value: object) -> int:
    """Check for a number of tokens."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(source, key, f"{value!r} is not a number of tokens, 0 or more")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(value: str, kinds: Sequence[str]) -> bool:
    kind, _, model = value.partition(":")
    return kind in kinds and bool(model.strip())

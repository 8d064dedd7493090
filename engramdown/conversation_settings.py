"""What can be set about running conversations, in the table ``[conversation]``.

Promises: nothing here reads a file; each value is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from engramdown.checks import Check, boolean, count
from engramdown.errors import SettingsError

__all__ = ["CONVERSATION_SETTINGS", "ConversationSettings"]

_LARGEST: Final = 100_000_000


class ConversationSettings(NamedTuple):
    """What can be set about running conversations, in the table ``[conversation]``.

    Attributes:
        automatic: Whether a conversation whose prompt is put together here is summarised when it is
            time for that.
        max_tokens: What it may cost before it is; 0 is the default, -1 is never of its own accord.
        share: Of the budget of a prompt, what it may fill before it is; more than 0, at most 1.
        max_messages: How many of its messages no summary must cover for that; 0 is any number.
        fresh_tail: How many of the newest messages are never summarised.
    """

    automatic: bool = True
    max_tokens: int = 80_000
    share: float = 0.75
    max_messages: int = 30
    fresh_tail: int = 20


def _limit(source: str, key: str, value: Any) -> int:  # noqa: ANN401 - whatever TOML holds
    if not isinstance(value, int) or isinstance(value, bool) or not -1 <= value <= _LARGEST:
        allowed = f"a whole number up to {_LARGEST:,}, 0 for the default or -1 for never"
        raise SettingsError(source, key, f"{value!r} is not {allowed}")
    return value or ConversationSettings().max_tokens


def _share(source: str, key: str, value: Any) -> float:  # noqa: ANN401 - whatever TOML holds
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:
        raise SettingsError(source, key, f"{value!r} is not more than 0 and at most 1")
    return float(value)


CONVERSATION_SETTINGS: Final[Mapping[str, Check]] = {
    "automatic": boolean,
    "max_tokens": _limit,
    "share": _share,
    "max_messages": count,
    "fresh_tail": count,
}
"""Each setting of the table, with what checks it."""

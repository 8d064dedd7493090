"""The messages of pydantic-ai as JSON, and back, whatever a program put into them.

Promises: never raises for what a message holds. What no JSON can say is said as a text; what is too
deep is cut off; a message that somebody made unreadable hides no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from engramdown.episodes.episode import words
from engramdown.integrations.history import as_json, cut_off, readable

__all__ = ["messages_from", "written"]

# What a program may put anything into.
_FREE: Final = ("args", "content", "metadata", "provider_details")


def written(messages: Iterable[ModelMessage]) -> list[dict[str, Any]]:
    """Return messages as JSON, without the instructions that every run has of its own."""
    found = [cut_off(_dumped(each)) for each in messages]
    for each in found:
        each.pop("instructions", None)
    return found


def messages_from(values: Iterable[dict[str, Any]]) -> list[ModelMessage]:
    """Return the messages that values say; what says none is left out."""
    texts = [readable(each) for each in values]
    try:
        return _loaded(f"[{','.join(texts)}]")
    except ValidationError:
        return [message for text in texts for message in _if_any(text)]


def _if_any(text: str) -> list[ModelMessage]:
    try:
        return _loaded(f"[{text}]")
    except ValidationError:
        return []


def _loaded(text: str) -> list[ModelMessage]:
    # Half a pair of surrogates, which a model leaves of an emoji, is refused with all the rest.
    return ModelMessagesTypeAdapter.validate_json(text.encode("utf-8", "replace"))


def _dumped(message: ModelMessage) -> dict[str, Any]:
    try:
        return _as_it_is(message)
    except (ValueError, TypeError, RecursionError):
        changed: Any = message
        return _as_it_is(replace(changed, parts=[_sayable(part) for part in message.parts]))


def _as_it_is(message: ModelMessage) -> dict[str, Any]:
    (found,) = ModelMessagesTypeAdapter.dump_python(
        [message], mode="json", fallback=words, warnings=False
    )
    whole: dict[str, Any] = found
    return whole


def _sayable(part: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a part in which everything can be said."""
    free = {name: getattr(part, name, None) for name in _FREE}
    return replace(
        part,
        **{
            name: _plain(value) for name, value in free.items() if not isinstance(value, str | None)
        },
    )


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    try:
        return as_json(value, words)
    except (ValueError, TypeError):
        return words(value)

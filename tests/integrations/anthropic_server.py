"""A server on this machine that speaks Anthropic's Messages protocol as it is told to.

Promises: each request gets the next of the answers that were given; what was asked is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.consolidation.wire import Wire, http, wired

__all__ = ["calls", "results", "says", "serving"]


def calls(*inputs: object) -> bytes:
    """Return a message that calls the memory tool with each of ``inputs``."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{at}", "name": "memory", "input": each}
        for at, each in enumerate(inputs)
    ]
    return http(_message(blocks, "tool_use"))


def says(text: str) -> bytes:
    """Return a message of some words."""
    return http(_message([{"type": "text", "text": text}], "end_turn"))


@contextmanager
def serving(*answers: bytes) -> Iterator[Wire]:
    """Serve ``answers``; the address is the one for ``ANTHROPIC_BASE_URL``."""
    with wired(*answers) as wire:
        yield wire._replace(url=wire.url.removesuffix("/v1"))


def results(request: Any) -> list[tuple[str, bool]]:  # noqa: ANN401 - JSON
    """Return what the tool answered in the last message of a request, and whether as an error."""
    found = []
    for block in request["messages"][-1]["content"]:
        content = block["content"]
        text = content if isinstance(content, str) else "".join(each["text"] for each in content)
        found.append((text, bool(block.get("is_error"))))
    return found


def _message(content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "small",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }

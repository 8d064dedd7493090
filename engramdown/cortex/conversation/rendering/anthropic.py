"""A prompt as Anthropic's messages.

Promises: pure; :func:`~engramdown.cortex.conversation.rendering.validating.check_anthropic` has no
complaint: the two sides take turns, the user begins, and results stand at the beginning of the
message right behind their calls. What is added behind a conversation changes no block before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engramdown.cortex.conversation.rendering.pairing import Answered, steps
from engramdown.cortex.conversation.rendering.words import EMPTY, GOES_ON, SYSTEM
from engramdown.cortex.conversation.shown import Shown

__all__ = ["anthropic_request"]

_Block = dict[str, Any]


def anthropic_request(system: str, lines: Sequence[Shown], aside: str = "") -> dict[str, Any]:
    """Return a prompt as the ``system`` and the ``messages`` of a request.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes behind it, or ``""``.

    >>> anthropic_request("", [Shown(1, "user", "Hello")])
    {'system': [], 'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hello'}]}]}
    """
    before = [_text(system)] if system else []
    messages: list[dict[str, Any]] = []

    def add(role: str, blocks: Iterable[_Block]) -> None:
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": [_text(GOES_ON)]})
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].extend(blocks)

    for step in steps(lines):
        if step.role == "system" and not messages:
            before += map(_text, step.texts)
        elif step.role == "system":
            add("user", [_text(f"{SYSTEM}\n{text}") for text in step.texts])
        else:
            # A request that ends with words of the assistant may not end with white space.
            add(step.role, [*map(_text, map(str.rstrip, step.texts)), *map(_use, step.calls)])
        if step.calls:
            add("user", map(_result, step.calls))
    if aside or not messages:
        add("user", [_text(aside or EMPTY)])
    return {"system": before, "messages": messages}


def _text(text: str) -> _Block:
    return {"type": "text", "text": text}


def _use(call: Answered) -> _Block:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.given}


def _result(call: Answered) -> _Block:
    block: _Block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
    return {**block, "is_error": True} if call.error else block

"""A prompt as the messages of OpenAI's chat completions, which many others take too.

Promises: pure; :func:`~engramdown.cortex.conversation.rendering.validating.check_openai` has no
complaint. What is added behind a conversation changes no message before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engramdown.cortex.conversation.rendering.pairing import Answered, Step, steps
from engramdown.cortex.conversation.rendering.words import EMPTY, FAILED
from engramdown.cortex.conversation.shown import Shown

__all__ = ["openai_messages"]


def openai_messages(system: str, lines: Sequence[Shown], aside: str = "") -> list[dict[str, Any]]:
    """Return a prompt as messages.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes behind it, or ``""``.

    >>> openai_messages("Be brief.", [Shown(1, "user", "Hello")])
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hello'}]
    """
    made: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for step in steps(lines):
        made.extend(_messages(step))
    if aside:
        made.append({"role": "user", "content": aside})
    return made or [{"role": "user", "content": EMPTY}]


def _messages(step: Step) -> Iterator[dict[str, Any]]:
    said = "\n\n".join(step.texts)
    if not step.calls:
        yield {"role": step.role, "content": said}
        return
    yield {"role": "assistant", "content": said or None, "tool_calls": _calls(step.calls)}
    for call in step.calls:
        text = f"{FAILED}\n{call.result}" if call.error else call.result
        yield {"role": "tool", "tool_call_id": call.id, "content": text}


def _calls(calls: Iterable[Answered]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": json.dumps(call.given, ensure_ascii=False),
            },
        }
        for call in calls
    ]

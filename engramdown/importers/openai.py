"""Reads chat-completions messages: JSONL with a conversation or with a message on each line.

A line ``{"messages": […]}`` is a conversation; equal lines are the same one. Lines ``{"role": …,
"content": …}`` together are one conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from engramdown.importers.records import (
    Conversation,
    Fields,
    Item,
    Message,
    Record,
    Skipped,
    Source,
    content_text,
    digest,
    tool_call,
)
from engramdown.transcripts import as_text

_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool_result",
    "function": "tool_result",
}
_TIMES: Final = ("timestamp", "created_at", "created", "create_time", "ts", "time", "date")


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, dict):
        return False
    has_content = "content" in value or "tool_calls" in value
    is_message = isinstance(value.get("role"), str) and has_content
    return is_message or isinstance(value.get("messages"), list)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    begun = False
    for record in records:
        if not _knows(record.value):
            yield Skipped(record.line, "is neither a conversation nor a message", damaged=True)
            continue
        value = Fields(record.value)
        at = value.time(*_TIMES)
        if not isinstance(value.get("messages"), list):
            if not begun:
                begun = True
                yield Conversation(at=at)
            said = Message(origin=f"@{record.offset}", at=at, role="", text="")
            yield from _message(record.line, said, value)
            continue
        own, title = value.text("id", "custom_id", "conversation_id"), value.text("title")
        key, meta = digest(as_text(value)), {"id": own} if own else {}
        yield Conversation(
            key=key, everywhere=True, whole=True, id=own, at=at, title=title, meta=meta
        )
        for place, message in enumerate(value.list("messages")):
            inner = Fields({"model": value.text("model"), **message})
            said = Message(origin=f"@{place}", at=inner.time(*_TIMES), role="", text="", key=key)
            yield from _message(record.line, said, inner)


def _message(line: int, said: Message, message: Fields) -> Iterator[Item]:
    role, content = _ROLES.get(message.text("role")), message.get("content")
    if role is None:
        yield Skipped(line, "message of an unknown role", damaged=True)
        return
    text = message.text("refusal") if content is None else content_text(content)
    model = message.text("model") if role == "assistant" else ""
    said = replace(said, origin=message.text("id") or said.origin, model=model)
    if text or role == "tool_result":
        name, call = message.text("name"), message.text("tool_call_id")
        yield replace(said, role=role, text=text, name=name, call=call)
    calls, old = message.list("tool_calls"), message.fields("function_call")
    for number, each in enumerate([*calls, Fields({"function": old})] if old else calls):
        function = each.fields("function") or each.fields("custom")
        here = replace(said, origin=f"{said.origin}/{number}")
        arguments = function.get("arguments", function.get("input"))
        yield tool_call(here, function.text("name"), arguments, each.text("id"))


OPENAI: Final = Source("openai", "OpenAI chat completions", _knows, _read)

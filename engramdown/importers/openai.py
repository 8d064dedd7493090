"""Reads chat-completions messages: JSONL with a conversation or with a message on each line.

A line ``{"messages": […]}`` is a conversation; two lines that are equal are the same one. Lines
``{"role": …, "content": …}`` are together one conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from engramdown.importers.records import (
    FILE,
    Conversation,
    Item,
    Record,
    Said,
    Skipped,
    Source,
    content_text,
    digest,
    first_string,
    mapping,
    sequence,
    string,
    time_of,
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
_IDS: Final = ("id", "custom_id", "conversation_id")


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("messages"), list) or _is_message(value)


def _is_message(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("role"), str) and ("content" in value or "tool_calls" in value)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    begun = False
    for record in records:
        value = record.value
        if not _knows(value):
            yield Skipped(record.line, "is no conversation and no message", damaged=True)
        elif isinstance(value.get("messages"), list):
            yield from _conversation(record)
        else:
            if not begun:
                begun = True
                yield Conversation(at=_time(value))
            yield from _message(record.line, _said(record.offset), value)


def _conversation(record: Record) -> Iterator[Item]:
    value: Mapping[str, Any] = record.value
    key, at = digest(as_text(value)), _time(value)
    own = first_string(value, _IDS)
    model = string(value.get("model"))
    meta = {"id": own} if own else {}
    yield Conversation(
        key=key,
        everywhere=True,
        whole=True,
        id=own,
        at=at,
        title=string(value.get("title")),
        meta=meta,
    )
    for place, message in enumerate(value["messages"]):
        inner = {"model": model, **mapping(message)}
        yield from _message(record.line, _said(place, key), inner)


def _said(place: int, key: str = FILE) -> Said:
    return Said(origin=f"@{place}", at=None, role="", text="", key=key)


def _time(value: Mapping[str, Any]) -> datetime | None:
    found = (time_of(value.get(name)) for name in _TIMES)
    return next((at for at in found if at is not None), None)


def _message(line: int, said: Said, message: Mapping[str, Any]) -> Iterator[Item]:
    role = _ROLES.get(string(message.get("role")))
    if role is None:
        yield Skipped(line, "message of an unknown role", damaged=True)
        return
    content = message.get("content")
    text = string(message.get("refusal")) if content is None else content_text(content)
    said = replace(
        said,
        origin=string(message.get("id")) or said.origin,
        at=_time(message),
        model=string(message.get("model")) if role == "assistant" else "",
    )
    if text or role == "tool_result":
        yield replace(
            said,
            role=role,
            text=text,
            name=string(message.get("name")),
            call=string(message.get("tool_call_id")),
        )
    for number, call in enumerate(_calls(message)):
        function = mapping(call.get("function")) or mapping(call.get("custom"))
        yield replace(
            said,
            origin=f"{said.origin}/{number}",
            role="tool_call",
            text=as_text(function.get("arguments", function.get("input"))),
            name=string(function.get("name")),
            call=string(call.get("id")),
        )


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = [mapping(call) for call in sequence(message.get("tool_calls"))]
    old = mapping(message.get("function_call"))
    return [*calls, {"function": old}] if old else calls


OPENAI: Final = Source("openai", "OpenAI chat completions", _knows, _read)

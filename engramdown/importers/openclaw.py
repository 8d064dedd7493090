"""Reads the sessions of OpenClaw: ``~/.openclaw/agents/<agent>/sessions/<session>.jsonl``.

The same format is that of pi. Taken are messages, tool calls and their results, commands that the
person ran, and the summaries of what was compacted. Thoughts and changes of settings are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from engramdown.importers.records import (
    Conversation,
    Item,
    Record,
    Said,
    Skipped,
    Source,
    content_text,
    mapping,
    string,
    time_of,
)
from engramdown.transcripts import as_text

_ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system", "custom": "system"}
_SUMMARIES: Final = ("compaction", "branch_summary")
# What an assistant tells a sub-agent or another session, and what such a one reports; a time in
# brackets may stand before it.
_RELAYED: Final = re.compile(
    r"\s*(?:\[[A-Z][a-z]{2} [0-9]{4}-[^\]\n]{1,40}\]\s*)?"
    r"\[(?:Subagent (?:Context|Task)|System Message|Inter-session message)\]"
)


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    spoken = kind == "message" and isinstance(value.get("message"), dict)
    return spoken or (kind == "session" and isinstance(value.get("id"), str))


def _read(records: Iterable[Record]) -> Iterator[Item]:
    begun, head, title = False, Conversation(), ""
    for record in records:
        value = record.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            yield Skipped(record.line, "is no record of OpenClaw", damaged=True)
            continue
        if value["type"] == "session":
            head = _head(value)
            continue
        if value["type"] == "session_info":
            title = string(value.get("name")) or title
        for item in _entry(record, value):
            if isinstance(item, Said) and not begun:
                begun = True
                yield Conversation(
                    id=head.id, at=head.at, title=title, parent=head.parent, meta=head.meta
                )
            yield item


def _head(value: Mapping[str, Any]) -> Conversation:
    folder = string(value.get("cwd"))
    # The file of the session that this one was branched from is named after it.
    above = string(value.get("parentSession")).replace("\\", "/").rpartition("/")[2]
    return Conversation(
        id=string(value.get("id")),
        at=time_of(value.get("timestamp")),
        parent=above.removesuffix(".jsonl").rpartition("_")[2],
        meta={"cwd": folder} if folder else {},
    )


def _entry(record: Record, value: Mapping[str, Any]) -> Iterator[Item]:
    kind = value["type"]
    message = mapping(value.get("message"))
    said = Said(
        origin=string(value.get("id")) or f"@{record.offset}",
        # The time of the line is that of the file; the message's own is in milliseconds.
        at=time_of(value.get("timestamp")) or time_of(message.get("timestamp")),
        role="system",
        text="",
    )
    if kind == "message":
        yield from _message(record.line, said, message)
    elif kind in _SUMMARIES:
        yield replace(said, text=string(value.get("summary")), meta={"kind": "compacted"})
    elif kind == "custom_message":
        yield replace(said, text=content_text(value.get("content")))
    else:
        yield Skipped(record.line, f"{kind[:40]}: no part of the conversation")


def _message(line: int, said: Said, message: Mapping[str, Any]) -> Iterator[Item]:
    origin, role = said.origin, string(message.get("role"))
    if role == "toolResult":
        yield replace(
            said,
            role="tool_result",
            text=content_text(message.get("content")),
            name=string(message.get("toolName")),
            call=string(message.get("toolCallId")),
            error=message.get("isError") is True,
        )
    elif role == "bashExecution":
        # What a person ran, and what came of it.
        code = message.get("exitCode")
        failed = isinstance(code, int) and code != 0
        ran = replace(said, name="bash", call=origin)
        command = as_text({"command": message.get("command")})
        yield replace(ran, origin=f"{origin}/0", role="tool_call", text=command)
        yield replace(
            ran,
            origin=f"{origin}/1",
            role="tool_result",
            text=content_text(message.get("output")),
            error=f"exit code {code}" if failed else False,
        )
    elif role in _ROLES:
        said = replace(said, role=_ROLES[role])
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        for number, block in enumerate(blocks):
            yield _block(line, replace(said, origin=f"{origin}/{number}"), message, block)
        fault = string(message.get("errorMessage"))
        if fault:
            yield replace(said, origin=f"{origin}!", text=fault, error=True)
    else:
        yield Skipped(line, "message of an unknown role", damaged=True)


def _block(line: int, said: Said, message: Mapping[str, Any], block: object) -> Item:
    inner = mapping(block)
    spoken = replace(said, model=string(message.get("model")))
    if inner.get("type") == "thinking":
        return Skipped(line, "thoughts")
    if inner.get("type") == "toolCall":
        return replace(
            spoken,
            role="tool_call",
            text=as_text(inner.get("arguments")),
            name=string(inner.get("name")),
            call=string(inner.get("id")),
        )
    text = content_text(block)
    if said.role == "user" and _is_relayed(message):
        return replace(said, role="system", text=text, meta={"kind": "task"})
    return replace(spoken, text=text)


def _is_relayed(message: Mapping[str, Any]) -> bool:
    """Whether a message was not written by the user, but by an assistant or by the program."""
    by = string(mapping(message.get("provenance")).get("kind"))
    content = message.get("content")
    return by not in ("", "external_user") or bool(_RELAYED.match(content_text(content)))


OPENCLAW: Final = Source("openclaw", "OpenClaw", _knows, _read)

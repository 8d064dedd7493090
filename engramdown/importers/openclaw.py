"""Reads the sessions of OpenClaw: ``~/.openclaw/agents/<agent>/sessions/<session>.jsonl``.

The same format is that of pi. Taken are messages, tool calls and their results, commands that the
person ran, and the summaries of what was compacted. Thoughts and changes of settings are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
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
from engramdown.transcripts.episode import as_text

__all__ = ["OPENCLAW"]

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
    origin = string(value.get("id")) or f"@{record.offset}"
    at = time_of(value.get("timestamp"))
    if kind == "message":
        message = mapping(value.get("message"))
        # The time of the line is that of the file; the message's own is in milliseconds.
        yield from _message(record.line, (origin, at or time_of(message.get("timestamp"))), message)
    elif kind in _SUMMARIES:
        text, meta = string(value.get("summary")), {"kind": "compacted"}
        yield Said(origin=origin, at=at, role="system", text=text, meta=meta)
    elif kind == "custom_message":
        yield Said(origin=origin, at=at, role="system", text=content_text(value.get("content")))
    else:
        yield Skipped(record.line, f"{kind[:40]}: no part of the conversation")


def _message(
    line: int, place: tuple[str, datetime | None], message: Mapping[str, Any]
) -> Iterator[Item]:
    origin, at = place
    role = string(message.get("role"))
    if role == "toolResult":
        yield Said(
            origin=origin,
            at=at,
            role="tool_result",
            text=content_text(message.get("content")),
            name=string(message.get("toolName")),
            call=string(message.get("toolCallId")),
            error=message.get("isError") is True,
        )
    elif role == "bashExecution":
        yield from _command(place, message)
    elif role in _ROLES:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        for number, block in enumerate(blocks):
            yield _block(line, (f"{origin}/{number}", at), message, block)
        fault = string(message.get("errorMessage"))
        if fault:
            yield Said(origin=f"{origin}!", at=at, role=_ROLES[role], text=fault, error=True)
    else:
        yield Skipped(line, "message of an unknown role", damaged=True)


def _command(place: tuple[str, datetime | None], message: Mapping[str, Any]) -> Iterator[Item]:
    """Yield what a person ran, and what came of it."""
    origin, at = place
    code = message.get("exitCode")
    failed = isinstance(code, int) and code != 0
    text = as_text({"command": message.get("command")})
    output = content_text(message.get("output"))
    yield Said(origin=f"{origin}/0", at=at, role="tool_call", text=text, name="bash", call=origin)
    yield Said(
        origin=f"{origin}/1",
        at=at,
        role="tool_result",
        text=output,
        name="bash",
        call=origin,
        error=f"exit code {code}" if failed else False,
    )


def _block(
    line: int, place: tuple[str, datetime | None], message: Mapping[str, Any], block: object
) -> Item:
    origin, at = place
    inner = mapping(block)
    role, model = _ROLES[string(message["role"])], string(message.get("model"))
    if inner.get("type") == "thinking":
        return Skipped(line, "thoughts")
    if inner.get("type") == "toolCall":
        return Said(
            origin=origin,
            at=at,
            role="tool_call",
            text=as_text(inner.get("arguments")),
            name=string(inner.get("name")),
            call=string(inner.get("id")),
            model=model,
        )
    text = content_text(block)
    if role == "user" and _is_relayed(message):
        return Said(origin=origin, at=at, role="system", text=text, meta={"kind": "task"})
    return Said(origin=origin, at=at, role=role, text=text, model=model)


def _is_relayed(message: Mapping[str, Any]) -> bool:
    """Whether a message was not written by the user, but by an assistant or by the program."""
    by = string(mapping(message.get("provenance")).get("kind"))
    content = message.get("content")
    return by not in ("", "external_user") or bool(_RELAYED.match(content_text(content)))


OPENCLAW: Final = Source("openclaw", "OpenClaw", _knows, _read)

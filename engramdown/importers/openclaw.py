"""Reads the sessions of OpenClaw: ``~/.openclaw/agents/<agent>/sessions/<session>.jsonl``.

pi has the same format. Imports messages, tool calls and their results, commands that a person ran,
and summaries of compacted parts. Thoughts and changes of settings are left out.
"""

from __future__ import annotations

import re
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
    tool_call,
    tool_result,
)

_ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system", "custom": "system"}
# How messages between an assistant and a sub-agent or another session begin, after an optional time
# in brackets.
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
    begun, head, title = False, Fields(), ""
    for record in records:
        value = Fields(record.value)
        if not isinstance(value.get("type"), str):
            yield Skipped(record.line, "is not a record of OpenClaw", damaged=True)
            continue
        if value["type"] == "session":
            head = value
            continue
        if value["type"] == "session_info":
            title = value.text("name") or title
        for item in _items(record, value):
            if isinstance(item, Message) and not begun:
                begun = True
                folder = head.text("cwd")
                # The file of the session that it was branched from has the name of that session.
                above = head.text("parentSession").replace("\\", "/").rpartition("/")[2]
                yield Conversation(
                    id=head.text("id"),
                    at=head.time("timestamp"),
                    title=title,
                    parent=above.removesuffix(".jsonl").rpartition("_")[2],
                    meta={"cwd": folder} if folder else {},
                )
            yield item


def _items(record: Record, value: Fields) -> Iterator[Item]:
    kind, message = value["type"], value.fields("message")
    # The time of the line is that of the file; the message's own is in milliseconds.
    at = value.time("timestamp") or message.time("timestamp")
    said = Message(origin=value.text("id") or f"@{record.offset}", at=at, role="system", text="")
    if kind == "message":
        yield from _message(record.line, said, message)
    elif kind in ("compaction", "branch_summary"):
        yield replace(said, text=value.text("summary"), meta={"kind": "compacted"})
    elif kind == "custom_message":
        yield replace(said, text=content_text(value.get("content")))
    else:
        yield Skipped(record.line, f"{kind[:40]}: not part of the conversation")


def _message(line: int, said: Message, message: Fields) -> Iterator[Item]:
    origin, role, content = said.origin, message.text("role"), message.get("content")
    if role == "toolResult":
        name, failed = message.text("toolName"), message.get("isError") is True
        yield tool_result(said, name, content, message.text("toolCallId"), error=failed)
    elif role == "bashExecution":
        # A command that a person ran, and its output.
        code, command = message.get("exitCode"), {"command": message.get("command")}
        error = f"exit code {code}" if isinstance(code, int) and code != 0 else False
        yield tool_call(replace(said, origin=f"{origin}/0"), "bash", command, origin)
        ran = replace(said, origin=f"{origin}/1")
        yield tool_result(ran, "bash", message.get("output"), origin, error=error)
    elif role in _ROLES:
        said = replace(said, role=_ROLES[role])
        blocks = content if isinstance(content, list) else [content]
        for number, block in enumerate(blocks):
            yield _block(line, replace(said, origin=f"{origin}/{number}"), message, block)
        if fault := message.text("errorMessage"):
            yield replace(said, origin=f"{origin}!", text=fault, error=True)
    else:
        yield Skipped(line, "message of an unknown role", damaged=True)


def _block(line: int, said: Message, message: Fields, block: object) -> Item:
    inner = Fields(block)
    spoken = replace(said, model=message.text("model"))
    if inner.get("type") == "thinking":
        return Skipped(line, "thoughts")
    if inner.get("type") == "toolCall":
        return tool_call(spoken, inner.text("name"), inner.get("arguments"), inner.text("id"))
    text = content_text(block)
    if said.role == "user":
        # An assistant or the program may have written it.
        by = message.fields("provenance").text("kind")
        words = content_text(message.get("content"))
        if by not in ("", "external_user") or _RELAYED.match(words):
            return replace(said, role="system", text=text, meta={"kind": "task"})
    return replace(spoken, text=text)


OPENCLAW: Final = Source("openclaw", "OpenClaw", _knows, _read)

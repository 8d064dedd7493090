"""Reads the data export of Claude: ``conversations.json``.

Imports messages with attached text, tool calls and their results; of other files only the name.
Thoughts are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from engramdown.importers.records import (
    THOUGHTS,
    Fields,
    Item,
    Message,
    Record,
    Skipped,
    Source,
    content_text,
    exported,
    tool_block,
)

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
# Kinds of blocks that are left out.
_LEFT_OUT: Final = {
    **dict.fromkeys(THOUGHTS, "thoughts"),
    **dict.fromkeys(("token_budget", "flag"), "bookkeeping"),
}


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    for record in records:
        if not _knows(record.value):
            yield Skipped(record.line, "is not a conversation of Claude", damaged=True)
            continue
        value = Fields(record.value)
        at = value.time("created_at")
        conversation = exported(record, value.text("uuid"), at, value.text("name"))
        yield conversation
        for place, message in enumerate(value.list("chat_messages")):
            role = _ROLES.get(message.text("sender"))
            if role is None:
                yield Skipped(record.line, "message of an unknown sender", damaged=True)
                continue
            said = Message(
                origin=message.text("uuid") or f"@{place}",
                at=message.time("created_at"),
                role=role,
                text="",
                model=value.text("model") if role == "assistant" else "",
                key=conversation.key,
            )
            yield from _message(record.line, said, message)


def _message(line: int, said: Message, message: Fields) -> Iterator[Item]:
    blocks = message.list("content")
    is_said = any(block.text("type") in ("text", "voice_note") for block in blocks)
    if (text := message.text("text")) and not is_said:
        # Older exports have the words only here; newer ones repeat the blocks.
        yield replace(said, text=text)
    for number, block in enumerate(blocks):
        at = block.time("start_timestamp") or said.at
        here, kind = replace(said, origin=f"{said.origin}/{number}", at=at), block.text("type")
        if kind in _LEFT_OUT:
            yield Skipped(line, _LEFT_OUT[kind])
        else:
            yield tool_block(here, block) or replace(here, text=content_text(block))
    for number, text in enumerate(_attached(message)):
        yield replace(said, origin=f"{said.origin}+{number}", text=text, model="")


def _attached(message: Fields) -> Iterator[str]:
    """Yield the attachments: text below its name, or only the name."""
    for thing in message.list("attachments"):
        name, text = thing.text("file_name"), thing.text("extracted_content")
        head = f"[file {name}]" if name else "[pasted text]"
        yield f"{head}\n{text}" if text else head
    for thing in message.list("files"):
        name = thing.text("file_name")
        yield f"[file {name}]" if name else "[file]"


CLAUDE: Final = Source("claude", "Claude", _knows, _read)

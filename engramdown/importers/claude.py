"""Reads the data export of Claude: ``conversations.json``.

Taken are the messages with what was attached as text, tool calls and their results; of other files
the name. Thoughts are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from engramdown.importers.records import (
    THOUGHTS,
    Conversation,
    Item,
    Record,
    Said,
    Skipped,
    Source,
    content_text,
    digest,
    mapping,
    sequence,
    string,
    time_of,
    tool_block,
)

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
_BOOKKEEPING: Final = ("token_budget", "flag")


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    for record in records:
        value = record.value
        if not _knows(value):
            yield Skipped(record.line, "is no conversation of Claude", damaged=True)
            continue
        own, at = string(value.get("uuid")), time_of(value.get("created_at"))
        key = digest(own, str(at)) if own else f"@{record.offset}"
        model = string(value.get("model"))
        yield Conversation(
            key=key,
            everywhere=bool(own),
            whole=True,
            id=own,
            at=at,
            title=string(value.get("name")),
        )
        for place, message in enumerate(value["chat_messages"]):
            yield from _message(record.line, (place, key), mapping(message), model)


def _message(
    line: int, position: tuple[int, str], message: Mapping[str, Any], model: str
) -> Iterator[Item]:
    place, key = position
    sender = string(message.get("sender"))
    if sender not in _ROLES:
        yield Skipped(line, "message of an unknown sender", damaged=True)
        return
    role = _ROLES[sender]
    origin = string(message.get("uuid")) or f"@{place}"
    at = time_of(message.get("created_at"))
    spoken_by = model if role == "assistant" else ""
    blocks = [mapping(block) for block in sequence(message.get("content"))]
    texts = [block for block in blocks if string(block.get("type")) in ("text", "voice_note")]
    if not texts and string(message.get("text")):
        # Older exports have the words only here; in newer ones it repeats the blocks.
        text = string(message["text"])
        yield Said(origin=origin, at=at, role=role, text=text, model=spoken_by, key=key)
    for number, block in enumerate(blocks):
        yield _block(
            line,
            Said(
                origin=f"{origin}/{number}",
                at=time_of(block.get("start_timestamp")) or at,
                role=role,
                text="",
                model=spoken_by,
                key=key,
            ),
            block,
        )
    for number, thing in enumerate(_attached(message)):
        yield Said(origin=f"{origin}+{number}", at=at, role=role, text=thing, key=key)


def _block(line: int, said: Said, block: Mapping[str, Any]) -> Item:
    kind = string(block.get("type"))
    if kind in THOUGHTS:
        return Skipped(line, "thoughts")
    if kind in _BOOKKEEPING:
        return Skipped(line, "bookkeeping")
    return tool_block(said, block) or replace(said, text=content_text(dict(block)))


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was attached: text with its name above it, or only the name."""
    for thing in map(mapping, sequence(message.get("attachments"))):
        name, text = string(thing.get("file_name")), string(thing.get("extracted_content"))
        head = f"[file {name}]" if name else "[pasted text]"
        yield f"{head}\n{text}" if text else head
    for thing in map(mapping, sequence(message.get("files"))):
        name = string(thing.get("file_name"))
        yield f"[file {name}]" if name else "[file]"


CLAUDE: Final = Source("claude", "Claude", _knows, _read)

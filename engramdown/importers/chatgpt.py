"""Reads the data export of ChatGPT: ``conversations.json``, or ``conversations-000.json`` and on.

A conversation is a tree; taken is the branch that ChatGPT showed last, from ``current_node`` up.
Hidden messages, thoughts and the person's custom instructions are left out; so are other branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from engramdown.importers.records import (
    Fields,
    Item,
    Message,
    Record,
    Skipped,
    Source,
    content_text,
    exported,
)
from engramdown.transcripts import as_text, join_surrogates

# Kinds of content that are left out.
_LEFT_OUT: Final = {
    "thoughts": "thoughts",
    "reasoning_recap": "thoughts",
    "user_editable_context": "custom instructions",
    "model_editable_context": "custom instructions",
}
_ROLES: Final = {"user": "user", "assistant": "assistant", "system": "system"}


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    for record in records:
        if not _knows(record.value):
            yield Skipped(record.line, "is not a conversation of ChatGPT", damaged=True)
            continue
        value, line = Fields(record.value), record.line
        own, at = value.text("conversation_id", "id"), value.time("create_time")
        gizmo = value.text("gizmo_id")
        conversation = exported(record, own, at, value.text("title"))
        yield replace(conversation, meta={"gizmo": gizmo} if gizmo else {})
        nodes = {name: Fields(node) for name, node in value["mapping"].items()}
        path = _path(nodes, value.get("current_node"))
        calls: dict[str, str] = {}
        for name in path:
            if message := nodes[name].fields("message"):
                yield _message(line, message.text("id") or name, conversation.key, message, calls)
        left = set(nodes).difference(path)
        for name, node in nodes.items():
            if name in left and node.fields("message"):
                yield Skipped(line, "message on an abandoned branch")


def _path(nodes: Mapping[str, Fields], current: object) -> list[str]:
    """Return the names of the nodes from the root to the one that was shown last.

    If that is unknown, it is the leaf with the latest message, or the last of those without a time.
    """

    def time(name: str) -> float:
        at = nodes[name].fields("message").time("create_time")
        return at.timestamp() if at else 0.0

    name = current
    if not isinstance(name, str) or name not in nodes:
        leaves = [each for each, node in nodes.items() if not node.list("children")]
        name = max(reversed(leaves), key=time, default=None)
    path: dict[str, None] = {}
    while isinstance(name, str) and name in nodes and name not in path:
        path[name] = None
        name = nodes[name].get("parent")
    return list(reversed(path))


def _message(line: int, origin: str, key: str, message: Fields, calls: dict[str, str]) -> Item:
    author, content = message.fields("author"), message.fields("content")
    metadata, kind = message.fields("metadata"), content.text("content_type")
    role, name, tool = author.text("role"), author.text("name"), message.text("recipient")
    if kind in _LEFT_OUT:
        return Skipped(line, _LEFT_OUT[kind])
    if message.get("weight") == 0 or metadata.get("is_visually_hidden_from_conversation") is True:
        return Skipped(line, "hidden message")
    if role != "tool" and role not in _ROLES:
        return Skipped(line, "message of an unknown role", damaged=True)
    ours, call = _ROLES.get(role, "tool_result"), ""
    if role == "assistant" and tool not in ("", "all"):
        ours, name, call = "tool_call", tool, origin
        calls[tool] = origin
    elif role == "tool":
        call = calls.pop(name, "")
    return Message(
        origin=origin,
        at=message.time("create_time"),
        role=ours,
        text=_text(content),
        name=name,
        call=call,
        error=kind == "system_error",
        model=metadata.text("model_slug"),
        key=key,
    )


def _text(content: Fields) -> str:
    if isinstance(content.get("parts"), list):
        return content_text(content["parts"])
    for name in ("text", "result"):
        if isinstance(content.get(name), str):
            return join_surrogates(content[name])
    return as_text(content) if content else ""


CHATGPT: Final = Source("chatgpt", "ChatGPT", _knows, _read)

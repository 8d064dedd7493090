"""Reads the data export of ChatGPT: ``conversations.json``, or ``conversations-000.json`` and on.

A conversation is a tree; taken is the branch that ChatGPT showed last, from ``current_node`` up.
Hidden messages, thoughts and the person's custom instructions are left out; so are other branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from engramdown.importers.records import (
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
)
from engramdown.transcripts import as_text

_THOUGHTS: Final = ("thoughts", "reasoning_recap")
_SETTINGS: Final = ("user_editable_context", "model_editable_context")
_ROLES: Final = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool_result",
}


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    for record in records:
        if not _knows(record.value):
            yield Skipped(record.line, "is no conversation of ChatGPT", damaged=True)
            continue
        conversation = _conversation(record)
        nodes: Mapping[str, Any] = record.value["mapping"]
        path = _path(nodes, record.value.get("current_node"))
        yield conversation
        yield from _messages(record.line, [(name, nodes[name]) for name in path], conversation.key)
        on_path = set(path)
        for name, node in nodes.items():
            if name not in on_path and mapping(mapping(node).get("message")):
                yield Skipped(record.line, "message on a branch that was left")


def _conversation(record: Record) -> Conversation:
    value: Mapping[str, Any] = record.value
    own = string(value.get("conversation_id")) or string(value.get("id"))
    at = time_of(value.get("create_time"))
    gizmo = string(value.get("gizmo_id"))
    return Conversation(
        key=digest(own, str(at)) if own else f"@{record.offset}",
        everywhere=bool(own),
        whole=True,
        id=own,
        at=at,
        title=string(value.get("title")),
        meta={"gizmo": gizmo} if gizmo else {},
    )


def _path(nodes: Mapping[str, Any], current: object) -> list[str]:
    """Return the names of the nodes from the root to the one that was shown last."""
    name = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    path: dict[str, None] = {}
    while isinstance(name, str) and name in nodes and name not in path:
        path[name] = None
        name = mapping(nodes[name]).get("parent")
    return list(reversed(path))


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    """Return the leaf with the latest message; of several without a time the last."""
    newest, best = None, (False, 0.0)
    for name, node in nodes.items():
        if not sequence(mapping(node).get("children")):
            at = time_of(mapping(mapping(node).get("message")).get("create_time"))
            rank = (at is not None, at.timestamp() if at else 0.0)
            if rank >= best:
                newest, best = name, rank
    return newest


def _messages(line: int, path: list[tuple[str, Any]], key: str) -> Iterator[Item]:
    calls: dict[str, str] = {}
    for name, node in path:
        message = mapping(mapping(node).get("message"))
        if message:
            yield _message(line, (string(message.get("id")) or name, key), message, calls)


def _message(
    line: int, place: tuple[str, str], message: Mapping[str, Any], calls: dict[str, str]
) -> Item:
    origin, key = place
    author, content = mapping(message.get("author")), mapping(message.get("content"))
    metadata = mapping(message.get("metadata"))
    kind, role = string(content.get("content_type")), string(author.get("role"))
    speaker, tool = string(author.get("name")), string(message.get("recipient"))
    if kind in _THOUGHTS:
        return Skipped(line, "thoughts")
    if kind in _SETTINGS:
        return Skipped(line, "custom instructions")
    if message.get("weight") == 0 or metadata.get("is_visually_hidden_from_conversation") is True:
        return Skipped(line, "hidden message")
    if role not in _ROLES:
        return Skipped(line, "message of an unknown role", damaged=True)
    ours, call = _ROLES[role], ""
    if role == "assistant" and tool not in ("", "all"):
        ours, speaker, call = "tool_call", tool, origin
        calls[tool] = origin
    elif ours == "tool_result":
        call = calls.pop(speaker, "")
    return Said(
        origin=origin,
        at=time_of(message.get("create_time")),
        role=ours,
        text=_text(content),
        name=speaker,
        call=call,
        error=kind == "system_error",
        model=string(metadata.get("model_slug")),
        key=key,
    )


def _text(content: Mapping[str, Any]) -> str:
    if isinstance(content.get("parts"), list):
        return content_text(content["parts"])
    for name in ("text", "result"):
        if isinstance(content.get(name), str):
            return string(content[name])
    return as_text(content) if content else ""


CHATGPT: Final = Source("chatgpt", "ChatGPT", _knows, _read)

"""Reads the transcripts of Claude Code: ``~/.claude/projects/<project>/<session>.jsonl``.

Taken are what was said, tool calls and their results, the notes of the program, and the summaries
that stand for what was compacted. A side chain (the work of a sub-agent) is a session of its own.
What a person wrote while the assistant was at work stands in the queue, in an attachment, or in
both: it is taken once. Thoughts, progress and bookkeeping are left out. Branches that were rewound
stay, in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from engramdown.episodes.episode import as_text
from engramdown.episodes.importers.heard import (
    FILE,
    Conversation,
    Item,
    Record,
    Said,
    Skipped,
    Source,
    content_text,
    mapping,
    number,
    string,
    time_of,
)

__all__ = ["CLAUDE_CODE"]

_KEYS: Final = ("sessionId", "parentUuid", "leafUuid", "isSnapshotUpdate")
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_COMPACTED: Final = "This session is being continued from a previous conversation"
# What the program itself puts into the mouth of the user.
_INJECTED: Final = (
    "<system-reminder>",
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "Caveat: The messages below",
)
_QUEUED: Final = "said already"
_TITLES: Final = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    spoken = value["type"] in ("user", "assistant") and isinstance(value.get("message"), dict)
    return spoken or any(key in value for key in _KEYS)


def _read(records: Iterable[Record]) -> Iterator[Item]:
    known: set[str] = set()
    queue = _Queue()
    side, title = None, ""
    for record in records:
        value = record.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            yield Skipped(record.line, "is no record of Claude Code", damaged=True)
            continue
        title = string(value.get(_TITLES.get(value["type"], ""))) or title
        if side is None and "isSidechain" in value:
            # A file of a sub-agent has nothing but its side chain: that is the conversation.
            side = value["isSidechain"] is True
        key = _key(value, alone=side is True)
        for item in queue.once(record, value, _marked(value, _said(record, value, key))):
            if isinstance(item, Said) and key not in known:
                known.add(key)
                yield _conversation(value, key, title if key == FILE else "")
            yield item


def _marked(value: Mapping[str, Any], items: Iterable[Item]) -> Iterator[Item]:
    """Yield ``items``, and say of each whether it stands in the session that was forked, too."""
    forked = "forkedFrom" in value
    for item in items:
        yield replace(item, copied=True) if forked and isinstance(item, Said) else item


class _Queue:
    """What was written while the assistant was at work, to take it once.

    Attachments say it since version 2.1, before that only the queue, when it takes a message out.
    """

    def __init__(self) -> None:
        self._removed: Counter[str] = Counter()
        self._attached: Counter[str] = Counter()

    def once(
        self, record: Record, value: Mapping[str, Any], items: Iterable[Item]
    ) -> Iterator[Item]:
        """Yield ``items``, which stand in ``value``, but for what was said already."""
        removed = value["type"] == "queue-operation"
        if not removed and value["type"] != "attachment" and value.get("promptSource") != "queued":
            yield from items
            return
        here, there = self._removed, self._attached
        if not removed:
            here, there = there, here
        for item in items:
            text = item.text if isinstance(item, Said) else ""
            if text and there[text]:
                there[text] -= 1
                yield Skipped(record.line, f"{value['type']}: {_QUEUED}")
                continue
            here[text] += bool(text)
            yield item


def _key(value: Mapping[str, Any], *, alone: bool) -> str:
    if alone or value.get("isSidechain") is not True:
        return FILE
    return f"agent {string(value.get('agentId'))}"


def _conversation(value: Mapping[str, Any], key: str, title: str) -> Conversation:
    session, agent = string(value.get("sessionId")), string(value.get("agentId"))
    aside = value.get("isSidechain") is True
    forked = string(mapping(value.get("forkedFrom")).get("sessionId"))
    told = {name: string(value.get(name)) for name in ("cwd", "gitBranch", "version")}
    return Conversation(
        key=key,
        id=f"{session}/{agent}" if aside else session,
        at=time_of(value.get("timestamp")),
        title=title,
        parent=session if aside else forked,
        # A session that was resumed or forked begins with the lines of the other one.
        copies="" if aside else forked or session,
        meta={name: text for name, text in told.items() if text},
    )


def _said(record: Record, value: Mapping[str, Any], key: str) -> Iterator[Item]:
    kind = value["type"]
    forked = string(mapping(value.get("forkedFrom")).get("messageUuid"))
    origin = forked or string(value.get("uuid")) or f"@{record.offset}"
    at = time_of(value.get("timestamp"))
    if kind in ("user", "assistant"):
        message = mapping(value.get("message"))
        if not message:
            yield Skipped(record.line, "has no message", damaged=True)
            return
        for place, block in enumerate(_blocks(message.get("content"))):
            where = f"{origin}/{place}"
            yield _block(record, value, block, (where, key))
    elif kind == "system" and string(value.get("content")):
        meta = {"kind": "compacted"} if value.get("subtype") == "compact_boundary" else {}
        yield Said(
            origin=origin, at=at, role="system", text=string(value["content"]), meta=meta, key=key
        )
    elif kind == "attachment" and _is_queued(value):
        waiting = mapping(value["attachment"])
        notice = waiting.get("commandMode") == "task-notification"
        text = content_text(waiting.get("prompt"))
        role = "system" if notice or text.startswith(_INJECTED) else "user"
        yield Said(origin=origin, at=at, role=role, text=text, key=key)
    elif kind == "queue-operation" and value.get("operation") == "remove":
        # It has no id, and a copy of the session has it at another place.
        origin = f"queue {string(value.get('timestamp')) or origin}"
        text = content_text(value.get("content"))
        role = "system" if text.startswith(_INJECTED) else "user"
        yield Said(origin=origin, at=at, role=role, text=text, key=key)
    else:
        yield Skipped(record.line, f"{kind[:40]}: no part of the conversation")


def _is_queued(value: Mapping[str, Any]) -> bool:
    """Whether a line is what a person wrote while the assistant was at work."""
    return mapping(value.get("attachment")).get("type") == "queued_command"


def _blocks(content: object) -> list[Any]:
    """Return the blocks of a message; neighbouring texts of one speaker stay apart."""
    return content if isinstance(content, list) else [content]


def _block(record: Record, value: Mapping[str, Any], block: object, place: tuple[str, str]) -> Item:
    kind = string(mapping(block).get("type"))
    if kind in _THOUGHTS:
        return Skipped(record.line, "thoughts")
    if kind in _CALLS:
        return _call(value, mapping(block), place)
    if kind.endswith("tool_result"):
        return _result(value, mapping(block), place)
    text = content_text(block)
    role, meta = _speaker(value, text)
    return Said(
        origin=place[0],
        at=time_of(value.get("timestamp")),
        role=role,
        text=text,
        error=value.get("isApiErrorMessage") is True,
        model=_model(value),
        meta=meta,
        key=place[1],
    )


def _call(value: Mapping[str, Any], block: Mapping[str, Any], place: tuple[str, str]) -> Said:
    return Said(
        origin=place[0],
        at=time_of(value.get("timestamp")),
        role="tool_call",
        text=as_text(block.get("input")),
        name=string(block.get("name")),
        call=string(block.get("id")),
        model=_model(value),
        key=place[1],
    )


def _result(value: Mapping[str, Any], block: Mapping[str, Any], place: tuple[str, str]) -> Said:
    return Said(
        origin=place[0],
        at=time_of(value.get("timestamp")),
        role="tool_result",
        text=content_text(block.get("content")),
        call=string(block.get("tool_use_id")),
        ms=_duration(value.get("toolUseResult")),
        error=block.get("is_error") is True,
        key=place[1],
    )


def _speaker(value: Mapping[str, Any], text: str) -> tuple[str, dict[str, str]]:
    if value["type"] == "assistant":
        return "assistant", {}
    if value.get("isCompactSummary") is True or text.startswith(_COMPACTED):
        return "system", {"kind": "compacted"}
    if value.get("isMeta") is True or text.startswith(_INJECTED):
        return "system", {}
    return "user", {}


def _model(value: Mapping[str, Any]) -> str:
    model = string(mapping(value["message"]).get("model"))
    return "" if model == "<synthetic>" else model


def _duration(result: object) -> float | None:
    told = mapping(result)
    return next(
        (
            found
            for found in (number(told.get(name)) for name in ("durationMs", "totalDurationMs"))
            if found is not None
        ),
        None,
    )


CLAUDE_CODE: Final = Source("claude-code", "Claude Code", _knows, _read)

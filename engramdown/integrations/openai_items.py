"""The items of the OpenAI Agents SDK as lines of a transcript.

Promises: pure; every item has a line, whatever its type, which says what a person would want to
read of it. What is taken back takes along what a provider refuses without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from engramdown.episodes.episode import Episode
from engramdown.integrations.history import JSON, Entry, Line, Summary, lift, put_in, readable

__all__ = [
    "FAILED",
    "asks_for_work",
    "called",
    "has_spoken",
    "item_line",
    "plain_item",
    "summarised",
    "whole_items",
]

FAILED: Final = "An error occurred while running the tool"
"""How the SDK begins what a model is told of a tool that raised."""

_EMPTY: Final = "(empty)"
_ROLES: Final[Mapping[str, str]] = {"developer": "system"}
_SPEAKERS: Final = frozenset({"user", "assistant", "system", "developer"})
_CALL: Final = "_call"
_OUTPUT: Final = "_call_output"
# What another service runs needs no answer of ours.
_HOSTED: Final = frozenset(
    {
        "code_interpreter_call",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "web_search_call",
    }
)
_TEXTS: Final = frozenset({"input_text", "output_text", "text", "refusal", "summary_text"})


def item_line(item: JSON, names: Mapping[str, str]) -> Line:
    """Return the line of an item.

    Args:
        item: The item, as JSON.
        names: The tool of each call that is known, by the id of the call.

    >>> item_line({"role": "user", "content": "Hello"}, {})[:4]
    ('user', 'Hello', {'role': 'user', 'content': None}, ('content',))
    """
    if not isinstance(item, dict):
        return _other("item", item)
    kind = str(item.get("type") or "")
    role = _text(item.get("role"))
    if role in _SPEAKERS and kind in ("", "message") and "content" in item:
        return _message(role, item)
    if kind.endswith(_OUTPUT):
        return _output(item, kind, names)
    if kind.endswith(_CALL):
        return _call(item, kind)
    if kind == "reasoning":
        return _reasoning(item)
    return _other(kind or "item", item)


def plain_item(episode: Episode) -> dict[str, Any] | None:
    """Return the item for what somebody else recorded, if it was said."""
    if episode.role not in ("user", "assistant") or not episode.text:
        return None
    return {"role": episode.role, "content": episode.text}


def asks_for_work(item: JSON) -> bool:
    """Whether the model is not done: it calls a tool here, or just got what one gave back."""
    kind = str(item.get("type") or "") if isinstance(item, dict) else ""
    if kind in _HOSTED:
        return False
    return kind.endswith((_CALL, _OUTPUT)) or kind.startswith("mcp_approval")


def has_spoken(item: JSON) -> bool:
    """Whether an item is words of the assistant."""
    return isinstance(item, dict) and item.get("role") == "assistant"


def whole_items(entries: Sequence[Entry]) -> list[Entry]:
    """Return what a provider takes of a session, without what a person took back.

    A result goes with its call, a call with its result, and reasoning with what it led to.
    """
    gone = {entry.call for entry in entries if entry.is_gone and entry.call}
    left: list[Entry] = []
    was_gone = False
    for entry in reversed(entries):
        is_gone = entry.is_gone or entry.call in gone
        is_gone = is_gone or (was_gone and _is_reasoning(entry))
        if not is_gone:
            left.append(entry)
        was_gone = is_gone
    return left[::-1]


def summarised(entries: list[Entry], summaries: list[Summary]) -> list[Entry]:
    """Return the items with summaries in the place of what they stand for.

    Reasoning goes with what it led to.
    """
    left = put_in(entries, summaries, lambda text: {"role": "user", "content": text})
    follows = dict(zip(map(id, entries), entries[1:], strict=False))
    return [
        entry
        for entry, after in zip_longest(left, left[1:])
        if not (_is_reasoning(entry) and follows.get(id(entry)) is not after)
    ]


def called(entries: Sequence[Entry], call: str) -> str:
    """Return the tool of the last call of an id, or ``""``."""
    values = (entry.value for entry in reversed(entries) if call and entry.call == call)
    return next((_text(each["name"]) for each in values if each and "name" in each), "")


# ---- one kind each ----


def _message(role: str, item: dict[str, Any]) -> Line:
    said, content = _ROLES.get(role, role), item["content"]
    if isinstance(content, str):
        return _lifted(said, item, ("content",)) if content else Line(said, _EMPTY, item)
    parts = content if isinstance(content, list) else []
    if len(parts) == 1 and (key := _text_key(parts[0])) and parts[0][key]:
        return _lifted(said, item, ("content", 0, key))
    return Line(said, "\n\n".join(map(_told, parts)) or _EMPTY, item)


def _call(item: dict[str, Any], kind: str) -> Line:
    call = _text(item.get("call_id")) or _text(item.get("id"))
    name = _text(item.get("name")) or kind.removesuffix(_CALL)
    for key in ("arguments", "input"):
        if isinstance(item.get(key), str):
            return _lifted("tool_call", item, (key,))._replace(name=name, call=call)
    return Line("tool_call", readable(item), None, (), is_json=True, name=name, call=call)


def _output(item: dict[str, Any], kind: str, names: Mapping[str, str]) -> Line:
    call, output = _text(item.get("call_id")), item.get("output")
    name = names.get(call) or kind.removesuffix(_OUTPUT)
    line = Line("tool_result", "", item)
    if isinstance(output, str):
        line = _lifted("tool_result", item, ("output",))
    elif output is not None:
        found, rest = lift(item, ("output",))
        line = Line("tool_result", readable(found), rest, ("output",), is_json=True)
    failed = line.text.startswith(FAILED) or item.get("status") in ("incomplete", "failed")
    return line._replace(name=name, call=call, error=failed)


def _reasoning(item: dict[str, Any]) -> Line:
    parts = item.get("summary")
    told = [_told(part) for part in parts] if isinstance(parts, list) else []
    return Line("scratchpad", "\n\n".join(told), item, name="reasoning")


def _other(kind: str, item: JSON) -> Line:
    return Line("scratchpad", f"[{kind}]", item, name=kind)


# ---- texts ----


def _lifted(role: str, item: dict[str, Any], place: tuple[str | int, ...]) -> Line:
    text, rest = lift(item, place)
    return Line(role, text, rest, place)


def _text_key(part: object) -> str:
    """Return where the text of a part stands, or ``""`` if it has none."""
    if not isinstance(part, dict) or part.get("type") not in _TEXTS:
        return ""
    key = "refusal" if part["type"] == "refusal" else "text"
    return key if isinstance(part.get(key), str) else ""


def _told(part: object) -> str:
    """Return a part as a person reads it."""
    key = _text_key(part)
    if key and isinstance(part, dict):
        return str(part[key])
    kind = part.get("type") if isinstance(part, dict) else None
    return f"[{_text(kind) or 'part'}]"


def _is_reasoning(entry: Entry) -> bool:
    return isinstance(entry.value, dict) and entry.value.get("type") == "reasoning"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

"""The messages of pydantic-ai as lines of a transcript, a line for each part.

Promises: pure; knows messages as the JSON that pydantic-ai makes of them, and gives back what it
reads. A part of a kind that is not known has a line, too. What a person takes back takes along the
other half of a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from engramdown.episodes.episode import Episode
from engramdown.integrations.history import JSON, Entry, Line, Summary, readable

__all__ = ["message_lines", "messages_of", "places", "plain_part", "visible"]

_EMPTY: Final = "(empty)"
_PART: Final = ("part",)
_KIND: Final[Mapping[str, str]] = {"user": "request", "assistant": "response"}
_RESULTS: Final = frozenset({"tool-return", "builtin-tool-return"})
_CALLS: Final = frozenset({"tool-call", "builtin-tool-call"})
_RETRIES: Final = frozenset({"retry-feedback", "retry-prompt"})
_SPOKEN: Final[Mapping[str, str]] = {
    "user-prompt": "user",
    "system-prompt": "system",
    "text": "assistant",
    "thinking": "scratchpad",
}


def message_lines(message: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a message.

    >>> prompt = {"part_kind": "user-prompt", "content": "Hello"}
    >>> [line.text for line in message_lines({"kind": "request", "parts": [prompt]})]
    ['Hello']
    """
    rest = _lean({key: value for key, value in message.items() if key != "parts"})
    if isinstance(rest.get("usage"), dict):
        rest["usage"] = {key: value for key, value in rest["usage"].items() if value}
    parts = [_lean(part) for part in message.get("parts") or []]
    if not parts:
        return [Line("scratchpad", f"[{rest.get('kind')}]", {"message": rest}, name="message")]
    kind = rest.get("kind")
    heads: list[dict[str, Any]] = [{"message": rest}]
    heads += [{"of": kind, "at": at} for at in range(1, len(parts))]
    return [_line({**heads[at], "part": part}, part) for at, part in enumerate(parts)]


def plain_part(episode: Episode) -> JSON:
    """Return the part for a line that something else recorded, if it was said; else ``None``."""
    kind = _KIND.get(episode.role)
    if kind is None or not episode.text:
        return None
    part = {"part_kind": "user-prompt" if kind == "request" else "text", "content": episode.text}
    if kind == "request":
        part["timestamp"] = episode.ts
    return {"message": {"kind": kind, "timestamp": episode.ts}, "part": part}


def messages_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the messages of what a session keeps, without what a person took back."""
    made: list[dict[str, Any]] = []
    last = 0
    for entry in _whole(entries):
        value = entry.value
        at = value.get("at", 0)
        if "message" in value:
            made.append({**value["message"], "parts": []})
        elif not made or made[-1].get("kind") != value.get("of") or at <= last:
            made.append({"kind": value.get("of"), "parts": []})
        if "part" in value:
            made[-1]["parts"].append(value["part"])
        last = at
    return made


def places(entries: Iterable[Entry]) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """Return the lines of the parts of each message, by its kind, run and time."""
    found: dict[tuple[str, str, str], list[int]] = {}
    key = ("", "", "")
    for entry in entries:
        if entry.value is None:
            continue
        message = entry.value.get("message")
        if message is not None:
            key = (
                str(message.get("kind")),
                str(message.get("run_id") or ""),
                str(message.get("timestamp") or ""),
            )
        if "part" in entry.value:
            found.setdefault(key, []).append(entry.seq)
    return {name: tuple(seqs) for name, seqs in found.items()}


def visible(seqs: Sequence[int], summaries: Iterable[Summary]) -> tuple[list[bool], list[Summary]]:
    """Return which parts of a message no summary covers, and the summaries that cover others."""
    covers = [
        next((each for each in summaries if each.first <= seq <= each.last), None) for seq in seqs
    ]
    used = dict.fromkeys(each for each in covers if each is not None)
    return [each is None for each in covers], list(used)


def _lean(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a message or a part says; what it leaves open is read as that."""
    keep = ("args", "content")
    return {key: each for key, each in value.items() if each is not None or key in keep}


def _whole(entries: Sequence[Entry]) -> Iterator[Entry]:
    gone = {entry.call for entry in entries if entry.is_gone and entry.call}
    for entry in entries:
        if not entry.is_gone and entry.call not in gone and isinstance(entry.value, dict):
            yield entry


def _line(value: dict[str, Any], part: Mapping[str, Any]) -> Line:
    kind = str(part.get("part_kind") or "")
    if kind in _CALLS:
        return _named(_with_text("tool_call", value, "args"), part, part.get("tool_name"))
    if kind in _RESULTS:
        line = _with_text("tool_result", value, "content")
        failed = part.get("outcome") not in (None, "success")
        return _named(line, part, part.get("tool_name"))._replace(error=failed)
    if kind in _RETRIES:
        role = "tool_result" if part.get("tool_name") else "scratchpad"
        line = _with_text(role, value, "content")
        return _named(line, part, part.get("tool_name") or "retry")._replace(error=True)
    if kind in _SPOKEN:
        return _spoken(_SPOKEN[kind], value, part)
    return Line("scratchpad", f"[{kind or 'part'}]", value, name=kind or "part")


def _named(line: Line, part: Mapping[str, Any], name: object) -> Line:
    return line._replace(name=str(name or ""), call=str(part.get("tool_call_id") or ""))


def _spoken(role: str, value: dict[str, Any], part: Mapping[str, Any]) -> Line:
    name = "reasoning" if role == "scratchpad" else ""
    content = part.get("content")
    if isinstance(content, str):
        if content:
            return _lifted(role, value, "content")._replace(name=name)
        return Line(role, "" if name else _EMPTY, value, name=name)
    told = content if isinstance(content, list) else []
    return Line(role, "\n\n".join(map(_told, told)) or _EMPTY, value, name=name)


def _told(content: JSON) -> str:
    """Return a part of what a user said as a person reads it."""
    if isinstance(content, str):
        return content
    kind = content.get("kind") if isinstance(content, dict) else None
    if kind == "text-content":
        return str(content.get("content"))
    return f"[{kind or 'content'}]"


def _with_text(role: str, value: dict[str, Any], key: str) -> Line:
    """Return a line whose text is what stands at ``key`` of the part: a text, or its JSON."""
    found = value["part"].get(key)
    line = _lifted(role, value, key) if found is not None else Line(role, "", value)
    return (
        line if isinstance(found, str | None) else line._replace(text=readable(found), is_json=True)
    )


def _lifted(role: str, value: dict[str, Any], key: str) -> Line:
    part = value["part"]
    return Line(role, part[key], {**value, "part": {**part, key: None}}, (*_PART, key))

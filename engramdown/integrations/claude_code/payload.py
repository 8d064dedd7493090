"""What an agent says of an event, read from the JSON that it writes to a hook. No I/O.

Any bytes give an event, and never an error: what is missing, of a wrong type or unknown is left
out. Every text can be written as UTF-8; what a tool was given and gave back is cut.

The field names are those of Claude Code and Codex. Gemini CLI, Cursor and other agents that write
such JSON name some of them otherwise, and are read as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

EVENTS: Final = ("session-start", "prompt-submit", "post-tool", "stop", "session-end")
"""What our events are called."""

LONGEST: Final = 100_000
"""Characters that are kept of what a tool was given, or gave back."""

_LONGEST_SAID: Final = 1_000_000
_LONGEST_NAME: Final = 500
_LONGEST_PATH: Final = 4096
_NAMES: Final[Mapping[str, str]] = {
    "sessionstart": "session-start",
    "userpromptsubmit": "prompt-submit",
    "posttooluse": "post-tool",
    "posttoolusefailure": "post-tool",
    "stop": "stop",
    "stopfailure": "stop",
    "sessionend": "session-end",
    "beforeagent": "prompt-submit",
    "beforesubmitprompt": "prompt-submit",
    "aftertool": "post-tool",
    "afteragent": "stop",
    "afteragentresponse": "stop",
    **{name.replace("-", ""): name for name in EVENTS},
}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CAMEL: Final = re.compile("_([a-z])")
# What a result says of itself, most telling first.
_OUTPUTS: Final = ("stdout", "stderr", "output", "content", "text", "result", "llmContent")
_ANSWERS: Final = ("last_assistant_message", "prompt_response", "text")
_ERRORS: Final = ("error", "error_message")


class Event(NamedTuple):
    """What happened to an agent.

    Attributes:
        name: One of :data:`EVENTS`, or ``""`` for one that is none of ours.
        said: What the agent calls it.
        session: The agent's id of the conversation.
        transcript: Where it keeps its transcript.
        folder: Where it works.
        source: Why a session starts: ``startup``, ``resume``, ``clear``, ``compact``.
        reason: Why it ends.
        text: What the user wrote, or what the assistant answered last.
        tool: The tool that was called.
        call: The id of the call.
        given: What it was given.
        got: What it gave back.
        error: Whether it failed, and why if that is said.
        stopped: Whether that is only that the user stopped it.
        aside: Whether a sub-agent of the session did it.
        agent: Which agent it is, as the word in front of the event says: ``codex``, ``gemini``,
            ``cursor``, or ``""`` for Claude Code and any other.
    """

    name: str = ""
    said: str = ""
    session: str = ""
    transcript: str = ""
    folder: str = ""
    source: str = ""
    reason: str = ""
    text: str = ""
    tool: str = ""
    call: str = ""
    given: str = ""
    got: str = ""
    error: bool | str = False
    stopped: bool = False
    aside: bool = False
    agent: str = ""


def event_named(name: str) -> str:
    """Return which of our events an agent means, or ``""``.

    >>> event_named("UserPromptSubmit"), event_named("session-end"), event_named("PreToolUse")
    ('prompt-submit', 'session-end', '')
    """
    return _NAMES.get(re.sub("[-_ ]", "", name.rpartition("/")[2]).casefold(), "")


def reads_json(event: Event) -> bool:
    """Whether an agent takes only JSON for context: Claude Code does so after a tool call."""
    is_asked = event.agent == "gemini" or event.name == "post-tool"
    return event.agent == "cursor" or bool(event.said and is_asked)


def answer(event: Event, told: str) -> str:
    r"""Return what is printed so that an agent takes ``told`` for context; ``""`` prints nothing.

    >>> answer(Event(name="session-start", said="sessionStart", agent="cursor"), "Use uv")
    '{"additional_context": "Use uv"}'
    """
    if not told or not reads_json(event):
        return told
    output: dict[str, Any] = {"additional_context": told}
    if event.agent != "cursor":
        context = {"hookEventName": event.said, "additionalContext": told}
        output = {"hookSpecificOutput": context}
    return json.dumps(output, ensure_ascii=False)


def read_event(data: bytes, name: str = "") -> Event:
    """Return the event that ``data`` tells of.

    Args:
        data: What the agent wrote.
        name: What the event is called where the agent's own word for it does not count.

    >>> read_event(b'{"hook_event_name": "Stop", "session_id": "s1"}').session
    's1'
    >>> read_event(b"[[[", "stop").name
    'stop'
    """
    try:
        # An editor or a shell of Windows may have put a mark before it.
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        found = None
    values: Mapping[str, Any] = found if isinstance(found, dict) else {}
    said, folders = _name(values, "hook_event_name"), _get(values, "workspace_roots")
    first = {"cwd": folders[0]} if isinstance(folders, list) and folders else {}
    event = Event(
        name=event_named(name or said),
        said=said,
        session=_name(values, "session_id") or _name(values, "conversation_id"),
        transcript=_path(values, "transcript_path"),
        folder=_path(values, "cwd") or _path(first, "cwd"),
        source=_name(values, "source"),
        reason=_name(values, "reason"),
        aside=bool(_name(values, "agent_id")),
        agent=name.rpartition("/")[0],
    )
    if event.name == "prompt-submit":
        return event._replace(text=_string(values, ("prompt",)))
    if event.name == "stop":
        return event._replace(text=_string(values, _ANSWERS))
    return _with_tool(event, values) if event.name == "post-tool" else event


def _with_tool(event: Event, values: Mapping[str, Any]) -> Event:
    response = _get(values, "tool_response")
    if response is None:
        response = _get(values, "tool_output")
    reason = _string(values, _ERRORS, LONGEST)
    if not reason and event.agent == "gemini" and isinstance(response, dict):
        reason = _as_text(response.get("error"))[:LONGEST]
    said_by = [each for each in (response, values) if isinstance(each, dict)]
    flags = [each.get(key) is True for each in said_by for key in ("is_error", "isError")]
    failed = "failure" in event.said.casefold() or any(flags)
    return event._replace(
        tool=_name(values, "tool_name"),
        call=_name(values, "tool_use_id"),
        given=_as_text(_get(values, "tool_input"))[:LONGEST],
        got=(_output(response) or reason)[:LONGEST],
        error=reason or failed,
        stopped=_get(values, "is_interrupt") is True,
    )


def _output(response: object) -> str:
    """Return what a tool gave back as a person would see it."""
    if isinstance(response, list):
        parts = [_output(part) for part in response[:1_000]]
        return _scrubbed("\n".join(part for part in parts if part))
    if isinstance(response, dict):
        texts = [response[key] for key in _OUTPUTS if isinstance(response.get(key), str)]
        if any(texts):
            return _scrubbed("\n".join(filter(None, texts)))
    return _as_text(response)


def _get(values: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - JSON is anything
    return values[key] if key in values else values.get(_CAMEL.sub(lambda at: at[1].upper(), key))


def _string(values: Mapping[str, Any], keys: Iterable[str], longest: int = _LONGEST_SAID) -> str:
    """Return the first of some values that is a string and holds something, or ``""``."""
    found = (_get(values, key) for key in keys)
    return next((_scrubbed(each[:longest]) for each in found if each and isinstance(each, str)), "")


def _name(values: Mapping[str, Any], key: str) -> str:
    found = _string(values, [key], _LONGEST_NAME + 1)
    return found if len(found) <= _LONGEST_NAME and found.isprintable() else ""


def _path(values: Mapping[str, Any], key: str) -> str:
    found = _string(values, [key], _LONGEST_PATH + 1)
    return found if len(found) <= _LONGEST_PATH and "\0" not in found else ""


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _scrubbed(value[:_LONGEST_SAID])
    try:
        return _scrubbed(json.dumps(value, ensure_ascii=False))
    except RecursionError:  # it was read with less on the stack than is there now
        return ""


def _scrubbed(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)

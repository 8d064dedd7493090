"""Reads the event in the JSON that an agent writes to a hook. No I/O.

Any bytes give an event, and never an error: fields that are missing, unknown or of a wrong type are
left out. Every text can be written as UTF-8; the input and output of tools are cut.

The field names are those of Claude Code and Codex. Gemini CLI, Cursor and other agents use other
names for some of them, which are read as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

# Our names of the events.
EVENTS: Final = ("session-start", "prompt-submit", "post-tool", "stop", "session-end")

# The most characters that are kept of the input or output of a tool.
LONGEST: Final = 100_000

# Called with a part of the output of a hook; ``""`` for nothing.
Say = Callable[[str], object]
# Returns the seconds left before the agent gives up on the hook.
Left = Callable[[], float]

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
# Fields of a result, the most telling first.
_OUTPUTS: Final = ("stdout", "stderr", "output", "content", "text", "result", "llmContent")
_ANSWERS: Final = ("last_assistant_message", "prompt_response", "text")
_ERRORS: Final = ("error", "error_message")


class Event(NamedTuple):
    """An event of an agent.

    Attributes:
        name: One of :data:`EVENTS`, or ``""`` for an unknown one.
        said: The agent's name of the event.
        session: The agent's id of the conversation.
        transcript: The path of the agent's transcript.
        folder: The folder that the agent works in.
        source: Why a session starts: ``startup``, ``resume``, ``clear``, ``compact``.
        reason: Why it ends.
        text: The message of the user, or the last answer of the assistant.
        tool: The tool that was called.
        call: The id of the call.
        given: The input of the tool.
        got: Its output.
        error: Whether it failed, and why if the agent says so.
        stopped: Whether it failed only because the user stopped it.
        aside: Whether a sub-agent of the session did it.
        agent: The agent, from the word before the event: ``codex``, ``gemini``, ``cursor``, or
            ``""`` for Claude Code and any other.
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
    """Return our name of an agent's event, or ``""``.

    >>> event_named("UserPromptSubmit"), event_named("session-end"), event_named("PreToolUse")
    ('prompt-submit', 'session-end', '')
    """
    return _NAMES.get(re.sub("[-_ ]", "", name.rpartition("/")[2]).casefold(), "")


def reads_json(event: Event) -> bool:
    """Whether an agent takes context only as JSON, as Claude Code does after a tool call."""
    is_asked = event.agent == "gemini" or event.name == "post-tool"
    return event.agent == "cursor" or bool(event.said and is_asked)


def answer(event: Event, context: str) -> str:
    r"""Return the output that gives an agent ``context``; ``""`` prints nothing.

    >>> answer(Event(name="session-start", said="sessionStart", agent="cursor"), "Use uv")
    '{"additional_context": "Use uv"}'
    """
    if not context or not reads_json(event):
        return context
    output: dict[str, Any] = {"additional_context": context}
    if event.agent != "cursor":
        specific = {"hookEventName": event.said, "additionalContext": context}
        output = {"hookSpecificOutput": specific}
    return json.dumps(output, ensure_ascii=False)


def read_event(data: bytes, name: str = "") -> Event:
    """Return the event in ``data``.

    Args:
        data: The bytes that the agent wrote.
        name: The name of the event, in place of the agent's own.

    >>> read_event(b'{"hook_event_name": "Stop", "session_id": "s1"}').session
    's1'
    >>> read_event(b"[[[", "stop").name
    'stop'
    """
    try:
        # A shell of Windows may have added a byte order mark.
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        value = None
    values: Mapping[str, Any] = value if isinstance(value, dict) else {}
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
    """Return the output of a tool as a person would see it."""
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
    """Return the first of some values that is a non-empty string, or ``""``."""
    texts = (_get(values, key) for key in keys)
    return next((_scrubbed(each[:longest]) for each in texts if each and isinstance(each, str)), "")


def _name(values: Mapping[str, Any], key: str) -> str:
    name = _string(values, [key], _LONGEST_NAME + 1)
    return name if len(name) <= _LONGEST_NAME and name.isprintable() else ""


def _path(values: Mapping[str, Any], key: str) -> str:
    path = _string(values, [key], _LONGEST_PATH + 1)
    return path if len(path) <= _LONGEST_PATH and "\0" not in path else ""


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _scrubbed(value[:_LONGEST_SAID])
    try:
        return _scrubbed(json.dumps(value, ensure_ascii=False))
    except RecursionError:  # the stack was shorter when it was read
        return ""


def _scrubbed(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)

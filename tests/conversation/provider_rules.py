"""Checks whether a provider would accept a prompt, by the rules of its interface.

It is pure. No complaint means that the rules are kept; a complaint names the message and what is
wrong. It knows conversations of text and tools only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Of OpenAI.
_LONGEST_ID: Final = 40

_Message = Mapping[str, Any]


def check_openai(messages: object) -> list[str]:
    """Return what OpenAI's chat completions would refuse.

    >>> check_openai([{"role": "user", "content": "Hello"}])
    []
    >>> check_openai([{"role": "tool", "tool_call_id": "c1", "content": "a"}])
    ["messages[0]: answers 'c1', which the assistant before it did not call"]
    """
    if not isinstance(messages, list) or not messages:
        return ["messages: not a list, or empty"]
    found: list[str] = []
    waiting: list[str] = []
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        wrong: list[str] = []
        if waiting and role != "tool":
            wrong.append(f"stands where {_named(waiting)} should be answered")
            waiting = []
        if role == "tool":
            call = message.get("tool_call_id")
            if call in waiting:
                waiting.remove(call)
            else:
                wrong.append(f"answers {call!r}, which the assistant before it did not call")
            if not isinstance(message.get("content"), str):
                wrong.append("its content is no text")
        elif role == "assistant":
            wrong += _openai_assistant(message)
            waiting = _openai_ids(message)
        elif role in ("system", "developer", "user"):
            wrong += _texts(message.get("content"))
        else:
            wrong.append(f"{role!r} is no role")
        found += [f"messages[{at}]: {each}" for each in wrong]
    return found + [f"messages: {_named(waiting)} are not answered"] * bool(waiting)


def check_anthropic(request: object) -> list[str]:
    """Return what Anthropic's messages would refuse.

    >>> check_anthropic({"messages": [{"role": "user", "content": "Hello"}]})
    []
    >>> check_anthropic({"messages": [{"role": "assistant", "content": "Hello "}]})
    ['messages[0]: the user has to begin', 'messages: ends with white space']
    """
    given = request if isinstance(request, dict) else {}
    messages = given.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["messages: not a list, or empty"]
    system = given.get("system") or []
    found = [f"system: {each}" for each in (_texts(system) if system else ())]
    before = ""
    called: list[str] = []
    used: set[str] = set()
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("user", "assistant"):
            return [*found, f"{where}: {role!r} is no role"]
        if role == before:
            found.append(f"{where}: the {role} speaks twice")
        if not at and role != "user":
            found.append(f"{where}: the user has to begin")
        found += [f"{where}: {each}" for each in _anthropic_message(message, called, used)]
        called = _ids(message, "tool_use", "id")
        before = role
    if called:
        found.append(f"messages: {_named(called)} are not answered")
    content = messages[-1].get("content")
    last: Any = content[-1] if isinstance(content, list) and content else content
    text = last.get("text") if isinstance(last, dict) else last
    if before == "assistant" and isinstance(text, str) and text != text.rstrip():
        found.append("messages: ends with white space")
    return found


def _openai_assistant(message: _Message) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls is None or message.get("content") is not None:
        yield from _texts(message.get("content"))
    if calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield "tool_calls is no list, or empty"
        return
    for call in calls:
        yield from _openai_call(call if isinstance(call, dict) else {})
    ids = _openai_ids(message)
    if len(set(ids)) < len(ids):
        yield "two of its calls have one id"


def _openai_call(call: _Message) -> Iterator[str]:
    own, function = call.get("id"), call.get("function")
    if not isinstance(own, str) or not 0 < len(own) <= _LONGEST_ID:
        yield f"{own!r} is no id of a call"
    if call.get("type") != "function" or not isinstance(function, dict):
        yield "a call is no function"
        return
    if not _is_name(function.get("name")):
        yield f"{function.get('name')!r} is no name of a function"
    try:
        is_object = isinstance(json.loads(function["arguments"]), dict)
    except (ValueError, LookupError, TypeError):
        is_object = False
    if not is_object:
        yield "its arguments are no JSON object"


def _openai_ids(message: _Message) -> list[str]:
    calls = message.get("tool_calls")
    known = calls if isinstance(calls, list) else []
    return [str(call.get("id")) for call in known if isinstance(call, dict)]


def _anthropic_message(message: _Message, called: list[str], used: set[str]) -> Iterator[str]:
    """Yield what is wrong with a message, given the calls of the one before it."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    results = _ids(message, "tool_result", "tool_use_id")
    for call in called:
        if results.count(call) != 1:
            yield f"{call!r} is called before it, and answered {results.count(call)} times"
    strange = [each for each in results if each not in called]
    if strange:
        yield f"answers {_named(strange)}, which the message before it did not call"
    if any(_kind(block) != "tool_result" for block in blocks[: len(results)]):
        yield "its results do not stand at its beginning"
    if not blocks:
        yield from _texts(content)
    for block in blocks:
        yield from _anthropic_block(block, message["role"], used)


def _anthropic_block(block: object, role: str, used: set[str]) -> Iterator[str]:
    kind = _kind(block)
    given = block if isinstance(block, dict) else {}
    if kind == "text":
        yield from _text(given.get("text"))
    elif kind == "tool_use" and role == "assistant":
        own = given.get("id")
        if not isinstance(own, str) or not _ID.fullmatch(own):
            yield f"{own!r} is no id of a call"
        elif own in used:
            yield f"{own!r} is the id of an earlier call"
        used.add(str(own))
        if not _is_name(given.get("name")):
            yield f"{given.get('name')!r} is no name of a tool"
        if not isinstance(given.get("input"), dict):
            yield "the input of a call is no object"
        yield from _encodable(given.get("input"))
    elif kind == "tool_result" and role == "user":
        if given.get("content") is not None:
            yield from _texts(given["content"])
    else:
        yield f"{kind!r} is no block of the {role}"


def _ids(message: _Message, kind: str, key: str) -> list[str]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [str(block.get(key)) for block in blocks if _kind(block) == kind]


def _texts(content: object) -> Iterator[str]:
    """Yield what is wrong with a content that is to be a text, or blocks of text."""
    if isinstance(content, str):
        yield from _text(content)
    elif not isinstance(content, list) or not content:
        yield "its content is neither a text nor blocks"
    else:
        for block in content:
            if _kind(block) == "text":
                yield from _text(block.get("text"))
            else:
                yield f"{_kind(block)!r} is no block of text"


def _text(text: object) -> Iterator[str]:
    if not isinstance(text, str) or not text.strip():
        yield "a text is empty, or none"
    else:
        yield from _encodable(text)


def _encodable(value: object) -> Iterator[str]:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError):
        yield "it cannot be written as JSON in UTF-8"


def _kind(block: object) -> str:
    return str(block.get("type")) if isinstance(block, dict) else type(block).__name__


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _named(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids))

"""A conversation in steps that every provider takes: calls with their results, and no others.

Promises: pure; each call of a step has exactly one result, wherever that stood; a call without one
is told in a line of its assistant; a result without a call, and a second result of a call, is in no
step, and never becomes words of the user. Ids are unique, and safe for every provider; what comes
later changes none of those before. Nothing else is lost, in order, and no text is blank.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from engramdown.consolidation.summaries import Item, answers
from engramdown.cortex.conversation.shown import SUMMARY, Shown
from engramdown.language.untrusted import inert, one_line

__all__ = ["Answered", "Step", "arguments", "result_text", "spoken", "steps", "strays"]

_ASSISTANT: Final = frozenset({"assistant", "scratchpad"})
_BLANK: Final = "(empty)"
_NO_OUTPUT: Final = "(no output)"
_LONGEST: Final = 200
# OpenAI takes 40 characters, Anthropic 64.
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME: Final = 64


class Answered(NamedTuple):
    """A tool call with its result.

    Attributes:
        id: What the two have in common.
        name: The tool, as every provider takes it.
        given: Its arguments.
        result: What it gave back.
        error: Whether it failed.
    """

    id: str
    name: str
    given: dict[str, Any]
    result: str
    error: bool = False


class Step(NamedTuple):
    """What one side says at once.

    Attributes:
        role: Who.
        texts: What is said.
        calls: The tools that are called then, and what they gave back.
    """

    role: Literal["user", "assistant", "system"]
    texts: tuple[str, ...] = ()
    calls: tuple[Answered, ...] = ()


def steps(lines: Sequence[Shown]) -> list[Step]:
    """Return a conversation in steps.

    >>> call = Shown(1, "tool_call", '{"n": 1}', 9, "sh", "c1")
    >>> late = Shown(3, "tool_result", "a", 9, "sh", "c1")
    >>> for step in steps([call, Shown(2, "user", "?"), late]):
    ...     print(step.role, step.texts, [(call.id, call.result) for call in step.calls])
    assistant () [('c1', 'a')]
    user ('?',) []
    """
    answered = {call: result for result, call in reversed(_answers(lines).items())}
    made: list[Step] = []
    used: set[str] = set()
    goes_on = False
    for at, line in enumerate(lines):
        if line.role == "tool_result":
            goes_on = False
        elif line.role != "tool_call":
            made.append(Step(_role(line), (spoken(line),)))
            goes_on = line.role in _ASSISTANT
        else:
            step = made.pop() if goes_on else Step("assistant")
            result = lines[answered[at]] if at in answered else None
            made.append(_with(step, line, result, used))
            goes_on = True
    return made


def strays(lines: Sequence[Shown]) -> list[int]:
    """Return the places of the results that are in no step."""
    first = dict(reversed([(call, result) for result, call in _answers(lines).items()]))
    placed = set(first.values())
    return [at for at, line in enumerate(lines) if line.role == "tool_result" and at not in placed]


def spoken(line: Shown) -> str:
    """Return what is said, with who says it where that is not plain."""
    text = inert(line.text).strip("\n") if line.text.strip() else _BLANK
    if line.role == "scratchpad":
        return f"[scratchpad {_brief(line.name)}]\n{text}" if line.name else f"[scratchpad]\n{text}"
    return f"{_brief(line.name)}: {text}" if line.name and line.role != SUMMARY else text


def arguments(line: Shown) -> dict[str, Any]:
    """Return what a tool is given; what is no JSON object is its ``input``."""
    if not line.is_whole:
        return {"omitted": inert(line.text)}
    if not line.text.strip():
        return {}
    try:
        given = json.loads(line.text, parse_constant=_refuse)
        # What cannot be sent as UTF-8 is not sent; what is no number of JSON is no JSON.
        said = json.dumps(given, ensure_ascii=False, allow_nan=False)
        given = json.loads(said.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {"input": inert(line.text)}
    return given if isinstance(given, dict) else {"input": given}


def result_text(line: Shown) -> str:
    """Return what a tool gave back; if it failed for a reason, with that."""
    text = inert(line.text) if line.text.strip() else _NO_OUTPUT
    return f"[failed: {_brief(line.error)}]\n{text}" if isinstance(line.error, str) else text


def _answers(lines: Sequence[Shown]) -> dict[int, int]:
    return answers([Item(line.source, 0, line.role, line.name, line.call) for line in lines])


def _role(line: Shown) -> Literal["user", "assistant", "system"]:
    if line.role in _ASSISTANT:
        return "assistant"
    return "system" if line.role == "system" else "user"


def _with(step: Step, call: Shown, result: Shown | None, used: set[str]) -> Step:
    """Return a step with one call more."""
    name = _UNSAFE.sub("_", call.name)[:_NAME] or "tool"
    if result is None:
        note = f"[called {name}; no result is known]"
        return step._replace(texts=(*step.texts, note))
    made = Answered(
        _own_id(call, used), name, arguments(call), result_text(result), bool(result.error)
    )
    return step._replace(calls=(*step.calls, made))


def _own_id(call: Shown, used: set[str]) -> str:
    own = call.call if _ID.fullmatch(call.call) else f"call_{call.source}"
    if own in used:
        own = f"call_{call.source}"
    while own in used:
        own += "_"
    used.add(own)
    return own


def _brief(text: str) -> str:
    return one_line(text)[:_LONGEST]


def _refuse(constant: str) -> None:
    raise ValueError(constant)

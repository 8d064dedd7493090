"""What a model answers, put together from the pieces in which it comes.

Promises: pure; whatever a server sends as a piece, adding it raises nothing; a call of a tool that
comes in parts is one call, and calls that a server numbers alike stay apart by their ids. What a
model thinks aloud before its answer, in ``<think>``, is none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

__all__ = ["Assembly", "Heard", "Reply", "ToolCall"]

Heard = Callable[[str], object]
"""Is given each piece of a text as it comes."""

_MOST_CALLS: Final = 64
_THINK: Final = "<think>"
_THOUGHT: Final = "</think>"
_MOST_TOKENS: Final = 10_000_000


class ToolCall(NamedTuple):
    """A tool that the model wants called.

    Attributes:
        id: What the server calls it, or ``""``.
        name: Of the tool.
        arguments: As the model wrote them: JSON, if it did as it was told.
    """

    id: str
    name: str
    arguments: str


class Reply(NamedTuple):
    """What a model answered at once.

    Attributes:
        text: What it said.
        calls: The tools that it wants called.
        finish: Why it stopped, or ``""`` if that was never said: then it was cut off.
        tokens_in: Tokens of what was asked, or 0 if the server does not count.
        tokens_out: Tokens of the answer, likewise.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Assembly:
    """Takes pieces as they come.

    >>> answer = Assembly()
    >>> answer.add({"choices": [{"delta": {"content": "Use "}}]})
    'Use '
    >>> answer.add({"choices": [{"delta": {"content": "uv"}, "finish_reason": "stop"}]})
    'uv'
    >>> answer.reply().text, answer.reply().finish
    ('Use uv', 'stop')
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._texts: list[str] = []
        self._calls: list[_Call] = []
        self._numbered: dict[object, _Call] = {}
        self._thoughts = _Thoughts()
        self._finish = ""
        self._tokens = (0, 0)

    def add(self, piece: object) -> str:
        """Take in a piece, and return what it adds to the text."""
        self._count(_of(piece, "usage"))
        choices = _of(piece, "choices")
        if not isinstance(choices, list) or not choices:
            return ""
        first = choices[0]
        self._finish = _text(_of(first, "finish_reason")) or self._finish
        delta = _of(first, "delta")
        calls = _of(delta, "tool_calls")
        for part in calls if isinstance(calls, list) else ():
            self._call(part)
        said = "".join(_texts(_of(delta, "content"))) + _text(_of(delta, "refusal"))
        said = self._thoughts.without(said)
        self._texts.append(said)
        return said

    def end(self) -> str:
        """Take note that no more comes, and return what that adds to the text."""
        said = self._thoughts.rest()
        self._texts.append(said)
        return said

    def reply(self) -> Reply:
        """Return what came so far."""
        calls = tuple(ToolCall(each.id, each.name, "".join(each.parts)) for each in self._calls)
        return Reply("".join(self._texts), calls, self._finish, *self._tokens)

    def _call(self, part: object) -> None:
        """Take in a part of a call: where it belongs its number says, or else its place."""
        name, number = _text(_of(part, "id")), _of(part, "index")
        function = _of(part, "function")
        found = self._numbered.get(number if isinstance(number, int) else None)
        if not isinstance(number, int) and _text(_of(function, "name")):
            found = None
        # Some servers call each of several calls the first one.
        if found is None or (name and found.id and name != found.id):
            if len(self._calls) >= _MOST_CALLS:
                return
            found = _Call()
            self._calls.append(found)
        self._numbered[number if isinstance(number, int) else None] = found
        found.id = found.id or name
        found.name = found.name or _text(_of(function, "name"))
        found.parts.append(_text(_of(function, "arguments")))

    def _count(self, usage: object) -> None:
        there, back = _size(_of(usage, "prompt_tokens")), _size(_of(usage, "completion_tokens"))
        self._tokens = (there or self._tokens[0], back or self._tokens[1])


class _Thoughts:
    """Takes the thoughts away from before an answer."""

    def __init__(self) -> None:
        self._held = ""
        self._is_over = self._thinks = False

    def without(self, text: str) -> str:
        """Take in a piece, and return as much of it as belongs to the answer."""
        if self._is_over:
            return text
        self._held += text
        head = self._held.lstrip()
        if not self._thinks and _THINK.startswith(head):
            return ""  # It may become one.
        self._thinks = self._thinks or head.startswith(_THINK)
        if not self._thinks:
            return self.rest()
        before, end, answer = self._held.partition(_THOUGHT)
        self._is_over = bool(end)
        self._held = "" if end else before[-len(_THOUGHT) :]
        return answer

    def rest(self) -> str:
        """Return what was held back and is no thought; there are none any more."""
        left = "" if self._thinks else self._held
        self._is_over, self._held = True, ""
        return left


class _Call:
    """A call of which more may come."""

    def __init__(self) -> None:
        self.id = self.name = ""
        self.parts: list[str] = []


def _of(value: object, key: str) -> Any:  # noqa: ANN401 - whatever a server sends
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(content: object) -> Iterator[str]:
    """Yield what is said: in one text, or in several blocks."""
    if isinstance(content, list):
        yield from (_text(_of(block, "text")) for block in content)
    else:
        yield _text(content)


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MOST_TOKENS)

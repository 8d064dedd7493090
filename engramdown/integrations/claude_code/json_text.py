r"""JSON as a person keeps it, edited without a byte changed that the edit is not about. No I/O.

Promises: the parts that an edit leaves alone are those of the text, byte for byte: order, spaces,
line ends, numbers as they are written; what is no JSON is refused with its line and column, and
never mended; what was put in last and is taken out again leaves the text as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Json", "JsonError", "Node", "edited", "inserted", "parse", "removed"]

Json = dict[str, Any] | list[Any] | str | int | float | bool | None
Edit = tuple[int, int, str]
"""From where to where, and what stands there then."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null"
)
_DEEPEST: Final = 100
_INDENT: Final = "  "
_PAIRS: Final = {"{": "}", "[": "]"}


class JsonError(ValueError):
    """A text is no JSON.

    Attributes:
        line: Where, from 1.
        column: Where in it, from 1.
        what: What is wrong there.
    """

    def __init__(self, text: str, at: int, what: str) -> None:
        """Say what is wrong at the position ``at``."""
        self.line = text.count("\n", 0, at) + 1
        self.column = at - text.rfind("\n", 0, at)
        self.what = what
        super().__init__(f"line {self.line}, column {self.column}: {what}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and where it stands.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        kind: Its first character.
        text: Its text, if it is no object and no array.
        members: What it holds: the key (``""`` in an array), where that begins, and the value.
    """

    start: int
    end: int
    kind: str
    text: str = ""
    members: tuple[tuple[str, int, Node], ...] = ()

    def get(self, key: str) -> Node | None:
        """Return the value of a key."""
        return next((node for name, _, node in self.members if name == key), None)

    def string(self) -> str | None:
        """Return the string that it is, or ``None``."""
        if self.kind != '"':
            return None
        found: str = json.loads(self.text)
        return found


def parse(text: str) -> Node:
    """Return the value that a text is.

    Raises:
        JsonError: If it is none.

    >>> parse('{"a": [1]}').get("a")
    Node(start=6, end=9, kind='[', text='', members=(('', 7, Node(start=7, end=8, kind='1', \
text='1', members=())),))
    """
    node = _value(text, _skip(text, 0), 0)
    rest = _skip(text, node.end)
    if rest < len(text):
        raise JsonError(text, rest, f"{text[rest]!r} stands behind the end")
    return node


def inserted(text: str, container: Node, new: Sequence[tuple[str, Json]]) -> Edit:
    """Return the edit that puts values last into an object or an array, laid out as the rest is.

    Args:
        text: The whole text.
        container: The object or the array.
        new: The keys (``""`` in an array) and the values; one at least.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if container.members:
        first, last = container.members[0][1], container.members[-1][2].end
        lead = text[container.start + 1 : first]
        if "\n" not in lead:
            return last, last, "".join(f", {_compact(*each)}" for each in new)
        inner = newline + lead[lead.rfind("\n") + 1 :]
        return last, last, "".join(f",{inner}{_laid_out(*each, unit, inner)}" for each in new)
    outer = newline + _indent_at(text, container.start)
    inner = outer + unit
    said = ",".join(f"{inner}{_laid_out(*each, unit, inner)}" for each in new)
    around = container.kind + said + outer + _PAIRS[container.kind]
    return container.start, container.end, around


def removed(container: Node, gone: Iterable[int]) -> list[Edit]:
    """Return the edits that take members out; one at least has to stay.

    Args:
        container: The object or the array.
        gone: The positions of the members.
    """
    away = set(gone)
    stays = next(at for at in range(len(container.members)) if at not in away)
    edits: list[Edit] = []
    if stays:
        edits.append((container.members[0][1], container.members[stays][1], ""))
    edits += [
        (container.members[at - 1][2].end, container.members[at][2].end, "")
        for at in sorted(away)
        if at > stays
    ]
    return edits


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with edits that do not overlap."""
    parts, at = [], 0
    for start, end, said in sorted(edits):
        parts += [text[at:start], said]
        at = end
    return "".join([*parts, text[at:]])


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise JsonError(text, at, f"is nested deeper than {_DEEPEST} levels")
    kind = text[at : at + 1]
    if kind in ("{", "["):
        return _container(text, at, depth)
    found = _SCALAR.match(text, at)
    if found is None:
        raise JsonError(text, at, _instead(text, at))
    return Node(at, found.end(), kind, found[0])


def _container(text: str, start: int, depth: int) -> Node:
    kind = text[start]
    close, members = _PAIRS[kind], list[tuple[str, int, Node]]()
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        if members:
            if text[at : at + 1] != ",":
                raise JsonError(text, at, _instead(text, at, f"a comma or {close!r}"))
            at = _skip(text, at + 1)
        place, key = at, ""
        if kind == "{":
            key, at = _key(text, at, [name for name, _, _ in members])
        node = _value(text, at, depth + 1)
        members.append((key, place, node))
        at = _skip(text, node.end)
    return Node(start, at + 1, kind, "", tuple(members))


def _key(text: str, at: int, known: Sequence[str]) -> tuple[str, int]:
    """Return the key that stands there, and where its value begins."""
    found = _SCALAR.match(text, at) if text[at : at + 1] == '"' else None
    if found is None:
        raise JsonError(text, at, _instead(text, at, "a key in quotation marks"))
    key: str = json.loads(found[0])
    if key in known:
        raise JsonError(text, at, f"the key {key!r} stands there twice")
    colon = _skip(text, found.end())
    if text[colon : colon + 1] != ":":
        raise JsonError(text, colon, _instead(text, colon, "a colon"))
    return key, _skip(text, colon + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _instead(text: str, at: int, wanted: str = "a value") -> str:
    if at >= len(text):
        return f"the text ends where {wanted} should be"
    if text.startswith(("//", "/*", "#"), at):
        return "a comment, which JSON does not have"
    return f"{text[at]!r} stands where {wanted} should be"


def _unit(text: str) -> str:
    """Return what one level is indented by."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else _INDENT


def _indent_at(text: str, at: int) -> str:
    """Return what the line is indented by that holds a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _laid_out(key: str, value: Json, unit: str, newline: str) -> str:
    said = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline)
    return f"{json.dumps(key)}: {said}" if key else said


def _compact(key: str, value: Json) -> str:
    said = json.dumps(value, ensure_ascii=False)
    return f"{json.dumps(key)}: {said}" if key else said

r"""JSON as a person keeps it, edited without a byte changed that the edit is not about. No I/O.

Promises: the parts that an edit leaves alone are those of the text, byte for byte: order, spaces,
line ends, numbers as they are written; what is no JSON is refused with its line and column, and
never mended; what was put in last and is taken out again leaves the text as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "SERVER",
    "Json",
    "JsonError",
    "Node",
    "edited",
    "inserted",
    "parse",
    "removed",
    "with_hooks",
    "with_server",
    "without_hooks",
    "without_server",
]

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


# Our hooks, and our MCP server, in the settings of coding agents, which are JSON. No I/O.
#
# Promises: every other key, the hooks of others and each byte between them stay as they are; what
# is there already is not put in again, nor changed; taking out takes ours and nothing else.
# Settings that are no JSON, or hold something else where hooks should be, are refused.

SERVER: Final = "engramdown"
"""What our MCP server is called in settings."""


_OURS: Final = re.compile(
    r"""(?:^|[\s/\\"'])(?:engramdown|egd)(?:\.exe)?["']?(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+hook\b"""
)
_LONGEST: Final = 1_000
_OBJECT: Final = "{"
_ARRAY: Final = "["
_MARK: Final = "\ufeff"


def is_ours(command: str) -> bool:
    """Whether a command is a hook of ours.

    >>> is_ours("engramdown hook stop"), is_ours('"/my tools/engramdown" -C . hook')
    (True, True)
    >>> is_ours("engramdown log user hook"), is_ours("my-engramdown hook")
    (False, False)
    """
    return _OURS.search(command[:_LONGEST]) is not None


def with_hooks(text: str, wanted: Mapping[str, Json]) -> str:
    r"""Return settings with a group of ours below each event; ``""`` stands for no settings yet.

    Args:
        text: The settings.
        wanted: What is to stand below each event: a command, or a group of commands.

    Raises:
        JsonError: If they are not such that hooks can be put in.

    >>> print(with_hooks('{"model": "x"}', {"Stop": {"hooks": []}}))
    {"model": "x", "hooks": {"Stop": [{"hooks": []}]}}
    """
    mark, body = _without_mark(text)
    if not body.strip():
        body = "{}\n"
    root = _checked(body, parse(body), _OBJECT, "the settings")
    hooks = root.get("hooks")
    if hooks is None:
        every: Json = {event: [group] for event, group in wanted.items()}
        return mark + edited(body, [inserted(body, root, [("hooks", every)])])
    _checked(body, hooks, _OBJECT, '"hooks"')
    new: list[tuple[str, Json]] = []
    edits: list[Edit] = []
    for event, group in wanted.items():
        there = hooks.get(event)
        if there is None:
            new.append((event, [group]))
        elif not any(_our_commands(each) for each in _groups(body, there, event)):
            edits.append(inserted(body, there, [("", group)]))
    if new:
        edits.append(inserted(body, hooks, new))
    return mark + edited(body, edits)


def without_hooks(text: str) -> str:
    """Return settings without our hooks, and without what is empty then.

    Args:
        text: The settings.

    Raises:
        JsonError: If they are not such that hooks can be found.
    """
    mark, body = _without_mark(text)
    if not body.strip():
        return text
    root = _checked(body, parse(body), _OBJECT, "the settings")
    hooks = root.get("hooks")
    if hooks is None:
        return text
    _checked(body, hooks, _OBJECT, '"hooks"')
    events: list[int] = []
    edits: list[Edit] = []
    for at, (event, _, there) in enumerate(hooks.members):
        found = [_our_commands(each) for each in _groups(body, there, event)]
        if not any(found):
            continue
        empty = _emptied(there, found)
        if len(empty) == len(there.members):
            events.append(at)
            continue
        edits += removed(there, empty) if empty else []
        for place, ours in enumerate(found):
            commands = there.members[place][2].get("hooks")
            if ours and place not in empty and commands is not None:
                edits += removed(commands, ours)
    return mark + edited(body, [*edits, *_without_events(root, hooks, events)])


def with_server(text: str, key: str, entry: Json) -> str:
    r"""Return settings in which our server stands below ``key``; one that stands there stays.

    Args:
        text: The settings; ``""`` for none yet.
        key: Below which the servers stand.
        entry: How ours is started.

    Raises:
        JsonError: If they are not such that a server can be put in.

    >>> print(with_server('{"model": "x"}', "mcpServers", {"command": "engramdown"}))
    {"model": "x", "mcpServers": {"engramdown": {"command": "engramdown"}}}
    """
    mark, body = _without_mark(text)
    body = body if body.strip() else "{}\n"
    root = _checked(body, parse(body), _OBJECT, "the settings")
    servers = root.get(key)
    if servers is None:
        return mark + edited(body, [inserted(body, root, [(key, {SERVER: entry})])])
    _checked(body, servers, _OBJECT, f'"{key}"')
    if servers.get(SERVER) is not None:
        return text
    return mark + edited(body, [inserted(body, servers, [(SERVER, entry)])])


def without_server(text: str, key: str) -> str:
    """Return settings without our server, and without what is empty then.

    Raises:
        JsonError: If they are not such that it can be found.
    """
    mark, body = _without_mark(text)
    if not body.strip():
        return text
    root = _checked(body, parse(body), _OBJECT, "the settings")
    servers = root.get(key)
    if servers is None or _checked(body, servers, _OBJECT, f'"{key}"').get(SERVER) is None:
        return text
    if len(servers.members) > 1:
        at = next(at for at, each in enumerate(servers.members) if each[0] == SERVER)
        return mark + edited(body, removed(servers, [at]))
    if len(root.members) == 1:
        return mark + edited(body, [(root.start, root.end, "{}")])
    at = next(at for at, each in enumerate(root.members) if each[2] is servers)
    return mark + edited(body, removed(root, [at]))


def _without_events(root: Node, hooks: Node, events: list[int]) -> list[Edit]:
    if not events:
        return []
    if len(events) < len(hooks.members):
        return removed(hooks, events)
    if len(root.members) == 1:
        return [(root.start, root.end, "{}")]
    return removed(root, [at for at, each in enumerate(root.members) if each[2] is hooks])


def _emptied(there: Node, found: Iterable[list[int]]) -> list[int]:
    """Return the positions of the groups in which nothing but our commands stands."""
    sizes = [len(_commands(group)) for _, _, group in there.members]
    return [at for at, ours in enumerate(found) if ours and len(ours) == sizes[at]]


def _groups(text: str, there: Node, event: str) -> list[Node]:
    _checked(text, there, _ARRAY, f'"hooks.{event}"')
    return [group for _, _, group in there.members]


def _our_commands(group: Node) -> list[int]:
    """Return the positions of our commands in a group."""
    said = [command.get("command") for command in _commands(group)]
    texts = ["" if each is None else each.string() or "" for each in said]
    return [at for at, command in enumerate(texts) if is_ours(command)]


def _commands(group: Node) -> list[Node]:
    """Return the commands of a group, or the one that stands there by itself."""
    found = group.get("hooks")
    if found is not None:
        return [command for _, _, command in found.members]
    return [group] if group.get("command") is not None else []


def _checked(text: str, node: Node, kind: str, what: str) -> Node:
    if node.kind != kind:
        wanted = "an object" if kind == _OBJECT else "a list"
        raise JsonError(text, node.start, f"{what} should be {wanted}")
    return node


def _without_mark(text: str) -> tuple[str, str]:
    return (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)

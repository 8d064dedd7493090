"""Our hooks, and our MCP server, in the JSON settings of coding agents. No I/O.

Every byte that an edit is not about stays as the person has it: other keys, the hooks of others,
order, spaces, line ends, numbers as they are written. What is there already is neither added again
nor changed, and removal takes ours and nothing else: what was added last and is removed again
leaves the text as it was. Settings that are not JSON, or hold something else where hooks should be,
are refused with the line and the column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

SERVER: Final = "engramdown"
"""What our MCP server is called in settings."""

Json = dict[str, Any] | list[Any] | str | int | float | bool | None
Edit = tuple[int, int, str]
"""Start, end, and the text that replaces what is between them."""

_OURS: Final = re.compile(
    r"""(?:^|[\s/\\"'])(?:engramdown|egd)(?:\.exe)?["']?(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+hook\b"""
)
_LONGEST_COMMAND: Final = 1_000
_TOKEN: Final = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')
_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")
_DEEPEST: Final = 100
_INDENT: Final = "  "
_PAIRS: Final = {"{": "}", "[": "]"}
_NAMES: Final = {"{": "an object", "[": "a list"}
_MARK: Final = "\ufeff"


class JsonError(ValueError):
    """A text is not JSON, or not the JSON that settings are."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        """Name the problem at the position ``at``."""
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        super().__init__(f"line {line}, column {column}: {problem}")


class Node(NamedTuple):
    """A JSON value, and where it stands in the text.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        kind: Its first character.
        text: Its text, unless it is an object or an array.
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


# ---- hooks and servers ----


def is_ours(command: str) -> bool:
    """Whether a command is one of our hooks.

    >>> is_ours("engramdown hook stop"), is_ours('"/my tools/engramdown" -C . hook')
    (True, True)
    >>> is_ours("engramdown log user hook"), is_ours("my-engramdown hook")
    (False, False)
    """
    return _OURS.search(command[:_LONGEST_COMMAND]) is not None


def with_hooks(text: str, wanted: Mapping[str, Json]) -> str:
    r"""Return settings with a hook of ours below each event.

    Args:
        text: The settings; ``""`` for none yet.
        wanted: What to add below each event: a command, or a group of commands.

    Raises:
        JsonError: If hooks cannot be added to them.

    >>> print(with_hooks('{"model": "x"}', {"Stop": {"hooks": []}}))
    {"model": "x", "hooks": {"Stop": [{"hooks": []}]}}
    """
    settings = _Settings(text, "hooks")
    hooks = settings.section
    if hooks is None:
        every: Json = {event: [group] for event, group in wanted.items()}
        return settings.edited([inserted(settings.body, settings.root, [("hooks", every)])])
    new: list[tuple[str, Json]] = []
    edits: list[Edit] = []
    for event, group in wanted.items():
        groups = settings.groups(event)
        if groups is None:
            new.append((event, [group]))
        elif not any(_our_commands(each) for _, _, each in groups.members):
            edits.append(inserted(settings.body, groups, [("", group)]))
    if new:
        edits.append(inserted(settings.body, hooks, new))
    return settings.edited(edits)


def without_hooks(text: str) -> str:
    """Return settings without our hooks, and without what is empty then.

    Raises:
        JsonError: If no hooks can be found in them.
    """
    settings = _Settings(text, "hooks")
    if settings.section is None:
        return text
    emptied: list[int] = []
    edits: list[Edit] = []
    for at, (event, _, _) in enumerate(settings.section.members):
        groups = settings.groups(event)
        ours = [_our_commands(each) for _, _, each in groups.members] if groups else []
        if groups is None or not any(ours):
            continue
        sizes = [len(_commands(each)) for _, _, each in groups.members]
        gone = [n for n, mine in enumerate(ours) if mine and len(mine) == sizes[n]]
        if len(gone) == len(ours):
            emptied.append(at)
            continue
        edits += removed(groups, gone)
        for n, mine in enumerate(ours):
            commands = groups.members[n][2].get("hooks")
            if mine and n not in gone and commands is not None:
                edits += removed(commands, mine)
    return settings.edited([*edits, *settings.without(emptied)])


def with_server(text: str, key: str, entry: Json) -> str:
    r"""Return settings that name our server below ``key``; an entry that is there stays.

    Args:
        text: The settings; ``""`` for none yet.
        key: Below which the servers stand.
        entry: How ours is started.

    Raises:
        JsonError: If a server cannot be added to them.

    >>> print(with_server('{"model": "x"}', "mcpServers", {"command": "engramdown"}))
    {"model": "x", "mcpServers": {"engramdown": {"command": "engramdown"}}}
    """
    settings = _Settings(text, key)
    servers = settings.section
    if servers is None:
        return settings.edited([inserted(settings.body, settings.root, [(key, {SERVER: entry})])])
    if servers.get(SERVER) is not None:
        return text
    return settings.edited([inserted(settings.body, servers, [(SERVER, entry)])])


def without_server(text: str, key: str) -> str:
    """Return settings without our server, and without what is empty then.

    Raises:
        JsonError: If no servers can be found in them.
    """
    settings = _Settings(text, key)
    names = [name for name, _, _ in settings.section.members] if settings.section else []
    return settings.edited(settings.without([names.index(SERVER)])) if SERVER in names else text


class _Settings:
    """The settings of an agent, and the object in them that stands below one key.

    Attributes:
        body: The text, without a byte order mark.
        root: All of it.
        section: The object below the key, or ``None``.
    """

    def __init__(self, text: str, key: str) -> None:
        """Read settings; raises ``JsonError``."""
        self._mark = _MARK if text.startswith(_MARK) else ""
        body = text.removeprefix(_MARK)
        self.body = body if body.strip() else "{}\n"
        self.root = self._checked(parse(self.body), "{", "the settings")
        found = self.root.get(key)
        self.section = found and self._checked(found, "{", f'"{key}"')

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the whole text with edits."""
        return self._mark + edited(self.body, edits)

    def groups(self, event: str) -> Node | None:
        """Return the groups of hooks below an event."""
        found = self.section.get(event) if self.section else None
        return found and self._checked(found, "[", f'"hooks.{event}"')

    def without(self, gone: Sequence[int]) -> list[Edit]:
        """Return the edits that remove members of the section, and the section if it is empty."""
        if not gone or self.section is None:
            return []
        if len(gone) < len(self.section.members):
            return removed(self.section, gone)
        if len(self.root.members) == 1:
            return [(self.root.start, self.root.end, "{}")]
        values = [value for _, _, value in self.root.members]
        return removed(self.root, [values.index(self.section)])

    def _checked(self, node: Node, kind: str, name: str) -> Node:
        if node.kind != kind:
            raise JsonError(self.body, node.start, f"{name} should be {_NAMES[kind]}")
        return node


def _our_commands(group: Node) -> list[int]:
    """Return the positions of our commands in a group."""
    found = [command.get("command") for command in _commands(group)]
    return [
        at
        for at, each in enumerate(found)
        if each is not None and each.kind == '"' and is_ours(json.loads(each.text))
    ]


def _commands(group: Node) -> list[Node]:
    """Return the commands of a group, or the one that stands there without a group."""
    found = group.get("hooks")
    if found is not None:
        return [command for _, _, command in found.members]
    return [group] if group.get("command") is not None else []


# ---- JSON with positions ----


def parse(text: str) -> Node:
    """Return the value that a text is.

    Raises:
        JsonError: If it is not JSON.

    >>> parse('{"a": [1]}').get("a")
    Node(start=6, end=9, kind='[', text='', members=(('', 7, Node(start=7, end=8, kind='1', \
text='1', members=())),))
    """
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        is_comment = text[error.pos :].lstrip(", \t\r\n").startswith(("//", "/*", "#"))
        problem = "a comment, which JSON does not have" if is_comment else error.msg
        raise JsonError(text, error.pos, problem) from None
    except RecursionError:
        raise JsonError(text, 0, f"is nested deeper than {_DEEPEST} levels") from None
    tokens = _TOKEN.finditer(text)
    return _node(text, next(tokens), tokens, 0)


def _node(text: str, first: re.Match[str], tokens: Iterator[re.Match[str]], depth: int) -> Node:
    """Return the value that begins with a token of valid JSON."""
    start, kind = first.start(1), first[1][0]
    if depth > _DEEPEST:
        raise JsonError(text, start, f"is nested deeper than {_DEEPEST} levels")
    if first[1] in _NO_NUMBERS:
        raise JsonError(text, start, f"{first[1]} is not a number of JSON")
    if kind not in _PAIRS:
        return Node(start, first.end(1), kind, first[1])
    members: list[tuple[str, int, Node]] = []
    token = next(tokens)
    while token[1] != _PAIRS[kind]:
        if token[1] == ",":
            token = next(tokens)
        place, key = token.start(1), ""
        if kind == "{":
            key = json.loads(token[1])
            if any(key == known for known, _, _ in members):
                raise JsonError(text, place, f"the key {key!r} stands there twice")
            next(tokens)  # The colon.
            token = next(tokens)
        members.append((key, place, _node(text, token, tokens, depth + 1)))
        token = next(tokens)
    return Node(start, token.end(1), kind, "", tuple(members))


def inserted(text: str, container: Node, new: Sequence[tuple[str, Json]]) -> Edit:
    """Return the edit that adds values at the end of an object or an array, laid out as the rest.

    Args:
        text: The whole text.
        container: The object or the array.
        new: The keys (``""`` in an array) and the values; one at least.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    found = re.search(r"\n([ \t]+)\S", text)
    unit = found[1] if found else _INDENT
    if container.members:
        first, last = container.members[0][1], container.members[-1][2].end
        lead = text[container.start + 1 : first]
        if "\n" not in lead:
            return last, last, "".join(f", {_dumped(*each)}" for each in new)
        inner = newline + lead[lead.rfind("\n") + 1 :]
        return last, last, "".join(f",{inner}{_dumped(*each, unit, inner)}" for each in new)
    line = text[text.rfind("\n", 0, container.start) + 1 : container.start]
    outer = newline + line[: len(line) - len(line.lstrip(" \t"))]
    inner = outer + unit
    values = ",".join(f"{inner}{_dumped(*each, unit, inner)}" for each in new)
    return (
        container.start,
        container.end,
        f"{container.kind}{values}{outer}{_PAIRS[container.kind]}",
    )


def _dumped(key: str, value: Json, unit: str | None = None, newline: str = "\n") -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline)
    return f"{json.dumps(key)}: {text}" if key else text


def removed(container: Node, gone: Iterable[int]) -> list[Edit]:
    """Return the edits that remove members; one at least has to stay.

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
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])

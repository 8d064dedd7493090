"""Our hooks, and our MCP server, in the settings of coding agents, which are JSON. No I/O.

Promises: every other key, the hooks of others and each byte between them stay as they are; what is
there already is not put in again, nor changed; taking out takes ours and nothing else. Settings
that are no JSON, or hold something else where hooks should be, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from engramdown.integrations.claude_code.json_text import (
    Edit,
    Json,
    JsonError,
    Node,
    edited,
    inserted,
    parse,
    removed,
)

__all__ = [
    "SERVER",
    "is_ours",
    "with_hooks",
    "with_server",
    "without_hooks",
    "without_server",
]

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

"""Sets memory up for coding agents: which of their files to edit, and how.

Planning writes nothing. An edit leaves every other byte as the person has it: other keys, foreign
hooks, order, spaces, line ends, the spelling of numbers. Existing entries of ours are neither added
again nor changed, and removal takes only ours: adding and removing again leaves the text as it was.
Settings that are not JSON, or hold something else in the place of hooks, are refused with the line
and the column.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from engramdown.errors import UnfitFileError
from engramdown.integrations.agents_md import Change, read
from engramdown.integrations.claude_code.payload import event_named

# The name of our MCP server in settings.
SERVER: Final = "engramdown"

_SECONDS: Final = 10
_VERSIONED: Final = '{\n  "version": 1\n}\n'
_MADE: Final = frozenset({_VERSIONED.encode(), b"{}\n", b""})
_TABLE: Final = f"[mcp_servers.{SERVER}]"
_OUR_TABLE: Final = re.compile(
    rf"\n?^{re.escape(_TABLE)}[^\n]*\n(?:[^\[#\n][^\n]*\n?)*+", re.MULTILINE
)


class Agent(NamedTuple):
    """A coding agent that calls hooks.

    Attributes:
        title: Its name for a person.
        folder: The folder of its files, below a project or the home folder.
        hooks: The file in it that names hooks.
        events: Its names of the events that call a hook, with spaces between.
        server: The file that names MCP servers, below a project or the home folder.
        home_server: The one below the home folder, if that differs.
        key: The key of the servers; ``""`` for the tables of a TOML file.
        moved: The environment variable of its folder in place of that at home, or ``""``.
        word: The word before the event in a hook, which selects the form of the answer.
        flat: Whether commands are right below an event, without a group.
        ticks: The units of its time-outs per second; 0 if it has no time-outs.
        apart: The events for which it need not wait.
        note: Something that a person has to do as well, or ``""``.
    """

    title: str
    folder: str
    hooks: str
    events: str
    server: str
    home_server: str = ""
    key: str = "mcpServers"
    moved: str = ""
    word: str = ""
    flat: bool = False
    ticks: int = 1
    apart: Sequence[str] = ()
    note: str = ""


_TABLE_OF_AGENTS: Final = Path(__file__).with_name("agents.toml").read_text(encoding="utf-8")
# The known agents, by their names for the command line.
AGENTS: Final[Mapping[str, Agent]] = MappingProxyType(
    {name: Agent(**row) for name, row in tomllib.loads(_TABLE_OF_AGENTS).items()}
)


class _File(NamedTuple):
    """A file of an agent, and how to add our entries to it and remove them."""

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str], str]


def program() -> list[str]:
    """Return the command of this program: its name if a shell finds that."""
    if shutil.which("engramdown") is not None:
        return ["engramdown"]
    # Imported here: usually its name is enough.
    from engramdown.git import program as whole

    return [*whole()]


def plan(
    project: Path,
    names: Sequence[str] = ("claude",),
    *,
    everywhere: bool = False,
    server: bool = False,
    remove: bool = False,
) -> list[Change]:
    """Return the changes of the files of agents, each file once.

    Args:
        project: The folder of the project.
        names: The agents, from :data:`AGENTS`.
        everywhere: Whether to change the files for all projects.
        server: Whether to add our MCP server, too.
        remove: Whether to remove our entries.

    Raises:
        UnfitFileError: If a file cannot be edited safely.
        StoreError: If something other than a file is there.
        OSError: If a file cannot be read.
    """
    changes: dict[Path, Change] = {}
    for name in names:
        for file in _files(AGENTS[name], project, everywhere=everywhere, server=server or remove):
            path, edit = file.path, file.remove if remove else file.add
            if path not in changes:
                # A person's own settings may be a link to any place.
                changes[path] = read(path, None if everywhere else project)
            try:
                after = edit(changes[path].after.decode()).encode()
            except ValueError as error:
                reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
                raise UnfitFileError(str(path), reason) from error
            changes[path] = changes[path]._replace(after=after)
    for path, change in changes.items() if remove else ():
        # A file that holds only what we created it with is removed, but not the target of a link.
        if change.is_new and change.after in _MADE and not change.path.is_symlink():
            changes[path] = change._replace(after=b"", is_gone=True)
    return [*changes.values()]


def to_paste(name: str, *, server: bool) -> str:
    """Return the entries to paste into the files of an agent that cannot be edited."""
    texts: dict[Path, str] = {}
    for file in _files(AGENTS[name], Path(), everywhere=False, server=server):
        texts[file.path] = file.add(texts.get(file.path, ""))
    return "\n".join(f"{path}:\n{text}" for path, text in texts.items())


def _files(agent: Agent, project: Path, *, everywhere: bool, server: bool) -> list[_File]:
    moved = os.environ.get(agent.moved, "") if agent.moved and everywhere else ""
    base = Path.home() if everywhere else project
    folder = Path(moved).expanduser() if moved else base / agent.folder
    hooks: dict[str, Json] = {}
    for event in agent.events.split():
        command: dict[str, Any] = {} if agent.flat else {"type": "command"}
        command["command"] = f"{shlex.join(program())} hook {agent.word}{event_named(event)}"
        if agent.ticks:
            command["timeout"] = _SECONDS * agent.ticks
        if event in agent.apart:
            command["async"] = True
        hooks[event] = command if agent.flat else {"hooks": [command]}
    empty = _VERSIONED if agent.flat else ""

    def add_hooks(text: str) -> str:
        return with_hooks(text if text.strip() else empty, hooks)

    files = [_File(folder / agent.hooks, add_hooks, without_hooks)]
    if server:
        place = Path(agent.home_server if everywhere and agent.home_server else agent.server)
        place = folder / place.name if moved else base / place
        files.append(_server(agent, place, everywhere=everywhere))
    return files


def _server(agent: Agent, path: Path, *, everywhere: bool) -> _File:
    command, *more = program()
    # Cursor starts servers in any folder; the others in that of the project.
    where = ["--project", "${workspaceFolder}"] if agent.flat and not everywhere else []
    arguments = [*more, *where, "mcp"]
    if not agent.key:
        add = partial(_with_table, command=command, arguments=arguments)
        return _File(path, add, _without_table)
    entry: dict[str, Any] = {"type": "stdio"} if not agent.word else {}
    entry |= {"command": command, "args": arguments}
    add_server = partial(with_server, key=agent.key, entry=entry)
    return _File(path, add_server, partial(without_server, key=agent.key))


def _with_table(text: str, command: str, arguments: Sequence[str]) -> str:
    """Return TOML with our server as its last table, unless it names our server.

    Raises:
        TOMLDecodeError: If it is not TOML, or no table can be added to its servers.
    """
    if SERVER in tomllib.loads(text).get("mcp_servers", {}):
        return text
    # One line end, whatever is before it: removal takes exactly that.
    gap = "\n" if text else ""
    table = f"{_TABLE}\ncommand = {json.dumps(command)}\nargs = {json.dumps(arguments)}\n"
    added = f"{text}{gap}{table}"
    tomllib.loads(added)
    return added


def _without_table(text: str) -> str:
    tomllib.loads(text)
    return _OUR_TABLE.sub("", text)


# ---- hooks and servers in JSON settings ----

Json = dict[str, Any] | list[Any] | str | int | float | bool | None
# Start, end, and the new text between them.
Edit = tuple[int, int, str]

_OURS: Final = re.compile(
    r"""(?:^|[\s/\\"'])(?:engramdown|egd)(?:\.exe)?["']?(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+hook\b"""
)
_LONGEST_COMMAND: Final = 1_000
_TOKEN: Final = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')
_PAIRS: Final = {"{": "}", "[": "]"}
_NAMES: Final = {"{": "an object", "[": "a list"}
_MARK: Final = "\ufeff"


class JsonError(ValueError):
    """A text is not JSON, or does not have the form of settings."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        """Name the problem at the position ``at``."""
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        super().__init__(f"line {line}, column {column}: {problem}")


class Node(NamedTuple):
    """A JSON value and its position in a text.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        kind: Its first character.
        text: Its text, unless it is an object or an array.
        members: Its members: the key (``""`` in an array), where that begins, and the value.
    """

    start: int
    end: int
    kind: str
    text: str = ""
    members: tuple[tuple[str, int, Node], ...] = ()

    @property
    def values(self) -> list[Node]:
        """The values of its members."""
        return [value for _, _, value in self.members]

    def get(self, key: str) -> Node | None:
        """Return the value of a key."""
        return next((node for name, _, node in self.members if name == key), None)


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
        text: The settings; ``""`` for new ones.
        wanted: The entry for each event: a command, or a group of commands.

    Raises:
        JsonError: If hooks cannot be added.

    >>> print(with_hooks('{"model": "x"}', {"Stop": {"hooks": []}}))
    {"model": "x", "hooks": {"Stop": [{"hooks": []}]}}
    """
    settings = _Settings(text, "hooks")
    new: list[tuple[str, Json]] = []
    edits: list[Edit] = []
    for event, group in wanted.items():
        groups = settings.groups(event)
        if groups is None:
            new.append((event, [group]))
        elif not any(map(_our_commands, groups.values)):
            edits.append(inserted(settings.body, groups, [("", group)]))
    return settings.edited([*edits, *settings.adding(new)])


def without_hooks(text: str) -> str:
    """Return settings without our hooks and the parts that this leaves empty.

    Raises:
        JsonError: If they cannot hold hooks.
    """
    settings = _Settings(text, "hooks")
    emptied: list[int] = []
    edits: list[Edit] = []
    for at, (event, _, _) in enumerate(settings.section.members if settings.section else ()):
        groups = settings.groups(event)
        ours = [_our_commands(each) for each in groups.values] if groups else []
        if groups is None or not any(ours):
            continue
        sizes = [len(_commands(each)) for each in groups.values]
        gone = [n for n, mine in enumerate(ours) if mine and len(mine) == sizes[n]]
        if len(gone) == len(ours):
            emptied.append(at)
            continue
        edits += removed(groups, gone)
        for n, mine in enumerate(ours):
            commands = groups.values[n].get("hooks")
            if mine and n not in gone and commands is not None:
                edits += removed(commands, mine)
    edits += settings.without(emptied)
    return settings.edited(edits) if edits else text


def with_server(text: str, key: str, entry: Json) -> str:
    r"""Return settings that name our server below ``key``; an existing entry stays.

    Args:
        text: The settings; ``""`` for new ones.
        key: The key of the servers.
        entry: How to start ours.

    Raises:
        JsonError: If a server cannot be added.

    >>> print(with_server('{"model": "x"}', "mcpServers", {"command": "engramdown"}))
    {"model": "x", "mcpServers": {"engramdown": {"command": "engramdown"}}}
    """
    settings = _Settings(text, key)
    is_there = settings.section is not None and settings.section.get(SERVER) is not None
    return text if is_there else settings.edited(settings.adding([(SERVER, entry)]))


def without_server(text: str, key: str) -> str:
    """Return settings without our server and the parts that this leaves empty.

    Raises:
        JsonError: If they cannot hold servers.
    """
    settings = _Settings(text, key)
    names = [name for name, _, _ in settings.section.members] if settings.section else []
    return settings.edited(settings.without([names.index(SERVER)])) if SERVER in names else text


class _Settings:
    """The settings of an agent, and the object below one key of them.

    Attributes:
        body: The text, without a byte order mark.
        section: The object below the key, or ``None``.
    """

    def __init__(self, text: str, key: str) -> None:
        """Read settings; raises ``JsonError``."""
        self._mark = _MARK if text.startswith(_MARK) else ""
        self._key = key
        body = text.removeprefix(_MARK)
        self.body = body if body.strip() else "{}\n"
        self._root = self._checked(parse(self.body), "{", "the settings")
        section = self._root.get(key)
        self.section = section and self._checked(section, "{", f'"{key}"')

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the whole text with edits."""
        return self._mark + edited(self.body, edits)

    def groups(self, event: str) -> Node | None:
        """Return the groups of hooks below an event."""
        groups = self.section.get(event) if self.section else None
        return groups and self._checked(groups, "[", f'"hooks.{event}"')

    def adding(self, new: Sequence[tuple[str, Json]]) -> list[Edit]:
        """Return the edit that adds members to the section, or adds the section."""
        if self.section is None:
            return [inserted(self.body, self._root, [(self._key, dict(new))])]
        return [inserted(self.body, self.section, new)] if new else []

    def without(self, gone: Sequence[int]) -> list[Edit]:
        """Return the edits that remove members of the section, or the section if it gets empty."""
        if not gone or self.section is None:
            return []
        if len(gone) < len(self.section.members):
            return removed(self.section, gone)
        if len(self._root.members) == 1:
            return [(self._root.start, self._root.end, "{}")]
        return removed(self._root, [self._root.values.index(self.section)])

    def _checked(self, node: Node, kind: str, name: str) -> Node:
        if node.kind != kind:
            raise JsonError(self.body, node.start, f"{name} should be {_NAMES[kind]}")
        return node


def _our_commands(group: Node) -> list[int]:
    """Return the positions of our commands in a group."""
    values = [command.get("command") for command in _commands(group)]
    texts = [json.loads(each.text) if each and each.kind == '"' else "" for each in values]
    return [at for at, text in enumerate(texts) if is_ours(text)]


def _commands(group: Node) -> list[Node]:
    """Return the commands of a group, or a command without a group."""
    commands = group.get("hooks")
    if commands is not None:
        return commands.values
    return [group] if group.get("command") is not None else []


# ---- JSON with positions ----


def parse(text: str) -> Node:
    """Return the value of a text.

    Raises:
        JsonError: If it is not JSON.

    >>> parse('{"a": [1]}').get("a")
    Node(start=6, end=9, kind='[', text='', members=(('', 7, Node(start=7, end=8, kind='1', \
text='1', members=())),))
    """
    try:
        json.loads(text)
        tokens = _TOKEN.finditer(text)
        return _node(text, next(tokens), tokens)
    except json.JSONDecodeError as error:
        is_comment = text[error.pos :].lstrip(", \t\r\n").startswith(("//", "/*", "#"))
        problem = "a comment, which JSON does not allow" if is_comment else error.msg
        raise JsonError(text, error.pos, problem) from None
    except RecursionError:
        raise JsonError(text, 0, "is nested too deep") from None


def _node(text: str, first: re.Match[str], tokens: Iterator[re.Match[str]]) -> Node:
    """Return the value that begins with a token of valid JSON."""
    start, kind = first.start(1), first[1][0]
    if first[1] in ("NaN", "Infinity", "-Infinity"):
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
                raise JsonError(text, place, f"the key {key!r} is there twice")
            next(tokens)  # The colon.
            token = next(tokens)
        members.append((key, place, _node(text, token, tokens)))
        token = next(tokens)
    return Node(start, token.end(1), kind, "", tuple(members))


def inserted(text: str, container: Node, new: Sequence[tuple[str, Json]]) -> Edit:
    """Return the edit that adds values to the end of an object or an array, in its layout.

    Args:
        text: The whole text.
        container: The object or the array.
        new: The keys (``""`` in an array) and the values; one at least.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = re.search(r"\n([ \t]+)\S", text)
    unit = indent[1] if indent else "  "
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
    whole = f"{container.kind}{values}{outer}{_PAIRS[container.kind]}"
    return container.start, container.end, whole


def _dumped(key: str, value: Json, unit: str | None = None, newline: str = "\n") -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline)
    return f"{json.dumps(key)}: {text}" if key else text


def removed(container: Node, gone: Iterable[int]) -> list[Edit]:
    """Return the edits that remove members; at least one has to stay.

    Args:
        container: The object or the array.
        gone: The positions of the members.
    """
    members, away = container.members, sorted(set(gone))
    stays = next(at for at in range(len(members)) if at not in away)
    edits = [(members[at - 1][2].end, members[at][2].end, "") for at in away if at > stays]
    return [(members[0][1], members[stays][1], ""), *edits] if stays else edits


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with edits that do not overlap."""
    parts, at = [], 0
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])

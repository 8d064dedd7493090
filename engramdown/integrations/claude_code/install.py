"""Sets memory up for coding agents: which files of theirs, and what is to stand in them.

Planning writes nothing. Files that cannot be edited for sure are refused with the line, and with
what to paste. What is there already is left alone, and removal takes ours alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from engramdown.errors import UnfitFileError
from engramdown.integrations.agents_md import Change, read
from engramdown.integrations.claude_code.agent_settings import (
    SERVER,
    Json,
    JsonError,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)

_OURS: Final = "engramdown"
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
        title: What it is called.
        folder: Where its files are, below a project or the home folder.
        hooks: The file in it that names hooks.
        events: What it calls events, what we call them, and whether it need not wait.
        server: The file that names MCP servers, below a project.
        home_server: The same below the home folder.
        key: Below which the servers stand; ``""`` for the tables of a TOML file.
        moved: The variable that says where its folder is, if not at home; ``""`` for none.
        word: What stands before the event in a hook, so that it is answered as it expects.
        flat: Whether a command stands below an event by itself, in no group.
        ticks: How many units of its time-outs make a second; 0 if it takes none.
        note: What a person has to do besides, or ``""``.
    """

    title: str
    folder: str
    hooks: str
    events: Mapping[str, tuple[str, bool]]
    server: str
    home_server: str
    key: str = "mcpServers"
    moved: str = ""
    word: str = ""
    flat: bool = False
    ticks: int = 1
    note: str = ""


AGENTS: Final[Mapping[str, Agent]] = MappingProxyType(
    {
        "claude": Agent(
            "Claude Code",
            ".claude",
            "settings.json",
            {
                "SessionStart": ("session-start", False),
                "UserPromptSubmit": ("prompt-submit", False),
                "PostToolUse": ("post-tool", True),
                "PostToolUseFailure": ("post-tool", False),
                "Stop": ("stop", True),
                "SessionEnd": ("session-end", False),
            },
            ".mcp.json",
            ".claude.json",
            moved="CLAUDE_CONFIG_DIR",
        ),
        "codex": Agent(
            "Codex",
            ".codex",
            "hooks.json",
            {
                "SessionStart": ("session-start", False),
                "UserPromptSubmit": ("prompt-submit", False),
                "PostToolUse": ("post-tool", False),
                "Stop": ("stop", False),
            },
            ".codex/config.toml",
            ".codex/config.toml",
            key="",
            moved="CODEX_HOME",
            word="codex/",
            note="Codex asks you to trust the project and its hooks before it runs them.",
        ),
        "gemini": Agent(
            "Gemini CLI",
            ".gemini",
            "settings.json",
            {
                "SessionStart": ("session-start", False),
                "BeforeAgent": ("prompt-submit", False),
                "AfterTool": ("post-tool", False),
                "AfterAgent": ("stop", False),
                "SessionEnd": ("session-end", False),
            },
            ".gemini/settings.json",
            ".gemini/settings.json",
            word="gemini/",
            ticks=1000,
        ),
        "cursor": Agent(
            "Cursor",
            ".cursor",
            "hooks.json",
            {
                "sessionStart": ("session-start", False),
                "beforeSubmitPrompt": ("prompt-submit", False),
                "postToolUse": ("post-tool", False),
                "postToolUseFailure": ("post-tool", False),
                "afterAgentResponse": ("stop", False),
                "sessionEnd": ("session-end", False),
            },
            ".cursor/mcp.json",
            ".cursor/mcp.json",
            word="cursor/",
            flat=True,
            ticks=0,
            note="Cursor starts MCP servers only after you switch them on in its settings.",
        ),
    }
)
"""The agents that we know, by the names that a person gives."""


class _File(NamedTuple):
    """One file of an agent, and how ours is put into it."""

    path: Path
    put: Callable[[str], str]
    take: Callable[[str], str]


def program() -> list[str]:
    """Return how this program is called: by its name, where a shell finds that."""
    if shutil.which(_OURS) is not None:
        return [_OURS]
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
    """Return what is to become of the files of agents, each file once.

    Args:
        project: The folder of the project.
        names: Of :data:`AGENTS`.
        everywhere: Whether those for all projects are meant.
        server: Whether our MCP server is named, too.
        remove: Whether ours is to go.

    Raises:
        UnfitFileError: If they cannot be edited for sure.
        StoreError: If something else than a file stands there.
        OSError: If they cannot be read.
    """
    found: dict[Path, Change] = {}
    for name in names:
        for file in _files(AGENTS[name], project, everywhere=everywhere, server=server or remove):
            if file.path not in found:
                # A person's own settings may be a link to wherever they keep them.
                found[file.path] = read(file.path, None if everywhere else project)
            change = found[file.path]
            edit = file.take if remove else file.put
            found[file.path] = change._replace(after=_edited(file.path, change.after, edit))
    return [_without_made(change) for change in found.values()] if remove else [*found.values()]


def _without_made(change: Change) -> Change:
    """Let a file go of which only what we begin one with is left; what a link leads to stays."""
    left = change.is_new and change.after in _MADE and not change.path.is_symlink()
    return change._replace(after=b"", is_gone=True) if left else change


def to_paste(name: str, *, server: bool) -> str:
    """Return what a person can paste into the files of an agent that cannot be edited."""
    agent = AGENTS[name]
    files = _files(agent, Path(), everywhere=False, server=server)
    texts: dict[Path, str] = {}
    for file in files:
        texts[file.path] = file.put(texts.get(file.path, ""))
    return "\n".join(f"{path}:\n{text}" for path, text in texts.items())


def _files(agent: Agent, project: Path, *, everywhere: bool, server: bool) -> list[_File]:
    moved = os.environ.get(agent.moved, "") if agent.moved and everywhere else ""
    base = Path.home() if everywhere else project
    folder = Path(moved).expanduser() if moved else base / agent.folder
    wanted = {event: _hook(agent, *each) for event, each in agent.events.items()}
    empty = _VERSIONED if agent.flat else ""
    hooks = _File(
        folder / agent.hooks,
        lambda text: with_hooks(text if text.strip() else empty, wanted),
        without_hooks,
    )
    if not server:
        return [hooks]
    file = Path(agent.home_server if everywhere else agent.server)
    inside = file.name if moved else file
    place = folder / inside if moved else base / inside
    return [hooks, _server(agent, place, everywhere=everywhere)]


def _hook(agent: Agent, event: str, apart: bool) -> Json:  # noqa: FBT001 - a row of the table
    command: dict[str, Any] = {} if agent.flat else {"type": "command"}
    command["command"] = f"{shlex.join(program())} hook {agent.word}{event}"
    if agent.ticks:
        command["timeout"] = _SECONDS * agent.ticks
    if apart:
        command["async"] = True
    return command if agent.flat else {"hooks": [command]}


def _server(agent: Agent, path: Path, *, everywhere: bool) -> _File:
    command, *more = program()
    # Cursor starts servers anywhere; the others in the folder of the project.
    where = ["--project", "${workspaceFolder}"] if agent.flat and not everywhere else []
    arguments = [*more, *where, "mcp"]
    if not agent.key:
        return _File(path, lambda text: _with_table(text, command, arguments), _without_table)
    entry: dict[str, Any] = {"type": "stdio"} if not agent.word else {}
    entry |= {"command": command, "args": arguments}
    return _File(
        path,
        lambda text: with_server(text, agent.key, entry),
        lambda text: without_server(text, agent.key),
    )


def _edited(path: Path, data: bytes, edit: Callable[[str], str]) -> bytes:
    try:
        return edit(data.decode()).encode()
    except UnicodeDecodeError as error:
        raise UnfitFileError(str(path), f"is no UTF-8, at byte {error.start + 1}") from error
    except (JsonError, tomllib.TOMLDecodeError) as error:
        raise UnfitFileError(str(path), str(error)) from error


def _with_table(text: str, command: str, arguments: Sequence[str]) -> str:
    """Return TOML with our server as its last table; one that stands there stays.

    Raises:
        TOMLDecodeError: If it is no TOML, or holds servers in a way that no table can be added to.
    """
    if SERVER in tomllib.loads(text).get("mcp_servers", {}):
        return text
    # One line end, whatever stands before it: it is what goes with the table again.
    gap = "\n" if text else ""
    said = ", ".join(json.dumps(each) for each in arguments)
    added = f"{text}{gap}{_TABLE}\ncommand = {json.dumps(command)}\nargs = [{said}]\n"
    tomllib.loads(added)
    return added


def _without_table(text: str) -> str:
    tomllib.loads(text)
    return _OUR_TABLE.sub("", text)

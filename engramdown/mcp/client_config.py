"""What a person puts into the settings of a client, so that it finds the server.

What is returned is the whole file that a client reads if it has no other server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

NAME: Final = "engramdown"


class Client(NamedTuple):
    """A program that speaks MCP.

    Attributes:
        title: What it is called.
        file: Where its settings are.
        key: Below which the servers stand there.
        names_type: Whether it wants to be told how a server is reached.
        folder: What it puts the folder of the project in place of, or ``""`` if it starts
            servers in that folder.
    """

    title: str
    file: str
    key: str = "mcpServers"
    names_type: bool = False
    folder: str = ""


CLIENTS: Final[Mapping[str, Client]] = MappingProxyType(
    {
        "claude-code": Client("Claude Code", ".mcp.json in the project", names_type=True),
        "cursor": Client("Cursor", ".cursor/mcp.json in the project", folder="${workspaceFolder}"),
        "vscode": Client(
            "VS Code",
            ".vscode/mcp.json in the project",
            key="servers",
            names_type=True,
            folder="${workspaceFolder}",
        ),
        "json": Client("any client", "the settings of your client"),
    }
)
"""The clients that we know, by the names that a command takes."""


def stdio_settings(
    client: Client, program: str, before: Sequence[str], after: Sequence[str]
) -> dict[str, Any]:
    """Return the settings with which a client starts the server itself.

    Args:
        client: Which one.
        program: The path of ``engramdown``.
        before: What stands before ``mcp``: where memory is.
        after: What stands behind it.

    >>> found = stdio_settings(CLIENTS["json"], "engramdown", [], ["--no-ask"])
    >>> found["mcpServers"]["engramdown"]["args"]
    ['mcp', '--no-ask']
    """
    where = ["--project", client.folder] if client.folder and "--project" not in before else []
    found: dict[str, Any] = {"type": "stdio"} if client.names_type else {}
    found |= {"command": program, "args": [*where, *before, "mcp", *after]}
    return {client.key: {NAME: found}}


def http_settings(client: Client, url: str, token: str) -> dict[str, Any]:
    """Return the settings with which a client finds a server that runs.

    >>> found = http_settings(CLIENTS["cursor"], "http://127.0.0.1:8377/mcp", "t")
    >>> found["mcpServers"]["engramdown"]
    {'url': 'http://127.0.0.1:8377/mcp', 'headers': {'Authorization': 'Bearer t'}}
    """
    found: dict[str, Any] = {"type": "http"} if client.names_type else {}
    found |= {"url": url, "headers": {"Authorization": f"Bearer {token}"}}
    return {client.key: {NAME: found}}

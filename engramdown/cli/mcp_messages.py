"""What ``mcp`` says.

Promises: pure; every sentence goes to stderr, for standard output is the protocol's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

CLIENT_HELP: Final = "Print what CLIENT needs to find the server: {known}."

KEEP: Final = "it holds your token: keep the file out of git"

NO_PIPES: Final = "a client talks through standard input and output, and one of them is closed"
WAITS: Final = (
    "waiting for a client on standard input; `engramdown mcp --print-config claude-code` prints "
    "what one needs. Ctrl-C stops."
)


def missing(error: ImportError) -> str:
    """Say that the extra is not installed, or an older one is."""
    return (
        f"the MCP server needs the extra `mcp` ({error}); "
        'install it with: pip install "engramdown[mcp]"'
    )


def serving(url: str, token: Path) -> str:
    """Say where a server over HTTP is found, and with what."""
    return (
        f"serving memory at {url}; clients show the token in {token}: "
        "`engramdown mcp --http --print-config CLIENT` prints their settings. Ctrl-C stops."
    )


def no_project(start: Path) -> str:
    """Say that there is no project yet."""
    return f"no project at {start} yet; one begins there with the first memory of the project"


def config(title: str, file: str) -> str:
    """Say where what was printed belongs."""
    return f"for {title}: put this into {file}"


def no_tool(reason: str) -> str:
    """Say that there is no such tool."""
    return f"--tools: {reason}"

"""What a person puts into the settings of a client."""

from __future__ import annotations

import pytest

from engramdown.mcp.client_config import CLIENTS, http_settings, stdio_settings


def test_a_client_that_starts_servers_in_the_project_needs_no_folder() -> None:
    assert stdio_settings(CLIENTS["claude-code"], "/bin/engramdown", [], []) == {
        "mcpServers": {
            "engramdown": {"type": "stdio", "command": "/bin/engramdown", "args": ["mcp"]}
        }
    }


def test_a_client_that_starts_servers_anywhere_names_the_folder() -> None:
    found = stdio_settings(CLIENTS["vscode"], "engramdown", ["--mode", "copilot"], ["--no-ask"])
    assert found["servers"]["engramdown"]["args"] == [
        *("--project", "${workspaceFolder}", "--mode", "copilot", "mcp", "--no-ask"),
    ]
    given = stdio_settings(CLIENTS["cursor"], "engramdown", ["--project", "/here"], [])
    assert given["mcpServers"]["engramdown"]["args"] == ["--project", "/here", "mcp"]


@pytest.mark.parametrize("name", CLIENTS)
def test_over_http_every_client_shows_the_token(name: str) -> None:
    found = http_settings(CLIENTS[name], "http://127.0.0.1:1/mcp", "abc")
    (servers,) = found.values()
    assert servers["engramdown"]["headers"] == {"Authorization": "Bearer abc"}
    assert servers["engramdown"].get("type", "http") == "http"

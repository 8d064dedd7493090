"""engramdown mcp: what it says before a client is served, and what a client needs."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Final

import pytest

from engramdown.cli import mcp as command
from engramdown.cli.mcp import CLIENTS
from tests.cli.conftest import Runner
from tests.cli.program import run_without

SDK: Final = ("mcp", "mcp_types")


def test_without_the_extra_one_sentence_says_how_to_get_it(child_env: dict[str, str]) -> None:
    done = run_without(SDK, child_env, "mcp")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "engramdown: the MCP server needs the extra `mcp` (No module named 'mcp_types'); "
        'install it with: pip install "engramdown[mcp]"\n'
    )


def test_without_the_extra_help_and_settings_are_there(child_env: dict[str, str]) -> None:
    assert run_without(SDK, child_env, "mcp", "--help").returncode == 0
    assert run_without(SDK, child_env, "mcp", "--print-config", "json").returncode == 0


@pytest.mark.parametrize("client", CLIENTS)
def test_the_settings_alone_are_printed(run: Runner, memory: Path, client: str) -> None:
    assert memory.is_dir()
    done = run.ok("--mode", "copilot", "mcp", "--tools", "recall, review", "--print-config", client)
    (servers,) = done.json.values()
    arguments = servers["engramdown"]["args"]
    assert arguments[-5:] == ["--mode", "copilot", "mcp", "--tools", "recall,review"]
    assert "--home" in arguments
    assert done.err == f"note: for {CLIENTS[client].title}: put this into {CLIENTS[client].file}\n"


@pytest.mark.parametrize("client", ["cursor", "vscode"])
def test_a_client_that_starts_servers_anywhere_names_the_folder(
    run: Runner, memory: Path, client: str
) -> None:
    def arguments(*before: str) -> list[str]:
        (servers,) = run.ok(*before, "mcp", "--print-config", client).json.values()
        found: list[str] = servers["engramdown"]["args"]
        return found

    assert arguments()[:2] == ["--project", "${workspaceFolder}"]
    assert arguments("--project", str(memory.parent))[:2] == ["--project", str(memory.parent)]


@pytest.mark.parametrize("client", CLIENTS)
def test_over_http_every_client_shows_the_token(run: Runner, client: str) -> None:
    (servers,) = run.ok("mcp", "--http", "--print-config", client).json.values()
    assert servers["engramdown"]["headers"]["Authorization"].startswith("Bearer ")
    assert servers["engramdown"].get("type", "http") == "http"


def test_the_settings_for_http_hold_the_token_and_say_so(run: Runner, isolated_home: Path) -> None:
    done = run.ok("mcp", "--http", "--host", "localhost", "--print-config", "claude-code")
    server = done.json["mcpServers"]["engramdown"]
    token = (isolated_home / ".engramdown" / "mcp-token").read_text(encoding="utf-8").strip()
    assert server["url"] == "http://127.0.0.1:8377/mcp"
    assert server["headers"] == {"Authorization": f"Bearer {token}"}
    assert "keep the file out of git" in done.err


@pytest.mark.slow
def test_what_the_settings_start_is_a_server(
    run: Runner, child_env: dict[str, str], memory: Path
) -> None:
    server = run.ok("mcp", "--print-config", "json").json["mcpServers"]["engramdown"]
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
    assert memory.is_dir()
    done = subprocess.run(
        ["engramdown", *server["args"]],
        env=child_env,
        input=line,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "engramdown"


@pytest.mark.slow
def test_another_host_is_refused_with_the_reason(run: Runner) -> None:
    done = run("mcp", "--http", "--host", "0.0.0.0")  # noqa: S104 - it is refused
    assert (done.code, done.out) == (2, "")
    assert "'0.0.0.0' is not a loopback address" in done.err


def test_a_tool_that_there_is_not_is_refused_with_those_that_are(run: Runner) -> None:
    done = run("mcp", "--tools", "recall,nix")
    assert done.code == 2
    assert "there is no tool 'nix'; there are memorize, recall" in done.err


def test_the_usual_port_is_the_one_of_the_server() -> None:
    (port,) = (each for each in command.mcp.params if each.name == "port")
    assert port.default == 8377


@pytest.mark.slow
def test_a_person_who_starts_it_by_hand_is_told_what_it_waits_for(
    child_env: dict[str, str],
) -> None:
    person, terminal = pty.openpty()
    with subprocess.Popen(
        ["engramdown", "mcp"], env=child_env, stdin=terminal, stdout=-1, stderr=-1
    ) as process:
        os.close(terminal)
        assert process.stderr is not None
        said = process.stderr.readline() + process.stderr.readline()
        os.write(person, b"\x04")
        out, _ = process.communicate(timeout=30)
    os.close(person)
    assert b"no project at" in said
    assert b"waiting for a client on standard input; `engramdown mcp --print-config" in said
    assert (process.returncode, out) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", "</dev/null >&-"])
def test_without_pipes_there_is_no_client(child_env: dict[str, str], closed: str) -> None:
    command = ["bash", "-c", f"engramdown mcp {closed}"]
    done = subprocess.run(command, env=child_env, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input and output, and one of them is closed" in done.stderr


@pytest.mark.slow
def test_without_stderr_a_client_is_served(child_env: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", "engramdown mcp 2>&-"],
        env=child_env,
        input=b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
        capture_output=True,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["id"]) == (0, 1)

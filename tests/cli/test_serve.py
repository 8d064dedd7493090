"""engramdown serve: how it begins, who gets in, how it ends."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import stat
import subprocess
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from tests.cli.conftest import Runner
from tests.cli.program import Program, run_without
from tests.conftest import PATIENCE, soon

Start = Callable[..., Program]
EXTRA: Final = ("starlette", "uvicorn")
# A browser that notes what it was started with, and what the file holds.
BROWSER: Final = """#!/bin/sh
echo "$@" > {folder}/arguments
ls -l "${{1#file://}}" > {folder}/listing
cat "${{1#file://}}" > {folder}/page.tmp && mv {folder}/page.tmp {folder}/page
"""


class Page:
    """A client of a running server."""

    def __init__(self, program: Program) -> None:
        """Read where it is."""
        self.said = program.next()
        self.url: str = self.said["url"]
        self.token = Path(self.said["token_file"]).read_text(encoding="utf-8").strip()

    def __call__(
        self, method: str, path: str, key: str = "", body: object = None
    ) -> httpx2.Response:
        """Send a request with a key, by default the token."""
        headers = {"Authorization": f"Bearer {key or self.token}"}
        url = f"{self.url[:-1]}{path}"
        return httpx2.request(method, url, headers=headers, json=body, timeout=PATIENCE)

    def sign_in(self, code: str) -> str:
        """Return the key for a code, or ``""``."""
        answer = httpx2.post(f"{self.url}v1/keys", json={"code": code}, timeout=PATIENCE)
        found: str = answer.json().get("key", "")
        return found


def code_of(env: dict[str, str]) -> str:
    """Return a code from a terminal."""
    command = ["engramdown", "serve", "--code"]
    return subprocess.run(
        command, env=env, capture_output=True, encoding="utf-8", check=True
    ).stdout.strip()


@pytest.mark.slow
def test_a_page_is_signed_in_by_a_code_and_stays_so_after_a_restart(
    start: Start, child_env: dict[str, str], memory: Path
) -> None:
    assert memory.is_dir()
    first = start("serve", "--port", "0", "--json")
    page = Page(first)
    assert page.token not in json.dumps(page.said)
    code = code_of(child_env)
    key = page.sign_in(code)
    assert key
    assert not page.sign_in(code)
    told = {"text": "We deploy on Mondays", "kind": "lesson"}
    assert page("POST", "/v1/memories", key, body=told).status_code == 201
    assert page("DELETE", "/v1/keys").status_code == 403
    assert first.end(signal.SIGTERM) == (0, "")
    again = Page(start("serve", "--port", "0", "--json"))
    assert [each["text"] for each in again("GET", "/v1/memories", key).json()] == [
        "We deploy on Mondays"
    ]
    subprocess.run(["engramdown", "serve", "--revoke"], env=child_env, check=True)
    assert again("GET", "/v1/memories", key).status_code == 401
    assert again("GET", "/v1/memories").status_code == 200


@pytest.mark.slow
def test_the_browser_gets_its_code_in_a_file_that_only_the_user_can_read(
    start: Start, child_env: dict[str, str], memory: Path, tmp_path: Path
) -> None:
    assert memory.is_dir()
    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(folder=tmp_path), encoding="utf-8")
    browser.chmod(0o755)
    child_env["BROWSER"] = f"{browser} %s"
    server = start("serve", "--open", "--port", "0", "--json")
    page = Page(server)
    shown = tmp_path / "page"
    soon(shown.exists)
    text = shown.read_text(encoding="utf-8")
    code = text.partition(f"{page.url}#once=")[2].partition('"')[0]
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8")
    assert code
    assert code not in arguments
    file = Path(arguments.strip().removeprefix("file://"))
    assert (tmp_path / "listing").read_text(encoding="utf-8").startswith("-rw------- ")
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert page.sign_in(code)
    assert server.end(signal.SIGINT) == (130, "\nStopped.\n")
    assert not file.exists()


@pytest.mark.slow
def test_a_port_in_use_is_one_line_and_3(start: Start, run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    port = Page(start("serve", "--port", "0", "--json")).url[:-1].rpartition(":")[2]
    done = run("serve", "--port", port)
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
    assert f"{port} cannot be used on 127.0.0.1 (Address already in use)" in done.err


def test_without_the_extra_one_line_says_what_to_install(child_env: dict[str, str]) -> None:
    done = run_without(EXTRA, child_env, "serve")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "engramdown: the page needs the extra `serve` (No module named 'uvicorn'); "
        'install it with: pip install "engramdown[serve]"\n'
    )
    assert run_without(EXTRA, child_env, "serve", "--help").returncode == 0
    assert run_without(EXTRA, child_env, "serve", "--code").returncode == 0


def test_without_the_extra_for_mcp_the_same(child_env: dict[str, str]) -> None:
    done = run_without(("mcp", "mcp_types"), child_env, "serve", "--mcp", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'pip install "engramdown[mcp]"' in done.stderr


def test_a_code_is_for_a_script_too(run: Runner) -> None:
    told = run.ok("serve", "--code", "--json").json
    assert (len(told["code"]), told["seconds"]) == (23, 60)
    assert run.ok("serve", "--revoke", "--json").json == {"revoked": 0}


@pytest.mark.slow
def test_ctrl_c_ends_it_at_once_although_somebody_listens(start: Start, memory: Path) -> None:
    assert memory.is_dir()
    server = start("serve", "--port", "0", "--json")
    page = Page(server)
    headers = {"Authorization": f"Bearer {page.token}"}
    with httpx2.stream("GET", f"{page.url}v1/events", headers=headers, timeout=PATIENCE) as events:
        pieces = events.iter_lines()
        assert next(pieces) == "retry: 1000"
        # It does not wait for the client.
        assert server.end(signal.SIGINT) == (130, "\nStopped.\n")
        assert not [line for line in pieces if line.startswith("data")]


@pytest.mark.slow
def test_read_only_offers_nothing_that_changes_memory(start: Start, memory: Path) -> None:
    assert memory.is_dir()
    page = Page(start("serve", "--port", "0", "--json", "--read-only"))
    assert page("GET", "/v1/memories").status_code == 200
    told = {"text": "We deploy on Mondays", "kind": "lesson"}
    assert page("POST", "/v1/memories", body=told).status_code == 405


RAW: Final = {
    "no HTTP": (400, b"\x16\x03\x01 hello \x1b[2J\r\n\r\n"),
    "two hosts": (400, b"GET /v1/keys HTTP/1.1\r\n{host}Host: evil.example\r\n{key}\r\n"),
    "no host": (400, b"GET /v1/keys HTTP/1.1\r\n{key}\r\n"),
    "no host of an old client": (421, b"GET /v1/keys HTTP/1.0\r\n{key}\r\n"),
    "another server": (404, b"GET http://evil.example/v1/keys HTTP/1.1\r\n{host}{key}\r\n"),
    "a tunnel": (404, b"CONNECT evil.example:443 HTTP/1.1\r\n{host}{key}\r\n"),
    "a way up": (404, b"GET /static/../../etc/passwd HTTP/1.1\r\n{host}{key}\r\n"),
    "a hidden way up": (404, b"GET /static/%2e%2e%2fpage.css HTTP/1.1\r\n{host}{key}\r\n"),
    "a question before": (405, b"OPTIONS /v1/memories HTTP/1.1\r\n{host}{key}\r\n"),
    "two lengths": (
        400,
        b"POST /v1/keys HTTP/1.1\r\n{host}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{{}}",
    ),
    "two ways to end": (
        415,
        b"POST /v1/keys HTTP/1.1\r\n{host}Content-Length: 99\r\n{chunks}",
    ),
    "a head without end": (400, b"GET / HTTP/1.1\r\n{host}X: " + b"x" * 200_000),
}


@pytest.mark.slow
def test_what_no_good_client_sends_is_refused(start: Start, memory: Path) -> None:
    assert memory.is_dir()
    server = start("serve", "--port", "0", "--json")
    page = Page(server)
    port = int(page.url[:-1].rpartition(":")[2])
    parts = {
        b"{host}": f"Host: 127.0.0.1:{port}\r\n".encode(),
        b"{key}": f"Authorization: Bearer {page.token}\r\n".encode(),
        b"{{}}": b"{}",
        b"{chunks}": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    }
    found = {}
    for name, (_, sent) in RAW.items():
        whole = reduce(lambda text, part: text.replace(*part), parts.items(), sent)
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
            with contextlib.suppress(OSError):
                raw.sendall(whole)
            answer = raw.recv(100_000)
        assert b"access-control" not in answer.lower()
        assert page.token.encode() not in answer
        found[name] = int(answer.split(b" ")[1])
    assert found == {name: status for name, (status, _) in RAW.items()}
    assert page("GET", "/v1/memories").status_code == 200
    assert server.end(signal.SIGTERM) == (0, "")


SECRET: Final = "AKIA" + "IOSFODNN7EXAMPL7"
HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "x", "version": "1"},
}


class Mcp:
    """A client of MCP that says it can ask a person."""

    def __init__(self, page: Page) -> None:
        """Begin a session."""
        self._page = page
        self._session: dict[str, str] = {}
        hello = self._send("initialize", HELLO)
        self._session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}

    def __call__(self, method: str, **params: object) -> dict[str, Any]:
        """Return the answer to a request; nothing else may come before it."""
        answer = self._send(method, params).text
        (data,) = [line[6:] for line in answer.splitlines() if line.startswith("data: {")]
        found: dict[str, Any] = json.loads(data)["result"]
        return found

    def _send(self, method: str, params: object) -> httpx2.Response:
        headers = {
            "Authorization": f"Bearer {self._page.token}",
            "Accept": "application/json, text/event-stream",
            **self._session,
        }
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx2.post(f"{self._page.url}mcp", json=request, headers=headers, timeout=PATIENCE)


@pytest.mark.slow
def test_mcp_is_on_the_same_port_and_asks_nobody(start: Start, memory: Path) -> None:
    assert memory.is_dir()
    page = Page(start("--mode", "copilot", "serve", "--port", "0", "--json", "--mcp"))
    client = Mcp(page)
    told = {"text": f"The key of the bucket is {SECRET}", "kind": "lesson"}
    called = client("tools/call", name="memorize", arguments=told)
    assert not called.get("isError")
    (waiting,) = page("GET", "/v1/proposals").json()
    assert "[redacted: AWS access key]" in waiting["text"]


@pytest.mark.slow
def test_mcp_of_a_server_that_only_reads_offers_what_only_reads(start: Start, memory: Path) -> None:
    assert memory.is_dir()
    client = Mcp(Page(start("serve", "--port", "0", "--json", "--mcp", "--read-only")))
    names = {tool["name"] for tool in client("tools/list")["tools"]}
    assert "recall" in names
    assert not names & {"memorize", "forget"}

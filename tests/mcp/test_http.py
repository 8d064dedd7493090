"""A server over HTTP, several clients at once, and whoever should not get in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import pytest

from engramdown.errors import SettingsError
from engramdown.storage.locks import ScopeLock
from engramdown.web import Guard, bind, url_of
from tests.mcp.conftest import ERAS, Asked, Served, run, said, serving
from tests.tables import every

HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - it is refused
SECRET: Final = "AKIA" + "IOSFODNN7EXAMPL7"


def ask(
    served: Served,
    *more: tuple[str, str],
    method: str = "POST",
    path: str = "/mcp",
    body: bytes | None = None,
    without: tuple[str, ...] = (),
) -> tuple[int, str]:
    """Return the status and the text that answer a request as a client would send it."""
    usual = {
        "Host": f"127.0.0.1:{served.port}",
        "Authorization": f"Bearer {served.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    replaced = {name for name, _ in more}
    headers = [(name, value) for name, value in usual.items() if name not in replaced]
    connection = HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in (*headers, *more):
        if name not in without:
            connection.putheader(name, value)
    sent = json.dumps(HELLO).encode() if body is None else body
    connection.putheader("Content-Length", str(len(sent)))
    connection.endheaders(sent)
    try:
        response = connection.getresponse()
        return response.status, response.read().decode()
    except (BrokenPipeError, ConnectionResetError):
        return 0, ""
    finally:
        connection.close()


@pytest.mark.slow
def test_several_clients_that_write_at_once_lose_nothing(served: Served) -> None:
    async def write(name: int) -> None:
        async with served.client(ERAS[name % 2]) as client:
            for number in range(8):
                told = {"text": f"Client {name} said {number}", "kind": "lesson"}
                assert "Remembered" in said(await client.call_tool("memorize", told))

    async def work() -> None:
        await asyncio.gather(*(write(name) for name in range(5)))

    run(work())
    written = {f"Client {name} said {number}" for name in range(5) for number in range(8)}
    assert written <= set(served.texts())


@pytest.mark.slow
def test_a_person_is_asked_in_the_client_that_proposed(served: Served) -> None:
    yes, no, nobody = Asked("accept"), Asked("decline"), Asked("accept")

    async def work() -> None:
        async with (
            served.client("legacy", yes) as first,
            served.client("auto", no) as second,
            served.client("legacy", nobody) as third,
        ):
            one = {"text": f"The key is {SECRET}", "kind": "lesson"}
            two = {"text": f"Another key of the bucket: {SECRET}", "kind": "lesson"}
            answers = await asyncio.gather(
                first.call_tool("memorize", one),
                second.call_tool("memorize", two),
                third.call_tool("review", {}),
            )
        assert "accepted" in said(answers[0])
        assert "declined" in said(answers[1])

    run(work())
    assert (len(yes.seen), len(no.seen), len(nobody.seen)) == (1, 1, 0)
    assert [text for text in served.texts() if "key" in text] == [
        "The key is [redacted: AWS access key]"
    ]


def test_nobody_gets_in_who_should_not(served: Served) -> None:
    port = served.port
    assert ask(served)[0] == 200
    assert ask(served, ("Host", f"localhost:{port}"))[0] == 200
    assert ask(served, ("Origin", f"http://127.0.0.1:{port}"))[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        f"127.0.0.1:{port}.evil.example",
        f"127.0.0.1.evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"0.0.0.0:{port}",
        f"user@127.0.0.1:{port}",
        "",
    ):
        assert ask(served, ("Host", host))[0] == 421, host
    assert ask(served, without=("Host",))[0] in (400, 421)
    for origin in (
        "https://evil.example",
        "null",
        f"http://localhost:{port}.evil.example",
        f"http://127.0.0.1:{port + 1}",
        f"https://127.0.0.1:{port}",
    ):
        assert ask(served, ("Origin", origin))[0] == 403, origin
    for shown in (
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {served.token}x",
        f"Bearer {served.token[:-1]}",
        f"Bearer {served.token.swapcase()}",
        f"Basic {served.token}",
        served.token,
        "Bearer \xe9",
    ):
        status, why = ask(served, ("Authorization", shown))
        assert status == 401, shown
        assert served.token not in why
    assert ask(served, without=("Authorization",))[0] == 401
    both = [("Authorization", f"Bearer {each}") for each in (served.token, "other")]
    assert ask(served, *both)[0] == 401
    assert ask(served, ("Authorization", f"bearer {served.token}"))[0] == 200


def test_what_is_no_request_of_a_client_is_refused(served: Served) -> None:
    assert ask(served, path="/")[0] == 404
    assert ask(served, path="/mcp/../../etc/passwd")[0] == 404
    assert ask(served, method="OPTIONS")[0] in (400, 405)
    assert ask(served, ("Content-Type", "text/plain"))[0] == 400
    assert ask(served, body=b"x" * 5_000_000)[0] in (0, 413)
    for body in (b"", b"no JSON", b"[" * 100_000, b"[]", b'{"jsonrpc": "2.0"}', b"\xff"):
        assert ask(served, body=body)[0] == 400, body[:20]
    assert ask(served, ("MCP-Session-Id", "../../x"))[0] == 404
    assert ask(served, ("MCP-Protocol-Version", "9999-01-01"))[0] == 400
    # Nobody who does not show the token makes it read anything.
    assert ask(served, path="/x" * 1_000, without=("Authorization",))[0] == 401
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:
        raw.sendall(b"\x16\x03\x01 no HTTP \x1b[2J\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400")
    assert ask(served)[0] == 200


DIES: Final = """
import asyncio, sys
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
async def main(url, token, era):
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + token}) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=era) as client:
            async def heard(*_):
                print("heard", flush=True)
            told = {"text": "Said by who died", "kind": "lesson"}
            await client.call_tool("memorize", told, progress_callback=heard)
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_is_killed_in_a_call_leaves_the_others_well(
    served: Served, child_env: dict[str, str], era: str
) -> None:
    memory = served.project / ".engramdown" / "memory"
    memory.mkdir(exist_ok=True)
    with ScopeLock(memory / ".lock", 10).hold():
        command = [sys.executable, "-c", DIES, served.url, served.token, era]
        client = subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE)
        assert client.stdout is not None
        assert client.stdout.readline() == b"heard\n"
        client.kill()
        client.communicate()

    async def work() -> None:
        async with served.client(era) as other:
            told = {"text": f"Carried on in {era}", "kind": "lesson"}
            assert "Remembered" in said(await other.call_tool("memorize", told))

    run(work())
    assert f"Carried on in {era}" in served.texts()
    assert served.texts().count("Said by who died") <= 1


@pytest.mark.slow
def test_sessions_that_end_leave_nothing_behind(served: Served) -> None:
    status = Path(f"/proc/{served.process.pid}")

    async def come_and_go(times: int) -> None:
        for number in range(times):
            async with served.client(ERAS[number % 2]) as client:
                assert said(await client.call_tool("review", {}))

    def size() -> tuple[int, int]:
        return len([*(status / "fd").iterdir()]), len([*(status / "task").iterdir()])

    run(come_and_go(4))
    before = size()
    run(come_and_go(20))
    while size()[0] > before[0]:  # A connection is closed a moment after its client left.
        time.sleep(0.01)
    # One of before may have been closed since.
    assert all(now <= then for now, then in zip(size(), before, strict=True))


@pytest.mark.slow
def test_a_client_that_leaves_in_the_middle_of_a_request_is_no_news(
    tmp_path: Path, programs: Path
) -> None:
    with serving(tmp_path, programs) as served:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Authorization: Bearer {served.token}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{"
        )
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:
                raw.sendall(head.encode())
        assert ask(served)[0] == 200
        served.process.send_signal(signal.SIGTERM)
        _, told = served.process.communicate(timeout=30)
    assert "Traceback" not in told


@pytest.mark.slow
def test_ctrl_c_ends_it_although_clients_are_there(tmp_path: Path, programs: Path) -> None:
    with serving(tmp_path, programs) as served:
        _interrupted(served)


def _interrupted(served: Served) -> None:
    async def work() -> None:
        async with served.client("legacy") as client:
            await client.list_tools()
            served.process.send_signal(signal.SIGINT)
            while served.process.poll() is None:  # noqa: ASYNC110 - a process rings no bell
                await asyncio.sleep(0.01)

    with contextlib.suppress(Exception):  # However the client hears of it.
        run(work())
    assert served.process.returncode == 130
    assert served.process.stderr is not None
    assert "Traceback" not in served.process.stderr.read()


@every("host", [EVERYWHERE, "::", "192.168.1.2", "10.0.0.1", "example.org", "", "127.1", "\x1b[2J"])
def test_it_listens_nowhere_but_on_this_machine(host: str) -> None:
    with pytest.raises(SettingsError, match="served on this machine only"):
        bind(host, 0)


@pytest.mark.parametrize(
    "host, shown", [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.0.0.2", None)]
)
def test_it_listens_on_loopback_addresses(host: str, shown: str | None) -> None:
    place = bind(host, 0)
    with place.socket:
        assert place.host == (shown or host)
        assert url_of(place.host, place.port) == f"http://{place.host}:{place.port}/mcp"
        with pytest.raises(SettingsError, match="cannot be used"):
            bind(host, place.port)


@pytest.mark.slow
def test_what_is_refused_is_answered_before_it_is_read() -> None:
    async def app(*_: object) -> None:
        raise AssertionError

    async def receive() -> dict[str, object]:
        raise AssertionError

    sent: list[dict[str, object]] = []

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(b"host", b"localhost:1")],
    }
    run(Guard(app, ["localhost:1"], lambda _: None)(scope, receive, send))
    assert sent[0]["status"] == 401

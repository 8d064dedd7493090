"""The attack table of the guard: each row is a request that somebody else could send."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple
from unittest import mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from engramdown.web import Guard
from engramdown.web import app as server
from engramdown.web import guard as module
from tests.conftest import PATIENCE
from tests.tables import every

HOST: Final = b"127.0.0.1:8378"
TOKEN: Final = "t" * 43
AUTHORIZATION: Final = ("authorization", f"Bearer {TOKEN}")
HERE: Final = "http://127.0.0.1:8378"
PUBLIC: Final = {("GET", "/"), ("POST", "/v1/keys")}
VISIT: Final = (("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"))


class Answer(NamedTuple):
    """What the guard, or what stands behind it, answered.

    Attributes:
        status: The status; 200 if the request came through.
        headers: The headers.
        problem: The problem, if there is one.
        body: The body that came through.
    """

    status: int
    headers: dict[str, str]
    problem: dict[str, Any]
    body: bytes


def ask(
    *headers: tuple[str, str],
    method: str = "GET",
    path: str = "/v1/memories",
    body: tuple[bytes, ...] = (b"",),
    without: tuple[str, ...] = (),
    pause: float = 0,
) -> Answer:
    """Return what answers a request as a good client sends it, but for ``headers``."""
    given = {name for name, _ in headers}
    usual = [("host", HOST.decode()), AUTHORIZATION]
    sent = [each for each in usual if each[0] not in (*given, *without)] + [*headers]
    answers: list[Any] = []
    came: list[bytes] = []
    pieces = iter(body)

    async def app(_: object, receive: Any, send: Any) -> None:  # noqa: ANN401 - as ASGI has it
        came.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def receive() -> dict[str, object]:
        await asyncio.sleep(pause)
        piece = next(pieces)
        return {"type": "http.request", "body": piece, "more_body": piece != body[-1]}

    async def send(message: Any) -> None:  # noqa: ANN401 - as ASGI has it
        answers.append(message)

    guard = Guard(
        app,
        ["127.0.0.1:8378", "localhost:8378", "[::1]:8378"],
        lambda shown: "program" if shown == TOKEN else None,
        PUBLIC,
        hint="show a key",
    )
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent],
    }
    asyncio.run(guard(scope, receive, send))
    start, end = answers
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    problem = json.loads(end["body"])
    return Answer(start["status"], found, problem, came[0] if came else b"")


def test_a_good_request_comes_through() -> None:
    assert ask().status == 200
    assert ask(("host", "localhost:8378")).status == 200
    assert ask(("host", "[::1]:8378")).status == 200
    assert ask(("origin", HERE), ("sec-fetch-site", "same-origin")).status == 200
    assert ask(("sec-fetch-site", "none")).status == 200
    assert ask(("authorization", f"bearer  {TOKEN} ")).status == 200
    assert ask(method="POST", body=(b"{", b"}")).body == b"{}"


ATTACKS: Final = {
    # A name that leads here, and is not ours: DNS rebinding.
    "another name": (421, [("host", "evil.example:8378")]),
    "another name without a port": (421, [("host", "evil.example")]),
    "our name without a port": (421, [("host", "127.0.0.1")]),
    "another port": (421, [("host", "127.0.0.1:8379")]),
    "our name begins theirs": (421, [("host", "127.0.0.1:8378.evil.example")]),
    "our name ends theirs": (421, [("host", "evil.example.127.0.0.1:8378")]),
    "a user before our name": (421, [("host", "evil@127.0.0.1:8378")]),
    "any address": (421, [("host", "0.0.0.0:8378")]),
    "another loopback address": (421, [("host", "127.0.0.2:8378")]),
    "a number that is ours": (421, [("host", "2130706433:8378")]),
    "a dot at the end": (421, [("host", "localhost.:8378")]),
    "a space": (421, [("host", " 127.0.0.1:8378")]),
    "a list of names": (421, [("host", "127.0.0.1:8378, evil.example")]),
    "no name": (421, [("host", "")]),
    "letters of another alphabet": (421, [("host", "l\xf6calhost:8378")]),
    "two names": (400, [("host", "127.0.0.1:8378"), ("host", "evil.example")]),
    # Another page in the same browser.
    "another page": (403, [("origin", "https://evil.example")]),
    "a page without an origin": (403, [("origin", "null")]),
    "another server here": (403, [("origin", "http://127.0.0.1:3000")]),
    "our name over TLS": (403, [("origin", "https://127.0.0.1:8378")]),
    "our other name": (403, [("origin", "http://localhost:8378")]),
    "our origin begins theirs": (403, [("origin", f"{HERE}.evil.example")]),
    "our origin and a path": (403, [("origin", f"{HERE}/")]),
    "an empty origin": (403, [("origin", "")]),
    "two origins": (400, [("origin", HERE), ("origin", "https://evil.example")]),
    "another site": (403, [("sec-fetch-site", "cross-site")]),
    "another port of this site": (403, [("sec-fetch-site", "same-site")]),
    "a site of no kind": (403, [("sec-fetch-site", "unknown")]),
    "a visit of what has data": (403, [("sec-fetch-site", "cross-site"), *VISIT]),
    "two sites": (400, [("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")]),
    # Somebody without a key.
    "no scheme": (401, [("authorization", TOKEN)]),
    "another scheme": (401, [("authorization", f"Basic {TOKEN}")]),
    "an empty key": (401, [("authorization", "Bearer ")]),
    "half a key": (401, [("authorization", f"Bearer {TOKEN[:-1]}")]),
    "a key and more": (401, [("authorization", f"Bearer {TOKEN}x")]),
    "two keys": (401, [AUTHORIZATION, AUTHORIZATION]),
    "a key that is no text": (401, [("authorization", "Bearer \xff\xfe")]),
    "a key in a cookie": (401, [("authorization", ""), ("cookie", f"key={TOKEN}")]),
    # Bodies.
    "a large body": (413, [("content-length", "1048577")]),
    "a length that is no number": (413, [("content-length", "-1")]),
    "two lengths": (400, [("content-length", "1"), ("content-length", "2")]),
    "two versions": (400, [("if-match", '"a"'), ("if-match", '"b"')]),
}


@every("name", ATTACKS)
def test_what_somebody_else_sends_is_refused(name: str) -> None:
    status, headers = ATTACKS[name]
    answer = ask(*headers, method="POST", body=(b"{}",))
    assert answer.status == status
    assert answer.problem["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body == b""
    assert TOKEN not in json.dumps(answer.problem)


def test_without_a_host_or_a_key_nobody_gets_in() -> None:
    assert ask(without=("host",)).status == 421
    assert ask(without=("authorization",)).status == 401
    assert ask(("authorization", ""), path="/v1/memories?key=" + TOKEN).status == 401


def test_a_link_on_another_page_leads_to_the_page_and_to_nothing_else() -> None:
    elsewhere = ("sec-fetch-site", "cross-site")
    nobody = ("authorization", "")
    assert ask(nobody, elsewhere, *VISIT, path="/").status == 200
    assert ask(nobody, elsewhere, path="/").status == 403
    assert ask(nobody, elsewhere, ("sec-fetch-mode", "no-cors"), path="/").status == 403
    frame = (("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe"))
    assert ask(nobody, elsewhere, *frame, path="/").status == 403
    assert ask(nobody, elsewhere, *VISIT, path="/v1/keys", method="POST").status == 403


def test_every_answer_says_that_no_page_may_use_it() -> None:
    for answer in (ask(), ask(("host", "evil.example")), ask(("authorization", ""))):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "set-cookie" not in answer.headers


def test_a_body_that_grows_without_end_is_refused() -> None:
    pieces = tuple(bytes([number]) * 100_000 for number in range(12))
    assert ask(method="POST", body=pieces).status == 413


def test_a_body_that_trickles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", 0.05)
    answer = ask(method="POST", body=(b"{", b" ", b"}"), pause=0.04)
    assert answer.status == 408


def test_a_socket_that_is_no_request_is_not_answered() -> None:
    async def app(*_: object) -> None:
        raise AssertionError

    async def never(*_: object) -> Any:  # noqa: ANN401 - it never returns
        raise AssertionError

    asyncio.run(Guard(app, [], lambda _: None)({"type": "websocket"}, never, never))


@contextlib.asynccontextmanager
async def listening(app: Any) -> AsyncIterator[int]:  # noqa: ANN401 - as ASGI has it
    """Serve an application with our kind of connection, and yield the port."""
    config = uvicorn.Config(app, lifespan="off", log_config=None, ws="none")
    config.load()
    state = ServerState()

    def connection() -> asyncio.Protocol:
        return server._Connection(config=config, server_state=state, app_state={})

    here = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    async with here:
        yield here.sockets[0].getsockname()[1]


@every(
    "sent",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET"],
)
def test_a_head_that_never_ends_is_waited_for_no_longer(sent: bytes) -> None:
    async def app(_: object, receive: Any, send: Any) -> None:  # noqa: ANN401 - as ASGI has it
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})

    async def main() -> bytes:
        async with listening(app) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            found = await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
            return found

    with mock.patch.object(server, "_HEAD_SECONDS", 0.05):
        assert (b"hello" in asyncio.run(main())) is sent.startswith(b"GET /a")


def test_an_answer_that_takes_long_is_waited_for() -> None:
    async def app(_: object, receive: Any, send: Any) -> None:  # noqa: ANN401 - as ASGI has it
        await receive()
        await asyncio.sleep(0.3)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})

    async def main() -> bytes:
        async with listening(app) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            found = await asyncio.wait_for(reader.readuntil(b"hello"), PATIENCE)
            writer.close()
            return found

    with mock.patch.object(server, "_HEAD_SECONDS", 0.05):
        assert asyncio.run(main()).startswith(b"HTTP/1.1 200")

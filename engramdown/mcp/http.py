"""Serves several clients over streamable HTTP, on this machine only.

Promises: it listens on a loopback address and no other; a request is looked at only if its Host is
exactly where we listen, its Origin, if a browser sent it, too, and it shows the token; headers that
stand twice are refused. What is refused is answered before anything of it is read, and who connects
and asks for nothing is not waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import logging
import os
import re
import secrets
import signal
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from engramdown.errors import SettingsError, StoreError
from engramdown.mcp.stdio import well_formed
from engramdown.storage.disk import Disk
from engramdown.storage.safe_open import closing, open_regular

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "FILE",
    "HOST",
    "PATH",
    "PORT",
    "Guard",
    "Place",
    "bind",
    "serve",
    "shown",
    "token_of",
    "url_of",
]

HOST: Final = "127.0.0.1"
PORT: Final = 8377
PATH: Final = "/mcp"
_LONGEST: Final = 4 * 1024 * 1024
_SESSIONS: Final = 256
_CONNECTIONS: Final = 512
_IDLE: Final = 30 * 60
_PATIENCE: Final = 1
_SILENCE: Final = 10
"""For how many seconds a connection may be open without a whole request."""
_USUAL: Final = 80
"""The port that a Host header need not name."""
_MISDIRECTED, _FORBIDDEN, _UNAUTHORIZED, _BAD = 421, 403, 401, 400
_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"
_COMMAND: Final = "mcp"
_NOT_HERE: Final = (
    "{host!r} is no loopback address, and memory is served on this machine only: give 127.0.0.1, "
    "::1 or localhost; from elsewhere, use an SSH tunnel"
)
_TAKEN: Final = "{port} cannot be used on {host} ({why}); give another, or 0 for a free one"


class Place(NamedTuple):
    """Where a server listens.

    Attributes:
        socket: That it listens on.
        host: As it stands in an address: ``127.0.0.1``, ``[::1]``.
        port: Which one.
    """

    socket: socket.socket
    host: str
    port: int


def bind(host: str = HOST, port: int = PORT) -> Place:
    """Listen on a loopback address.

    Args:
        host: ``127.0.0.1``, ``::1``, ``localhost``, or another address of this machine to itself.
        port: Which one; 0 for one that is free.

    Raises:
        SettingsError: If the address is no such one, or somebody listens there.
    """
    address = _address(host)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IPv4
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((str(address), port))
        listening.listen()
    except OSError as error:
        listening.close()
        why = error.strerror or str(error)
        reason = _TAKEN.format(port=port, host=host, why=why)
        raise SettingsError(_COMMAND, "--port", reason) from None
    return Place(listening, shown(host), int(listening.getsockname()[1]))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        found = ipaddress.ip_address(HOST if host.casefold() == "localhost" else host.strip("[]"))
    except ValueError:
        found = None
    if found is None or not found.is_loopback:
        raise SettingsError(_COMMAND, "--host", _NOT_HERE.format(host=host))
    return found


def shown(host: str) -> str:
    """Return a loopback address as it stands in a URL.

    Raises:
        SettingsError: If it is none.

    >>> shown("localhost"), shown("::1")
    ('127.0.0.1', '[::1]')
    """
    address = _address(host)
    return str(address) if isinstance(address, ipaddress.IPv4Address) else f"[{address}]"


def url_of(host: str, port: int) -> str:
    """Return the address that a client is given.

    >>> url_of("127.0.0.1", 8377)
    'http://127.0.0.1:8377/mcp'
    """
    return f"http://{host}:{port}{PATH}"


async def serve(server: Server[Any], place: Place, token: str, ready: Callable[[], object]) -> None:
    """Serve clients that show ``token`` until a signal ends it; call ``ready()`` at the start."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    hosts = _hosts(place)
    security = TransportSecuritySettings(
        allowed_hosts=sorted(hosts), allowed_origins=[f"http://{each}" for each in sorted(hosts)]
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=_LONGEST,
        max_sessions=_SESSIONS,
        session_idle_timeout=_IDLE,
        transport_security=security,
    )
    for name in ("uvicorn", "uvicorn.error", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.ERROR)
    config = uvicorn.Config(
        Guard(app, hosts, token),
        http=_impatient(),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_PATIENCE,
    )
    # uvicorn ends by itself and raises the signal again, so that it ends us too.
    before = signal.signal(signal.SIGTERM, _end)
    try:
        ready()
        await uvicorn.Server(config).serve(sockets=[place.socket])
    finally:
        signal.signal(signal.SIGTERM, before)
        place.socket.close()
        await asyncio.sleep(0)


class Guard:
    """Stands before the server and lets nothing pass that is not meant for it."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], token: str) -> None:
        """Guard ``app``.

        Args:
            app: What is asked when all is well.
            hosts: The values of the Host header that mean us.
            token: What a client has to show.
        """
        self._app = app
        self._hosts = hosts
        self._origins = frozenset(f"http://{each}" for each in hosts)
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refused = self._refused(scope["headers"])
            if refused is None:
                await self._hand_on(scope, receive, send)
            else:
                await _answer(send, *refused)

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await _whole(receive)
        if message["type"] != "http.request":
            return  # Whoever asked has left.
        refused = _refusal(message) if scope["method"] == "POST" else None
        if refused is None:
            await self._app(scope, _beginning_with(message, receive), send)
        else:
            await _answer(send, _BAD, refused, _JSON)

    def _refused(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the status and the reason with which a request is refused, if it is."""
        if _only(headers, b"host").casefold() not in self._hosts:
            return _MISDIRECTED, f"this server is {' or '.join(sorted(self._hosts))}"
        of_page = any(name == b"origin" for name, _ in headers)
        if of_page and _only(headers, b"origin").casefold() not in self._origins:
            return _FORBIDDEN, "requests of web pages are refused"
        scheme, _, shown = _only(headers, b"authorization").partition(" ")
        known = hmac.compare_digest(shown.strip().encode(), self._token)
        if scheme.casefold() != "bearer" or not known:
            return _UNAUTHORIZED, (
                "show the token: `engramdown mcp --http --print-config json` prints it"
            )
        return None


def _hosts(place: Place) -> frozenset[str]:
    names = {place.host, "127.0.0.1", "localhost", "[::1]"}
    shown = {f"{name}:{place.port}" for name in names}
    return frozenset(shown | names if place.port == _USUAL else shown)


def _only(headers: list[tuple[bytes, bytes]], name: bytes) -> str:
    """Return the value of a header that stands there once, or ``""``."""
    found = [value for each, value in headers if each == name]
    return found[0].decode("latin-1").strip() if len(found) == 1 else ""


async def _whole(receive: Receive) -> Message:
    """Return the body of a request in one piece, as JSON that every reader takes."""
    body = bytearray()
    while len(body) <= _LONGEST:
        message = await receive()
        if message["type"] != "http.request":
            return message
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return {"type": "http.request", "body": well_formed(bytes(body))}
    # Too long, as the server finds.
    return {"type": "http.request", "body": bytes(body), "more_body": True}


def _beginning_with(message: Message, receive: Receive) -> Receive:
    """Return what hands on ``message``, and then what comes."""
    waiting = [message]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received


def _impatient() -> type[asyncio.Protocol]:
    """Return what speaks HTTP, and lets go of a connection on which nobody asks for anything.

    After a while, and at once, the oldest first, where others have no room.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: dict[Impatient, None] = {}  # the oldest first

    class Impatient(H11Protocol):
        def connection_made(
            self,
            transport: asyncio.Transport,  # type: ignore[override]  # as in uvicorn
        ) -> None:
            super().connection_made(transport)
            self._silent = self.loop.call_later(_SILENCE, self.look)
            silent[self] = None
            # One place is left for who asks for something, and is answered 503 beyond that.
            while len(self.connections) >= _CONNECTIONS and (oldest := next(iter(silent))) != self:
                oldest.look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._silent.cancel()
            silent.pop(self, None)
            super().connection_lost(exc)

        def look(self) -> None:
            """Let go of it if nothing was asked yet."""
            silent.pop(self, None)
            has_asked: bool = self.cycle is not None
            if not has_asked:
                self.connections.discard(self)
                self.transport.close()

    return Impatient


async def _answer(send: Send, status: int, why: str, kind: str = _TEXT) -> None:
    body = f"{why}\n".encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status == _UNAUTHORIZED:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _refusal(message: Message) -> str | None:
    """Return the answer to a body that is no message, the same as over standard input."""
    # Imported here: what only asks where a server listens needs none of the protocol.
    from engramdown.mcp.stdio import Refusal, read_message

    if message.get("more_body", False):
        return None  # Too long, as the server finds.
    read = read_message(message["body"])
    return read.answer.model_dump_json(by_alias=True) if isinstance(read, Refusal) else None


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


# The token that a client of the HTTP server shows.
#
# Promises: it is random, stands in a file that only the user can read, outside what git keeps, and
# stays the same until the file is deleted; a file that others can read, or that holds something
# else, is refused.

FILE: Final = "mcp-token"
"""The name of the file, in the folder of the global scope."""
_BYTES: Final = 32
_LONGEST_TOKEN: Final = 1_000
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32,512}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def token_of(home: Path) -> str:
    """Return the token of the global scope at ``home``; it is made if there is none.

    Raises:
        StoreError: If the file cannot be one of ours, or others can read it.
        OSError: If it cannot be read or written.
    """
    path = home / FILE
    found = _read(path)
    if found is None:
        _make(path)
        found = _read(path)
    if found is None:
        raise StoreError(f"{path}: somebody removes it as soon as it is written; look who")
    return found


def _make(path: Path) -> None:
    disk = Disk()
    disk.make_folder(path.parent)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    disk.create(new, f"{secrets.token_urlsafe(_BYTES)}\n".encode())
    try:
        # Another server may have been quicker; then its token is everybody's.
        with contextlib.suppress(FileExistsError):
            disk.publish(new, path)
    finally:
        disk.unlink(new)


def _read(path: Path) -> str | None:
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with closing(descriptor, path):
        if sys.platform != "win32" and os.fstat(descriptor).st_mode & _OTHERS:
            raise StoreError(
                f"{path}: others can read it, so it is no secret; delete it to get a new one"
            )
        text = os.read(descriptor, _LONGEST_TOKEN).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise StoreError(f"{path}: holds no token; delete it to get a new one")
    return text

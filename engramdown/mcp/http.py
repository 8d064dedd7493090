"""The MCP server over streamable HTTP, for several clients on this machine.

It listens on a loopback address and no other. A request needs the token, and a Host and an Origin
(if a browser sent one) that name exactly its address. The token is random and kept in a file that
only the user can read and git does not keep; it stays the same until the file is deleted.
"""

from __future__ import annotations

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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.errors import SettingsError, StoreError
from engramdown.storage import Disk, closing, open_regular

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST: Final = "127.0.0.1"
PORT: Final = 8377
PATH: Final = "/mcp"
TOKEN_FILE: Final = "mcp-token"  # noqa: S105 - the name of the file, in the folder of the global scope
_MOST_SESSIONS: Final = 256
_SHUTDOWN: Final = 1
# The port that a Host header may omit.
_HTTP_PORT: Final = 80
_COMMAND: Final = "mcp"
_NO_TOKEN: Final = "show the token: `engramdown mcp --http --print-config json` prints it\n"  # noqa: S105 - a message
_TOKEN_BYTES: Final = 32
_LONGEST_FILE: Final = 1_000
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{32,512}")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class Address(NamedTuple):
    """The address of a server.

    Attributes:
        socket: The listening socket.
        host: As in a URL: ``127.0.0.1``, ``[::1]``.
        port: The port.
    """

    socket: socket.socket
    host: str
    port: int


def bind(host: str = HOST, port: int = PORT) -> Address:
    """Listen on a loopback address.

    Args:
        host: ``127.0.0.1``, ``::1``, ``localhost``, or another address of this machine to itself.
        port: The port; 0 for one that is free.

    Raises:
        SettingsError: If the address is not a loopback address, or is in use.
    """
    address = _loopback(host)
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
        reason = f"{port} cannot be used on {host} ({why}); give another, or 0 for a free one"
        raise SettingsError(_COMMAND, "--port", reason) from None
    return Address(listening, in_url(host), int(listening.getsockname()[1]))


def in_url(host: str) -> str:
    """Return a loopback address in the form of a URL.

    Raises:
        SettingsError: If it is not one.

    >>> in_url("localhost"), in_url("::1")
    ('127.0.0.1', '[::1]')
    """
    address = _loopback(host)
    return str(address) if isinstance(address, ipaddress.IPv4Address) else f"[{address}]"


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    with contextlib.suppress(ValueError):
        named = HOST if host.casefold() == "localhost" else host.strip("[]")
        if (address := ipaddress.ip_address(named)).is_loopback:
            return address
    reason = (
        f"{host!r} is not a loopback address, and memory is served on this machine only: give "
        "127.0.0.1, ::1 or localhost; from elsewhere, use an SSH tunnel"
    )
    raise SettingsError(_COMMAND, "--host", reason)


def url_of(host: str, port: int) -> str:
    """Return the URL for clients.

    >>> url_of("127.0.0.1", 8377)
    'http://127.0.0.1:8377/mcp'
    """
    return f"http://{host}:{port}{PATH}"


async def serve(
    server: Server[Any], address: Address, token: str, ready: Callable[[], object]
) -> None:
    """Serve clients that show ``token`` until a signal ends it; call ``ready()`` at the start."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    # The accepted Host headers.
    names = sorted({address.host, "127.0.0.1", "localhost", "[::1]"})
    hosts = [f"{name}:{address.port}" for name in names]
    hosts += names if address.port == _HTTP_PORT else []
    security = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{each}" for each in hosts]
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_sessions=_MOST_SESSIONS, transport_security=security
    )
    for name in ("uvicorn", "uvicorn.error", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.ERROR)
    # It logs every client that leaves in the middle of a request, with a traceback.
    logging.getLogger("mcp.server.streamable_http").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        TokenGuard(app, token),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN,
    )
    # uvicorn ends on a signal and raises it again, which then ends this process.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        ready()
        await uvicorn.Server(config).serve(sockets=[address.socket])
    finally:
        signal.signal(signal.SIGTERM, before)
        address.socket.close()


class TokenGuard:
    """Refuses requests without the token before they reach the server."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Guard ``app``."""
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it before any of its body is read."""
        from starlette.responses import PlainTextResponse

        app: ASGIApp = self._app
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            scheme, _, shown = (given[0] if len(given) == 1 else b"").partition(b" ")
            is_known = hmac.compare_digest(shown.strip(), self._token)
            if scheme.lower() != b"bearer" or not is_known:
                app = PlainTextResponse(_NO_TOKEN, 401, {"WWW-Authenticate": "Bearer"})
        await app(scope, receive, send)


# ---- the token ----


def token_of(home: Path) -> str:
    """Return the token of the global scope at ``home``, after making one if necessary.

    Raises:
        StoreError: If the file does not hold a token, or others can read it.
        OSError: If it cannot be read or written.
    """
    path = home / TOKEN_FILE
    token = _read_token(path)
    if token is not None:
        return token
    disk = Disk()
    disk.make_folder(path.parent)
    # If another server was quicker, its token counts.
    disk.save(path, f"{secrets.token_urlsafe(_TOKEN_BYTES)}\n".encode(), durable=True)
    token = _read_token(path)
    if token is None:
        raise StoreError(f"{path}: somebody removes it as soon as it is written; look who")
    return token


def _read_token(path: Path) -> str | None:
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with closing(descriptor, path):
        if sys.platform != "win32" and os.fstat(descriptor).st_mode & _OTHERS:
            raise StoreError(
                f"{path}: others can read it, so it is not a secret; delete it to get a new one"
            )
        text = os.read(descriptor, _LONGEST_FILE).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise StoreError(f"{path}: holds no token; delete it to get a new one")
    return text

"""The address of a server: a port of this machine that no other machine can reach."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
from typing import Final, NamedTuple

from engramdown.errors import SettingsError

HOST: Final = "127.0.0.1"
MCP_PATH: Final = "/mcp"
# The port that a Host header may omit.
_HTTP_PORT: Final = 80
_NAMES: Final = (HOST, "localhost", "[::1]")


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

    @property
    def url(self) -> str:
        """The URL of the page."""
        return f"http://{self.host}:{self.port}/"

    @property
    def names(self) -> frozenset[str]:
        """The Host headers that name this address."""
        names = {*_NAMES, self.host}
        with_port = {f"{name}:{self.port}" for name in names}
        return frozenset(with_port | names if self.port == _HTTP_PORT else with_port)


def bind(host: str = HOST, port: int = 0, command: str = "mcp") -> Address:
    """Listen on a loopback address.

    Args:
        host: ``127.0.0.1``, ``::1``, ``localhost``, or another address of this machine to itself.
        port: The port; 0 for one that is free.
        command: The command, for errors.

    Raises:
        SettingsError: If the address is not a loopback address, or is in use.
    """
    address = _loopback(host, command)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IPv4
    # asyncio lets small pieces go out at once (TCP_NODELAY) only where the protocol is named: else
    # each answer whose body follows its head waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((str(address), port))
        listening.listen()
    except OSError as error:
        listening.close()
        why = error.strerror or str(error)
        reason = f"{port} cannot be used on {host} ({why}); give another, or 0 for a free one"
        raise SettingsError(command, "--port", reason) from None
    return Address(listening, in_url(host), int(listening.getsockname()[1]))


def in_url(host: str) -> str:
    """Return a loopback address in the form of a URL.

    Raises:
        SettingsError: If it is not one.

    >>> in_url("localhost"), in_url("::1")
    ('127.0.0.1', '[::1]')
    """
    address = _loopback(host, "mcp")
    return str(address) if isinstance(address, ipaddress.IPv4Address) else f"[{address}]"


def url_of(host: str, port: int) -> str:
    """Return the URL for clients of MCP.

    >>> url_of("127.0.0.1", 8377)
    'http://127.0.0.1:8377/mcp'
    """
    return f"http://{host}:{port}{MCP_PATH}"


def _loopback(host: str, command: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    with contextlib.suppress(ValueError):
        named = HOST if host.casefold() == "localhost" else host.strip("[]")
        if (address := ipaddress.ip_address(named)).is_loopback:
            return address
    reason = (
        f"{host!r} is not a loopback address, and memory is served on this machine only: give "
        "127.0.0.1, ::1 or localhost; from elsewhere, use an SSH tunnel"
    )
    raise SettingsError(command, "--host", reason)

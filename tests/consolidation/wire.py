"""A server on this machine that sends the very bytes it is told: no protocol holds it back.

Promises: each connection gets the next thing to send, the last one again and again; what was asked
is kept; nothing waits longer than a test does.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

__all__ = ["Sends", "Wire", "call", "completion", "http", "says", "tools", "wired"]

Sends = bytes | Callable[[socket.socket], object]
"""Bytes to send before the connection is closed, or what does something to the connection."""

_USAGE: Final = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
_A_WHILE: Final = 10.0


class Wire(NamedTuple):
    """A server that runs.

    Attributes:
        url: Where it is, for OpenAI's protocol.
        asked: The bodies of the requests that came.
    """

    url: str
    asked: list[Any]


def http(
    body: object, status: str = "200 OK", kind: str = "application/json", **more: str
) -> bytes:
    """Return a response with a body: bytes, or a value as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    # Said, because it is done: a client that keeps the connection may write into a closed one.
    headers = {"Content-Type": kind, "Content-Length": str(len(data)), "Connection": "close"}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + data


def completion(message: object, finish: object = "stop", usage: object = _USAGE) -> dict[str, Any]:
    """Return a chat completion with a message."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [choice],
        "usage": usage,
    }


def call(arguments: object, name: str = "Answer") -> dict[str, Any]:
    """Return the call of a tool."""
    function = {"name": name, "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function}


def tools(*calls: object, **other: object) -> bytes:
    """Return a response that calls tools."""
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return http(completion(message, **other))


def says(answer: object, **other: object) -> bytes:
    """Return a response that answers as it should: a value as JSON, or a text as it is."""
    return tools(call(answer if isinstance(answer, str) else json.dumps(answer)), **other)


@contextmanager
def wired(*sends: Sends) -> Iterator[Wire]:
    """Listen, and send."""
    asked: list[Any] = []
    guard = threading.Lock()

    def serve(connection: socket.socket) -> None:
        # Who gives up closes the connection while we still send.
        with connection, suppress(OSError):
            connection.settimeout(_A_WHILE)
            body = _request(connection)
            if body is None:
                return
            with guard:
                send = sends[min(len(asked), len(sends) - 1)]
                asked.append(json.loads(body))
            if isinstance(send, bytes):
                connection.sendall(send)
            else:
                send(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_listen, args=(server, serve), daemon=True).start()
        try:
            yield Wire(f"http://127.0.0.1:{server.getsockname()[1]}/v1", asked)
        finally:
            # What waits for a connection is not woken by closing alone.
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


def _listen(server: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def _request(connection: socket.socket) -> bytes | None:
    """Return the body of a request, or ``None`` if none came."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
    while len(body) < size:
        body += connection.recv(65_536)
    return body

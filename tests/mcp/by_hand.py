"""A server that a test speaks to line by line, as no client of the SDK would."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import IO, Any, Final

from engramdown.mcp.stdio import LONGEST

HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}

LONG: Final = b"x" * (2 * LONGEST)
DEEP: Final = b"[" * 10_000 + b"]" * 10_000
NO_MESSAGES: Final = (
    (b"no JSON", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 200_000, -32700, None),
    (b'{"jsonrpc": "2.0", "id": 7}', -32600, 7),
    (b'{"jsonrpc": "2.0", "id": true, "method": 1}', -32600, None),
    (b"[]", -32600, None),
    (b' [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
    (b"{}", -32600, None),
    (b"null", -32600, None),
    (b'"x"', -32600, None),
    (b"7", -32600, None),
    (b'{"id": "' + b"x" * LONGEST + b'"}', -32600, None),
    # Who waits for an answer gets one, wherever the id stands.
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": "' + LONG + b'"}', -32600, 7),
    (b'{"method": "ping", "params": "' + LONG + b'", "jsonrpc": "2.0", "id": "a"}', -32600, "a"),
    (b'{"jsonrpc": "2.0", "id": 7, "result": "' + LONG + b'"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\xff"}}', -32700, 7),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": ' + DEEP + b"}", -32700, 7),
    (b'{"jsonrpc": "2.0", "id": 7, "result": 1}', -32600, None),
    # Every reader would take them for notifications, which nobody answers.
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
)
"""Lines that are no message, each with the code and the id of the answer."""


class ByHand:
    """A server that is spoken to line by line.

    Attributes:
        process: That it runs in.
    """

    def __init__(self, env: dict[str, str], folder: Path, *arguments: str) -> None:
        """Start one."""
        self.process = subprocess.Popen(
            ["engramdown", *arguments, "mcp"],
            env=env,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def say(self, line: bytes) -> None:
        """Send a line."""
        pipe(self.process.stdin).write(line + b"\n")
        pipe(self.process.stdin).flush()

    def ask(self, key: int, method: str, **params: object) -> None:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": key, "method": method, "params": params}
        self.say(json.dumps(message).encode())

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        found: dict[str, Any] = json.loads(pipe(self.process.stdout).readline())
        return found

    def begin(self) -> None:
        """Shake hands."""
        self.ask(0, "initialize", **HELLO)
        assert self.hear()["id"] == 0
        self.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def end(self) -> tuple[int, bytes, bytes]:
        """Let the input end; return the exit code, and what was still printed."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream

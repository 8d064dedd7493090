"""A server that a test speaks to line by line, as no client of the SDK would."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}


class ByHand:
    """A server that is spoken to line by line.

    Attributes:
        process: That it runs in.
    """

    def __init__(
        self,
        env: dict[str, str],
        folder: Path,
        *arguments: str,
        program: Sequence[str] = ("engramdown",),
    ) -> None:
        """Start one."""
        self.process = subprocess.Popen(
            [*program, *arguments, "mcp"],
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

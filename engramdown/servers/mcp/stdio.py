"""Serves one client over standard input and output.

Promises: nothing but the protocol reaches standard output, whatever else in this process prints,
and no child reads what is meant for us; a line that is no message is answered, and so is one that
is too long; Ctrl-C and the end of the input end it at once, after what was begun is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from engramdown.servers.mcp.hands import Hand
from engramdown.servers.mcp.wellformed import well_formed

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

__all__ = ["LONGEST", "Lines", "serve"]

LONGEST: Final = 4 * 1024 * 1024
"""How long a message may be, in bytes."""
_BLOCK: Final = 65_536
_PATIENCE: Final = 1.5
"""For how many seconds calls that run are waited for when the input has ended."""
_TOO_LONG: Final = f"a message may have at most {LONGEST} bytes; this one was passed over"
_NO_JSON: Final = "this line is no JSON"
_NO_MESSAGE: Final = "this line is JSON, but no message of JSON-RPC"


async def serve(server: Server[Any]) -> None:
    """Serve the client at the other end of standard input and output, until it leaves."""
    with _taken() as (source, sink), anyio.CancelScope() as scope:
        if sys.platform != "win32":
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, scope.cancel)
        async with _Wire(source, sink).open() as (read, write):
            await server.run(read, write, server.create_initialization_options())


class _Wire:
    """Lines in, lines out."""

    def __init__(self, source: int, sink: int) -> None:
        self._lines = Lines(source)
        self._sink = sink
        self._open: set[types.RequestId] = set()
        self._answered: anyio.Event | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the stream of what comes, and the one for what is to go."""
        heard, read = anyio.create_memory_object_stream[SessionMessage | Exception]()
        write, said = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as group:
            group.start_soon(self._speak, said, group.cancel_scope)
            group.start_soon(self._hear, heard, write.clone())
            yield read, write
            group.cancel_scope.cancel()

    async def _hear(
        self,
        heard: MemoryObjectSendStream[SessionMessage | Exception],
        write: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        hand = Hand("engramdown-mcp-in")
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with heard, write:
                while (line := await hand.begin(self._lines.next)) is not None:
                    message = _message(line)
                    if isinstance(message, _Refusal):
                        await write.send(SessionMessage(message.answer))
                        continue
                    if isinstance(message, types.JSONRPCRequest):
                        self._open.add(message.id)
                    await heard.send(SessionMessage(message))
                if self._open:
                    self._answered = anyio.Event()
                    with anyio.move_on_after(_PATIENCE):
                        await self._answered.wait()

    async def _speak(
        self, said: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope
    ) -> None:
        hand = Hand("engramdown-mcp-out")
        async with said:
            async for each in said:
                message = each.message
                data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                try:
                    await hand.begin(partial(_write, self._sink, data))
                except OSError:
                    scope.cancel()  # Nobody reads any more.
                    return
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    self._open -= {message.id}
                if self._answered is not None and not self._open:
                    self._answered.set()


class _Refusal(NamedTuple):
    """What a line is answered with that is no message: an error that a client sends is one."""

    answer: types.JSONRPCError


class Lines:
    """Lines of a descriptor, of which none is longer than allowed."""

    def __init__(self, descriptor: int) -> None:
        """Read from ``descriptor``."""
        self._descriptor = descriptor
        self._rest = bytearray()
        self._looked = 0

    def next(self) -> bytes | None:
        """Return the next line that holds something, as far as it is kept; ``None`` at the end."""
        while True:
            at = self._rest.find(b"\n", self._looked)
            if at >= 0:
                line = bytes(self._rest[: min(at, LONGEST + 1)])
                del self._rest[: at + 1]
                self._looked = 0
                if line.strip():
                    return line
                continue
            # Of a line that is too long, no more is kept than tells that it is.
            del self._rest[LONGEST + 1 :]
            self._looked = len(self._rest)
            block = self._read()
            if not block:
                line = bytes(self._rest)
                self._rest.clear()
                self._looked = 0
                return line if line.strip() else None
            self._rest += block

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _BLOCK)
        except OSError:
            return b""


def _message(line: bytes) -> Any:  # noqa: ANN401 - a message of any kind
    """Return what a line says; what is none is answered with an error."""
    if len(line) > LONGEST:
        return _refused(None, types.INVALID_REQUEST, _TOO_LONG)
    with contextlib.suppress(ValidationError):
        return types.jsonrpc_message_adapter.validate_json(well_formed(line), by_name=False)
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _refused(None, types.PARSE_ERROR, _NO_JSON)
    asked = found.get("id") if isinstance(found, dict) else None
    key = asked if isinstance(asked, str | int) and not isinstance(asked, bool) else None
    return _refused(key, types.INVALID_REQUEST, _NO_MESSAGE)


def _refused(key: str | int | None, code: int, why: str) -> _Refusal:
    error = types.ErrorData(code=code, message=why)
    return _Refusal(types.JSONRPCError(jsonrpc="2.0", id=key, error=error))


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


@contextlib.contextmanager
def _taken() -> Iterator[tuple[int, int]]:
    """Take standard input and output for ourselves; others read nothing and print to stderr."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    _put(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        aside = os.dup(2)
    except OSError:  # There is no stderr.
        aside = os.open(os.devnull, os.O_WRONLY)
    _put(aside, 1)
    try:
        yield source, sink
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)


def _put(descriptor: int, place: int) -> None:
    os.dup2(descriptor, place)
    os.close(descriptor)
